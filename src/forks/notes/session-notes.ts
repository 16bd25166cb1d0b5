// Notes of a session, kept by a fork while it goes on, and read back when it is compacted. One update
// at a time, beside the turn; what goes wrong is counted and never reaches the turn. Three failures in a row switch the
// notes off for this session, with one notice.
import { resolve } from 'node:path'
import { refused, type OrWhy } from '../../disk/failure.ts'
import { attempt, makeFolders, type FileSystem, type Result } from '../../disk/fs.ts'
import { endedWithin } from '../waiting.ts'
import { redact } from '../../disk/redact.ts'
import type { JobContext, NoteKeeper, ReadNotes } from '../../engine/ports.ts'
import { estimateText } from '../../projection/tokens.ts'
import { defaults } from '../../settings/defaults.ts'
import { createPathGate, editTool } from '../../tools/index.ts'
import { restriction } from '../../tools/permission/pipeline.ts'
import type { Tool, ReadFile } from '../../tools/tool.ts'
import type { FactOf } from '../../transcript/fact.ts'
import { defused } from '../../transcript/fence.ts'
import { seq, type SessionId, type Seq } from '../../transcript/ids.ts'
import {
  defaultPrompt,
  updatePrompt,
  cutToLimits,
  defaultTemplate,
  hasFrameOf,
  isEmpty,
  overlong,
} from './template.ts'
import type { Fold } from '../../projection/fold.ts'
import type { Part } from '../../projection/view.ts'
import { createHash } from 'node:crypto'
import { readUnder, writeUnder } from '../../disk/under-root.ts'

export interface SessionNotesOptions {
  readonly fs: FileSystem
  /** Where a session keeps its things. */
  readonly folderOf: (session: SessionId) => string
  /** Where the user may put a `template.md` and a `prompt.md`; never the project's. */
  readonly configFolder: string
  /** Text that no other writer uses, for temporary names. */
  readonly unique: () => string
}

export const notesPurpose = 'notes'

/** What is known of the notes of one session beside what its facts say. */
interface State {
  running: { readonly since: number; readonly work: Promise<void> } | null
  failures: number
  /** Written, but its last answer still waited for results when it ended. */
  unsaid: { readonly fact: FactOf<'notes-update'>; readonly open: readonly string[] } | null
}

/** Keeps notes of a session while it goes on, which may replace its older part later. */
export function sessionNotes(options: SessionNotesOptions): NoteKeeper {
  const states = new Map<SessionId, State>()
  const stateOf = (session: SessionId): State => {
    const state = states.get(session) ?? { running: null, failures: 0, unsaid: null }
    states.set(session, state)
    return state
  }
  return {
    heard: (context) => {
      const state = stateOf(context.session)
      if (!mayWrite(context) || state.running !== null || state.failures >= defaults.notes.failures) return
      const work = afterAnswer(options, context, state)
        // A port that throws is at fault, but the turn must not end by it, and it must be heard of (law E1).
        .catch((error: unknown) =>
          context.tell({ type: 'notice', code: 'fault', message: `notes: ${String(error)}` }),
        )
        .finally(() => {
          state.running = null
        })
      state.running = { since: context.now(), work }
    },
    read: (context, signal) => readBack(options, context, stateOf(context.session), signal),
  }
}

const mayWrite = (context: JobContext): boolean =>
  context.hasModel && context.fold.view().tools.some((tool) => tool.name === editName)
const editName = 'Edit'

async function afterAnswer(options: SessionNotesOptions, context: JobContext, state: State): Promise<void> {
  await sayWhenAnswered(context, state)
  if (state.unsaid !== null || !isDue(context.fold, context.latest().notesTo)) return
  const why = await updated(options, context, state)
  if (why === null) {
    state.failures = 0
    return
  }
  if (context.ending.aborted) return
  state.failures++
  if (state.failures === defaults.notes.failures)
    context.tell({
      type: 'notice',
      code: 'notes-off',
      message: `the session notes could not be kept ${state.failures} times in a row (${why}); none are kept until the session is opened again`,
    })
}

/** The fact that moves the cursor waits until the answer it ends with has its results. */
async function sayWhenAnswered(context: JobContext, state: State): Promise<void> {
  const { unsaid } = state
  if (unsaid === null) return
  const open = new Set<string>(context.tail().open.map((call) => call.id))
  if (unsaid.open.some((id) => open.has(id))) return
  state.unsaid = null
  const written = await context.append([unsaid.fact])
  if (!written.ok && !context.ending.aborted)
    context.tell({ type: 'notice', code: written.failure.code, message: written.failure.message })
}

// ---- one update ----

/** Why the notes are as they were, or null. */
async function updated(
  options: SessionNotesOptions,
  context: JobContext,
  state: State,
): Promise<string | null> {
  const { fs, configFolder, unique } = options
  const folder = options.folderOf(context.session)
  const template = await readConfig(fs, configFolder, 'template.md')
  const prompt = await readConfig(fs, configFolder, 'prompt.md')
  if (!template.ok) return template.failure.message
  if (!prompt.ok) return prompt.failure.message
  const before = await begun(options, folder, template.text ?? defaultTemplate)
  if (!before.ok) return before.why
  const { text, path, read } = before.file
  const directive = updatePrompt(
    prompt.text ?? defaultPrompt,
    { currentNotes: text, notesPath: path },
    overlong(text),
  )
  // Taken together, before anything is waited for: what the fork sees and where it ends.
  const coversTo = seq(context.fold.numbers.upTo)
  const open = context.tail().open.map((call) => call.id as string)
  const tools = [notesEdit(fs, folder, unique)]
  const outcome = await context.fork(
    {
      purpose: notesPurpose,
      directive,
      tools,
      read: [[path, read]],
      judges: [restriction('notes', (call) => editRefusal(call.name, call.input['file_path'], path))],
      maxRounds: defaults.notes.rounds,
    },
    context.ending,
  )
  const after = await settled(options, folder, before.file)
  if (!after.ok) return after.why
  if (outcome.outcome === 'aborted') return null
  if (outcome.outcome === 'failed' && after.text === text)
    return outcome.failure?.message ?? 'the fork failed'
  if (isEmpty(after.text, template.text ?? defaultTemplate)) return 'nothing was noted'
  const tokens = estimateText(after.text)
  const kept = await context.keep(`notes-${coversTo}`, after.text)
  if (!kept.ok) return kept.failure.message
  state.unsaid = { fact: { type: 'notes-update', blob: kept.blob, coversTo, tokens }, open }
  await sayWhenAnswered(context, state)
  return null
}

type Begun = OrWhy<{ readonly file: NotesFile }>

/** The file as it stands, made from the template where there is none. */
async function begun({ fs, unique }: SessionNotesOptions, folder: string, template: string): Promise<Begun> {
  const found = await readNotes(fs, folder)
  if (!found.ok) return { ok: false, why: found.failure.message }
  if (found.file !== null) return { ok: true, file: found.file }
  const written = await writeNotes(fs, folder, template, unique)
  if (!written.ok) return { ok: false, why: written.failure.message }
  const again = await readNotes(fs, folder)
  if (!again.ok) return { ok: false, why: again.failure.message }
  return again.file === null ? { ok: false, why: 'the notes are gone' } : { ok: true, file: again.file }
}

/** What the fork left, without secrets; notes whose headings it broke are put back. */
async function settled(
  { fs, unique }: SessionNotesOptions,
  folder: string,
  before: NotesFile,
): Promise<OrWhy<{ readonly text: string }>> {
  const found = await readNotes(fs, folder)
  if (!found.ok) return { ok: false, why: found.failure.message }
  const text = found.file?.text ?? ''
  const isBroken = !hasFrameOf(text, before.text)
  const wanted = isBroken ? before.text : redact(text).text
  if (wanted !== text) {
    const written = await writeNotes(fs, folder, wanted, unique)
    if (!written.ok) return { ok: false, why: written.failure.message }
  }
  return isBroken ? { ok: false, why: 'the headings were changed' } : { ok: true, text: wanted }
}

/** The same tool under the same name, that reaches nothing but this folder. */
function notesEdit(fs: FileSystem, folder: string, unique: () => string): Tool {
  const edit = editTool(createPathGate({ fs, unique, roots: [folder], openFolders: [folder] }))
  const { spec, policy } = edit
  return {
    spec,
    policy,
    parse: (input) => {
      const parsed = edit.parse(input)
      return parsed.ok ? { ok: true, input } : parsed
    },
    run: async (input, env, signal) => {
      const parsed = edit.parse(input)
      if (!parsed.ok) return { content: [{ type: 'text', text: parsed.why }], isError: true }
      return edit.run(parsed.input, { ...env, cwd: folder }, signal)
    },
  }
}

function editRefusal(name: string, path: unknown, notes: string): string | null {
  const isNotes = typeof path === 'string' && resolve(path) === resolve(notes)
  return name === editName && isNotes ? null : `only Edit on ${notes} may be used here; then stop`
}

// ---- reading them back ----

async function readBack(
  { fs, folderOf, configFolder }: SessionNotesOptions,
  context: JobContext,
  state: State,
  signal: AbortSignal,
): Promise<ReadNotes | null> {
  const { waitMs, staleMs } = defaults.notes
  const { running } = state
  if (running !== null && context.now() - running.since < staleMs)
    await endedWithin(running.work, waitMs, signal)
  await sayWhenAnswered(context, state)
  const coversTo = context.latest().notesTo
  if (coversTo === undefined) return null
  const found = await readNotes(fs, folderOf(context.session))
  const template = await readConfig(fs, configFolder, 'template.md')
  if (!found.ok || found.file === null || !template.ok) return null
  const { text, path } = found.file
  if (isEmpty(text, template.text ?? defaultTemplate)) return null
  return { text: defused(cutToLimits(text, path)), coversTo }
}

// ---- when they are due ----

// Enough tokens of conversation for the first, later enough added since the last update
// together with enough calls or a natural pause. Counted over the entries since, so that a resume goes on where it was.
// An update reads the whole conversation, so in a long one more must have come: the price of notes stays a share of what is new.

export function isDue(fold: Fold, covered: Seq | undefined): boolean {
  const { firstTokens, furtherTokens, furtherShare, calls } = defaults.notes
  const { factor, tokens: inView } = fold.view()
  const since = [...fold.parts()].filter((part) => covered === undefined || part.from > covered)
  const tokens = factor * since.reduce((sum, part) => sum + part.estimate - part.clearedEstimate, 0)
  if (covered === undefined) return tokens >= firstTokens
  if (tokens < Math.max(furtherTokens, furtherShare * inView)) return false
  const last = since.findLast((part) => part.kind === 'answer')
  return last === undefined || callsIn([last]) === 0 || callsIn(since) >= calls
}

const callsIn = (parts: readonly Part[]): number =>
  parts.reduce((sum, part) => sum + part.blocks.filter((block) => block.type === 'tool_use').length, 0)

// ---- on the disk ----

// The notes of a session: `<session>/session-memory/summary.md`, and what the user put in the place of our
// template and prompt. Everything goes through the gate of `disk`; a file that is not there is null, the rest is a failure.

const notesName = 'session-memory/summary.md'
const modes = { file: 0o600, folder: 0o700 }

interface NotesFile {
  readonly text: string
  /** Where it really lies. */
  readonly path: string
  /** How a tool must know it to edit it. */
  readonly read: ReadFile
}

async function readNotes(
  fs: FileSystem,
  folder: string,
): Promise<Result<{ readonly file: NotesFile | null }>> {
  return readText(fs, folder, notesName, defaults.notes.maxFileBytes)
}

async function writeNotes(
  fs: FileSystem,
  folder: string,
  text: string,
  unique: () => string,
): Promise<Result<object>> {
  // Not every store of sessions has a folder for each.
  const made = await attempt(`making ${folder}`, () => makeFolders(fs, folder, modes.folder))
  if (!made.ok) return made
  return writeUnder(fs, folder, notesName, Buffer.from(text), {
    mode: modes.file,
    makeFolders: modes.folder,
    unique,
  })
}

/** A text of the user's own, or null where there is none. */
async function readConfig(
  fs: FileSystem,
  folder: string,
  name: 'template.md' | 'prompt.md',
): Promise<Result<{ readonly text: string | null }>> {
  const found = await readText(fs, folder, name, defaults.notes.maxConfigBytes)
  return found.ok ? { ok: true, text: found.file?.text ?? null } : found
}

async function readText(
  fs: FileSystem,
  folder: string,
  name: string,
  mostBytes: number,
): Promise<Result<{ readonly file: NotesFile | null }>> {
  const found = await readUnder(fs, folder, name, mostBytes)
  if (!found.ok) return found.failure.code === 'not-found' ? { ok: true, file: null } : found
  const { bytes, path, stat } = found
  if (stat.bytes > mostBytes)
    return refused('too-large', `${path} has ${stat.bytes} bytes; at most ${mostBytes} are read`)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const read = { sha256, mtimeMs: stat.modifiedMs, bytes: stat.bytes, part: null, callId: '' }
  return { ok: true, file: { text: new TextDecoder().decode(bytes), path, read } }
}
