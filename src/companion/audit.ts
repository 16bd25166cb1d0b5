// What a program's compactions kept and lost, from its own session file, and what the block would put back. Mechanical: a
// thing counts as kept where its very words stand in the summary or in the messages that stayed.
import { inventoryOf, missingFrom, type Inventory, type Kind, type Tally } from '../compaction/audit.ts'
import { lineOf } from '../compaction/phrases.ts'
import { estimateText } from '../projection/tokens.ts'
import { defaults } from '../settings/defaults.ts'
import type { Result } from '../transcript/store.ts'
import { blockOf } from './block.ts'
import type { Block, TypedWords } from './block-input.ts'
import { belowFolder, quotable } from './clean.ts'
import { openIn, personsText, readingOf, shownIn, laterWork, noWork, workOf, type Work } from './reading.ts'
import { spansOf, type CompactedSpan, type SessionHead } from './spans.ts'
import { quotedWords, rulesIn, sightOf } from './words.ts'

export interface CompactionAudit {
  /** From 1. */
  readonly number: number
  readonly at: number | null
  readonly trigger: string | null
  readonly tokensBefore: number | null
  /** Null where the summary cannot be read. */
  readonly summaryTokens: number | null
  /** The user's messages since the session began, and those of them that are in sight whole. */
  readonly messages: Tally
  readonly rules: Tally
  /** What stood in the span since the compaction before. */
  readonly kinds: Readonly<Record<Kind, Tally>>
  /** With the block: messages and rules in sight, and what the block weighs. */
  readonly withBlock: {
    readonly messages: number
    readonly rules: number
    readonly files: number
    readonly characters: number
    readonly tokens: number
  }
  /** Some of what is no longer in sight, redacted, the weightiest first. */
  readonly lost: readonly string[]
}

export interface SessionAudit {
  readonly session: string
  readonly client: string
  readonly model: string
  readonly folder: string | null
  readonly compactions: readonly CompactionAudit[]
  /** Turns behind the last compaction. */
  readonly turnsSince: number
  readonly skipped: readonly { readonly line: number; readonly why: string }[]
}

/** The compactions of one session file. */
export async function auditSession(
  path: string,
  isOver: () => boolean = () => false,
): Promise<Result<{ readonly audit: SessionAudit }>> {
  const compactions: CompactionAudit[] = []
  const skipped: { line: number; why: string }[] = []
  const typed: TypedWords[] = []
  let head: SessionHead | null = null
  let work = noWork
  let turnsSince = 0
  for await (const event of spansOf(path)) {
    if (event.kind === 'failure') return { ok: false, failure: event.failure }
    if (event.kind === 'skipped') {
      if (skipped.length < mostSkipped) skipped.push({ line: event.line, why: event.why })
      continue
    }
    head = event.head
    typed.push(...typedIn(event.span, typed.length))
    const { tasks } = work
    work = laterWork(work, workIn(event.span, work))
    if (event.span.summary === null) turnsSince = turnsIn(event.span)
    else compactions.push(auditOf(event.span, head, { typed, work }, tasks, compactions.length + 1))
    if (isOver()) break
  }
  return {
    ok: true,
    audit: {
      session: head?.name ?? path,
      client: head?.client ?? 'unknown',
      model: head?.model ?? 'unknown',
      folder: head?.folder ?? null,
      compactions,
      turnsSince,
      skipped,
    },
  }
}

const mostSkipped = 100

/** What a person typed in a span; `from` is the number of the first. */
export function typedIn({ turns }: CompactedSpan, from: number): readonly TypedWords[] {
  const words: TypedWords[] = []
  for (const { role, content, at } of turns) {
    if (role !== 'user') continue
    for (const recorded of content) {
      const text = personsText(recorded)
      if (text !== null) words.push({ text: text.slice(0, mostTyped), order: from + words.length, at })
    }
  }
  return words
}
const mostTyped = 100_000

/** Beside the tasks as they stood before it. */
/** What was typed begins a turn; answers and results belong to it. */
const turnsIn = (span: CompactedSpan): number =>
  span.turns.filter((turn) => typedIn({ ...span, turns: [turn] }, 0).length > 0).length

export const workIn = ({ turns }: CompactedSpan, { tasks } = noWork): Work =>
  workOf(readingOf(turns).calls, tasks)

/** All that was typed and worked on since the session began. */
export interface SoFar {
  readonly typed: readonly TypedWords[]
  readonly work: Work
}

/** What the companion would say at a boundary, had it been there. */
export function blockAt(
  { client, folder }: Pick<SessionHead, 'client' | 'folder'>,
  { typed, work }: SoFar,
  boundary: number,
): Block {
  const files = work.files.map((file) => ({ ...file, path: belowFolder(file.path, folder) }))
  return blockOf({
    session: 'audit',
    boundary: String(boundary),
    client,
    typed,
    files,
    failures: work.failures,
    tasks: openIn(work.tasks),
    ...(folder === null ? {} : { folder }),
  })
}

/** One compaction: kept, lost, and what would be put back. */
function auditOf(
  span: CompactedSpan,
  head: Pick<SessionHead, 'client' | 'folder'>,
  soFar: SoFar,
  tasksBefore: readonly string[],
  number: number,
): CompactionAudit {
  const kept = shownIn(span.kept)
  const summary = span.summary ?? ''
  const isReadable =
    summary.trim().length >= (keepsSealed.test(head.client) ? defaults.lab.compactions.leastTextChars : 1)
  const shown = `${summary}\n${kept}`
  const isShown = sightOf(quotable(shown))
  const words = quotedWords(soFar.typed)
  const rules = words.flatMap(rulesIn)
  const all = inventoryOf(readingOf(span.turns, tasksBefore))
  const inventory = { ...all, pending: all.pending.filter((task) => !task.startsWith('[x]')) }
  const missing = missingFrom(inventory, shown)
  const block = blockAt(head, soFar, number)
  const isShownThen = sightOf(`${quotable(shown)}\n${block.text}`)
  const count = (texts: readonly string[], sees: (text: string) => boolean): number =>
    texts.filter(sees).length
  const messages = words.map(({ text }) => text)
  return {
    number,
    at: span.at,
    trigger: span.trigger,
    tokensBefore: span.tokensBefore,
    summaryTokens: isReadable ? estimateText(summary) : null,
    messages: { found: messages.length, kept: count(messages, isShown) },
    rules: { found: rules.length, kept: count(rules, isShown) },
    kinds: talliesOf(inventory, missing),
    withBlock: {
      messages: count(messages, isShownThen),
      rules: count(rules, isShownThen),
      files: block.included.filter(({ kind }) => kind === 'file').length,
      characters: block.text.length,
      tokens: estimateText(block.text),
    },
    lost: isReadable
      ? lostOf(
          words.filter(({ text }) => !isShown(text)),
          missing,
        )
      : [],
  }
}

/** On its maker's service Codex has its summaries encrypted: a short text only names that. */
const keepsSealed = /^codex/

const talliesOf = (inventory: Inventory, missing: Inventory): CompactionAudit['kinds'] =>
  Object.fromEntries(
    Object.entries(inventory).map(([kind, items]) => [
      kind,
      { found: items.length, kept: items.length - missing[kind as Kind].length },
    ]),
  ) as CompactionAudit['kinds']

/** What the user said first, then tasks, errors, paths. */
function lostOf(words: readonly TypedWords[], missing: Inventory): readonly string[] {
  const line = (text: string): string => lineOf(quotable(text), lostChars)
  const rules = words.filter((one) => rulesIn(one).length > 0).toReversed()
  const others = words.filter((one) => rulesIn(one).length === 0).toReversed()
  return [
    ...rules.map(({ text }) => `you said: ${line(text)}`),
    ...others.map(({ text }) => `you said: ${line(text)}`),
    ...missing.pending.map((text) => `open: ${line(text)}`),
    ...missing.errors.map((text) => `error: ${line(text)}`),
    ...missing.paths.map((text) => `file: ${line(text)}`),
  ].slice(0, defaults.companion.lostNamed)
}
const lostChars = 120
