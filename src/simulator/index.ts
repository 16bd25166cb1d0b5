// The door `palimpsest/simulator`: a local Messages API, and the wires of other vendors, for tests, offline work and the lab.
export {
  call,
  scripted,
  text,
  thinking,
  type Answer,
  type AnswerContext,
  type Answerer,
  type ScriptAnswer,
  type ScriptedAnswerer,
  type ScriptStep,
} from './answer.ts'
export type { Job } from './answers/jobs/ask.ts'
export { injectedOrder, inventedRequest, variants } from './answers/jobs/modes.ts'
export type { Mode, Variant } from './answers/jobs/modes.ts'
export { recorded } from './answers/recorded.ts'
export type { RecordedAnswerer, RecordedOptions, RecordedResult } from './answers/recorded.ts'
export { jobOf, ruleModel } from './answers/rule-model.ts'
export type { RuleModelOptions } from './answers/rule-model.ts'
export { parseTask, tasksIn } from './answers/task.ts'
export type { Step, Task } from './answers/task.ts'
export {
  createCache,
  createImplicitCache,
  type CacheOptions,
  type CacheUsage,
  type ImplicitCacheOptions,
  type PromptCache,
  type Reading,
} from './cache.ts'
export { createPromptReader } from './prompt.ts'
export { createCounter } from './counter.ts'
export type { Counter } from './counter.ts'
export type { Bill } from './bill.ts'
export { createDigests } from './digest.ts'
export type { Digests } from './digest.ts'
export { checkChatRequest, checkGeminiRequest, checkResponsesRequest } from './dialects/check.ts'
export type { DialectCheckOptions } from './dialects/check.ts'
export type { Refused } from './dialects/front.ts'
export { dialectModels, findDialectModel } from './dialects/models.ts'
export type { DialectModel, ModelCache, ModelPrice } from './dialects/models.ts'
export { serverQuirks } from './dialects/openai/quirks.ts'
export type { Quirks, ServerName } from './dialects/openai/quirks.ts'
export {
  createExchange,
  createManualClock,
  type Clock,
  type Exchange,
  type ExchangeOptions,
  type ExchangeOutcome,
  type ManualClock,
  type Reply,
} from './exchange.ts'
export type { Fault, FaultContext, Faults, ScheduledFault } from './http/faults.ts'
export { SOURCE_HEADER } from './http/arrival.ts'
export { createSimulator } from './http/server.ts'
export type { Simulator, SimulatorOptions } from './http/server.ts'
export type { LoggedPrompt, LoggedRequest, LogLimits, RequestLog } from './log.ts'
export { findModel, simulatedModels } from './models.ts'
export type { SimulatedModel, ThinkingMode } from './models.ts'
export { checkRequest } from './rules.ts'
export type { RuleOptions } from './rules.ts'
