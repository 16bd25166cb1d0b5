// The standard layers in their order: budget, snip, microcompact, autocompact.
// Snip speaks through its tool and through tags, not before a request, so no layer of that name stands here.
import { pointOf, type Thrift } from '../dial.ts'
import type { Layer } from '../layer.ts'
import { autocompact } from './autocompact.ts'
import { microcompact, type MicrocompactOptions } from './microcompact.ts'
import { toolResultBudget } from './tool-result-budget.ts'

export interface LayerOptions extends MicrocompactOptions {
  /** One switch for all: false leaves the view alone, whatever the other switches say. */
  readonly automaticRemoval?: boolean | undefined
  readonly budget?: boolean | undefined
  readonly messageChars?: number | undefined
  readonly microcompact?: boolean | undefined
  /** Whether the model is given the Snip tool, and inputs their tags; read where the tools are chosen. */
  readonly snip?: boolean | undefined
  readonly autocompact?: boolean | undefined
  /** Where the dial stands: from 0, keep as much as fits, to 1, spend as little as is sensible. */
  readonly thrift?: Thrift | undefined
  /** A model writes the texts, so a boundary costs a call too. */
  readonly asksModel?: boolean | undefined
}

/** The layers as they stand by default, in their order. */
export function standardLayers(options: LayerOptions = {}): readonly Layer[] {
  if (options.automaticRemoval === false) return []
  const layers: Layer[] = []
  if (options.budget !== false) layers.push(toolResultBudget(options))
  // Where nothing else makes room at the threshold, clearing must.
  const pressureClearing = options.pressureClearing ?? options.autocompact === false
  const point = pointOf(options.thrift)
  const timeClearing = options.timeClearing ?? (point.clearsIdle >= 1 || options.autocompact === false)
  if (options.microcompact !== false)
    layers.push(microcompact({ ...options, pressureClearing, timeClearing }))
  if (options.autocompact !== false) layers.push(autocompact(point, options.asksModel))
  return layers
}

export { autocompact, autocompactName } from './autocompact.ts'
export { microcompact, microcompactName, type MicrocompactOptions } from './microcompact.ts'
export type { ClearingPrice } from '../../transcript/fact.ts'
export { plainMarker } from './stub-text.ts'
export type { PolicyOf, ResultRule } from './tool-policy.ts'
export { toolResultBudget, toolResultBudgetName, type BudgetOptions } from './tool-result-budget.ts'
