// The Model port: who answers. `stream` never throws and always ends with exactly one `end` or `failed` event;
// an abort is a `failed` event with code `aborted`. The caller hands over the body as bytes it has made itself,
// because exact bytes decide cache hits: an adapter adds headers and nothing else.
import type { AssistantBlock } from '../transcript/content.ts'
import type { FactOf, LearnedMedia, Usage } from '../transcript/fact.ts'
import type { StopKind } from '../transcript/stop.ts'

/** The wires there are. A body is written for one of them, and an adapter sends the bodies of one. */
export type WireName = 'anthropic' | 'openai-chat' | 'openai-responses' | 'gemini'

export interface ModelRequest {
  /** The wire its body was written for; the Messages API where none is named. */
  readonly wire?: WireName | undefined
  /** Who is asked, where several speak that wire. */
  readonly provider?: string | undefined
  readonly model: string
  /** The serialized request body. Sent as it is. */
  readonly body: string
  readonly betas: readonly string[]
  /** Who asks: main, summary, notes … For logs and figures only. */
  readonly source: string
}

export type ModelEvent =
  | { readonly type: 'start'; readonly messageId: string; readonly model: string; readonly usage: Usage }
  | { readonly type: 'text-delta'; readonly text: string }
  | { readonly type: 'thinking-delta'; readonly text: string }
  | { readonly type: 'call-start'; readonly id: string; readonly name: string }
  | { readonly type: 'call-delta'; readonly id: string; readonly json: string }
  /** Sent before waiting for attempt 2, 3 …, so that a screen can count down. No content has come; a second `start` may. */
  | {
      readonly type: 'retry'
      readonly attempt: number
      readonly waitMs: number
      readonly failure: ModelFailure
    }
  | { readonly type: 'end'; readonly message: ModelMessage }
  /** `partial` is what had arrived; its last block may be cut short. */
  | { readonly type: 'failed'; readonly failure: ModelFailure; readonly partial: ModelMessage | null }

export interface ModelMessage {
  readonly messageId: string
  readonly model: string
  readonly content: readonly AssistantBlock[]
  /** The word of the wire for why it ended. */
  readonly stop: string | null
  /** What that word means; unset where it is one of the Messages API. */
  readonly ended?: StopKind | undefined
  readonly usage: Usage
  /** What the server says it cleared by itself. */
  readonly appliedEdits: readonly Readonly<Record<string, unknown>>[]
  /** Reasoning the server dropped from our request. */
  readonly inputTransformations: readonly Readonly<Record<string, unknown>>[]
  /** What the server says of this prompt beside the one before, as it says it; null says that nothing differs. */
  readonly diagnostics?: unknown
  /** Tokens the server leaves out because of cache edits, as last reported. */
  readonly cacheDeletedTokens?: number | undefined
}

export type ModelFailure =
  | {
      readonly code: 'overflow'
      readonly message: string
      readonly status: number | null
      readonly overflow: Overflow
    }
  | {
      readonly code: 'feature-refused'
      readonly message: string
      readonly status: number | null
      readonly feature: Feature
    }
  | {
      readonly code: 'media-refused'
      readonly message: string
      readonly status: number | null
      readonly media: RefusedMedia
    }
  | {
      readonly code:
        | 'aborted'
        /** Whoever pays does not allow it. */
        | 'cap'
        | 'rate-limited'
        | 'overloaded'
        | 'unauthorized'
        | 'too-large'
        | 'invalid'
        | 'reasoning-invalid'
        | 'network'
        | 'server'
        | 'cut-short'
      readonly message: string
      readonly status: number | null
      readonly retryAfterMs?: number | undefined
      /** Of a request that is too large: how many bytes it may have, where the refusal says so. */
      readonly mostBytes?: number | undefined
    }

/** What a request may ask of an endpoint beside an answer. */
export type Feature = FactOf<'feature-refused'>['feature']

/** An image or document that the provider will not take, as far as its words tell which. */
export interface RefusedMedia {
  /** The block by its place in the request; `inner` inside a result. */
  readonly at: { readonly message: number; readonly block: number; readonly inner: number | null } | null
  readonly kind: 'image' | 'document' | null
  /** What it would take, as far as it names numbers. */
  readonly limits: LearnedMedia
}

/** A request that is too long, whoever says so and in whatever words; numbers where the text names them. */
export interface Overflow {
  readonly provider: string
  readonly promptTokens: number | null
  readonly outputTokens: number | null
  readonly limitTokens: number | null
  /** The limit is on tokens a minute: waiting never helps, a smaller request does. */
  readonly perMinute: boolean
  /** The limit is on the bytes of the request, not on its tokens; such a failure has the code `too-large`. */
  readonly bytes: boolean
}

/** What a provider counted, or why it did not. */
export type Counted =
  | { readonly ok: true; readonly tokens: number }
  | { readonly ok: false; readonly failure: ModelFailure }

export interface Model {
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>
  /** Tokens of a request as its provider counts them, asked once; null, or no such function, where it cannot be asked. Never throws. */
  count?(request: ModelRequest, signal: AbortSignal): Promise<Counted | null>
}
