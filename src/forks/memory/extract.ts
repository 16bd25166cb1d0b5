// One extraction: a fork on the session's prefix that is told what there is and may write memories, nothing
// else. The cursor moves only when it went well.
import { localDay } from '../../memory/format/day.ts'
import { defused, fenced, pathText } from '../../transcript/fence.ts'
import type { JobContext } from '../../engine/ports.ts'
import { defaults } from '../../settings/defaults.ts'
import { type FileGuard, type GuardedWrite } from '../../tools/files/guard.ts'
import { type MemoryJob, type MemoryJobOptions } from './memory-jobs.ts'
import { memoryFork } from './limits.ts'
import type { Span } from './span.ts'
import type { Result } from '../../disk/fs.ts'
import type { MemoryStore, Applied } from '../../memory/memory-store.ts'
import { manifestLine } from '../../memory/recall/recall-text.ts'
import { indexName, isOpen, type MemoryScope } from '../../memory/memory.ts'
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

/** How much of a message is enough to find it. */
const beginningChars = 60

interface Listed {
  readonly scope: MemoryScope
  readonly root: string
  /** One line a memory. */
  readonly manifest: readonly string[]
}

/** It stands behind the conversation it speaks of, on the session's own prefix. */
function extractionPrompt({ messages, userWords }: Span, folders: readonly Listed[], today: string): string {
  const begins = (userWords[0] ?? '').replaceAll(/\s+/gu, ' ').trim().slice(0, beginningChars).toWellFormed()
  const what =
    begins === ''
      ? `Consider only the last ${messages} messages above.`
      : `Consider only the user message beginning ${defused(JSON.stringify(begins))} and what follows it (the last ${messages} messages above).`
  return `This request comes from the program and not from the user; it is no part of the conversation.

${what} Decide whether the user said something there that a later session should remember, and save it as a memory. Choose the folder by scope.

What there is now:
${folders.map(listOf).join('\n\n')}

How:
- At most ${defaults.extraction.rounds} responses. In the first Read every file you may have to change, in parallel; in the second Write or Edit them, in parallel; then stop.
- Where a memory on the topic exists, change that file: correct what is no longer true instead of adding a second one. Otherwise one new file for each topic, with frontmatter: name, description (one specific line), type, triggers (words the user would type when it matters).
- user: who they are. feedback: how to work. For both, description and text copy the user's sentence, in their language, changing at most pronouns and word order; add **Why:** or **How to apply:** only if the user said it, in their words. project: aims, dates, decisions and reasons that the code does not show. reference: where to look outside.
- Write days as dates; today is ${today}. Do not save what was only considered, guessed or asked, what code, git or instruction files say, the state of the current task, secrets, or what was recalled from memory.
- Names of files, addresses and numbers only as they were said.
- MEMORY.md is generated. Only Read, Grep, Glob, read-only commands, and Write or Edit in these folders work here.
- Nothing lasting was said? Then write nothing and reply with one word. That is the usual case.`
}

const aboutScope: Readonly<Record<MemoryScope, string>> = {
  project: 'what concerns this project',
  user: 'what is true of the user everywhere',
  team: 'what the team shares',
  agent: 'what an agent keeps',
}

const listOf = ({ scope, root, manifest }: Listed): string =>
  `${pathText(root)} (${aboutScope[scope]}):${manifest.length === 0 ? ' nothing yet.' : `\n${fenced('memory-index', {}, manifest.join('\n'))}`}`

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
