// What the model sees, as data: a view and its messages, each with its lineage. Pure; runs in a browser.
import type { AssistantBlock, UserBlock } from '../transcript/content.ts'
import type { Range, Section, ToolSpec, Usage } from '../transcript/fact.ts'
import type { Seq, Uuid } from '../transcript/ids.ts'
import type { Pin } from './folding/live-edits.ts'
import type { MessageList } from './folding/message-list.ts'

/** The result of a call as it stands in a view; `cleared` says that the server was told to leave it out. */
export interface ToolResultBlock {
  readonly type: 'tool_result'
  readonly tool_use_id: string
  readonly content: readonly UserBlock[]
  readonly is_error: boolean
  /** Where each of its blocks stands in the entry, if blank ones were left out between them. */
  readonly places?: readonly number[] | undefined
  readonly cleared?: 'cache-edit' | 'context-management' | undefined
}
export type ViewBlock = UserBlock | AssistantBlock | ToolResultBlock

/** One piece of a message: what a single entry, or a single edit in its place, contributes. */
export interface Part {
  readonly role: 'user' | 'assistant'
  /** The entries it stands for: one, or the span of an edit. */
  readonly from: Seq
  readonly to: Seq
  readonly uuid: Uuid
  readonly at: number
  readonly blocks: readonly ViewBlock[]
  /** For each block its index in the entry's own content, so that an edit can address it. */
  readonly source: readonly number[]
  /** Estimated tokens of the blocks, before calibration. */
  readonly estimate: number
  /** Part of the estimate that the server was told to leave out. */
  readonly clearedEstimate: number
  /** Estimated tokens before stubs took the place of blocks; unset where none did. */
  readonly wholeEstimate?: number | undefined
  readonly kind: 'input' | 'injected' | 'answer' | 'result' | 'edit'
  /** The layer whose edit made it what it is, or null for a plain fact. */
  readonly by: string | null
  /** The place of that edit. */
  readonly edit: Seq | null
  /** Answers: who made it, whom it was asked of (unset: the maker of the Messages API, or nobody knows) and under which id. */
  readonly model?: string | undefined
  readonly provider?: string | undefined
  readonly messageId?: string | undefined
  /** Results: the call and its tool. */
  readonly tool?: string | undefined
  readonly isError?: boolean | undefined
  /** Recalled memories: their names. */
  readonly memories?: readonly string[] | undefined
  /** Attachments: what it is, where it comes from, and whether a compaction gave it back. */
  readonly attachment?:
    | { readonly kind: string; readonly source: string | null; readonly restored: boolean }
    | undefined
}

/** Neighbouring parts of one role. In a user message tool results come first, as the wire demands. */
export interface Message {
  readonly role: 'user' | 'assistant'
  readonly parts: readonly Part[]
  readonly content: readonly ViewBlock[]
  readonly from: Seq
  readonly to: Seq
  readonly estimate: number
}

/** The last reported size: everything up to `seq` took `tokens`; the estimate of the same was `estimate`. */
export interface Anchor {
  readonly seq: Seq
  readonly model: string
  readonly tokens: number
  readonly estimate: number
}

export interface View {
  readonly upTo: Seq
  readonly sections: readonly Section[]
  readonly tools: readonly ToolSpec[]
  /** Stands before the first user message, fixed until the next boundary. */
  readonly reminder: string | null
  readonly messages: MessageList<Message>
  /** Estimate of messages, sections, tools and reminder, before calibration. */
  readonly estimate: number
  readonly fixedEstimate: number
  readonly anchor: Anchor | null
  /** Calibrated size in tokens. */
  readonly tokens: number
  readonly factor: number
  /** Reasoning made in these ranges was made under a prefix that has changed since. */
  readonly staleReasoning: readonly Range[]
  /** Ranges that layers leave alone until they are released: what an undo gave back. */
  readonly holds: readonly Range[]
  /** Blocks that no layer touches, with the place of the pin (to release it by). */
  readonly pins: readonly Pin[]
  readonly lastUsage: Usage | null
  /** The place of the last request; what came after it has never been sent. */
  readonly lastRequest: Seq | null
  /** From here on the next request differs from the last one, whoever changed it: what lies behind is not cached. */
  readonly changedFrom: Seq | null
}
