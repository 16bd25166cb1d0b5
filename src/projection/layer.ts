// A layer looks at the view before a request and may propose edits. It decides nothing by itself: what it wants is
// written down as a fact, and the fold applies it. Pure: no clock, no disk, no model but what the budget says.
import type { BlockRef, Declined, Edit, Range } from '../transcript/fact.ts'
import type { Room } from './budget.ts'
import type { View } from './view.ts'

/** Price of a token in dollars, by how it reaches the model. */
export interface Rates {
  readonly fresh: number
  readonly read: number
  readonly write: number
  readonly output: number
}

export interface Budget extends Room {
  readonly now: number
  /** The prefix of the last request is still in the provider's cache. */
  readonly isWarm: boolean
  readonly rates: Rates | null
  /** Requests still expected in this session, estimated from the session itself. */
  readonly expectedRequests: number
  /** A top-level session; forks and sub-agents are not. */
  readonly isMain: boolean
  /** The last answer read less than was cached, and nothing of ours explains it. */
  readonly cacheLost: boolean
  readonly capabilities: LayerCapabilities
}

/** What the model of the next request can do, as far as layers ask. */
export interface LayerCapabilities {
  readonly cacheEdits: boolean
  readonly contextEditing: boolean
  readonly bindsPrefix: boolean
}

export type Proposal =
  | {
      readonly kind: 'edit'
      readonly edits: readonly Edit[]
      readonly why: string
      readonly tokensFreed: number
      readonly price?: unknown
    }
  /** Results to be written out beside the session and replaced by a preview. */
  | { readonly kind: 'spill'; readonly at: readonly BlockRef[]; readonly why: string }
  /** Costs a model call: a fork answers. */
  | { readonly kind: 'ask'; readonly span: Range; readonly want: 'summary'; readonly when: 'now' }

export interface Layer {
  readonly name: string
  decide(view: View, budget: Budget): Proposal | null
  /** Where it decides nothing: what it weighed and left because it loses, with the numbers. */
  declined?(view: View, budget: Budget): Omit<Declined, 'layer'> | null
}
