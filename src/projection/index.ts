// The projection door: what turns entries into a view. Browser-safe: nothing here or below asks for Node.
export { roomOf, type Room, type RoomClues, type RoomOutcome } from './budget.ts'
export { factorOf, learn, uncalibrated, type Calibration } from './calibration.ts'
export { checkpointOf, foldVersion, restore, type FoldState } from './checkpoint.ts'
export { covered, cutPlaces } from './cuts.ts'
export {
  breakEven,
  expectedRequests,
  priceOfReduction,
  type Reduction,
  type ReductionPrice,
  type TokenRates,
} from './economy.ts'
export { EditList, editRows, editsOf, type DeclinedRow, type EditRow } from './edit-list.ts'
export { Fold, project } from './fold.ts'
export type { Budget, Layer, LayerCapabilities, Proposal } from './layer.ts'
export { standardLayers, type LayerOptions } from './layers/index.ts'
export { MessageList } from './folding/message-list.ts'
export { userWords, viewRefusal, type EditRefusal } from './refusal.ts'
export { estimateBlock, estimateBlocks, estimateText, estimateTool } from './tokens.ts'
export { roundsOf, turnsOf, type Span } from './turns.ts'
export type { Anchor, Message, Part, ToolResultBlock, View, ViewBlock } from './view.ts'
