// Many workers over one database: what embeds them.
export { meteredModel, type MeterOptions } from './metered-model.ts'
export { presetEngine, priceIn, type PresetEngineOptions } from './preset-engine.ts'
export { questionsOf, type Pending, type Questions } from './questions.ts'
export { isFinal, runTurnStep, type StepAnswer, type StepInput } from './step.ts'
export { workOn, type OpenEngine, type SessionEngine, type StepOutcome, type TurnPorts } from './turn.ts'
export { runWorker, type WorkerEvent, type WorkerOptions } from './worker.ts'
export { describeEntry } from './describe.ts'
export { startFleetServer, type FleetServer, type FleetServerOptions } from './server.ts'
