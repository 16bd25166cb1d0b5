// `pal messages`, `pal pin` and `pal rewind`: the messages of a session by their numbers, one of them kept for good, and
// back to one of them. A rewind is a fact and removes nothing; files are restored only where asked, only those a tool of
// ours wrote, and only where nobody changed them since.
import { dirname, join } from 'node:path'
import { attempt, machineFileSystem, readAt, reading, type FileSystem } from '../../disk/fs.ts'
import { refused, type Failure, type FailureCode } from '../../disk/failure.ts'
import { removeIfThere, replaceFile, temporaryName } from '../../disk/replace.ts'
import { EngineError, type Session } from '../../engine/session.ts'
import type { Preset } from '../../preset.ts'
import { defaults } from '../../settings/defaults.ts'
import { beforeImageIn, beforeImageName, type BeforeImage } from '../../tools/files/text-file.ts'
import { textIn } from '../../transcript/content.ts'
import { isKnown, isRealInput } from '../../transcript/fact.ts'
import { seq, unbounded, type Seq, type SessionId } from '../../transcript/ids.ts'
import { lineageOf, ownLink, readLine, readLineBack, type Link } from '../../transcript/lineage.ts'
import type { Result, Store } from '../../transcript/store.ts'
import { exits, fail, type Exit } from '../exit-codes.ts'
import type { Io } from '../terminal/io.ts'
import { safeJson, safeLine } from '../terminal/safe-text.ts'
import { table, right, wraps } from '../terminal/tables.ts'
import { type ProjectFlags } from '../workplace/workplace.ts'
import { changing, placeIn, type CommandPrefix } from './undo.ts'
import { sha256Of } from '../../tools/files/text-file.ts'

export interface RewindFlags extends ProjectFlags {
  readonly files?: boolean | undefined
}

export const messages = (io: Io, id: string | undefined, flags: ProjectFlags): Promise<Exit> =>
  changing(io, id, flags, listInputs(io, flags), { isReadOnly: true })

const listInputs =
  (io: Io, flags: ProjectFlags) =>
  async (session: Session, { store }: Pick<Preset, 'store'>): Promise<void> => {
    const inputs = await earlierInputs(store, session)
    if (flags.json === true) io.out(`${safeJson(inputs, 2)}\n`)
    else if (inputs.length === 0) io.out('No messages in this session yet.\n')
    else io.out(table([right('message'), wraps('text'), ''], inputs.map(rowOf), io.columns))
  }

const rowOf = ({ at, words, isInContext, pins }: EarlierInput): readonly string[] => [
  `#${at}`,
  oneLine(words),
  [...(isInContext ? [] : ['compacted']), ...pinnedBy(pins)].join(', '),
]

/** That a message is pinned, and by what it is released. */
export const pinnedBy = (pins: readonly Seq[]): readonly string[] =>
  pins.map((pin) => `pinned until #${pin} is released`)

export const oneLine = (words: string): string =>
  words.replaceAll(/\s+/g, ' ').trim().slice(0, defaults.cli.firstWordsChars).toWellFormed()

export const pin = (io: Io, place: string, id: string | undefined, flags: ProjectFlags): Promise<Exit> =>
  atMessage(io, place, id, flags, async (session, earlier) => {
    const { at } = earlier
    const pinned = await pinMessage(session, earlier)
    if (flags.json === true) io.out(`${safeJson({ session: session.id, pinned: at, release: pinned })}\n`)
    else io.out(pinnedText(at, pinned, 'pal '))
  })

export const pinnedText = (at: Seq, pinned: Seq, prefix: CommandPrefix): string =>
  `message #${at} is pinned: it stays verbatim through every compaction. ${prefix}release ${pinned} unpins it\n`

/** Pins the text of a message, once; returns the number to release it by. */
export async function pinMessage(session: Session, { at, pins }: EarlierInput): Promise<Seq> {
  return pins[0] ?? (await session.pin({ seq: at, block: 0 })).seq
}

export const rewind = (io: Io, place: string, id: string | undefined, flags: RewindFlags): Promise<Exit> =>
  atMessage(io, place, id, flags, async (session, earlier, store) => {
    const files = await goBack(session, earlier, flags.files === true ? store : null)
    if (flags.json === true) io.out(`${safeJson({ session: session.id, to: earlier.to, ...files }, 2)}\n`)
    else io.out(rewoundText(earlier, files))
  })

/** Back to before a message was said; files too where a store is given. */
export async function goBack(
  session: Session,
  { to }: EarlierInput,
  store: Store | null,
): Promise<RestoredFiles | null> {
  const files = store === null ? null : await restoreFiles(machineFileSystem, store, session, to)
  await session.rewind(to)
  return files
}

export function rewoundText({ words }: EarlierInput, files: RestoredFiles | null): string {
  const lines = [
    ...(files?.restored ?? []).map((path) => `  restored: ${safeLine(path)}\n`),
    ...(files?.left ?? []).map((line) => `  not restored: ${safeLine(line)}\n`),
  ]
  return `rewound to before "${safeLine(oneLine(words))}"; nothing was deleted\n${lines.join('')}`
}

function atMessage(
  io: Io,
  place: string,
  id: string | undefined,
  flags: ProjectFlags,
  work: (session: Session, earlier: EarlierInput, store: Store) => Promise<void>,
): Promise<Exit> {
  const at = placeIn(place)
  return changing(io, id, flags, async (session, { store }) => {
    const earlier = (await earlierInputs(store, session)).find((one) => one.at === at)
    if (earlier !== undefined) return work(session, earlier, store)
    return fail(io, exits.usage, `there is no message ${place}; pal messages lists them`)
  })
}

// ---- earlier messages, and what the files were then ----

export interface EarlierInput {
  /** The message, and the entry a rewind goes back to: the one before it. */
  readonly at: Seq
  readonly to: Seq
  readonly words: string
  /** False for one that a compaction replaced: a rewind reaches it, a pin does not. */
  readonly isInContext: boolean
  /** The numbers that release its pins. */
  readonly pins: readonly Seq[]
}

/** What the user said and no rewind has cut off, newest first; also what a compaction replaced. */
export async function earlierInputs(store: Store, session: Session): Promise<readonly EarlierInput[]> {
  const { messages: inView, pins } = session.view()
  const shown = new Set(
    [...inView].flatMap((message) =>
      message.parts.filter((part) => part.kind === 'input').map(({ from }) => from),
    ),
  )
  const line = await lineageOf(store, session.id)
  if (!line.ok) throw new EngineError(line.failure)
  let inputs: EarlierInput[] = []
  for await (const item of readLine(store, line.links, {})) {
    if (item.kind === 'failed') throw new EngineError(item.failure)
    if (item.kind !== 'entry' || !isKnown(item.entry)) continue
    const { fact, seq: at } = item.entry
    if (fact.type === 'rewind') inputs = inputs.filter((one) => one.at <= fact.to)
    if (isRealInput(fact))
      inputs.push({
        at,
        to: seq(at - 1),
        words: textIn(fact.content, ' '),
        isInContext: shown.has(at),
        pins: pins.filter((pin) => pin.at === at).map((pin) => pin.seq),
      })
  }
  return inputs.toReversed()
}

interface RestoredFiles {
  readonly restored: readonly string[]
  /** With the reason. */
  readonly left: readonly string[]
}

/**
 * Restores files as they were at `to`. The newest change first, so that several to one file undo in turn. Throws where the disk
 * fails: once the session is rewound, nothing could bring the rest of them back.
 */
async function restoreFiles(fs: FileSystem, store: Store, session: Session, to: Seq): Promise<RestoredFiles> {
  const restored = new Set<string>()
  const left: string[] = []
  const stopped = new Set<string>()
  for await (const { by, callId, file, isFailed } of changesSince(store, session, to)) {
    const blob = await store.getBlob(by, beforeImageName(callId))
    const image = blob.ok ? beforeImageIn(blob.bytes) : null
    const path = image?.path ?? file
    if (stopped.has(path)) continue
    const put = image === null ? notStored(blob) : await restoreFile(fs, image, session.id)
    if (!put.ok && mayPass.has(put.failure.code)) throw notRewound(path, put.failure, restored.size)
    // One that was cut off may have written its file or not; one that was refused has not.
    if (isFailed && (!put.ok || !put.isChanged)) continue
    if (put.ok) restored.add(path)
    else {
      // An older state must not be put over one that could not be undone.
      stopped.add(path)
      left.push(`${path}: ${put.failure.message}`)
    }
  }
  return { restored: [...restored], left }
}

/** What is wrong with the disk and not with the file. */
const mayPass: ReadonlySet<FailureCode> = new Set([
  'busy',
  'disk-full',
  'io-error',
  'quota',
  'read-only',
  'too-many-open-files',
] as const)

const notStored = (blob: Result<object>): Result<never> =>
  blob.ok || !mayPass.has(blob.failure.code)
    ? refused('not-found', 'its earlier content was not stored')
    : blob

function notRewound(path: string, { code, message }: Failure, restored: number): EngineError {
  const so = restored === 0 ? '' : `; files restored before it: ${restored}`
  return new EngineError({
    code,
    message: `${path} could not be restored: ${message}${so}. The session was not rewound: run it again, or rewind without files`,
  })
}

/** `by`: the session that made the change and keeps what was there before: of a fork it may be one it was forked from, or an agent's. */
interface Change {
  readonly by: SessionId
  readonly callId: string
  readonly file: string
  readonly isFailed: boolean
}

async function* changesSince(store: Store, session: Session, to: Seq): AsyncGenerator<Change> {
  const line = await lineageOf(store, session.id)
  if (!line.ok) throw new EngineError(line.failure)
  for (const link of line.links.toReversed()) {
    yield* changesIn(store, link, to)
    if (link.from <= to) return
  }
}

/** Those of agents stand where the agent was started: what the session wrote after that is undone before it. */
async function* changesIn(store: Store, link: Link, to: number): AsyncGenerator<Change> {
  const failed = new Set<string>()
  for await (const item of readLineBack(store, [link], unbounded)) {
    // An agent that was deleted with what it kept.
    if (item.kind === 'failed' && item.failure.code === 'no-such-session') return
    if (item.kind === 'failed') throw new EngineError(item.failure)
    if (item.kind !== 'entry' || !isKnown(item.entry)) continue
    if (item.entry.seq <= to) return
    const { fact } = item.entry
    if (fact.type === 'tool-result' && fact.isError) failed.add(fact.call)
    // In a worktree it wrote into a folder of its own.
    if (fact.type === 'agent-start' && fact.worktree === undefined)
      for (const own of ownLink(fact.child)) yield* changesIn(store, own, -1)
    if (fact.type !== 'assistant-message') continue
    for (const block of fact.content.toReversed()) {
      if (block.type !== 'tool_use' || !('input' in block)) continue
      const file = block.input['file_path']
      if ((block.name === 'Edit' || block.name === 'Write') && typeof file === 'string')
        yield { by: link.session, callId: block.id, file, isFailed: failed.has(block.id) }
    }
  }
}

async function restoreFile(
  fs: FileSystem,
  { path, before, after }: BeforeImage,
  session: SessionId,
): Promise<Result<{ readonly isChanged: boolean }>> {
  // One session is rewound by one process at a time: what lies under this name, a rewind that was killed has left.
  const unique = (): string => `rewind-${session}`
  await removeIfThere(fs, join(dirname(path), temporaryName(unique())))
  const now = await attempt(`reading ${path}`, () =>
    reading(fs, path, async (file) => {
      const { bytes, mode } = await file.stat()
      if (bytes > defaults.tools.editFileBytes) return { hash: '', mode }
      return { hash: sha256Of(await readAt(file, 0, bytes)), mode }
    }),
  )
  // A rewind that was killed, or an earlier one, may have put it back already: what came before that is still to be undone.
  if (!now.ok) return before === null && now.failure.code === 'not-found' ? unchanged : now
  if (before !== null && now.hash === sha256Of(Buffer.from(before))) return unchanged
  if (now.hash !== after) return refused('changed-outside', 'it was changed by something else since')
  const done =
    before === null
      ? await attempt(`removing ${path}`, () => fs.unlink(path))
      : await replaceFile(fs, path, Buffer.from(before), { mode: now.mode, unique })
  return done.ok ? { ok: true, isChanged: true } : done
}
const unchanged = { ok: true, isChanged: false } as const
