// The same faults in a real process: `pal` runs as a child with a module loaded before it, through which something happens at
// one file operation. What counts is what a script sees of it: the exit code, stderr and stdout. Afterwards `pal` runs
// again without a fault and must go on.
import { spawn } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createSimulator, type Simulator } from '../../src/simulator/index.ts'
import { fileStore } from '../../src/stores/index.ts'
import { isKnown, type Fact } from '../../src/transcript/fact.ts'
import { sessionId } from '../../src/transcript/ids.ts'
import { faultKinds, type FaultKind } from './sweep.ts'
import { answerer } from './sweep-works.ts'

interface PalWork {
  readonly name: string
  /** Runs that stand before it. */
  before(folder: string): readonly (readonly string[])[]
  run(folder: string): readonly string[]
  /** What must be as without the fault once it was run again: everything, or what is no transcript. */
  readonly again?: 'everything' | 'files'
}

const said = ['-p', `AND ON 0 ${'many words to say '.repeat(60)}`]
const saidMore = ['-p', '-c', ...said.slice(1)]
const nothing = (): readonly (readonly string[])[] => []
const works: readonly PalWork[] = [
  { name: 'tools', before: nothing, run: (folder) => ['-p', `DO TOOLS ${join(folder, 'project')}`] },
  { name: 'go on', before: () => [said], run: () => ['-p', '-c', 'AND ON'] },
  { name: 'compaction', before: () => [said, saidMore], run: () => ['compact'] },
  { name: 'memory', before: () => [said], run: (folder) => ['-p', `DO MEMORY ${join(folder, 'memory')}`] },
  { name: 'fork', before: () => [said], run: () => ['-p', '-c', '--fork-session', 'AND ON'] },
  { name: 'agent', before: nothing, run: () => ['-p', 'DO AGENT now'] },
  { name: 'settings', before: () => [said], run: () => ['config', 'memory', 'false'], again: 'everything' },
  {
    name: 'rewind',
    before: (folder) => [said, ['-p', '-c', `DO TOOLS ${join(folder, 'project')}`]],
    run: () => ['rewind', '2', '--files'],
    again: 'files',
  },
  { name: 'undo', before: () => [said, saidMore, ['compact']], run: () => ['undo', '11'] },
  {
    name: 'forget',
    before: (folder) => [said, ['-p', `DO MEMORY ${join(folder, 'memory')}`]],
    run: () => ['memory', 'forget', 'tests'],
    again: 'everything',
  },
  {
    name: 'export',
    before: () => [said],
    run: (folder) => ['sessions', 'export', '--to', join(folder, 'out')],
  },
  {
    name: 'import',
    before: (folder) => [said, ['sessions', 'export', '--to', join(folder, 'out')]],
    run: (folder) => ['sessions', 'import', join(folder, 'out'), '--cwd', join(folder, 'other')],
    again: 'everything',
  },
]

export interface PalRow {
  readonly work: string
  readonly fault: FaultKind
  faults: number
  /** The process was killed, ended with another code than 0, or said something on stderr. */
  told: number
  /** Ended with 0, and a tool told the model of it. */
  byTool: number
  /** Ended with 0 without a word, and everything is as without the fault. */
  harmless: number
  /** Ended with 0 without a word, and something is missing. */
  silent: number
  /** Answers that were printed and are not in the transcript. */
  lost: number
  /** Next runs that did not end with 0, or whose request was refused; work that cannot be brought to its end by running it again. */
  stuck: number
  /** Stack traces on stderr. */
  traces: number
}

export interface PalSweepOptions {
  /** Where the sources lie. */
  readonly root: string
  readonly every?: number
  readonly only?: readonly string[]
  readonly progress?: (text: string) => void
}

interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

interface Place {
  readonly root: string
  readonly case: string
  readonly pal: string
  readonly simulator: Simulator
  readonly url: string
}

export async function palSweep({
  root,
  every = 1,
  only,
  progress = () => undefined,
}: PalSweepOptions): Promise<{
  readonly rows: readonly PalRow[]
  readonly failures: readonly string[]
}> {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'pal-process-')))
  const bundled = await bundle(root)
  const simulator = createSimulator({ answerer })
  const { url } = await simulator.start()
  const at: Place = { root, case: join(base, 'case'), pal: join(bundled, 'pal.js'), simulator, url }
  const rows: PalRow[] = []
  const failures: string[] = []
  try {
    for (const work of works.filter(({ name }) => only === undefined || only.includes(name))) {
      const made = join(base, work.name)
      await prepare(at, work, made)
      await restore(at, made)
      const plain = await run(at, work.run(at.case), {})
      const expected: Expected = { ran: plain.ran, state: await stateOf(at), operations: plain.operations }
      if (plain.ran.code !== 0) throw new Error(`${work.name} fails without a fault: ${plain.ran.err}`)
      for (const fault of faultKinds) {
        const row = newRow(work.name, fault)
        rows.push(row)
        const places = expected.operations.filter((name) => isTarget(fault, name)).length
        for (let nth = 1; nth <= places; nth += every) {
          await restore(at, made)
          const wrong = await oneFault(at, work, { fault, nth, expected }, row)
          if (wrong !== null && failures.length < 40)
            failures.push(`${work.name}, ${fault} at ${nth}: ${wrong}`)
        }
        progress(`${work.name}, ${fault}: ${row.faults} faults, ${row.silent} silent, ${row.stuck} stuck`)
      }
    }
    return { rows, failures }
  } finally {
    await simulator.stop()
    for (const folder of [base, bundled]) await rm(folder, { recursive: true, force: true })
  }
}

const newRow = (work: string, fault: FaultKind): PalRow => ({
  work,
  fault,
  faults: 0,
  told: 0,
  byTool: 0,
  harmless: 0,
  silent: 0,
  lost: 0,
  stuck: 0,
  traces: 0,
})

const writing = /^(open-create|write|truncate|datasync|sync|mkdir|rename|link|chmod)$/
function isTarget(fault: FaultKind, name: string): boolean {
  if (fault === 'tear') return name === 'write'
  return fault === 'kill' || fault === 'EIO' || writing.test(name)
}

interface Expected {
  readonly ran: Ran
  readonly state: readonly string[]
  readonly operations: readonly string[]
}

async function oneFault(
  at: Place,
  work: PalWork,
  { fault, nth, expected }: { fault: FaultKind; nth: number; expected: Expected },
  row: PalRow,
): Promise<string | null> {
  const { ran } = await run(at, work.run(at.case), { PAL_FAULT: fault, PAL_FAULT_AT: String(nth) })
  row.faults++
  const state = await stateOf(at)
  const wrong: string[] = []
  const known = new Set(expected.ran.err.split('\n'))
  const words = ran.err.split('\n').filter((line) => line.trim() !== '' && !known.has(line))
  const errors = (lines: readonly string[]): number =>
    lines
      .join(' ')
      .split(' ')
      .filter((kind) => kind === 'tool-error').length
  const isSame = state.join('\n') === expected.state.join('\n')
  if (ran.code !== 0 || words.length > 0) row.told++
  else if (isSame) row.harmless++
  else if (errors(state) > errors(expected.state)) row.byTool++
  else {
    row.silent++
    const missing = expected.state.filter((line) => !state.includes(line)).join(' | ')
    wrong.push(`exit 0 without a word; missing: ${missing.slice(0, 300)}`)
  }
  if (/^\s+at .*\(?(node:|file:|\/).*:\d+:\d+\)?$/m.test(ran.err)) {
    row.traces++
    wrong.push(`a stack trace: ${ran.err.slice(0, 300)}`)
  }
  const answer = /answer \d+ to [^\n]*/.exec(ran.out)?.[0]
  if (answer !== undefined && !(await hasAnswer(at, answer))) {
    row.lost++
    wrong.push(`printed and gone: ${answer}`)
  }
  if (work.again !== undefined) {
    const repeated = (await run(at, work.run(at.case), {})).ran
    const part = (lines: readonly string[]): readonly string[] =>
      lines.filter((line) => work.again === 'everything' || !line.startsWith('session '))
    const [after, wanted] = [part(await stateOf(at)), part(expected.state)]
    const more = after.filter((line) => !wanted.includes(line))
    const less = wanted.filter((line) => !after.includes(line))
    if (more.length + less.length > 0) {
      row.stuck++
      const differs = [...more.map((line) => `+ ${line}`), ...less.map((line) => `- ${line}`)].join(' | ')
      wrong.push(`run again it ends with ${repeated.code}: ${repeated.err} ${differs.slice(0, 300)}`)
    }
  }
  const refusedBefore = at.simulator.log.requests.filter(({ error }) => error !== null).length
  const isThere = state.some((line) => line.startsWith('session '))
  const next = (await run(at, ['-p', ...(isThere ? ['-c'] : []), 'and on'], {})).ran
  const refused = at.simulator.log.requests.filter(({ error }) => error !== null).length - refusedBefore
  if (next.code !== 0 || refused > 0) {
    row.stuck++
    wrong.push(`the next run ended with ${next.code}, ${refused} refused: ${next.err.slice(0, 300)}`)
  }
  return wrong.length === 0 ? null : wrong.join('; ')
}

async function bundle(root: string): Promise<string> {
  const cache = join(root, 'node_modules', '.cache')
  await mkdir(cache, { recursive: true })
  const folder = await mkdtemp(join(cache, 'pal-sweep-'))
  const url = pathToFileURL(join(root, 'scripts', 'bundle.mjs')).href
  const { bundle: make } = (await import(url)) as { bundle: (folder: string) => Promise<void> }
  await make(folder)
  return folder
}

async function prepare(at: Place, work: PalWork, folder: string): Promise<void> {
  await rm(at.case, { recursive: true, force: true })
  for (const name of ['home', 'project', 'other', 'memory'])
    await mkdir(join(at.case, name), { recursive: true })
  await writeFile(join(at.case, 'project', 'given.txt'), 'given words\n'.repeat(50))
  for (const words of work.before(at.case)) {
    const { ran } = await run(at, words, {})
    if (ran.code !== 0) throw new Error(`cannot be prepared: ${ran.err}`)
  }
  await rename(at.case, folder)
}

async function restore(at: Place, made: string): Promise<void> {
  await rm(at.case, { recursive: true, force: true })
  await cp(made, at.case, { recursive: true, preserveTimestamps: true })
}

async function run(
  at: Place,
  words: readonly string[],
  fault: Readonly<Record<string, string>>,
): Promise<{ readonly ran: Ran; readonly operations: readonly string[] }> {
  const count = join(at.case, '..', 'operations')
  await rm(count, { force: true })
  const options = words.includes('-p') ? ['--allow', 'Write,Edit'] : []
  const child = spawn(process.execPath, [at.pal, ...options, ...words], {
    cwd: join(at.case, 'project'),
    env: {
      PATH: process.env['PATH'],
      HOME: join(at.case, 'home'),
      ANTHROPIC_BASE_URL: at.url,
      ANTHROPIC_API_KEY: 'test-key',
      PALIMPSEST_MEMORY_DIRECTORY: join(at.case, 'memory'),
      NODE_OPTIONS: `--require ${join(at.root, 'test', 'faults', 'faulty-disk.cjs')}`,
      PAL_FAULT_UNDER: at.case,
      PAL_FAULT_COUNT: count,
      ...fault,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  const operations = (await readFile(count, 'utf8').catch(() => '')).split('\n').filter((name) => name !== '')
  return { ran: { code, out, err }, operations }
}

/** Everything a user could miss: facts of each session by kind, and the files that were to be written. */
async function stateOf(at: Place): Promise<readonly string[]> {
  const lines: string[] = []
  for (const each of await readdir(at.case, { recursive: true, withFileTypes: true })) {
    const path = join(each.parentPath, each.name)
    if (!each.isFile() || each.name.startsWith('.pal-')) continue
    if (each.name === 'transcript.jsonl')
      lines.push(`session ${(await factsIn(each.parentPath)).map(kindOf).join(' ')}`)
    else if (
      path.endsWith('/settings.json') ||
      (/\/(project|memory)\/[^.]/.test(path.slice(at.case.length)) && !/\/home\//.test(path))
    )
      lines.push(...(await wordsOf(path, at.case)))
  }
  return lines.toSorted()
}

/** An empty file says as much as none. */
async function wordsOf(path: string, folder: string): Promise<readonly string[]> {
  const text = await readFile(path, 'utf8')
  return text === '' ? [] : [`${path.slice(folder.length)} ${text}`]
}

async function factsIn(folder: string): Promise<readonly Fact[]> {
  const store = fileStore({ root: join(folder, '..') })
  const facts: Fact[] = []
  for await (const item of store.read(sessionId(folder.split('/').at(-1)!)))
    if (item.kind === 'entry' && isKnown(item.entry)) facts.push(item.entry.fact)
  return facts
}

const kindOf = (fact: Fact): string =>
  fact.type === 'tool-result' && fact.isError ? 'tool-error' : fact.type

async function hasAnswer(at: Place, answer: string): Promise<boolean> {
  for (const each of await readdir(at.case, { recursive: true, withFileTypes: true }))
    if (each.name === 'transcript.jsonl')
      for (const fact of await factsIn(each.parentPath))
        if (fact.type === 'assistant-message' && JSON.stringify(fact.content).includes(answer)) return true
  return false
}
