// How long judging a command takes, and what the sandbox adds to one. Each figure beside a baseline in the same run: parsing
// alone, and the command without the wall. Goals: 1 KB of commands under 2 ms, 20,000 words under 100 ms.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'unbash'
import { machineFileSystem } from '../../src/disk/fs.ts'
import { findProgram } from '../../src/disk/programs.ts'
import { repositoryOf } from '../../src/tools/git/repository.ts'
import { openShield } from '../../src/tools/git/shield.ts'
import { judgeCommand } from '../../src/tools/permission/judge-command.ts'
import { readOnlyEnvironment } from '../../src/tools/shell/environment.ts'
import { createSandbox } from '../../src/tools/shell/sandbox.ts'
import { acting, looking } from '../../test/permission/commands.ts'

const RUNS = 20
const none = { allow: [], ask: [], deny: [] }

export interface SpeedRow {
  readonly what: string
  readonly 'median ms': number
  readonly 'slowest ms': number
  readonly 'baseline median ms': number
  readonly 'times baseline': number
  readonly 'goal ms': number | null
}

const round = (ms: number): number => Math.round(ms * 1000) / 1000
const at = (sorted: readonly number[], share: number): number =>
  round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!)

/** The best of several runs of each command: other work on the machine must not count. */
async function judging(
  root: string,
  name: string,
  commands: readonly string[],
  goal: number | null = null,
  runs = RUNS,
): Promise<SpeedRow> {
  const place = { fs: machineFileSystem, root, cwd: root, home: '/nobody' }
  const judged: number[] = []
  const parsed: number[] = []
  for (const command of commands) {
    let [judge, alone] = [Infinity, Infinity]
    for (let run = 0; run < runs; run++) {
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
    ...row(`judging ${name}`, judged, parsed),
    'goal ms': goal,
  }
}

async function wall(root: string): Promise<readonly SpeedRow[]> {
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
  return [row('bash -c true in the sandbox', walled, plain)]
}

/** What git that runs unasked costs: a stand-in for the repository, made and removed for each command. */
async function shield(root: string): Promise<readonly SpeedRow[]> {
  const found = await repositoryOf(machineFileSystem, root, root)
  const program = findProgram('git', process.env['PATH'], [root])
  if (!found.ok || program === null) return []
  const environment = readOnlyEnvironment(process.env, [root])
  const times: { shielded: number[]; plain: number[] } = { shielded: [], plain: [] }
  // In turn, so that other work on the machine counts for both.
  for (let run = 0; run < RUNS; run++) {
    const start = performance.now()
    const made = await openShield(found.repository, { program, environment })
    if (!made.ok) return []
    spawnSync(program, ['status'], { cwd: root, env: made.environment, stdio: 'ignore' })
    await made.end()
    const between = performance.now()
    spawnSync(program, ['status'], { cwd: root, env: environment, stdio: 'ignore' })
    times.shielded.push(between - start)
    times.plain.push(performance.now() - between)
  }
  const sorted = (all: readonly number[]) => all.toSorted((a, b) => a - b)
  return [row('git status without what the repository says', sorted(times.shielded), sorted(times.plain))]
}

const row = (what: string, times: readonly number[], baseline: readonly number[]): SpeedRow => ({
  what,
  'median ms': at(times, 0.5),
  'slowest ms': at(times, 1),
  'baseline median ms': at(baseline, 0.5),
  'times baseline': round(at(times, 0.5) / at(baseline, 0.5)),
  'goal ms': null,
})

export const manyWords = (count: number): string => `ls ${'a '.repeat(count - 1)}`.trimEnd()

/** Plain read-only commands one after the other, about a kilobyte of them. */
export function aKilobyte(): string {
  let text = ''
  for (const command of looking.filter((one) => !/[\n#]|\bcd\b/.test(one)))
    if (text.length + command.length < 1022) text += `${text === '' ? '' : '; '}${command}`
  return text
}

export async function speed(): Promise<readonly SpeedRow[]> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'pal-bench-')))
  try {
    mkdirSync(join(root, 'src'))
    execFileSync('git', ['init', '-q', root])
    return [
      await judging(root, `${looking.length} read-only commands`, looking),
      await judging(root, `${acting.length} commands that act`, acting),
      await judging(root, `a line of ${aKilobyte().length} characters`, [aKilobyte()], 2),
      await judging(root, 'a command of 20,000 words', [manyWords(20_000)], 100),
      ...(await wall(root)),
      ...(await shield(root)),
    ]
  } finally {
    rmSync(root, { recursive: true })
  }
}
