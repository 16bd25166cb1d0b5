// The testing door: for tests of this package and for those who bring their own store, layer or tool.
export { arbitraryMoves, played, type Answering, type Move } from './arbitrary.ts'
export { answered, call, entriesOf, Pen, result, said, start, thought } from './builders.ts'
export { countingIds, fixedClock, fixedSession, type FixedClock } from './fixed.ts'
export { layerContract, type LayerCase } from './layer-contract.ts'
export { modelContract, type ModelCase, type ModelManner } from './model-contract.ts'
export { storeContract, type ContractCase } from './store-contract.ts'
export { wireHistory, type WireHistoryShape } from './wire-arbitrary.ts'
export { storeWith } from './store-with.ts'
