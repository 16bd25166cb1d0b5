// A fault at every file operation of a piece of work: the process dies before it, dies in the middle of a write, the disk is
// full once or from there on, or the device fails. Then the session is opened by a new process, and it is asked: is anything
// gone that was acknowledged, is the next request accepted, and was whoever ran it told?
//
// A dead process is one whose file system never answers again from some call on: what it had done is there, what it would have
// done is not. Its locks then name a process that is over.
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { machineFileSystem, type FileSystem } from '../../src/disk/fs.ts'
import { machineProcesses } from '../../src/disk/processes.ts'
import { EngineError } from '../../src/engine/session.ts'
import { createPreset, sessionsFolder, type Preset } from '../../src/preset.ts'
import { projectOf, type Project } from '../../src/preset/project.ts'
import { createSimulator, type Simulator } from '../../src/simulator/index.ts'
import { fileStore } from '../../src/stores/index.ts'
import { storeWith, type Store } from '../../src/transcript/store.ts'
import { encode } from '../../src/transcript/codec.ts'
import { isKnown, type Entry, type StoredEntry } from '../../src/transcript/fact.ts'
import { sessionId, type SessionId } from '../../src/transcript/ids.ts'
import { hookedFileSystem, systemError, trackingFileSystem, type Call } from './hooked-fs.ts'
import { answerer, bigTool, works, type Work } from './sweep-works.ts'

export const faultKinds = ['kill', 'tear', 'ENOSPC', 'full', 'EIO'] as const
export type FaultKind = (typeof faultKinds)[number]

export interface SweepRow {
  readonly work: string
  readonly fault: FaultKind
  /** File operations at which it was made to happen. */
  faults: number
  /** Ended with a failure, an error of a tool or a notice; of a process that died everybody knows. */
  told: number
  /** Nothing was said, and everything is as without the fault. */
  harmless: number
  /** Nothing was said although something is missing. */
  silent: number
  /** Acknowledged entries and memories that are gone. */
  lost: number
  /** Sessions that did not open again, and next requests that failed. */
  stuck: number
}

export interface SweepOptions {
  /** Every nth operation only. */
  readonly every?: number
  readonly only?: readonly string[]
  readonly progress?: (text: string) => void
}

export async function sweep({ every = 1, only, progress = () => undefined }: SweepOptions = {}): Promise<{
  readonly rows: readonly SweepRow[]
  readonly failures: readonly string[]
}> {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'pal-sweep-')))
  const simulator = createSimulator({ answerer })
  const { url } = await simulator.start()
  const at: Place = { case: join(base, 'case'), url, simulator }
  const rows: SweepRow[] = []
  const failures: string[] = []
  try {
    for (const work of works.filter(({ name }) => only === undefined || only.includes(name))) {
      const made = await prepare(at, work, join(base, work.name))
      const plain = await oneRun(at, made, () => undefined)
      const expected = { state: await stateOf(at, made), told: plain.told }
      for (const fault of faultKinds) {
        const row: SweepRow = {
          work: work.name,
          fault,
          faults: 0,
          told: 0,
          harmless: 0,
          silent: 0,
          lost: 0,
          stuck: 0,
        }
        rows.push(row)
        const places = [...plain.calls.filter(({ name }) => isTarget(fault, name)).entries()].filter(
          ([nth]) => nth % every === 0,
        )
        for (const [nth, { name }] of places) {
          const wrong = await oneFault(at, made, { fault, nth, expected }, row)
          if (wrong !== null && failures.length < 40)
            failures.push(`${work.name}, ${fault} at the ${nth + 1}th (${name}): ${wrong}`)
        }
        progress(
          `${work.name}, ${fault}: ${row.faults} faults, ${row.silent} silent, ${row.lost} lost, ${row.stuck} stuck`,
        )
      }
    }
    return { rows, failures }
  } finally {
    await simulator.stop()
    await rm(base, { recursive: true, force: true, maxRetries: 9, retryDelay: 20 })
  }
}

const writing = /^(open-create|write|truncate|datasync|sync|syncFolder|makeFolder|rename|link|chmod)$/
function isTarget(fault: FaultKind, name: string): boolean {
  if (fault === 'kill' || fault === 'EIO') return true
  return fault === 'tear' ? name === 'write' : writing.test(name)
}

interface Place {
  readonly case: string
  readonly url: string
  readonly simulator: Simulator
}

const homeIn = (at: Place): string => join(at.case, 'home', '.palimpsest')

interface Made {
  readonly work: Work
  readonly folder: string
  readonly session: SessionId | null
}

/** What stands before the work, made once: the same path for every case, since a project is known by its path. */
async function prepare(at: Place, work: Work, folder: string): Promise<Made> {
  await rm(at.case, { recursive: true, force: true, maxRetries: 9, retryDelay: 20 })
  await mkdir(join(at.case, 'home'), { recursive: true })
  await mkdir(join(at.case, 'project'))
  await writeFile(join(at.case, 'project', 'given.txt'), 'given words\n'.repeat(50))
  const life = await open(at, machineFileSystem)
  const session = await work.before(life.preset)
  await life.preset.close()
  await rename(at.case, folder)
  return { work, folder, session }
}

interface Life {
  readonly preset: Preset
  readonly project: Project
  readonly acknowledged: { readonly session: SessionId; readonly entry: StoredEntry }[]
  readonly notices: string[]
}

async function open(at: Place, fs: FileSystem): Promise<Life> {
  const found = await projectOf(machineFileSystem, join(at.case, 'project'))
  if (!found.ok) throw new Error(found.failure.message)
  const home = homeIn(at)
  const acknowledged: Life['acknowledged'] = []
  const notices: string[] = []
  const beacons = { ...machineProcesses.beacons, light: () => Promise.resolve(null) }
  const processes = { ...machineProcesses, beacons }
  const files = fileStore({ root: sessionsFolder(home, found.project), machine: { fs, processes } })
  const store: Store = storeWith(files, {
    append: async (lease, entries, expected, durability) => {
      const outcome = await files.append(lease, entries, expected, durability)
      if (outcome.ok) for (const entry of entries) acknowledged.push({ session: lease.session, entry })
      return outcome
    },
  })
  const preset = createPreset({
    project: found.project,
    home,
    settings: { model: 'claude-sonnet-4-6', allow: ['Write', 'Edit'], sandbox: 'off' },
    environment: { PATH: process.env['PATH'], HOME: join(at.case, 'home') },
    model: { apiKey: 'test', baseUrl: at.url },
    listen: (event) => void (event.type === 'notice' && notices.push(event.message)),
    extensions: { tools: [bigTool], sections: [], reminders: [] } as never,
    fs,
    store,
  })
  return { preset, project: found.project, acknowledged, notices }
}

interface Ran {
  readonly calls: readonly Call[]
  readonly told: readonly string[]
  readonly acknowledged: Life['acknowledged']
  readonly isDead: boolean
}

/** Does the work over a file system that something happens to. */
async function oneRun(at: Place, made: Made, happen: (call: Call) => 'die' | 'tear' | void): Promise<Ran> {
  await rm(at.case, { recursive: true, force: true, maxRetries: 9, retryDelay: 20 })
  await cp(made.folder, at.case, { recursive: true, preserveTimestamps: true })
  const calls: Call[] = []
  const { fs: machine, closeAll } = trackingFileSystem(machineFileSystem)
  let [isDead, isTorn] = [false, false]
  let died = (): void => undefined
  const death = new Promise<void>((resolve) => (died = resolve))
  const never = new Promise<never>(() => undefined)
  const before = async (call: Call): Promise<void> => {
    if (!isDead) {
      calls.push(call)
      const what = happen(call)
      isTorn = what === 'tear'
      if (what === 'die') isDead = true
    }
    if (!isDead) return
    died()
    await never
  }
  const take = (_: Call, bytes: number): number => {
    if (!isTorn) return bytes
    isDead = true
    return Math.floor(bytes / 2)
  }
  const fs = hookedFileSystem(machine, { before, take })
  const told: string[] = []
  const life = await open(at, fs)
  const work = (async () => {
    try {
      await made.work.run(life.preset, made.session, told)
    } catch (error) {
      if (!(error instanceof EngineError)) throw error
      told.push(error.message)
    }
    await life.preset.close()
  })()
  await Promise.race([work, death])
  await bury(at.case)
  await closeAll()
  return { calls, told: [...told, ...life.notices], acknowledged: life.acknowledged, isDead }
}

/** The process has ended, so whatever it wrote of itself is of one that is over. */
async function bury(folder: string): Promise<void> {
  const { start } = await machineProcesses.self()
  for (const each of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!each.isFile()) continue
    const path = join(each.parentPath, each.name)
    const text = await readFile(path, 'utf8')
    if (text.length < 4096 && text.includes(`"start":"${start}"`))
      await writeFile(path, text.replaceAll(`"start":"${start}"`, '"start":"1"'))
  }
}

/** How the work ends without a fault, and what is said then. */
interface Expected {
  readonly state: string
  readonly told: readonly string[]
}

async function oneFault(
  at: Place,
  made: Made,
  { fault, nth, expected }: { fault: FaultKind; nth: number; expected: Expected },
  row: SweepRow,
): Promise<string | null> {
  let [isFull, isMet, seen] = [false, false, 0]
  const happen = (call: Call): 'die' | 'tear' | void => {
    if (isFull && writing.test(call.name)) throw systemError('ENOSPC')
    // Counted among those it can happen to: what runs side by side does not always come in the same order.
    if (!isTarget(fault, call.name) || seen++ !== nth) return
    isMet = true
    if (fault === 'kill') return 'die'
    if (fault === 'tear') return 'tear'
    isFull = fault === 'full'
    throw systemError(fault === 'EIO' ? 'EIO' : 'ENOSPC')
  }
  const ran = await oneRun(at, made, happen)
  // A run may take an operation less than the one that was counted.
  if (!isMet) return null
  row.faults++
  const wrong: string[] = []
  const isTold = ran.isDead || ran.told.some((text) => !expected.told.includes(text))
  if (isTold) row.told++
  else if ((await stateOf(at, made)) === expected.state) row.harmless++
  else {
    row.silent++
    const [now, then] = [new Set((await stateOf(at, made)).split('\n')), expected.state.split('\n')]
    const missing = then.filter((line) => !now.has(line)).join(' | ')
    const instead = [...now].filter((line) => !then.includes(line)).join(' | ')
    wrong.push(`nothing was said; missing: ${missing}; instead: ${instead}`)
  }
  const stuck = await goesOn(at, made, ran)
  if (stuck !== null) {
    row.stuck++
    wrong.push(stuck)
  }
  const lost = await gone(at, ran, made)
  row.lost += lost.length
  if (lost.length > 0) wrong.push(`gone: ${lost.join(', ')}`)
  return wrong.length === 0 ? null : wrong.join('; ')
}

/** A new process opens what there is and asks on; null when it could. */
async function goesOn(at: Place, made: Made, { acknowledged }: Ran): Promise<string | null> {
  const before = at.simulator.log.requests.filter(({ error }) => error !== null).length
  const life = await open(at, machineFileSystem)
  try {
    const begun = acknowledged.find(({ entry }) => isMainStart(entry))?.session ?? made.session
    const session = await life.preset.engine.open(begun ?? undefined)
    let outcome = ''
    for await (const event of session.send('and on'))
      if (event.type === 'turn-end') outcome = `${event.outcome} ${event.failure?.message ?? ''}`.trim()
    await session.close()
    const refused = at.simulator.log.requests.filter(({ error }) => error !== null).length - before
    return outcome === 'done' && refused === 0 ? null : `the next turn ended ${outcome}, ${refused} refused`
  } catch (error) {
    return `it does not open again: ${String(error)}`
  } finally {
    await life.preset.close()
  }
}

const isMainStart = (entry: StoredEntry): boolean =>
  isKnown(entry) && entry.fact.type === 'session-start' && entry.fact.purpose === 'main'

async function gone(at: Place, { acknowledged }: Ran, { work }: Made): Promise<readonly string[]> {
  const found = await projectOf(machineFileSystem, join(at.case, 'project'))
  if (!found.ok) throw new Error(found.failure.message)
  const store = fileStore({ root: sessionsFolder(homeIn(at), found.project) })
  const lost: string[] = []
  for (const session of new Set(acknowledged.map((each) => each.session))) {
    const there = new Set<string>()
    for await (const item of store.read(session))
      if (item.kind === 'entry') there.add(encode(item.entry as Entry))
    for (const each of acknowledged)
      if (each.session === session && !there.has(encode(each.entry as Entry)))
        lost.push(`${session} ${each.entry.seq}`)
  }
  return [
    ...lost,
    ...(await work.gone(
      acknowledged.map(({ entry }) => entry),
      at.case,
    )),
  ]
}

/** Everything a user could miss, as a text: facts by kind, and the files that were to be written. */
async function stateOf(at: Place, made: Made): Promise<string> {
  const lines: string[] = []
  for (const each of await readdir(at.case, { recursive: true, withFileTypes: true })) {
    const path = join(each.parentPath, each.name)
    if (
      !each.isFile() ||
      /\/(lock|damage|first-line|checkpoint\.json|mail|\.pal-)/.test(path.slice(at.case.length))
    )
      continue
    if (each.name !== 'transcript.jsonl') {
      if (/\/project\/|\/memory\//.test(path)) lines.push(`${path} ${await readFile(path, 'utf8')}`)
      continue
    }
    const store = fileStore({ root: join(each.parentPath, '..') })
    const kinds: string[] = []
    for await (const item of store.read(sessionId(each.parentPath.split('/').at(-1)!)))
      if (item.kind === 'entry' && isKnown(item.entry)) kinds.push(kindOf(item.entry.fact))
    lines.push(kinds.filter((kind) => !made.work.varies.includes(kind)).join(' '))
  }
  return lines.toSorted().join('\n')
}

const kindOf = (fact: Entry['fact']): string =>
  fact.type === 'tool-result' && fact.isError ? 'tool-error' : fact.type
