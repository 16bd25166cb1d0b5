// A layer looks at the view before a request and may propose edits. It decides nothing by itself: what it wants is
// written down as a fact, and the fold applies it. Pure: no clock, no disk, no model but what the budget says.
import type { BlockRef, Declined, Edit, EditPrice, Range } from '../transcript/fact.ts'
import type { Room } from './budget.ts'
import type { TokenRates } from './economy.ts'
import type { View } from './view.ts'

export interface Budget extends Room {
  readonly now: number
  /** The prefix of the last request is still in the provider's cache. */
  readonly isWarm: boolean
  readonly rates: TokenRates | null
  /** Requests still expected in this session, estimated from the session itself. */
  readonly expectedRequests: number
  /** A top-level session; forks and sub-agents are not. */
  readonly isMain: boolean
  /** The last answer read less than was cached, and nothing of ours explains it. */
  readonly cacheLost: boolean
  readonly capabilities: LayerCapabilities
  /** On a cold cache: a boundary is about to come, which chooses better what stays and needs the words for that. */
  readonly boundaryDue?: boolean | undefined
  /** What stands before this place is another session's; left out, nothing is. */
  readonly ownFrom?: number | undefined
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
      readonly price?: EditPrice | undefined
    }
  /** Results to be written out beside the session and replaced by a preview. */
  | { readonly kind: 'spill'; readonly at: readonly BlockRef[]; readonly why: string }
  /**
   * A text in place of a span, written under the layer's name and with its reason; it may cost a model call. `summary`: a
   * boundary, with what a compaction restores; of a span that is the whole view the newest messages stay. `archive`: the
   * text for this span and nothing else. A span moves back to where the wire allows a cut, and never grows.
   */
  | { readonly kind: 'ask'; readonly span: Range; readonly text: 'summary' | 'archive'; readonly why: string }

export interface Layer {
  readonly name: string
  /** It makes room where there is none: a text may be prepared for it ahead, and a forked agent runs it too. */
  readonly makesRoom?: boolean | undefined
  /** It looks at results that were never sent, so a forked agent may run it on its own. */
  readonly ownResultsOnly?: boolean | undefined
  /** It has the server delete from its cache: asked again when a later layer rewrote what was to be deleted. */
  readonly deletesFromCache?: boolean | undefined
  decide(view: View, budget: Budget): Proposal | null
  /** Where it decides nothing: what it weighed and left because it loses, with the numbers. */
  declined?(view: View, budget: Budget): Omit<Declined, 'layer'> | null
  /** Of one that makes room: whether it is worth it now, although there still is some. */
  isDue?(view: View, budget: Budget): boolean
}
