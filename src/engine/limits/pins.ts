// Pins take room from everything else, so together they may take only a share of it (law U1).
import { factorOf } from '../../projection/calibration.ts'
import type { RoomOutcome } from '../../projection/budget.ts'
import type { Fold } from '../../projection/fold.ts'
import { estimateBlocks } from '../../projection/tokens.ts'
import { defaults } from '../../settings/defaults.ts'
import type { BlockRef } from '../../transcript/fact.ts'
import type { Seq } from '../../transcript/ids.ts'
import type { Failure } from '../../transcript/store.ts'

/** Why one more pin may not be set, with the numbers, or null. */
export function pinRefusal(fold: Fold, model: string, outcome: RoomOutcome, at: BlockRef): Failure | null {
  if (!outcome.ok) return { code: 'no-room', message: outcome.why }
  const { room } = outcome.room
  const factor = factorOf(fold.numbers.calibration, model)
  const taken = factor * pinnedEstimate(fold)
  const wanted = factor * estimateAt(fold, at.seq, at.block ?? null)
  const most = defaults.view.pinShare * room
  if (taken + wanted <= most) return null
  const message =
    `this pin would take about ${Math.ceil(wanted)} tokens and the others take ${Math.ceil(taken)}, ` +
    `but pins may take ${Math.floor(most)} of the ${room} tokens of room. Release one first, or pin a single block.`
  return { code: 'pins-full', message }
}

function pinnedEstimate(fold: Fold): number {
  let sum = 0
  for (const { at, block, released } of fold.edits.pins)
    if (released === null) sum += estimateAt(fold, at, block)
  return sum
}

function estimateAt(fold: Fold, place: Seq, block: number | null): number {
  const part = fold.units.find(place)
  if (part === undefined) return 0
  return estimateBlocks(part.blocks.filter((_, index) => block === null || part.source[index] === block))
}
