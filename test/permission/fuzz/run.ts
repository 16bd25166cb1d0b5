// The whole of it: makes lines, asks the judge, runs what it lets through, and says what should not have happened.
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { machineFileSystem } from '../../../src/disk/fs.ts'
import { judgeCommand } from '../../../src/tools/permission/judge-command.ts'
import { analyse } from '../../../src/tools/permission/shell/analyse.ts'
import { differences, digest, secret } from './fixture.ts'
import { randomCommand, sweep } from './generate.ts'
import { createJail, realScript, recordScript, recordsIn, type Jail } from './jail.ts'
import { randomFrom } from './random.ts'

export interface Finding {
  readonly kind: 'words' | 'change' | 'shown' | 'thrown'
  readonly command: string
  readonly what: string
}

export interface Progress {
  readonly inputs: number
  readonly allowed: number
  readonly ran: number
  readonly stalled: number
  readonly findings: readonly Finding[]
}

export interface FuzzOptions {
  readonly seed: number
  readonly inputs: number
  /** Lines that come before those at random; left out, the whole sweep. They count as inputs. */
  readonly lines?: Iterable<string>
  readonly workers?: number
  readonly batch?: number
  /** Stops early once this many were found. */
  readonly maxFindings?: number
  readonly onProgress?: (progress: Progress) => void
}

type Words = readonly { readonly value: string; readonly text: string; readonly isGlob: boolean }[]

/** Whether bash ran what the judge saw. A pattern and a number that the shell fills in may stand for anything. */
function isSame(words: Words, ran: readonly string[], home: string): boolean {
  return (
    words.length === ran.length &&
    words.every(({ value, text, isGlob }, at) => {
      const expected = /^~(?:\/|$)/.test(text) ? home + value.slice(1) : value
      return isGlob || ran[at] === expected || (at === 0 && basename(value) === ran[at])
    })
  )
}

export async function fuzz(options: FuzzOptions): Promise<Progress> {
  const { seed, inputs, workers = 2, batch = 250, maxFindings = Infinity, onProgress } = options
  const lines = (options.lines ?? sweep())[Symbol.iterator]()
  const jail = createJail(workers)
  const place = { fs: machineFileSystem, root: jail.project, cwd: jail.project, home: jail.home }
  const seen = new Set<string>()
  const findings: Finding[] = []
  let [made, allowed, ran, stalled] = [0, 0, 0, 0]
  const progress = (): Progress => ({ inputs: made, allowed, ran, stalled, findings })

  const nextBatch = async (): Promise<readonly string[]> => {
    const commands: string[] = []
    for (; made < inputs && commands.length < batch && findings.length < maxFindings;) {
      const given = lines.next()
      const command = given.done !== true ? given.value : randomCommand(randomFrom(seed, made))
      made++
      if (seen.has(command) || command.includes('\0')) continue
      seen.add(command)
      try {
        const { kind } = await judgeCommand(command, { allow: [], ask: [], deny: [] }, place)
        if (kind === 'allow') commands.push(command)
      } catch (error) {
        findings.push({ kind: 'thrown', command, what: String(error) })
      }
    }
    allowed += commands.length
    return commands
  }
  const work = async (worker: number): Promise<void> => {
    for (;;) {
      const commands = await nextBatch()
      if (commands.length === 0) return
      findings.push(...(await compareWords(jail, worker, commands)))
      const done = await runReal(jail, worker, commands)
      findings.push(...done.findings)
      stalled += done.stalled
      ran += commands.length
      onProgress?.(progress())
    }
  }
  try {
    await Promise.all(Array.from({ length: workers }, (_, worker) => work(worker)))
  } finally {
    jail.end()
  }
  return progress()
}

/** What bash runs must be among what the judge saw, whether the commands before succeed or fail. */
export async function compareWords(
  jail: Jail,
  worker: number,
  commands: readonly string[],
): Promise<readonly Finding[]> {
  const judged = commands.map((command) => analyse(command).steps.map(({ words }) => words))
  const names = new Set(judged.flatMap((steps) => steps.map((words) => words[0]?.value ?? '')))
  const found = new Map<string, Finding>()
  for (const status of [0, 1]) {
    const record = join(jail.at(worker), 'record')
    rmSync(record, { force: true })
    await jail.run(worker, recordScript(names, status), commands)
    for (const [line, all] of recordsIn(record))
      for (const words of all) {
        const steps = judged[line] ?? []
        if (
          !steps.some((step) =>
            isSame(
              step.filter((word) => word !== null),
              words,
              jail.home,
            ),
          )
        )
          found.set(commands[line]!, {
            kind: 'words',
            command: commands[line]!,
            what: `bash ran ${JSON.stringify(words)}; judged were ${JSON.stringify(steps.map((step) => step.map((word) => word?.value ?? null)))}`,
          })
      }
  }
  return [...found.values()]
}

/** Runs them with the real programs; a batch that changed anything is halved until the one command stands alone. */
export async function runReal(
  jail: Jail,
  worker: number,
  commands: readonly string[],
): Promise<{ readonly findings: readonly Finding[]; readonly stalled: number }> {
  const findings: Finding[] = []
  const before = digest(jail.at(worker))
  const stalled = await jail.run(worker, realScript, commands)
  for (const [at, command] of commands.entries()) {
    const file = join(jail.at(worker), 'out', String(at))
    if (existsSync(file) && readFileSync(file).includes(secret))
      findings.push({ kind: 'shown', command, what: 'it shows what holds keys or lies outside the project' })
    rmSync(file, { force: true })
  }
  const changes = differences(before, digest(jail.at(worker)))
  if (changes.length === 0) return { findings, stalled: stalled.length }
  jail.restore(worker)
  if (commands.length === 1)
    return {
      findings: [
        ...findings,
        { kind: 'change', command: commands[0]!, what: changes.slice(0, 3).join(', ') },
      ],
      stalled: stalled.length,
    }
  const middle = Math.ceil(commands.length / 2)
  const halves = [commands.slice(0, middle), commands.slice(middle)]
  let isolated = 0
  for (const half of halves) {
    const { findings: inner } = await runReal(jail, worker, half)
    isolated += inner.filter(({ kind }) => kind === 'change').length
    findings.push(...inner.filter(({ kind }) => kind === 'change'))
  }
  if (isolated === 0)
    findings.push({
      kind: 'change',
      command: commands.join('\n'),
      what: `only together: ${changes.slice(0, 3).join(', ')}`,
    })
  return { findings, stalled: stalled.length }
}
