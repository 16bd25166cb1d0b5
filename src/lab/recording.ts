// A session that some agent really had, in one neutral shape: what was said, when, and what the provider counted.
// Importers make it, `toEntries` turns it into a transcript. What a format says beyond this stays in `extra`.
import type { AssistantBlock, UserBlock } from '../transcript/content.ts'
import type { Usage } from '../transcript/fact.ts'
import type { Result } from '../transcript/store.ts'

export interface RecordedResult {
  readonly type: 'tool_result'
  readonly tool_use_id: string
  readonly content: readonly UserBlock[]
  readonly is_error: boolean
}

/** A block and, where it is not the person's or the model's own, what it is. */
export interface RecordedBlock {
  readonly block: UserBlock | AssistantBlock | RecordedResult
  /** `compact_summary`, `attachment:file`, `client_note` … */
  readonly kind?: string | undefined
}

export interface RecordedTurn {
  readonly role: 'user' | 'assistant'
  readonly content: readonly RecordedBlock[]
  /** Milliseconds since the epoch, or null when the recording does not say. */
  readonly at: number | null
  /** Assistant turns: one turn is one response of the provider. */
  readonly usage?: Usage | undefined
  readonly model?: string | undefined
  readonly messageId?: string | undefined
  readonly stop?: string | undefined
}

export interface Recording {
  readonly name: string
  readonly client: string
  readonly model: string
  /** `openai`: cached input without write counts. */
  readonly usageKind: 'anthropic' | 'openai' | 'none'
  /** `partial`: output tokens as they stood when the response began, so not to be used. */
  readonly outputCounts: 'final' | 'partial'
  /** Real size of the first request: system prompt, tools and first input. */
  readonly firstRequestTokens: number | null
  readonly system: string | null
  readonly tools: readonly string[]
  readonly turns: readonly RecordedTurn[]
  readonly extra: Readonly<Record<string, unknown>>
}

export interface Skipped {
  readonly line: number
  readonly why: string
}

/** What an importer met on its way. Everything that could be parsed is kept; this says what could not, and what was repaired. */
export interface ImportReport {
  readonly format: string
  readonly lines: number
  /** Lines or items that became part of the recording, or were understood and are not part of any request. */
  readonly records: number
  readonly skipped: readonly Skipped[]
  /** Stretches whose first parent is nowhere in the file, joined in file order. */
  readonly islandsJoined: number
  /** Places where the recording went on in more than one way. */
  readonly branches: number
  readonly notes: readonly string[]
}

export type Imported = Result<{ readonly recording: Recording; readonly report: ImportReport }>

/** Tokens the provider saw before this response. */
export const contextOf = (usage: Usage): number => usage.input + usage.cacheRead + usage.cacheWrite
