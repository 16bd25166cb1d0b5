// How long judging a command takes, and what the sandbox adds to one: `node scripts/run-ts.mjs bench/permission.ts [--json]`.
// Each figure beside a baseline in the same run: parsing alone, and the command without the wall. Goal: 5 ms a command.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'unbash'
import { machineFileSystem } from '../src/disk/fs.ts'
import { judgeCommand } from '../src/tools/permission/judge-command.ts'
import { createSandbox } from '../src/tools/shell/sandbox.ts'
import { acting, looking } from '../test/permission/commands.ts'

const RUNS = 20
const root = realpathSync(mkdtempSync(join(tmpdir(), 'pal-bench-')))
mkdirSync(join(root, 'src'))
const place = { fs: machineFileSystem, root, cwd: root, home: '/nobody' }
const none = { allow: [], ask: [], deny: [] }

const round = (ms: number): number => Math.round(ms * 1000) / 1000
const at = (sorted: readonly number[], share: number): number =>
  round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!)

/** The best of several runs of each command: other work on the machine must not count. */
async function judging(name: string, commands: readonly string[]) {
  const judged: number[] = []
  const parsed: number[] = []
  for (const command of commands) {
    let [judge, alone] = [Infinity, Infinity]
    for (let run = 0; run < RUNS; run++) {
      const start = performance.now()
      await judgeCommand(command, none, place)
      const between = performance.now()
      parse(command)
      alone = Math.min(alone, performance.now() - between)
      judge = Math.min(judge, between - start)
    }
    judged.push(judge)
    parsed.push(alone)
  }
  judged.sort((a, b) => a - b)
  parsed.sort((a, b) => a - b)
  return {
    what: `judging ${commands.length} ${name}`,
    'median ms': at(judged, 0.5),
    'slowest ms': at(judged, 1),
    'baseline median ms': at(parsed, 0.5),
  }
}

async function wall() {
  const sandbox = createSandbox({
    fs: machineFileSystem,
    mode: 'auto',
    network: false,
    root,
    writable: [],
    home: undefined,
    hidden: [],
  })
  if ((await sandbox.state()) !== null) return []
  const made = await sandbox.around(root)
  if (!made.ok) return []
  const timed = (program: string, words: readonly string[]): number[] =>
    Array.from({ length: RUNS }, () => {
      const start = performance.now()
      spawnSync(program, words, { stdio: 'ignore' })
      return performance.now() - start
    }).sort((a, b) => a - b)
  const [program, ...words] = made.before
  const walled = timed(program!, [...words, 'bash', '-c', 'true'])
  const plain = timed('bash', ['-c', 'true'])
  await made.end()
  return [
    {
      what: 'bash -c true in the sandbox',
      'median ms': at(walled, 0.5),
      'slowest ms': at(walled, 1),
      'baseline median ms': at(plain, 0.5),
    },
  ]
}

execFileSync('git', ['init', '-q', root])
const long = `${looking.filter((command) => !command.includes('\n')).join('; ')}; ls`
const rows = [
  await judging('commands that look', looking),
  await judging('commands that act', acting),
  await judging('command of many parts', [long]),
  ...(await wall()),
]
rmSync(root, { recursive: true })
if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify(rows)}\n`)
else console.table(rows)
