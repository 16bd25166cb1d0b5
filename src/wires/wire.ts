// The Wire port: everything that differs between the APIs of providers, as a record of pure parts. The engine composes,
// reads, repairs and counts through it and knows no API itself; an adapter (a Model) only carries the bytes.
//
// Blocks of the transcript are neutral (shaped like those of the Messages API). What only its maker can read stands in an
// `item` block, or as the `sidecar` of a text or a call: a wire sends its own back byte for byte to the model that made
// it, and leaves out everybody else's. `wireContract` (testing) holds every wire to this.
import type { AnswerReader } from '../model/attempts.ts'
import type { CacheRules } from '../model/cache-rules.ts'
import type { CountRules } from '../model/count.ts'
import type { ServerRefusal, Verdict } from '../model/failure.ts'
import type { ModelMessage, WireName } from '../model/model.ts'
import type { ModelInfo } from '../model/models.ts'
import type { Composer, ComposerOptions } from '../request/compose.ts'
import type { Usage } from '../transcript/fact.ts'

/** `Request` is the type of a request body, parsed: what `session.request()` gives. */
export interface Wire<Request = unknown> {
  readonly name: WireName
  /** One for a session and a model: it keeps what it has serialized. */
  createComposer(options?: WireComposerOptions): Composer
  /** One for each streamed answer. `asked` is the model of the request, as the transcript will name it. */
  createReader(asked: string): AnswerReader
  /** An answer that came whole, or null where this is none. */
  parse(answer: unknown, asked: string): ModelMessage | null
  /** Every rule of the API that a request breaks; none for one that may be sent. */
  check(request: Request, target: WireTarget): readonly WireProblem[]
  /** Any request as one that the API accepts. A valid one leaves as the same object; repairing twice changes nothing. */
  repair(request: Request, target: WireTarget): WireRepaired<Request>
  /** What a refusal means, overflow included, and whether trying again may help. */
  failureOf(refusal: ServerRefusal, now: number): Verdict
  /** Usage as the API reports it. What it does not report is zero. */
  usageOf(reported: unknown): Usage
  /** How its provider is asked how long a request is; unset where it has no such endpoint. */
  readonly count?: CountRules
  readonly capabilities: WireCapabilities
  cacheRules(model: ModelInfo | null): CacheRules
  /** A body as an SDK takes it from an embedding program; unset where that is the body without its `stream`. */
  requestOf?(body: string, how: { readonly streaming: boolean }): Request
}

/** How one model is spoken to. */
export interface Spoken {
  readonly wire: Wire
  /** Its name on the wire; the transcript names its answers so too. */
  readonly model: string
  /** Who is asked, for the record; unset where the wire's maker is. */
  readonly provider?: string | undefined
  readonly quirks?: Quirks | undefined
}

/** Which wire a model speaks, where those of one session speak different ones. */
export type WireChooser = (modelId: string) => Spoken

export type { CacheRules, BreakRules } from '../model/cache-rules.ts'

export interface WireComposerOptions extends ComposerOptions {
  readonly quirks?: Quirks | undefined
}

/** Who will read a request. */
export interface WireTarget {
  readonly model: string
  readonly info?: ModelInfo | null | undefined
  readonly quirks?: Quirks | undefined
}

export interface WireProblem {
  readonly rule: string
  readonly path: string
  readonly what: string
}

export interface WireRepaired<Request> {
  readonly request: Request
  readonly repairs: readonly WireRepair[]
}
export type WireRepair = WireProblem

export interface WireCapabilities {
  /** The client chooses what is cached, by breakpoints. */
  readonly breakpoints: boolean
  /**
   * How the server is asked what of the request before it could not read from its cache: under which beta, and how the names
   * of its own answers begin, since it refuses a request that names any other. Null where it does not say it.
   */
  readonly diagnosis: { readonly beta: string; readonly answersBegin: string } | null
  /** Most tools of a request; null where no limit is known. */
  readonly mostTools: number | null
}

/**
 * What a server that speaks a wire refuses or wants, as a row of the settings. Unset: as the maker of the wire has it.
 */
export interface Quirks {
  /** The role of the system prompt. */
  readonly systemRole?: 'system' | 'developer' | undefined
  /** How the most tokens of an answer are called. */
  readonly maxTokensField?: 'max_tokens' | 'max_completion_tokens' | undefined
  /** False: a stream must not be asked for its usage. */
  readonly streamUsage?: boolean | undefined
  /** Reasoning in the open (`reasoning_content`) must be sent back with the calls it led to. */
  readonly reasoningBack?: boolean | undefined
  /** False: it refuses the name of a shared prefix (`prompt_cache_key`). */
  readonly cacheKey?: boolean | undefined
  /** It takes one `cache_control` at the root of a request. */
  readonly rootCacheControl?: boolean | undefined
  /** False: it takes no effort. */
  readonly effort?: boolean | undefined
  /** False: it takes no images. */
  readonly images?: boolean | undefined
  /** False: it refuses more than one call in an answer. */
  readonly parallelCalls?: boolean | undefined
  /** Signatures of reasoning are asked for in the turn under way. */
  readonly signatures?: boolean | undefined
  /** Content is one text: it takes no parts beside images. */
  readonly textContent?: boolean | undefined
  /** Breakpoints may be named in a request (`prompt_cache_breakpoint`); unset: as its model has it. */
  readonly breakpoints?: boolean | undefined
  /** Cached tokens are not reported: what was read from the cache is unknown. */
  readonly cacheUnreported?: boolean | undefined
}
