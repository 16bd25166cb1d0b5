// The spans of a session file that its program compacted, one after the other: what was said since the last compaction,
// and what stands in its place. A file is read piece by piece; when a span is over, it is let go.
import { formatOf, importFile, isKnownLine, isLong } from '../lab/importers/import-file.ts'
import {
  fieldsOf,
  listOf,
  streamLines,
  stringOrNull,
  type Fields,
  type JsonLine,
} from '../lab/importers/lines.ts'
import type { RecordedBlock, RecordedTurn, Recording } from '../lab/recording.ts'
import { isAttached, isSummary, isTypedWhileBusy } from '../lab/recording.ts'
import { defaults } from '../settings/defaults.ts'
import type { Failure } from '../transcript/store.ts'

/** What one compaction replaced and what it left. The last span of a session has none. */
export interface CompactedSpan {
  readonly turns: readonly RecordedTurn[]
  /** The summary with what the client attached to it; null at the end of the session. */
  readonly summary: string | null
  /** Messages that the client kept beside the summary. */
  readonly kept: readonly RecordedTurn[]
  readonly at: number | null
  readonly trigger: string | null
  /** As the client counted. */
  readonly tokensBefore: number | null
}

export interface SessionHead {
  readonly name: string
  readonly client: string
  readonly model: string
  readonly folder: string | null
}

export type SpanEvent =
  | { readonly kind: 'span'; readonly span: CompactedSpan; readonly head: SessionHead }
  | { readonly kind: 'failure'; readonly failure: Failure }
  | { readonly kind: 'skipped'; readonly line: number; readonly why: string }

/** The spans of a session file, in order; what cannot be read is said and never thrown. */
export async function* spansOf(path: string): AsyncGenerator<SpanEvent> {
  try {
    yield* (await isLong(path)) ? streamedSpans(path) : wholeSpans(path)
  } catch (error) {
    const message = `${path}: cannot be read (${(error as Error).message})`
    yield { kind: 'failure', failure: { code: 'io-error', message } }
  }
}

/** Of a file that fits into memory every format is read; kept messages are known only where lines say so. */
async function* wholeSpans(path: string): AsyncGenerator<SpanEvent> {
  // Lines of Claude Code say which messages stay: those are read as lines at any size.
  const first = await firstRecords(path)
  if (first.some(isBoundaryFormat)) return yield* streamedSpans(path)
  const imported = await importFile(path)
  if (!imported.ok) return yield { kind: 'failure', failure: imported.failure }
  for (const { line, why } of imported.report.skipped) yield { kind: 'skipped', line, why }
  const { recording } = imported
  const head = { name: recording.name, client: recording.client, model: recording.model, folder: null }
  const turns = recording.turns.map(boundedTurn)
  for (const span of spansIn({ turns })) yield { kind: 'span', span, head }
}

/** The spans of a recording, cut where the client's summaries stand. */
export function* spansIn(recording: Pick<Recording, 'turns'>): Generator<CompactedSpan> {
  let turns: RecordedTurn[] = []
  for (const turn of recording.turns) {
    const at = turn.content.findIndex(isSummary)
    if (at < 0) {
      turns.push(turn)
      continue
    }
    const behind = turn.content.slice(at + 1)
    turns.push({ ...turn, content: turn.content.slice(0, at) })
    yield {
      ...end,
      turns,
      summary: [turn.content[at]!, ...behind.filter(isAttached)].map(textIn).join('\n\n'),
      at: turn.at,
    }
    turns = [{ ...turn, content: behind.filter((one) => !isAttached(one)) }]
  }
  yield { ...end, turns }
}

const end: CompactedSpan = { turns: [], summary: null, kept: [], at: null, trigger: null, tokensBefore: null }

const textIn = ({ block }: RecordedBlock): string =>
  block.type === 'text' && 'text' in block ? block.text : ''

// ---- lines ----

/** A line that stands for a compaction of Claude Code, Codex or pi. */
const isBoundary = (value: Fields): boolean =>
  value['isCompactSummary'] === true || value['type'] === 'compacted' || value['type'] === 'compaction'
const isMark = (value: Fields): boolean =>
  value['type'] === 'system' && value['subtype'] === 'compact_boundary'
const isBoundaryFormat = (value: Fields): boolean => 'parentUuid' in value || 'leafUuid' in value

async function firstRecords(path: string): Promise<readonly Fields[]> {
  const found: Fields[] = []
  for await (const { record } of streamLines(path, { isWhole: isKnownLine, mostLineBytes: firstLineBytes })) {
    if (record !== null) found.push(record.value)
    if (found.length >= firstLines) break
  }
  return found
}
const firstLines = 20
const firstLineBytes = 1024 * 1024

async function* streamedSpans(path: string): AsyncGenerator<SpanEvent> {
  const state = new SpanReader(path)
  const options = { isWhole: isKnownLine, mostLineBytes: defaults.companion.mostLineBytes }
  for await (const { record, skipped } of streamLines(path, options)) {
    if (skipped !== null) yield { kind: 'skipped', ...skipped }
    if (record === null) continue
    const span = state.take({ line: record.line, value: bounded(record.value, 0) as Fields })
    if (span !== null) yield { kind: 'span', span, head: state.head }
  }
  const failure = state.failure()
  if (failure !== null) return yield { kind: 'failure', failure }
  for (const span of state.rest()) yield { kind: 'span', span, head: state.head }
}

class SpanReader {
  readonly #path: string
  #records: JsonLine[] = []
  #format: ReturnType<typeof formatOf> = null
  #mark: Fields = {}
  /** A compaction whose attachments may still come. */
  #open: { readonly span: CompactedSpan; readonly attached: JsonLine[] } | null = null
  head: SessionHead

  constructor(path: string) {
    this.#path = path
    this.head = { name: path, client: 'unknown', model: 'unknown', folder: null }
  }

  take(record: JsonLine): CompactedSpan | null {
    const { value } = record
    this.#format ??= formatOf({ records: [record] })
    const folder = stringOrNull(value['cwd']) ?? stringOrNull(fieldsOf(value['payload'])['cwd'])
    if (this.head.folder === null && folder !== null) this.head = { ...this.head, folder }
    if (isMark(value)) this.#mark = fieldsOf(value['compactMetadata'])
    const closed =
      this.#open !== null && value['type'] !== 'attachment' && !isMark(value) ? this.#closed() : null
    if (this.#open !== null && value['type'] === 'attachment') {
      this.#open.attached.push(record)
      return null
    }
    if (value['isSidechain'] !== true && isBoundary(value)) this.#begin(record)
    else this.#records.push(record)
    return closed
  }

  *rest(): Generator<CompactedSpan> {
    if (this.#open !== null) yield this.#closed()
    yield { ...end, turns: this.#turns(this.#records) }
  }

  failure(): Failure | null {
    if (this.#format !== null) return null
    return { code: 'unknown-format', message: `${this.#path}: no format that is known` }
  }

  #begin(record: JsonLine): void {
    const [summary] = this.#turns([record])
    this.#open = {
      span: {
        turns: this.#turns(this.#records),
        summary: summary?.content.map(textIn).join('\n') ?? '',
        kept: this.#turns(this.#kept(record)),
        at: summary?.at ?? null,
        trigger: stringOrNull(this.#mark['trigger']),
        tokensBefore: typeof this.#mark['preTokens'] === 'number' ? this.#mark['preTokens'] : null,
      },
      attached: [],
    }
    this.#records = []
    this.#mark = {}
  }

  /** What stays beside the summary: Claude Code names messages, pi the first of them, Codex writes them once more. */
  #kept({ line, value }: JsonLine): readonly JsonLine[] {
    const ids = new Set(listOf(fieldsOf(this.#mark['preservedMessages'])['uuids']))
    if (ids.size > 0) return this.#records.filter((one) => ids.has(one.value['uuid']))
    const first = this.#records.findIndex((one) => one.value['id'] === value['firstKeptEntryId'])
    if (first >= 0 && value['firstKeptEntryId'] !== undefined) return this.#records.slice(first)
    return listOf(fieldsOf(value['payload'])['replacement_history']).map((payload) => ({
      line,
      value: { type: 'response_item', payload },
    }))
  }

  #closed(): CompactedSpan {
    const { span, attached } = this.#open!
    this.#open = null
    const texts = this.#turns(attached).flatMap(({ content }) => content)
    const typed = texts.filter(isTypedWhileBusy)
    if (typed.length > 0) this.#records.unshift(...attached.filter(isQueued))
    const shown = texts.filter((one) => !isTypedWhileBusy(one)).map(textIn)
    return { ...span, summary: [span.summary!, ...shown].join('\n\n') }
  }

  #turns(records: readonly JsonLine[]): readonly RecordedTurn[] {
    if (records.length === 0) return []
    const imported = this.#format?.load(this.#path, { total: records.length, records, skipped: [] })
    if (imported?.ok !== true) return []
    const { name, client, model } = imported.recording
    if (name !== this.#path)
      this.head = { ...this.head, name, client, model: model === 'unknown' ? this.head.model : model }
    return imported.recording.turns.map(boundedTurn)
  }
}

const isQueued = ({ value }: JsonLine): boolean => fieldsOf(value['attachment'])['type'] === 'queued_command'

/** Long texts by their ends, deep values not at all, also where a text is one: what is read here may be hostile. */
function bounded(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return boundedText(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth > mostDepth) return null
  if (Array.isArray(value)) return value.slice(0, mostItems).map((one) => bounded(one, depth + 1))
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => depth > 0 || key !== 'toolUseResult')
      .slice(0, mostItems)
      .map(([key, inner]) => [key, bounded(inner, depth + 1)]),
  )
}

function boundedText(text: string): string {
  if (/^\s*[{[]/.test(text) && nestingOf(text) > mostDepth) return ''
  return text.length <= mostChars ? text : `${text.slice(0, mostChars / 2)}\n${text.slice(-mostChars / 2)}`
}

/** How deep the brackets of a text go, whatever stands between them. */
function nestingOf(text: string): number {
  let [open, most] = [0, 0]
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    open += bracket === '[' || bracket === '{' ? 1 : -1
    if (open > most) most = open
  }
  return most
}

const boundedTurn = (turn: RecordedTurn): RecordedTurn => bounded(turn, 0) as RecordedTurn
const mostChars = 4 * defaults.compaction.scanChars
const mostDepth = 40
const mostItems = 5000
