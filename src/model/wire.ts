// The shapes of the Messages API, and nothing else: types that the adapter sends and the simulator receives.
// Shared by both on purpose; logic is not (the simulator must be able to judge the engine).

export interface CacheControl {
  readonly type: 'ephemeral'
  readonly ttl?: '5m' | '1h'
}

export type WireBlock = { readonly type: string; readonly cache_control?: CacheControl } & Readonly<
  Record<string, unknown>
>

export interface WireMessage {
  readonly role: 'user' | 'assistant' | 'system'
  readonly content: string | readonly WireBlock[]
}

export interface WireTool {
  readonly name: string
  readonly description?: string
  readonly input_schema?: Readonly<Record<string, unknown>>
  readonly type?: string
  readonly cache_control?: CacheControl
  readonly defer_loading?: boolean
}

export type WireThinking =
  | { readonly type: 'adaptive'; readonly display?: string; readonly block_binding?: WireBinding }
  | {
      readonly type: 'enabled'
      readonly budget_tokens: number
      readonly display?: string
      readonly block_binding?: WireBinding
    }
  | { readonly type: 'disabled' }
  | { readonly type: 'between_tools' }
export interface WireBinding {
  readonly prefix_mismatch_behavior: 'error' | 'drop_block'
}

export interface WireRequest {
  readonly model: string
  readonly max_tokens: number
  readonly messages: readonly WireMessage[]
  readonly system?: string | readonly WireBlock[]
  readonly tools?: readonly WireTool[]
  readonly tool_choice?: {
    readonly type: 'auto' | 'any' | 'tool' | 'none'
    readonly name?: string
    readonly disable_parallel_tool_use?: boolean
  }
  readonly thinking?: WireThinking
  readonly output_config?: { readonly effort?: string; readonly format?: unknown }
  readonly cache_control?: CacheControl
  readonly stream?: boolean
  readonly stop_sequences?: readonly string[]
  readonly metadata?: { readonly user_id?: string }
  readonly speed?: 'standard' | 'fast'
  readonly diagnostics?: { readonly previous_message_id: string | null }
  readonly context_management?: { readonly edits: readonly WireContextEdit[] }
  /** Not public: a capability that only the simulator and providers which declare it know. */
  readonly cache_edits?: readonly WireCacheEdit[]
}

export interface WireCacheEdit {
  readonly type: 'delete'
  readonly cache_reference: string
}

export type WireContextEdit =
  | {
      readonly type: 'clear_thinking_20251015'
      readonly keep?:
        | 'all'
        | { readonly type: 'all' }
        | { readonly type: 'thinking_turns'; readonly value: number }
    }
  | {
      readonly type: 'clear_tool_uses_20250919'
      readonly trigger?: { readonly type: 'input_tokens' | 'tool_uses'; readonly value: number }
      readonly keep?: { readonly type: 'tool_uses'; readonly value: number }
      readonly clear_at_least?: { readonly type: 'input_tokens'; readonly value: number }
      readonly exclude_tools?: readonly string[]
      readonly clear_tool_inputs?: boolean | readonly string[]
    }

export interface WireUsage {
  readonly input_tokens: number
  readonly cache_creation_input_tokens: number | null
  readonly cache_read_input_tokens: number | null
  readonly cache_creation?: {
    readonly ephemeral_5m_input_tokens: number
    readonly ephemeral_1h_input_tokens: number
  } | null
  readonly cache_deleted_input_tokens?: number
  readonly output_tokens: number
}

export interface WireResponse {
  readonly id: string
  readonly type: 'message'
  readonly role: 'assistant'
  readonly model: string
  readonly content: readonly WireBlock[]
  readonly stop_reason: string | null
  readonly stop_sequence: string | null
  readonly usage: WireUsage
  readonly diagnostics?: unknown
  readonly context_management?: {
    readonly applied_edits: readonly Readonly<Record<string, unknown>>[]
  } | null
  readonly input_transformations?: readonly Readonly<Record<string, unknown>>[]
}

export interface WireError {
  readonly type: 'error'
  readonly error: {
    readonly type: string
    readonly message: string
    readonly details?: Readonly<Record<string, unknown>>
  }
  readonly request_id?: string
}
