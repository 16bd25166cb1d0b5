// The main entry: what an embedding program needs to keep an agent's context small, cheap and true.
export { createEngine, type Engine, type Opened } from './engine/engine.ts'
export type { CompactAsk, Compacted } from './engine/compacting/ask.ts'
export type { Summariser, SummaryAnswer, SummaryAsk } from './compaction/summary.ts'
export type { ChoosingOptions, EngineOptions } from './engine/options.ts'
export { EngineError, Session, type Input, type Response } from './engine/session.ts'
export type { AgentAbout, AgentRow } from './engine/background/agent-rows.ts'
export type { Companion, Delivery } from './engine/ports.ts'
export type { SpawnSpec } from './engine/background/spawn.ts'
export type { Apart, ForkOutcome, ForkSpec } from './engine/ports.ts'
export {
  hooks,
  noAnswer,
  noHooks,
  type HookAnswer,
  type HookHandlers,
  type HookName,
  type HookPayload,
  type HookPayloads,
  type HookReply,
  type Hooks,
} from './engine/hooks.ts'
export type { LiveEvent, TurnFailure } from './engine/live.ts'
export type { CacheState } from './engine/limits/budget.ts'
export type { SwitchPrice } from './engine/limits/switch-price.ts'
export type { Caps, Spent } from './engine/limits/spend.ts'
export type {
  FileSource,
  ReadNow,
  RestorationOptions,
  Restorer,
  RestoreContext,
} from './engine/restoring/restorer.ts'
export { standingAttachment } from './engine/restoring/restorer.ts'
export { sessionNotes, type SessionNotesOptions } from './forks/notes/session-notes.ts'
export { modelSummary, type ModelSummaryOptions } from './forks/summary/model-summary.ts'
export { anthropicModel } from './wires/anthropic/adapter.ts'
export { anthropicWire, type AnthropicRequest } from './wires/anthropic/wire.ts'
export type {
  CacheRules,
  Quirks,
  Spoken,
  Wire,
  WireChooser,
  WireProblem,
  WireRepair,
  WireRepaired,
  WireTarget,
} from './wires/wire.ts'
export type { Model, ModelEvent, ModelFailure, ModelMessage, ModelRequest, Overflow } from './model/model.ts'
export {
  lookUp,
  modelTable,
  price,
  windowOf,
  type ModelInfo,
  type ModelRow,
  type ModelTable,
} from './model/models.ts'
export { overflowOf, silentOverflow } from './model/overflow.ts'
export { scriptedMessage, scriptedModel } from './model/scripted.ts'
export { createPreset, type Access, type Preset, type PresetOptions } from './preset.ts'
export type { Extensions } from './preset/extensions.ts'
export { loadSkills, type LoadedSkills, type SkillOptions } from './preset/skills.ts'
export { projectOf, type Project } from './preset/project.ts'
export { machineFileSystem } from './disk/fs.ts'
export { project } from './projection/fold.ts'
export type { Layer, Budget, Proposal } from './projection/layer.ts'
export type { Message, Part, View } from './projection/view.ts'
export {
  anthropicRepairer,
  originByMessage,
  repair,
  type Repair,
  type Repaired,
  type Repairer,
  type RepairOptions,
} from './wires/anthropic/repair.ts'
export { openAiChatModel, openAiResponsesModel, type OpenAiOptions } from './wires/openai-adapter.ts'
export type { AdapterOptions } from './wires/adapter.ts'
export { geminiModel } from './wires/gemini/adapter.ts'
export { geminiWire, type GeminiRequest } from './wires/gemini/wire.ts'
export { openAiChatWire, type ChatRequest } from './wires/openai-chat/wire.ts'
export { openAiResponsesWire, type ResponsesRequest } from './wires/openai-responses/wire.ts'
export { leftBehind, leftBehindText, type LeftBehind, type SwitchTarget } from './wires/left-behind.ts'
export { providersOf, type Provider, type ProvidersByName, type ProviderSettings } from './wires/providers.ts'
export { routedModel, wireChooser, type RouterOptions } from './wires/routing.ts'
export { knownServers, serverNamed, type ServerRow } from './wires/servers.ts'
export { agentTools, attending, builtInTypes, AgentRegistry } from './forks/agents/index.ts'
export type { AgentAsk, AgentType, RegistryOptions } from './forks/agents/index.ts'
export { createDirectory, type Directory } from './forks/mailbox/directory.ts'
export type { Message as AgentMessage, MessageKind } from './forks/mailbox/message.ts'
export type { Settings } from './settings/schema.ts'
export { tool, type SchemaOf, type ToolDefinition, type ToolReply } from './tools/define-tool.ts'
export type { Tool, ToolEnv, ToolOutcome, ToolPolicy } from './tools/tool.ts'
export { fileStore, inMemoryStore, type FileStoreOptions } from './stores/index.ts'
export type {
  BlockRef,
  Edit,
  Entry,
  Fact,
  FactOf,
  FactType,
  Range,
  StoredEntry,
  Usage,
} from './transcript/fact.ts'
export type { Clock, Ids, Seq, SessionId, Uuid } from './transcript/ids.ts'
export type { Memory, Provenance } from './memory/memory.ts'
export type {
  Applied,
  BegunConsolidation,
  MemoryChange,
  MemorySets,
  MemoryStore,
  SavedSet,
  SaveSetOptions,
  SetStore,
  SourcedChange,
} from './memory/memory-store.ts'
export {
  memoryToolHandlers,
  type MemoryToolCommand,
  type MemoryToolHandlers,
  type MemoryToolOptions,
} from './memory/serving/memory-tool.ts'
export type { Lineage } from './memory/trust/lineage.ts'
export type { Damage, Failure, Result, SessionInfo, Store } from './transcript/store.ts'
