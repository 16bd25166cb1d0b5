// The life of an entry or of one of its blocks, by comparing places: when it was whole, when something stood for it, when it was
// gone, which requests carried it meanwhile and what for. No request is composed for it.
import { wholeTokens, type EditedBlock, type EditLife, type EditPart } from '../indexing/edit-lives.ts'
import type { SessionIndex } from '../indexing/index-builder.ts'
import type { BlockInterval, CarriedPrice } from '../protocol.ts'

export interface Interval {
  readonly state: BlockInterval['state']
  readonly since: number
  readonly until: number | null
  /** The edit that made it so. */
  readonly edit: EditLife | null
  /** Tokens it takes in a request; `wholeTokens` for all of its own. */
  readonly tokens: number
}

/** `block` null: the entry as one. Oldest first; neighbours differ. */
export function intervalsOf(
  { lives }: SessionIndex,
  place: number,
  block: number | null,
): readonly Interval[] {
  const touching = lives
    .touching(place)
    .flatMap((edit) =>
      edit.parts.filter((part) => isMeant(part, place, block)).map((part) => ({ edit, part })),
    )
  // The outermost span counts; of equal ones the newest. Sorted once: a long session has hundreds over an early entry.
  const spans = touching
    .filter(({ part }) => isSpan(part))
    .toSorted((a, b) => sizeOf(b.part) - sizeOf(a.part) || b.edit.seq - a.edit.seq)
  const others = touching.filter(({ part }) => !isSpan(part))
  const cut = lives.cutAt(place)
  const turns = new Set<number>([place])
  for (const { edit } of touching)
    for (const { since, until } of edit.lives) {
      turns.add(since)
      if (until !== null) turns.add(until)
    }
  if (cut !== null) turns.add(cut)
  const places = [...turns]
    .filter((turn) => turn >= place && (cut === null || turn <= cut))
    .toSorted((a, b) => a - b)
  const intervals: Interval[] = []
  for (const since of places) {
    const now =
      cut !== null && since >= cut
        ? rewound
        : stateAt(spans, others, (one) => isBlock(one, place, block), since)
    const last = intervals.at(-1)
    if (last?.state === now.state && last.edit === now.edit) continue
    if (last !== undefined) intervals[intervals.length - 1] = { ...last, until: since }
    intervals.push({ ...now, since, until: null })
  }
  return intervals
}

type Now = Omit<Interval, 'since' | 'until'>
const rewound: Now = { state: 'rewound', edit: null, tokens: 0 }

/** A single block of an entry is touched by edits of that block and by those of whole spans. */
const isMeant = (part: EditPart, place: number, block: number | null): boolean =>
  place >= part.from &&
  place <= part.to &&
  (isSpan(part) || part.blocks.some((one) => isBlock(one, place, block)))
const isSpan = ({ kind }: EditPart): boolean => kind === 'drop' || kind === 'summary'
const isBlock = (one: EditedBlock, place: number, block: number | null): boolean =>
  one.seq === place && (block === null || one.block === block)

interface Touching {
  readonly edit: EditLife
  readonly part: EditPart
}

function stateAt(
  spans: readonly Touching[],
  others: readonly Touching[],
  isOwn: (one: EditedBlock) => boolean,
  at: number,
): Now {
  const isLive = ({ edit }: Touching): boolean =>
    edit.lives.some(({ since, until }) => since <= at && (until === null || at < until))
  const top = spans.find(isLive)
  if (top !== undefined) {
    const kept = top.part.blocks.find(isOwn)
    if (top.part.kind === 'drop') return { state: 'removed', edit: top.edit, tokens: 0 }
    if (kept === undefined) return { state: 'summarised', edit: top.edit, tokens: 0 }
    return { state: kept.tokens === wholeTokens ? 'whole' : 'excerpt', edit: top.edit, tokens: kept.tokens }
  }
  const own = others.findLast((one) => one.part.kind === 'stub' && isLive(one)) ?? others.findLast(isLive)
  if (own === undefined) return { state: 'whole', edit: null, tokens: wholeTokens }
  const { tokens } = own.part.blocks.find(isOwn)!
  return { state: own.part.kind === 'stub' ? 'stub' : 'removed', edit: own.edit, tokens }
}

const sizeOf = ({ from, to }: EditPart): number => to - from

/** What it cost to carry so many tokens of an entry from one place to another. */
export function priceOf(
  { requests }: SessionIndex,
  place: number,
  tokens: number,
  { since, until }: { readonly since: number; readonly until: number | null },
): CarriedPrice & { readonly first: number; readonly last: number } {
  const first = requests.firstFrom('seq', since)
  const end = until === null ? requests.length : requests.firstFrom('seq', until)
  let [input, written, read, dollars, unpriced] = [0, 0, 0, 0, 0]
  for (let row = first; row < end; row++) {
    if (Number.isNaN(requests.get(row, 'input'))) continue
    const isRead = place <= requests.get(row, 'readTo')
    const isWritten = !isRead && place <= requests.get(row, 'writtenTo')
    if (isRead) read++
    else if (isWritten) written++
    else input++
    const per = requests.get(row, isRead ? 'perRead' : isWritten ? 'perWritten' : 'perInput')
    if (Number.isNaN(per)) unpriced++
    else dollars += per * tokens
  }
  return { requests: Math.max(0, end - first), input, written, read, dollars, unpriced, first, last: end - 1 }
}

export const isCarried = ({ state }: Pick<Interval, 'state'>): boolean =>
  state === 'whole' || state === 'stub' || state === 'excerpt'
