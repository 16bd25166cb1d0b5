// The door `palimpsest/fit`: keeps the messages of your own loop within the window, valid and on the cache.
export { fit } from './fit.ts'
export type {
  FitBoundary,
  FitCost,
  FitEdit,
  FitFailure,
  FitFailureCode,
  FitOptions,
  FitOutcome,
  FitReport,
  FitToolPolicy,
  KeptOriginal,
  SummarisingOptions,
  SummaryRequest,
} from './contract.ts'
export type { FitState } from './state.ts'
export type { TrimLimits } from './trim.ts'
export { usageIn } from './rules.ts'
export type { Usage } from '../transcript/fact.ts'
export { aiSdkFit, type AiSdkFit, type AiSdkMessage } from './frameworks/ai-sdk.ts'
export { agentsFit, type AgentsFit, type AgentsFitOptions, type AgentsSession } from './frameworks/agents.ts'
export {
  langChainFit,
  type LangChainClasses,
  type LangChainFit,
  type LangChainFitOptions,
  type LangChainMessage,
} from './frameworks/langchain.ts'
export type { FrameworkOptions, FitStates } from './frameworks/fitting.ts'
