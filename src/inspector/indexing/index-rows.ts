// What the index of a session keeps: columns over entries and requests, and lists of what is rare.
import type { SessionState } from '../../engine/state.ts'
import type { ModelTable } from '../../model/models.ts'
import type { EditListState } from '../../projection/edit-list.ts'
import type { Range } from '../../transcript/fact.ts'
import type { Checkpoint } from '../../transcript/store.ts'
import type { AgentNode, BreakRow, Totals } from '../protocol.ts'
import type { Cut, EditLife } from './edit-lives.ts'
import { NumberTable } from './number-table.ts'

export const entryTable = () =>
  new NumberTable({ bytes: 'u32', delta: 'i32', tokens: 'u32', label: 'u16', kind: 'u8', flags: 'u8' })
export type EntryTable = ReturnType<typeof entryTable>

/** NaN stands for what is not known, where a column holds counts or fractions. */
export const requestTable = () =>
  new NumberTable({
    seq: 'u32',
    at: 'f64',
    source: 'u16',
    model: 'u16',
    /** Our own count when it was sent. */
    estimate: 'u32',
    limit: 'u32',
    input: 'count',
    read: 'count',
    written: 'count',
    output: 'count',
    dollars: 'f64',
    answer: 'count',
    break: 'count',
    firstMs: 'f32',
    ms: 'f32',
    tries: 'f32',
    system: 'u32',
    tools: 'u32',
    user: 'u32',
    assistant: 'u32',
    results: 'u32',
    summary: 'u32',
    readTo: 'i32',
    writtenTo: 'i32',
    perRead: 'f64',
    perWritten: 'f64',
    perInput: 'f64',
    /** Dollars that a token which is not there any more saves at this request. */
    saving: 'f64',
  })
export type RequestTable = ReturnType<typeof requestTable>

export interface IndexTables {
  readonly entries: EntryTable
  readonly requests: RequestTable
}

/** The place of the request before one, of the same source; null for its first. */
export function previousRequest(requests: RequestTable, row: number): number | null {
  for (let at = row - 1; at >= 0; at--)
    if (requests.get(at, 'source') === requests.get(row, 'source')) return requests.get(at, 'seq')
  return null
}

type BreakPlace = 'seq' | 'at' | 'source' | 'request' | 'previous' | 'tokens' | 'diff' | 'provider'
export interface BreakFact extends Pick<BreakRow, BreakPlace> {
  readonly cost: number
  readonly causes: readonly unknown[]
  readonly providerTokens: number | null
}

export interface AgentFact extends Pick<AgentNode, 'label' | 'agent' | 'mode' | 'worktree'> {
  readonly child: string
  readonly started: AgentNode['startedAt']
  ended: AgentNode['endedAt']
  outcome: string | null
  report: string
  tokens: number
  dollars: number
}

export interface RecallFact {
  readonly seq: number
  readonly at: number
  readonly files: readonly string[]
}

/** Memories that were saved from a stretch of entries. */
export interface ExtractedFact extends Range {
  readonly files: readonly string[]
}

export interface Snapshot {
  /** Read before it. */
  readonly bytes: number
  readonly checkpoint: Checkpoint
}

export interface IndexOptions {
  readonly models: ModelTable
  /** The window the user has set. */
  readonly window?: number | undefined
}

/** What a fact is noted in. */
export interface IndexParts {
  readonly options: IndexOptions
  readonly lists: IndexLists
  readonly requests: RequestTable
  readonly state: SessionState
  labelled(list: 'models' | 'sources', text: string): number
}

/** Everything but the columns and the fold: what a file of the index keeps as JSON. */
export interface IndexLists {
  readonly session: string
  first: number | null
  firstUuid: string | null
  head: number | null
  headUuid: string | null
  lastAt: number
  firstAt: number
  readonly kinds: string[]
  readonly labels: string[]
  readonly models: string[]
  readonly sources: string[]
  readonly modelAnswers: number[]
  title: string
  purpose: string
  cwd: string | null
  startedBy: string | null
  imported: string | null
  parent: { readonly session: string; readonly upTo: number } | null
  readOnlyFrom: number | null
  /** More was in the view than can be held: from here on the window is not known. */
  unfoldedFrom: number | null
  readonly edits: EditListState
  readonly lives: readonly EditLife[]
  readonly cuts: readonly Cut[]
  /** Dollars that a warm cache had to be sent again because of an edit. */
  readonly rewritten: [seq: number, dollars: number][]
  readonly breaks: BreakFact[]
  readonly agents: AgentFact[]
  readonly recalls: RecallFact[]
  readonly extracted: ExtractedFact[]
  /** How far memories have been looked for. */
  extractedTo: number
  readonly damage: string[]
  /** Edits since the last answer, and what the cache held at it. */
  pending: { readonly seq: number; readonly freed: number }[]
  cached: number
  answeredAt: number | null
  /** Bytes read since what was in view was last forgotten. */
  viewBytes: number
  spent: { tokens: number; dollars: number }
  totals: { -readonly [Name in keyof Totals]: Totals[Name] }
  /** Bytes read so far, with what the session continues. */
  readBytes: number
  /** Folds to begin from when one request of long ago is wanted, evenly over all bytes. */
  snapshots: readonly Snapshot[]
}

export const emptyLists = (session: string): IndexLists => ({
  session,
  first: null,
  firstUuid: null,
  head: null,
  headUuid: null,
  lastAt: 0,
  firstAt: 0,
  kinds: [],
  labels: [],
  models: [],
  sources: [],
  modelAnswers: [],
  title: '',
  purpose: '',
  cwd: null,
  startedBy: null,
  imported: null,
  parent: null,
  readOnlyFrom: null,
  unfoldedFrom: null,
  edits: { rows: [], declined: [], undoneAt: [] },
  lives: [],
  cuts: [],
  rewritten: [],
  breaks: [],
  agents: [],
  recalls: [],
  extracted: [],
  extractedTo: -1,
  damage: [],
  pending: [],
  cached: 0,
  answeredAt: null,
  viewBytes: 0,
  spent: { tokens: 0, dollars: 0 },
  totals: { requests: 0, input: 0, read: 0, written: 0, output: 0, dollars: 0, unpriced: 0, estimated: 0 },
  readBytes: 0,
  snapshots: [],
})
