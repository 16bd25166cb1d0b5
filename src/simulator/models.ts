// The models the simulator serves and what each one accepts. The judge keeps its own table
// and its own numbers: a wrong number in the engine's table must show up here as a rejected request.

export type ThinkingMode = 'adaptive' | 'enabled' | 'disabled' | 'between_tools'

export interface SimulatedModel {
  readonly id: string
  readonly window: number
  readonly maxOutput: number
  /** Shortest prefix that is cached at all. */
  readonly minCacheable: number
  /** 4.1, 4.5, 5.5 …: which of the rules that changed over time apply. */
  readonly generation: number
  readonly thinking: readonly ThinkingMode[]
  /** What an absent `thinking` means. */
  readonly defaultThinking: ThinkingMode
  /** Thinking of earlier turns stays in the prompt; otherwise it is stripped at the next user turn. */
  readonly keepsThinking: boolean
  /** `always`, for accounts made since the rule began, or only where a request asks for it. */
  readonly bindsPrefix: 'always' | 'new-accounts' | 'never'
  readonly forcedTools: boolean
  readonly systemMessages: boolean
  /** Tokens the provider adds to a prompt that offers tools. */
  readonly toolOverhead: number
}

const MILLION = 1_000_000
const SMALL_WINDOW = 200_000
const BIG_OUTPUT = 128_000
const MEDIUM_OUTPUT = 64_000
const SMALL_OUTPUT = 32_000
/** Where the table has no measured overhead. */
const USUAL_TOOL_OVERHEAD = 290

const current: Omit<SimulatedModel, 'id'> = {
  window: MILLION,
  maxOutput: BIG_OUTPUT,
  minCacheable: 512,
  generation: 5,
  thinking: ['adaptive', 'disabled'],
  defaultThinking: 'adaptive',
  keepsThinking: true,
  bindsPrefix: 'never',
  forcedTools: true,
  systemMessages: false,
  toolOverhead: USUAL_TOOL_OVERHEAD,
}
const alwaysThinks: Partial<SimulatedModel> = { thinking: ['adaptive'], systemMessages: true }
const fourSix: Partial<SimulatedModel> = {
  generation: 4.6,
  thinking: ['adaptive', 'enabled', 'disabled'],
  defaultThinking: 'disabled',
  toolOverhead: 497,
}
const fourFive: Partial<SimulatedModel> = {
  window: SMALL_WINDOW,
  maxOutput: MEDIUM_OUTPUT,
  generation: 4.5,
  thinking: ['enabled', 'disabled'],
  defaultThinking: 'disabled',
  keepsThinking: false,
  toolOverhead: 496,
}
const beforeFourFive: Partial<SimulatedModel> = {
  ...fourFive,
  generation: 4.1,
  maxOutput: SMALL_OUTPUT,
  minCacheable: 1024,
}

const model = (id: string, ...differences: readonly Partial<SimulatedModel>[]): SimulatedModel =>
  Object.assign({ ...current, id }, ...differences)

/** The models the simulator knows. */
export const simulatedModels: readonly SimulatedModel[] = [
  model('claude-fable-5-2', alwaysThinks, { generation: 5.2, bindsPrefix: 'always', forcedTools: false }),
  model('claude-mythos-5-2', alwaysThinks, { generation: 5.2 }),
  model('claude-fable-5-1', alwaysThinks, {
    generation: 5.1,
    bindsPrefix: 'new-accounts',
    forcedTools: false,
  }),
  model('claude-mythos-5-1', alwaysThinks, { generation: 5.1 }),
  model('claude-fable-5', alwaysThinks),
  model('claude-mythos-5', alwaysThinks),
  model('claude-opus-5-5', alwaysThinks, {
    generation: 5.5,
    bindsPrefix: 'new-accounts',
    forcedTools: false,
  }),
  model('claude-opus-5', { systemMessages: true, toolOverhead: 286 }),
  model('claude-opus-4-8', {
    generation: 4.8,
    minCacheable: 1024,
    defaultThinking: 'disabled',
    systemMessages: true,
  }),
  model('claude-opus-4-7', {
    generation: 4.7,
    minCacheable: 2048,
    defaultThinking: 'disabled',
    toolOverhead: 675,
  }),
  model('claude-opus-4-6', fourSix, { minCacheable: 4096 }),
  model('claude-opus-4-5', fourFive, { minCacheable: 4096, keepsThinking: true }),
  model('claude-opus-4-1', beforeFourFive),
  model('claude-opus-4', beforeFourFive),
  model('claude-sonnet-5-5', {
    generation: 5.5,
    thinking: ['adaptive', 'between_tools'],
    bindsPrefix: 'new-accounts',
    forcedTools: false,
  }),
  model('claude-sonnet-5', { minCacheable: 1024, toolOverhead: 354 }),
  model('claude-sonnet-4-6', fourSix, { minCacheable: 1024 }),
  model('claude-sonnet-4-5', fourFive, { minCacheable: 1024 }),
  model('claude-haiku-5-5', { generation: 5.5, bindsPrefix: 'new-accounts' }),
  model('claude-haiku-4-5', fourFive, { minCacheable: 4096 }),
]

const DATED = /-\d{8}$/

/** A dated id (`…-20251101`) names the same model as the plain one. */
export function findModel(models: readonly SimulatedModel[], id: string): SimulatedModel | null {
  const plain = id.replace(DATED, '')
  return models.find((each) => each.id === id) ?? models.find((each) => each.id === plain) ?? null
}

/** Generations that end a full window with a stop reason instead of refusing the request. */
export const FILLS_WINDOW_SINCE = 4.5
/** Generations whose conversation must end with a user message. */
export const NO_PREFILL_SINCE = 4.6
/** Generations with the newer tokenizer, larger images and thinking left out of the response by default. */
export const NEW_TOKENIZER_SINCE = 4.7

/** For callers that account requests of models nobody has listed. */
export const unknownModel: SimulatedModel = model('unknown')
