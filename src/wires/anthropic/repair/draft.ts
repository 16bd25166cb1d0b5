// A message under repair. It remembers the message it came from until something in it changes, so that what needs
// no repair leaves as the same object (callers keep its serialization by identity).
import type { WireBlock, WireMessage } from '../../../model/wire.ts'
import { sameItems } from '../../repairing.ts'
import type { WireRepair } from '../../wire.ts'

export type RepairRule =
  | 'bad-message'
  | 'bad-role'
  | 'bad-block'
  | 'extra-key'
  | 'lone-surrogate'
  | 'user-citations'
  | 'misplaced-block'
  | 'system-place'
  | 'empty-text'
  | 'empty-message'
  | 'empty-result'
  | 'media-in-error'
  | 'same-role'
  | 'reasoning-unsigned'
  | 'reasoning-foreign'
  | 'reasoning-damaged'
  | 'reasoning-refused'
  | 'reasoning-bound'
  | 'reasoning-last'
  | 'call-id'
  | 'call-name'
  | 'call-arguments'
  | 'call-duplicate'
  | 'result-missing'
  | 'result-orphan'
  | 'result-duplicate'
  | 'result-moved'
  | 'results-first'
  | 'server-pair'
  | 'first-user'
  | 'last-user'
  | 'trailing-space'
  | 'breakpoint-place'
  | 'breakpoint-count'
  | 'breakpoint-order'
  | 'breakpoint-shape'

/** One thing that was changed: by which rule, where in the list handed in, and what was done. */
export interface Repair extends WireRepair {
  readonly rule: RepairRule
}

export interface Draft {
  readonly role: WireMessage['role']
  readonly blocks: readonly WireBlock[]
  /** What the wire allows beside role and content (system messages only). */
  readonly extra: Readonly<Record<string, unknown>>
  /** Place in the list handed in; of the first one where several were merged. */
  readonly at: number
  readonly untouched: WireMessage | null
}

/** What the passes share: the reports so far, where each block came from, and which calls lost their arguments. */
export interface RepairLog {
  readonly repairs: Repair[]
  readonly places: Map<WireBlock, string>
  readonly truncated: Set<WireBlock>
}
export const newRepairLog = (): RepairLog => ({ repairs: [], places: new Map(), truncated: new Set() })

export const note = (log: RepairLog, rule: RepairRule, path: string, what: string): void => {
  log.repairs.push({ rule, path, what })
}
export const messagePath = (draft: Draft): string => `messages.${draft.at}`
export const draftPlace = (log: RepairLog, block: WireBlock, draft: Draft): string =>
  log.places.get(block) ?? messagePath(draft)

/** The block with some keys changed; undefined removes a key. It keeps its place for the reports. */
export function changed(
  log: RepairLog,
  block: WireBlock,
  keys: Readonly<Record<string, unknown>>,
): WireBlock {
  const merged: Record<string, unknown> = { ...block, ...keys }
  for (const key of Object.keys(keys)) if (merged[key] === undefined) delete merged[key]
  const next: WireBlock = { ...merged, type: block.type }
  const place = log.places.get(block)
  if (place !== undefined) log.places.set(next, place)
  if (log.truncated.has(block)) log.truncated.add(next)
  return next
}

/** The draft with these blocks; itself when they are the ones it has. */
export const withBlocks = (draft: Draft, blocks: readonly WireBlock[]): Draft =>
  sameItems(draft.blocks, blocks) ? draft : { ...draft, blocks, untouched: null }

export const newUserDraft = (at: number, blocks: readonly WireBlock[]): Draft => ({
  role: 'user',
  blocks,
  extra: {},
  at,
  untouched: null,
})

export const toMessage = (draft: Draft): WireMessage =>
  draft.untouched ?? { ...draft.extra, role: draft.role, content: draft.blocks }
