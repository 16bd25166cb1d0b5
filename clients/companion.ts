// The acceptance tests of the companion with the real clients, offline: `npm run clients -- companion [--only C1,C9]`.
// C6 (killed, full disk, torn file, 700 MB, forged lines, two at once) and C12 (times) are held by test/companion and
// bench/companion-hook.ts, which run the same bundle; here a client meets a hook that is broken.
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bundledPal } from '../bench/first-request.ts'
import * as claude from './companion-claude.ts'
import { claudePlugin, claudeTerminal } from './companion-plugin.ts'
import { claudeShrink, claudeShrinksOthers } from './companion-shrink.ts'
import { codexCompacts, opencodeCompacts } from './companion-others.ts'
import { clientPackages, installClient, labelOf } from './install.ts'
import { makeWorld, Report, snapshot, type World } from './world.ts'

type Test = (report: Report, program: string, world: World) => Promise<void>

/** C6: the bundle is gone or writes rubbish; the client goes on. */
const claudeBroken: Test = async (report, program, world) => {
  claude.installed(world)
  const hook = join(world.home, '.palimpsest', 'companion', 'hook.cjs')
  for (const [what, text] of [
    ['that is killed', "process.kill(process.pid, 'SIGKILL')"],
    ['that writes rubbish', 'process.stdout.write(\'{"rubbish": [\'); process.exit(1)'],
  ] as const) {
    writeFileSync(hook, text)
    const session = await claude.claudeSession(program, world)
    const { code, sent } = await session.run('-p', 'hello')
    report.check(
      `C6 Claude Code with a hook ${what}: goes on, nothing in a request`,
      code === 0 && sent.length > 0 && !sent.join('').includes('rubbish'),
    )
    await session.end()
  }
}

/** C10: install, use, uninstall. */
const claudeRestored: Test = async (report, program, world) => {
  const settings = join(world.home, '.claude')
  const first = await claude.claudeSession(program, world)
  await first.run('-p', 'hello')
  const before = snapshot(settings)
  claude.installed(world)
  await first.run('-p', 'hello again')
  world.ours('companion', 'uninstall', 'claude', '--yes')
  await first.end()
  const after = snapshot(settings)
  // What the client itself writes while it runs is its own.
  const wrong = [...before]
    .filter(([path, bytes]) => path === 'settings.json' && after.get(path) !== bytes)
    .map(([path]) => path)
  const left = [...after.keys()].filter(
    (path) => path.startsWith('skills/') || (path === 'settings.json' && !before.has(path)),
  )
  report.check(
    'C10 Claude Code: install, use, uninstall leaves its files as they were',
    wrong.length + left.length === 0,
    [...wrong, ...left].join(', '),
  )
}

const tests: readonly (readonly [string, keyof typeof clientPackages, Test])[] = [
  ['C1', 'claude', claude.claudeManual],
  ['C1r', 'claude', claude.claudeReactive],
  ['C1t', 'claude', claudeTerminal],
  ['plugin', 'claude', claudePlugin],
  ['C2', 'claude', claude.claudeWithout],
  ['C3', 'claude', claude.claudeFullSummary],
  ['C4', 'claude', claude.claudeManyRules],
  ['C5', 'claude', claude.claudeAuto],
  ['C6', 'claude', claudeBroken],
  ['C7', 'claude', claude.claudeHostile],
  ['C8', 'claude', claudeShrink],
  ['C8m', 'claude', claudeShrinksOthers],
  ['C9', 'codex', codexCompacts],
  ['C9', 'opencode', opencodeCompacts],
  ['C10', 'claude', claudeRestored],
]

const at = process.argv.indexOf('--only')
const only = at < 0 ? null : new Set((process.argv[at + 1] ?? '').split(','))
const report = new Report()
const base = await makeWorld('')
const pal = await bundledPal(base.folder)
const programs = new Map<string, string | null>()
for (const [name, client, test] of tests) {
  if (only !== null && !only.has(name) && !only.has(`${name}:${client}`)) continue
  const wanted = clientPackages[client]
  if (!programs.has(client)) programs.set(client, installClient(wanted))
  const program = programs.get(client) ?? null
  if (program === null) {
    report.skip(name, `${labelOf(wanted)} cannot be installed here`)
    continue
  }
  const world = await makeWorld(pal)
  try {
    await test(report, program, world)
  } catch (error) {
    report.check(`${name} ${client} ran to its end`, false, String(error))
  } finally {
    if (!process.argv.includes('--keep')) world.remove()
    else process.stdout.write(`kept: ${world.folder}\n`)
  }
}
rmSync(base.folder, { recursive: true, force: true })
process.exitCode = report.exitCode
