// The screen of one block: where it comes from, its whole life, what it cost, and who named it again.
import { createHash } from 'node:crypto'
import { refused } from '../../disk/failure.ts'
import { added } from '../../lab/stats/gains.ts'
import { isInForce } from '../../projection/folding/live-edits.ts'
import { estimateBlocks } from '../../projection/tokens.ts'
import type { ViewBlock } from '../../projection/view.ts'
import { defaults } from '../../settings/defaults.ts'
import { isEditing, isKnown, isRealInput, type Edit, type Entry } from '../../transcript/fact.ts'
import { seq } from '../../transcript/ids.ts'
import { readLine, readLineBack, type Link } from '../../transcript/lineage.ts'
import type { Result, Store } from '../../transcript/store.ts'
import { wholeTokens } from '../indexing/edit-lives.ts'
import type { SessionIndex } from '../indexing/index-builder.ts'
import type { BlockDetail, BlockInterval, CarriedPrice } from '../protocol.ts'
import { argumentIn, blocksOf, labelOf, saidIn, textOf } from './lines.ts'
import { entryAt } from './edits.ts'
import { intervalsOf, isCarried, priceOf, type Interval } from './intervals.ts'

interface Place {
  readonly store: Store
  readonly links: readonly Link[]
  readonly index: SessionIndex
}

export async function blockDetail(
  place: Place,
  at: number,
  block: number,
): Promise<Result<{ readonly detail: Omit<BlockDetail, 'memories'> }>> {
  const { store, links, index } = place
  const entry = await entryAt(store, links, at)
  const shown = entry === null ? undefined : blocksOf(entry)[block]
  if (entry === null || shown === undefined)
    return refused('not-found', `there is no block ${block} in entry ${at}`)
  const tokens = estimateBlocks([shown])
  const { edits } = index.state.fold
  const pin = edits.pins.find(
    (one) => isInForce(one, Infinity) && one.at === at && (one.block === null || one.block === block),
  )
  const intervals: BlockInterval[] = []
  for (const interval of intervalsOf(index, at, block))
    intervals.push(await shownInterval(place, interval, at, block, tokens))
  const { fact } = entry
  const spill = fact.type === 'tool-result' ? fact.spill : undefined
  return {
    ok: true,
    detail: {
      seq: at,
      block,
      kind: fact.type === 'tool-result' ? 'tool_result' : shown.type,
      label: labelOf(entry, shown),
      tokens,
      sha256: createHash('sha256').update(textOf(shown)).digest('hex'),
      spill: spill === undefined ? null : { blob: spill.blob, bytes: spill.bytes },
      born: await bornOf(place, entry),
      isPinned: pin !== undefined,
      pin: pin?.seq ?? null,
      isOnHold: edits.visibleHolds().some(({ from, to }) => at >= from && at <= to),
      intervals,
      total: intervals.map(({ price }) => price).reduce(added, nothing),
      namedAgain: await namedAgain(place, entry, shown),
    },
  }
}

const nothing: CarriedPrice = { requests: 0, input: 0, written: 0, read: 0, dollars: 0, unpriced: 0 }

async function shownInterval(
  { store, links, index }: Place,
  interval: Interval,
  at: number,
  block: number,
  own: number,
): Promise<BlockInterval> {
  const { edit, state, since, until } = interval
  const tokens = interval.tokens === wholeTokens ? own : interval.tokens
  const made = edit === null ? null : await entryAt(store, links, edit.seq)
  const fact = made !== null && isEditing(made.fact) ? made.fact : null
  const { first, last, ...price } = isCarried(interval)
    ? priceOf(index, at, tokens, interval)
    : { first: 0, last: -1, ...nothing }
  return {
    state,
    since,
    until,
    layer: fact?.layer ?? null,
    asked: fact?.asked ?? null,
    why: fact?.why ?? null,
    text: fact === null ? null : standIn(fact.edits, at, block),
    tokens: isCarried(interval) ? tokens : 0,
    requests: last < first ? null : { first: first + 1, last: last + 1 },
    price,
  }
}

/** What an edit shows in place of a block: its stub, or the line of the summary that names its entry. */
function standIn(edits: readonly Edit[], at: number, block: number): string | null {
  for (const edit of edits) {
    if (edit.kind === 'stub' && edit.at.seq === at && (edit.at.block ?? 0) === block) return short(edit.text)
    if (edit.kind !== 'summary' || at < edit.from || at > edit.to) continue
    const line = edit.text.split('\n').find((one) => new RegExp(`#${at}\\b`, 'u').test(one))
    return short(line ?? edit.text)
  }
  return null
}
const short = (text: string): string => text.slice(0, defaults.inspector.excerptChars).toWellFormed()

/** How far back the call and the input that led to it are looked for. */
const mostBack = 400

async function bornOf({ store, links }: Place, entry: Entry): Promise<BlockDetail['born']> {
  const wanted = entry.fact.type === 'tool-result' ? entry.fact.call : null
  let call: number | null = null
  let asked: BlockDetail['born']['asked'] = null
  let looked = 0
  for await (const item of readLineBack(store, links, seq(entry.seq))) {
    if (item.kind === 'failed' || ++looked > mostBack) break
    if (item.kind !== 'entry' || !isKnown(item.entry)) continue
    const { fact } = item.entry
    const isCall =
      fact.type === 'assistant-message' &&
      fact.content.some((one) => one.type === 'tool_use' && 'id' in one && one.id === wanted)
    if (isCall && call === null) call = item.entry.seq
    if (!isRealInput(fact)) continue
    asked = { seq: item.entry.seq, text: saidIn(item.entry).slice(0, askedChars).toWellFormed() }
    break
  }
  return { at: entry.at, call, asked }
}
const askedChars = 200

/** How many later entries are looked through for its file or command. */
const mostLater = 2000
const mostNamed = 20
const leastChars = 5

/** The file or command it is about, where later calls name it. */
async function namedAgain(
  { store, links }: Place,
  entry: Entry,
  block: ViewBlock,
): Promise<BlockDetail['namedAgain']> {
  const about =
    block.type === 'tool_use' && 'input' in block
      ? argumentIn(block.input)
      : await callAbout(store, links, entry)
  if (about.length < leastChars) return []
  const named: { seq: number; words: string }[] = []
  for await (const item of readLine(store, links, {
    from: seq(entry.seq + 1),
    to: seq(entry.seq + mostLater),
  })) {
    if (item.kind === 'failed') break
    if (item.kind !== 'entry' || !isKnown(item.entry)) continue
    const { fact } = item.entry
    if (fact.type !== 'assistant-message' && fact.type !== 'user-message') continue
    if (!blocksOf(item.entry).some((one) => textOf(one).includes(about))) continue
    named.push({ seq: item.entry.seq, words: about.slice(0, askedChars).toWellFormed() })
    if (named.length >= mostNamed) break
  }
  return named
}

async function callAbout(store: Store, links: readonly Link[], entry: Entry): Promise<string> {
  if (entry.fact.type !== 'tool-result') return ''
  const { call } = entry.fact
  let looked = 0
  for await (const item of readLineBack(store, links, seq(entry.seq))) {
    if (item.kind === 'failed' || ++looked > mostBack) break
    if (item.kind !== 'entry' || !isKnown(item.entry) || item.entry.fact.type !== 'assistant-message')
      continue
    for (const one of item.entry.fact.content)
      if (one.type === 'tool_use' && 'input' in one && one.id === call) return argumentIn(one.input)
  }
  return ''
}
