// Every name that leaves this room, in one place. Those that begin with gen_ai are of OpenTelemetry's GenAI conventions,
// which are still in development: the version they are taken from is pinned by its schema URL, and moves with these names.

/** The version of the conventions that the names are of. */
export const schemaUrl = 'https://opentelemetry.io/schemas/gen-ai-dev/1.42.0-dev'
/** The instrumentation scope. */
export const scopeName = 'palimpsest'

/** Values of gen_ai.operation.name; the last is ours, since the conventions have no compaction yet. */
export const operations = {
  agent: 'invoke_agent',
  chat: 'chat',
  tool: 'execute_tool',
  searchMemory: 'search_memory',
  createMemory: 'create_memory',
  updateMemory: 'update_memory',
  upsertMemory: 'upsert_memory',
  deleteMemory: 'delete_memory',
  compact: 'palimpsest.compact',
} as const
export type Operation = (typeof operations)[keyof typeof operations]

/** The names of attributes and metrics, as the conventions have them. */
export const names = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  requestModel: 'gen_ai.request.model',
  requestStream: 'gen_ai.request.stream',
  responseId: 'gen_ai.response.id',
  responseModel: 'gen_ai.response.model',
  finishReasons: 'gen_ai.response.finish_reasons',
  timeToFirstChunk: 'gen_ai.response.time_to_first_chunk',
  conversation: 'gen_ai.conversation.id',
  compacted: 'gen_ai.conversation.compacted',
  agentId: 'gen_ai.agent.id',
  agentName: 'gen_ai.agent.name',
  toolName: 'gen_ai.tool.name',
  toolType: 'gen_ai.tool.type',
  toolCall: 'gen_ai.tool.call.id',
  toolArguments: 'gen_ai.tool.call.arguments',
  toolResult: 'gen_ai.tool.call.result',
  inputMessages: 'gen_ai.input.messages',
  outputMessages: 'gen_ai.output.messages',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cacheReadTokens: 'gen_ai.usage.cache_read.input_tokens',
  cacheWriteTokens: 'gen_ai.usage.cache_creation.input_tokens',
  memoryRecords: 'gen_ai.memory.record.count',
  tokenType: 'gen_ai.token.type',
  errorType: 'error.type',
  /** Ours. */
  kind: 'palimpsest.kind',
  holder: 'palimpsest.holder',
  cause: 'palimpsest.cause',
  layer: 'palimpsest.layer',
  purpose: 'palimpsest.purpose',
  outcome: 'palimpsest.outcome',
  place: 'palimpsest.seq',
  dollars: 'palimpsest.cost',
  tries: 'palimpsest.request.tries',
  estimate: 'palimpsest.request.tokens',
  breaks: 'palimpsest.cache.breaks',
  trigger: 'palimpsest.compaction.trigger',
  source: 'palimpsest.compaction.source',
  tokensBefore: 'palimpsest.compaction.tokens_before',
  tokensAfter: 'palimpsest.compaction.tokens_after',
  retention: 'palimpsest.compaction.retention',
  forkTokens: 'palimpsest.fork.tokens',
} as const

/** Bounds of the buckets, as the conventions want them. */
const tokenBounds = [
  1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864,
]
const secondBounds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]
const appendBounds = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5]
const shareBounds = [0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99, 1]

export interface Instrument {
  readonly kind: 'counter' | 'histogram' | 'gauge'
  readonly unit: string
  readonly about: string
  readonly bounds?: readonly number[]
}

const counter = (unit: string, about: string): Instrument => ({ kind: 'counter', unit, about })
const gauge = (unit: string, about: string): Instrument => ({ kind: 'gauge', unit, about })
const histogram = (unit: string, about: string, bounds: readonly number[]): Instrument => ({
  kind: 'histogram',
  unit,
  about,
  bounds,
})

/** The instruments of the metrics, each with its unit and buckets. */
export const instruments = {
  'gen_ai.client.token.usage': histogram('{token}', 'Tokens of a prompt and of an answer.', tokenBounds),
  'gen_ai.client.operation.duration': histogram('s', 'From a request to its answer.', secondBounds),
  'gen_ai.client.operation.time_to_first_chunk': histogram(
    's',
    'From a request to its first words.',
    secondBounds,
  ),
  'gen_ai.invoke_agent.duration': histogram('s', 'Of a turn.', secondBounds),
  'gen_ai.execute_tool.duration': histogram('s', 'From a call to its result.', secondBounds),
  'palimpsest.request.tokens': counter('{token}', 'Tokens as they were charged: input, read, write, output.'),
  'palimpsest.request.cost': counter('{USD}', 'Dollars by the same kinds.'),
  'palimpsest.request.unpriced': counter('{answer}', 'Answers of models without a known price.'),
  'palimpsest.fork.tokens': counter('{token}', 'Of background work that left only its total.'),
  'palimpsest.fork.cost': counter('{USD}', 'Of background work that left only its total.'),
  'palimpsest.window.tokens': gauge('{token}', 'What the last prompt was made of, by holder.'),
  'palimpsest.cache.breaks': counter('{break}', 'Cache reads that fell unannounced, by cause.'),
  'palimpsest.cache.lost_tokens': counter('{token}', 'Cached tokens that were sent again.'),
  'palimpsest.edits.tokens_freed': counter('{token}', 'Tokens removed from context, by layer.'),
  'palimpsest.edits.gain': gauge(
    '{USD}',
    'What the last edit of a layer was expected to save, less its cost.',
  ),
  'palimpsest.compaction.retention': histogram('1', 'Share of checked details still in sight.', shareBounds),
  'palimpsest.store.append.duration': histogram(
    's',
    'Of one append, as its writer waited for it.',
    appendBounds,
  ),
  'palimpsest.store.queue.wait': histogram('s', 'Until an input was taken up.', secondBounds),
  'palimpsest.lease.takeovers': counter('{session}', 'Sessions taken from a writer that had gone.'),
  'palimpsest.lease.fenced': counter('{append}', 'Appends refused because another has the session.'),
  'palimpsest.budget.refused': counter('{request}', 'Requests that a budget or cap did not allow.'),
  'palimpsest.inbox.age': gauge('s', 'Of the oldest input that waits.'),
  'palimpsest.sessions.parked': gauge('{session}', 'Sessions set aside after repeated failures.'),
} as const satisfies Readonly<Record<string, Instrument>>
export type InstrumentName = keyof typeof instruments
