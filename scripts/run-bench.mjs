// Runs the benchmarks one after the other: `npm run bench`, or `npm run bench -- fold compose` for some of them.
// Names come first; from the first argument that begins with `--` on everything goes to each of them:
// `npm run bench -- resume --size 64`.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const all = [
  'store',
  'damage',
  'faults',
  'fold',
  'resume',
  'count',
  'growth',
  'compose',
  'against',
  'dial-against',
  'corpus-cache',
  'wires',
  'wire-costs',
  'forks',
  'agents',
  'mail',
  'turns',
  'layers',
  'compaction',
  'summary',
  'redact',
  'permission',
  'start',
  'adapter-start',
  'telemetry',
  'companion-hook',
  'fit',
  'fit-corpus',
  'gateway',
  'gateway-gate',
  'fleet',
  'fleet-soak',
  'install',
  'inspect-page',
  'inspect-figures',
  'inspect-server',
  'rules',
  'recall',
  'recall-start',
  'drift',
  'drift-code',
  'memory',
  'believing',
]
const names = all.filter((name) => existsSync(join(root, 'bench', `${name}.ts`)))
const given = process.argv.slice(2)
const firstFlag = given.findIndex((argument) => argument.startsWith('--'))
const wanted = firstFlag === -1 ? given : given.slice(0, firstFlag)
const flags = firstFlag === -1 ? [] : given.slice(firstFlag)
const unknown = wanted.filter((name) => !names.includes(name))
if (unknown.length > 0) {
  process.stderr.write(`no such benchmark: ${unknown.join(', ')}\nthere are: ${names.join(', ')}\n`)
  process.exit(2)
}
const failed = (wanted.length === 0 ? names : wanted).filter((name) => {
  process.stdout.write(`\n── ${name} ${'─'.repeat(Math.max(0, 70 - name.length))}\n`)
  const run = spawnSync(process.execPath, ['scripts/run-ts.mjs', `bench/${name}.ts`, ...flags], {
    cwd: root,
    stdio: 'inherit',
  })
  return run.status !== 0
})
if (failed.length > 0) process.stderr.write(`\nfailed: ${failed.join(', ')}\n`)
process.exit(failed.length === 0 ? 0 : 1)
