// One extraction: a fork on the session's prefix that is told what there is and may write memories, nothing
// else. The cursor moves only when it went well.
import { localDay } from '../../memory/format/day.ts'
import type { JobContext } from '../../engine/ports.ts'
import { defaults } from '../../settings/defaults.ts'
import { type FileGuard, type GuardedWrite } from '../../tools/files/guard.ts'
import { type MemoryJob, type MemoryJobOptions } from './memory-jobs.ts'
import { memoryFork } from './limits.ts'
import { extractionPrompt, type Listed } from './prompt.ts'
import type { Span } from './span.ts'
import type { Result } from '../../disk/fs.ts'
import type { MemoryStore, Applied } from '../../memory/memory-store.ts'
import { manifestLine } from '../../memory/recall/recall-text.ts'
import { indexName, isOpen } from '../../memory/memory.ts'
import { withoutDates } from '../../memory/format/dates.ts'
import { readMemoryText } from '../../memory/format/frontmatter.ts'
import { saveMemory, type Checked, type Draft } from '../../memory/save.ts'
import { untyped, type Lineage } from '../../memory/trust/lineage.ts'
import { exactIn } from '../../memory/trust/sentences.ts'
import type { ToolEnv } from '../../tools/tool.ts'
import { folderGuard, type Target, type WantedWrite } from './folder-guard.ts'
import { linesOf, plain } from '../../memory/trust/lines.ts'

const extractionPurpose = 'extraction'

type Extracted =
  | { readonly ok: true; readonly saved: readonly string[]; readonly held: readonly string[] }
  | { readonly ok: false; readonly why: string; readonly isAborted: boolean }

export async function extract(
  options: MemoryJobOptions,
  context: JobContext,
  spanNow: () => Span,
  job: MemoryJob,
): Promise<Extracted> {
  const folders: Listed[] = []
  for (const store of options.stores) {
    const shown = await shownMemories(store, defaults.extraction.manifestFiles)
    if (!shown.ok) return { ok: false, why: shown.failure.message, isAborted: false }
    folders.push({ scope: store.scope, root: store.root, manifest: shown.lines })
  }
  // The fork sees what has been said by the time it begins, so its span is read in the same moment.
  const span = spanNow()
  const saved = new Set<string>()
  const held = new Set<string>()
  const guard = extractionGuard({
    stores: options.stores,
    span,
    session: context.session,
    purpose: extractionPurpose,
    isTyped: options.isTyped,
    wrote: (path, isHeld) => {
      ;(isHeld ? held : saved).add(path)
      job.wrote(path)
    },
  })
  const today = localDay(context.now())
  const outcome = await memoryFork(
    { options, stores: options.stores, guard, context, job },
    {
      purpose: extractionPurpose,
      directive: extractionPrompt(span, folders, today),
      maxRounds: defaults.extraction.rounds,
    },
  )
  const wasLong = outcome.failure?.code === 'rounds' && saved.size > 0
  if (outcome.outcome === 'done' || wasLong) return { ok: true, saved: [...saved], held: [...held] }
  const isAborted = outcome.outcome === 'aborted'
  return { ok: false, why: outcome.failure?.message ?? `the fork was ${outcome.outcome}`, isAborted }
}

/** The memories of a store, one line each. What is held is shown to nobody. */
async function shownMemories(
  store: MemoryStore,
  most: number,
): Promise<Result<{ lines: readonly string[] }>> {
  const listed = await store.list(most)
  if (!listed.ok) return listed
  const memories = listed.memories.filter(({ standing }) => standing !== 'held')
  return { ok: true, lines: memories.map((memory) => manifestLine({ name: memory.file, memory })) }
}

// The guard of an extraction's writes. Where a text came from is told by the span it was made from, never by the text:
// the user's own words stay the user's, what tools had a part in is data. A rule that cannot be shown from the user's words
// is kept as an observation and counts as none; names, addresses and numbers that nobody said are refused; what is
// remembered already is not saved a second time. What a person said goes only for something newer that a person said on the
// same matter, and stays as a version.

interface WritingOptions {
  readonly stores: readonly MemoryStore[]
  readonly span: Span
  /** The session whose conversation it is. */
  readonly session: string
  /** What the fork is for: its own texts are no reading. */
  readonly purpose: string
  /** Whether somebody typed what the span calls the user's. */
  readonly isTyped: boolean
  /** Hears of each memory that was written, or held until the user has looked. */
  readonly wrote: (path: string, isHeld: boolean) => void
}

export const extractionGuard = (options: WritingOptions): FileGuard =>
  folderGuard(options.stores, (target, change, env) => write(options, target, change, env))

async function write(
  options: WritingOptions,
  target: Target,
  { path, text, expected }: WantedWrite,
  env: ToolEnv,
): Promise<GuardedWrite> {
  const { store, file } = target
  const { span } = options
  const saved = await saveMemory(options.stores, {
    store,
    change: { file, text, expected },
    via: 'extraction',
    lineage: lineageOf(options, env),
    said: { at: span.at, texts: options.isTyped ? span.userWords : [] },
    now: env.now(),
    check: (draft) => checked(span, target, draft),
  })
  if (saved.kind === 'index') return { ok: true, path, file: null, said: `${indexName} is generated.` }
  if (saved.kind === 'diary') return { ok: false, why: 'Diaries are not written here.' }
  if (saved.kind === 'refused') return { ok: false, why: saved.why }
  const { kind } = saved.applied
  if (kind !== 'unchanged') options.wrote(path, kind === 'held')
  return {
    ok: true,
    path,
    file: saved.file,
    said: kind === 'held' ? `${file} waits until the user has looked at it.` : savedText(saved.applied),
  }
}

/** An observation does not count as a rule: whoever can, says it in the words that were typed. */
function savedText({ file, text, by, notes }: Applied): string {
  const isShown = text === null || isOpen(by.trust, readMemoryText(text).head)
  return isShown
    ? [`Saved ${file}`, ...notes, ''].join('. ').trim()
    : `Saved ${file} as an observation: it does not follow from what the user typed, so it counts as no rule. Where the user did say it, write the user's own sentence.`
}

/** Everything the fork sees was read before: nobody is there to be asked, and its words are those of the span. */
function lineageOf({ span, session, purpose, isTyped }: WritingOptions, env: ToolEnv): Lineage {
  const lineage = env.lineage?.()
  const readings = lineage === undefined ? [unknown] : [...lineage.before, ...lineage.turn]
  const before = readings.filter(({ tool }) => tool !== purpose)
  const { userWords, message } = span
  const own: Lineage = { session, isMain: false, message, userWords, turn: [], before }
  return isTyped ? own : untyped(own)
}
const unknown = { tool: 'unknown', source: null, trust: 'data' } as const

async function checked(span: Span, target: Target, draft: Draft): Promise<Checked> {
  const { store, file } = target
  const old = await store.read(file)
  const why = await refusalOf(span, target, draft, old.ok ? old.text : null)
  return why === null ? { ok: true, approved: false } : { ok: false, why }
}

async function refusalOf(
  span: Span,
  { store }: Target,
  { text }: Draft,
  old: string | null,
): Promise<string | null> {
  const { head, body } = readMemoryText(text)
  const said = `${span.said}\n${old ?? ''}`.toLowerCase()
  const fresh = withoutDates(`${head.description}\n${body}`, span.userWords, span.at)
  const invented = exactIn(fresh).find((one) => !said.includes(one))
  if (invented !== undefined)
    return `Nobody said ${JSON.stringify(invented)} in these messages. Write names, addresses and numbers only as they were said.`
  const twin = old === null ? await savedIn(store, text) : null
  return twin === null ? null : `${twin} says that already. Change that file where something is new.`
}

/** The memory that holds every line of a text, or null. */
async function savedIn(store: MemoryStore, text: string): Promise<string | null> {
  const lines = linesOf(text).facts.map(plain)
  const listed = await store.list(defaults.extraction.comparedFiles)
  if (lines.length === 0 || !listed.ok) return null
  for (const { file, standing } of listed.memories) {
    const read = standing === 'held' ? null : await store.read(file)
    if (read?.ok !== true) continue
    const there = new Set(linesOf(read.text).facts.map(plain))
    if (lines.every((line) => there.has(line))) return file
  }
  return null
}
