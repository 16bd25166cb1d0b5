// What stands before the first message: instruction files and the indexes of memories, read at the start and after each
// compaction. What is read is bounded however many memories there are; a folder with many is looked through for changes
// from outside only after the first request is on its way.
import { join } from 'node:path'
import { localDay } from '../../memory/format/day.ts'
import { attempt, makeFolders, type FileSystem } from '../../disk/fs.ts'
import { replaceFile } from '../../disk/replace.ts'
import type { LoadedReminder, ReminderSource } from '../../engine/ports.ts'
import { listMemories } from '../../memory/files.ts'
import {
  loadInstructions,
  type InstructionSources,
  type Loaded,
  type LoadedFile,
} from '../../memory/instructions/load.ts'
import {
  changedSince,
  noPins,
  pinnedIn,
  pinsSince,
  type PinnedFiles,
} from '../../memory/instructions/pins.ts'
import { reminderOf, filesIn } from '../../memory/instructions/reminder.ts'
import { loadIndex } from '../../memory/keeping/index-keeping.ts'
import type { Keeper } from '../../memory/keeping/keeper.ts'
import { ledgerFile } from '../../memory/keeping/ledger.ts'
import { indexOf } from '../../memory/format/index-file.ts'
import { indexName, type Memory } from '../../memory/memory.ts'
import type { MemoryStore } from '../../memory/memory-store.ts'
import { finishSet } from '../../memory/keeping/change-sets.ts'
import { readSmall } from '../../disk/small-file.ts'
import { defaults } from '../../settings/defaults.ts'

export interface ReminderOptions {
  readonly fs: FileSystem
  readonly unique: () => string
  readonly now: () => number
  readonly sources: Omit<InstructionSources, 'fs' | 'pins' | 'approved'>
  /** Where it is kept which instruction files the user knows. */
  readonly pinsFile: string
  /** Whose indexes travel along. */
  readonly keepers: readonly Keeper[]
  /** Stores of the caller's own; their indexes are made from what they list. */
  readonly stores: readonly MemoryStore[]
}

export interface BuiltReminder extends Loaded {
  readonly text: string | null
}

export function reminderSource(options: ReminderOptions): ReminderSource {
  const begunMs = options.now()
  return {
    load: async (moment): Promise<LoadedReminder> => {
      const { text, problems } = await tell(options, moment === 'start' ? null : begunMs)
      return { text, notices: problems }
    },
    filesIn,
  }
}

/** `since`: a session that began then asks again; null: one begins now, and what is there becomes what is known. */
export async function tell(
  options: ReminderOptions,
  since: number | null,
  keep = true,
): Promise<BuiltReminder> {
  const known = await readPins(options)
  const sources = sourcesOf(options, known, since)
  const [loaded, indexes] = await Promise.all([loadInstructions(sources), indexesOf(options)])
  const own = loaded.files.filter(({ layer }) => layer === 'project' || layer === 'local')
  const changed = changedSince(known, own)
  const problems = [
    ...loaded.problems,
    // Whoever judges contents has shown the change already.
    ...(sources.refusal === undefined ? changed : []).map((path) => `${path} changed since it was last sent`),
    ...indexes.problems,
  ]
  if (keep) {
    const failure = await keepPins(options, known, own)
    if (failure !== null) problems.push(failure)
  }
  const files = [...loaded.files, ...indexes.files]
  return { files, problems, text: reminderOf({ files }) }
}

export function sourcesOf(
  options: ReminderOptions,
  known: PinnedFiles,
  since: number | null,
): InstructionSources {
  const { refusal } = options.sources
  return {
    ...options.sources,
    fs: options.fs,
    // Accepted with `pal memory accept`, with exactly this content.
    refusal:
      refusal &&
      ((file, lies) =>
        known.pins[file.path] === file.sha256 && known.includes.includes(file.path)
          ? null
          : refusal(file, lies)),
    pins: since === null ? null : pinsSince(known, since),
    approved: new Set(known.includes),
  }
}

async function indexesOf({ fs, keepers, stores, now }: ReminderOptions): Promise<Loaded> {
  const files: LoadedFile[] = []
  const problems: string[] = []
  for (const store of stores) {
    const listed = await store.list(defaults.memory.checkedAtStart)
    if (!listed.ok) problems.push(`the memories in ${store.root} cannot be read: ${listed.failure.message}`)
    else files.push(...indexFile(store.root, listedIndex(listed.memories, now())))
  }
  for (const keeper of keepers) {
    const { root } = keeper.place
    // A process that died while it put memories in order has left the rest to whoever comes next.
    const whole = await finishSet(keeper)
    if (!whole.ok) problems.push(`the memories in ${root}: ${whole.failure.message}`)
    const index = await loadIndex(keeper)
    if (!index.ok) {
      problems.push(`the memories in ${root} cannot be read: ${index.failure.message}`)
      continue
    }
    if (index.tampered)
      problems.push(`${join(root, indexName)} was changed from outside; it was generated again`)
    files.push(...indexFile(root, index.text))
    problems.push(...(await strangers(fs, keeper)))
  }
  return { files, problems }
}

const indexFile = (root: string, text: string): readonly LoadedFile[] =>
  text.trim() === ''
    ? []
    : [{ path: join(root, indexName), layer: 'memory', text, by: null, sha256: '', hidden: 0 }]

/** As a folder's index is made from its ledger: of what may be shown unasked. */
const listedIndex = (memories: readonly Memory[], now: number): string =>
  indexOf(
    memories
      .filter(({ standing }) => standing === 'open')
      .map((memory) => ({ file: memory.file, head: memory, at: memory.modifiedMs })),
    localDay(now),
  ).text

/** Files that something else wrote: they are shown to nobody until the user has looked. */
async function strangers(fs: FileSystem, keeper: Keeper): Promise<readonly string[]> {
  const { root } = keeper.place
  const names = await attempt('looking', async () => ({ names: await fs.names(root) }))
  const ledger = await attempt('looking', () => fs.stat(ledgerFile(keeper.place.state)))
  const isLarge = ledger.ok && ledger.bytes > defaults.memory.checkedLedgerBytes
  if (!names.ok || isLarge || names.names.length > defaults.memory.checkedAtStart) return []
  const listed = await listMemories(fs, keeper.place, { ledger: keeper.ledger })
  if (!listed.ok) return [`the memories in ${root} cannot be looked through: ${listed.failure.message}`]
  const held = listed.memories.filter(({ standing }) => standing === 'held').map(({ file }) => file)
  const waiting = keeper.ledger.held().length
  return [
    ...(held.length === 0
      ? []
      : [`changed from outside and held in ${root}: ${held.join(', ')}; look with pal memory review`]),
    ...(waiting === 0
      ? []
      : [`${waiting === 1 ? '1 memory needs' : `${waiting} memories need`} review: pal memory review`]),
    ...listed.skipped.map(({ file, why }) => `${join(root, file)}: ${why}`),
  ]
}

export async function readPins({
  fs,
  pinsFile,
}: Pick<ReminderOptions, 'fs' | 'pinsFile'>): Promise<PinnedFiles> {
  const read = await readSmall(fs, pinsFile, defaults.memory.instructionBytes)
  return read.ok ? pinnedIn(read.bytes.toString('utf8')) : noPins
}

async function keepPins(
  options: ReminderOptions,
  known: PinnedFiles,
  files: readonly LoadedFile[],
): Promise<string | null> {
  const pins = { ...known.pins, ...Object.fromEntries(files.map(({ path, sha256 }) => [path, sha256])) }
  if (JSON.stringify(pins) === JSON.stringify(known.pins)) return null
  return await writePins(options, { ...known, pins })
}

/** Null when it is written down, else why not. */
export async function writePins(
  { fs, pinsFile, unique }: Pick<ReminderOptions, 'fs' | 'pinsFile' | 'unique'>,
  pinned: PinnedFiles,
): Promise<string | null> {
  const made = await attempt('making a folder', () =>
    makeFolders(fs, join(pinsFile, '..'), defaults.memory.folderMode),
  )
  if (!made.ok) return made.failure.message
  const bytes = Buffer.from(`${JSON.stringify(pinned, null, 2)}\n`)
  const written = await replaceFile(fs, pinsFile, bytes, { mode: defaults.memory.fileMode, unique })
  return written.ok ? null : written.failure.message
}
