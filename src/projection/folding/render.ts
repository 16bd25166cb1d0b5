// How an edit looks in the view: a stub in place of a block, a summary with its kept words in place of a span.
// Everything shown comes from the edit and from the entries; nothing is decided here.
import type { UserBlock } from '../../transcript/content.ts'
import { fenced } from '../../transcript/fence.ts'
import { expandCall } from '../../transcript/markers.ts'
import type { Kept } from '../../transcript/fact.ts'
import type { Seq } from '../../transcript/ids.ts'
import { isMedia } from '../../transcript/media.ts'
import {
  isInForce,
  type LiveClearing,
  type LiveEdits,
  type LiveRange,
  type LiveStub,
  type Pin,
} from './live-edits.ts'
import { emptyPart, wellFormed, withBlocks } from './part.ts'
import { estimateBlock, estimateBlocks } from '../tokens.ts'
import type { Part, ViewBlock } from '../view.ts'

/** A part as the live edits of its single blocks leave it. A pinned block is not touched. */
export function withBlockEdits(part: Part, edits: LiveEdits): Part {
  const stubs = edits.stubs.get(part.from)
  const cleared = edits.remote.get(part.from)
  let shown = withWhole(part, edits.wholes)
  if (stubs === undefined && cleared === undefined) return shown
  if (stubs !== undefined) shown = withStubs(shown, stubs, edits.pins)
  return cleared === undefined ? shown : withClearing(shown, cleared, stubs)
}

function withStubs(part: Part, stubs: ReadonlyMap<number, readonly LiveStub[]>, pins: readonly Pin[]): Part {
  let by: LiveStub | null = null
  let isPartly = false
  const blocks = part.blocks.map((block, index) => {
    const source = part.source[index]!
    const live = (stubs.get(source) ?? []).filter(
      (stub) => !isPinned(pins, part.from, source, stub.seq) && canBeStubbed(block),
    )
    const stub = live.findLast(({ edit }) => edit.at.inner === undefined)
    const shown =
      stub === undefined
        ? withInnerStubs(block, live)
        : { block: stubbed(block, stub.edit.text), isAll: true }
    if (shown.block !== block) by = stub ?? live.at(-1)!
    if (!shown.isAll && (shown.block !== block || part.kind === 'input')) isPartly = true
    return shown.block
  })
  if (by === null) return part
  const { layer, seq } = by as LiveStub
  // Words that still stand there are not the work of whoever replaced a picture among them.
  const edited = isPartly ? {} : { by: layer, edit: seq }
  return { ...withBlocks(part, blocks), wholeEstimate: part.estimate, ...edited }
}

/** A result that was too large when it came, with its whole text where an undo brought that back. */
export function withWhole(part: Part, wholes: LiveEdits['wholes']): Part {
  const text = wholes.size === 0 || part.kind !== 'result' ? undefined : wholes.get(part.from)
  if (text === undefined) return part
  const blocks = part.blocks.map((block) => {
    if (block.type !== 'tool_result' || !('is_error' in block)) return block
    const kept = block.content.flatMap((inner, index) =>
      inner.type === 'text' ? [] : [{ inner, place: block.places?.[index] ?? index }],
    )
    const content: UserBlock[] = [{ type: 'text', text: wellFormed(text) }, ...kept.map(({ inner }) => inner)]
    return { ...block, content, places: [0, ...kept.map(({ place }) => place)] }
  })
  return withBlocks(part, blocks)
}

/** A result in which single media are replaced. */
function withInnerStubs(
  block: ViewBlock,
  stubs: readonly LiveStub[],
): { readonly block: ViewBlock; readonly isAll: boolean } {
  if (stubs.length === 0 || block.type !== 'tool_result' || !('is_error' in block))
    return { block, isAll: false }
  let isAll = true
  const content = block.content.map((inner, index): UserBlock => {
    const place = block.places?.[index] ?? index
    const stub = isMedia(inner) ? stubs.findLast(({ edit }) => edit.at.inner === place) : undefined
    if (stub === undefined) isAll = false
    return stub === undefined ? inner : { type: 'text', text: stub.edit.text }
  })
  return { block: { ...block, content }, isAll }
}

// A stub over a cleared result ends the clearing: the bytes the server was to leave out are no longer sent.
function withClearing(
  part: Part,
  cleared: ReadonlyMap<number, readonly LiveClearing[]>,
  stubs: ReadonlyMap<number, readonly LiveStub[]> | undefined,
): Part {
  let clearedEstimate = 0
  const blocks = part.blocks.map((block, index) => {
    const source = part.source[index]!
    const via = stubs?.has(source) === true ? undefined : cleared.get(source)?.at(-1)?.via
    if (via === undefined || block.type !== 'tool_result' || !('is_error' in block)) return block
    clearedEstimate += estimateBlock(block)
    return { ...block, cleared: via }
  })
  return { ...part, blocks, clearedEstimate }
}

/** Reasoning and calls are bound to what surrounds them and stay. */
export const canBeStubbed = (block: ViewBlock): boolean =>
  block.type === 'text' || block.type === 'image' || block.type === 'document' || block.type === 'tool_result'

export function stubbed(block: ViewBlock, text: string): ViewBlock {
  const stub: UserBlock = { type: 'text', text }
  return block.type === 'tool_result' && 'is_error' in block ? { ...block, content: [stub] } : stub
}

/**
 * What stands in place of a span: the summary's text and its kept blocks, or for a drop only what is pinned in it.
 * Null when nothing stands there.
 */
export function rangePart(
  top: LiveRange,
  pins: readonly Pin[],
  find: (place: Seq) => Part | undefined,
): Part | null {
  const { edit } = top
  const blocks: ViewBlock[] = edit.kind === 'summary' ? [{ type: 'text', text: wellFormed(edit.text) }] : []
  const keeps = edit.kind === 'summary' ? edit.keep : []
  let lines: string[] = []
  const endLines = (): void => {
    if (lines.length > 0)
      blocks.push({ type: 'text', text: fenced('kept', { from: 'user' }, lines.join('\n')) })
    lines = []
  }
  for (const { part, keep } of inOrder(keeps, pinned(pins, top), edit, find)) {
    const line = lineKept(part, keep, edit)
    if (line !== null) lines.push(line)
    else {
      endLines()
      blocks.push(...keptBlocks(part, keep, edit))
    }
  }
  endLines()
  if (blocks.length === 0) return null
  return {
    ...emptyPart,
    from: edit.from,
    to: edit.to,
    uuid: top.uuid,
    at: top.at,
    blocks,
    source: blocks.map((_, index) => index),
    estimate: estimateBlocks(blocks),
    by: top.layer,
    edit: top.seq,
  }
}

interface Shown {
  readonly part: Part
  readonly keep: Kept
}

/** What stays, pins behind it; of newer edits first what the user said, and what a pin would show again once. */
function inOrder(
  keeps: readonly Kept[],
  pins: readonly Kept[],
  edit: LiveRange['edit'],
  find: (place: Seq) => Part | undefined,
): readonly Shown[] {
  const shown = (kept: readonly Kept[]): Shown[] =>
    kept.flatMap((keep) => {
      const part = keep.head === 0 && keep.tail === 0 ? undefined : find(keep.at.seq)
      return part === undefined ? [] : [{ part, keep }]
    })
  if (wordingOf(edit) < 3) return shown([...keeps, ...pins])
  const isWhole = ({ at }: Kept, part: Part): boolean =>
    part.source.every((block) =>
      keeps.some(
        (keep) =>
          keep.at.seq === at.seq &&
          keep.head === undefined &&
          keep.lines === undefined &&
          (keep.at.block ?? block) === block,
      ),
    )
  const pinnedToo = shown(pins).filter(
    ({ keep, part }) => keep.at.block !== undefined || !isWhole(keep, part),
  )
  const all = [...shown(keeps), ...pinnedToo]
  const isUsers = ({ part }: Shown): boolean => part.kind === 'input'
  const users = all.filter(isUsers).sort((a, b) => a.keep.at.seq - b.keep.at.seq)
  return [...users, ...all.filter((one) => !isUsers(one))]
}

/** Pins set before the edit was made, and not among the blocks it keeps anyway. */
function pinned(pins: readonly Pin[], top: LiveRange): readonly Kept[] {
  const { edit } = top
  const keeps = edit.kind === 'summary' ? edit.keep : []
  const isKept = (pin: Pin) =>
    keeps.some(
      (keep) =>
        keep.at.seq === pin.at &&
        keep.head === undefined &&
        keep.lines === undefined &&
        (keep.at.block === undefined || keep.at.block === pin.block),
    )
  return pins
    .filter((pin) => isInForce(pin, top.seq) && pin.at >= edit.from && pin.at <= edit.to && !isKept(pin))
    .map((pin) => ({ at: pin.block === null ? { seq: pin.at } : { seq: pin.at, block: pin.block } }))
}

export function isPinned(pins: readonly Pin[], place: Seq, block: number, before: number): boolean {
  return pins.some(
    (pin) => pin.at === place && isInForce(pin, before) && (pin.block === null || pin.block === block),
  )
}

/**
 * What the user said in one line, behind its ref: neighbours stand in one block. A longer text has a block of its own, for a line
 * in it could be taken for another message.
 */
function lineKept(
  { kind, from, blocks, source }: Part,
  { at, head, lines }: Kept,
  edit: LiveRange['edit'],
): string | null {
  if (wordingOf(edit) < 3 || kind !== 'input' || head !== undefined || lines !== undefined) return null
  const index = at.block === undefined ? 0 : source.indexOf(at.block)
  const block = at.block === undefined && blocks.length > 1 ? undefined : blocks[index]
  if (block?.type !== 'text' || !('text' in block) || !isOneLine(block.text)) return null
  return `[${from}${source[index] === 0 ? '' : `.${source[index]}`}] ${block.text}`
}

/** It says something, and nothing in it could be taken for the end of a line. */
export const isOneLine = (text: string): boolean =>
  /\S/.test(text) && !/[\n\r\v\f\u0085\u2028\u2029]/u.test(text)

function keptBlocks(part: Part, keep: Kept, edit: LiveRange['edit']): ViewBlock[] {
  const blocks: ViewBlock[] = []
  if (keep.head === 0 && keep.tail === 0) return blocks
  for (const [index, block] of part.blocks.entries()) {
    const source = part.source[index]!
    if (keep.at.block !== undefined && keep.at.block !== source) continue
    if (keep.lines !== undefined) {
      blocks.push({ type: 'text', text: kept(part, source, edit, linesOf(block, keep.lines), block) })
      continue
    }
    const inner: readonly ViewBlock[] =
      block.type === 'tool_result' && 'is_error' in block ? block.content : [block]
    for (const shown of inner) {
      if (shown.type === 'text' && 'text' in shown)
        blocks.push({
          type: 'text',
          text: kept(part, source, edit, ends(shown.text, keep, `${part.from}.${source}`, edit), shown),
        })
      else if (shown.type === 'image' || shown.type === 'document') blocks.push(shown)
    }
  }
  return blocks
}

const kept = (part: Part, at: number, edit: LiveRange['edit'], text: string, block: ViewBlock): string => {
  const from = speaker(part, edit, block)
  const place = `${part.from}.${at}`
  return fenced('kept', wordingOf(edit) < 3 ? { id: place, from } : { ref: place, from }, text)
}

/** What was piped in beside a prompt is not what the user wrote. */
const isPiped = (block: ViewBlock): boolean =>
  block.type === 'text' && 'text' in block && block.text.startsWith('<piped-input>\n')

/** Summaries of earlier versions stay as they were sent. */
const wordingOf = (edit: LiveRange['edit']): number => (edit.kind === 'summary' ? (edit.wording ?? 1) : 1)
const isNewWording = (edit: LiveRange['edit']): boolean => wordingOf(edit) >= 2

function linesOf(block: ViewBlock, ranges: NonNullable<Kept['lines']>): string {
  const lines = blockWords(block).split('\n')
  return wellFormed(ranges.map(([from, to]) => lines.slice(from, to).join('\n')).join('\n[…]\n'))
}

function ends(text: string, keep: Kept, id: string, edit: LiveRange['edit']): string {
  if (keep.head === undefined && keep.tail === undefined) return text
  const head = keep.head ?? 0
  const tail = keep.tail ?? 0
  if (head + tail >= text.length) return text
  const left = text.length - head - tail
  const end = tail === 0 ? '' : text.slice(-tail)
  const how = isNewWording(edit) ? `${expandCall(id)} returns them` : `expand ${id} to read them`
  return wellFormed(`${text.slice(0, head)}\n[… ${left} characters left out; ${how} …]\n${end}`)
}

function speaker(part: Part, edit: LiveRange['edit'], block: ViewBlock): string {
  if (part.kind === 'input') return isPiped(block) ? 'piped-input' : 'user'
  if (part.kind === 'result') return 'tool'
  if (part.role === 'assistant') return 'assistant'
  // What the program attached says what it is: it speaks for whoever it came from, and never for the program.
  return isNewWording(edit) ? (part.attachment?.kind ?? 'program') : 'system'
}

// ---- lines ----
// What a block says as lines of text, so that an edit can name some of them and the view can show just those. The lines
// of a block never change: they are counted from what the entry holds, not from what stubs left of it.

/** The words of a text or a result; of a call its name and every text it was given. */
export function blockWords(block: ViewBlock): string {
  if (block.type === 'tool_result' && 'is_error' in block)
    return block.content.map((inner) => (inner.type === 'text' ? inner.text : '')).join('\n')
  if (block.type === 'tool_use' && 'name' in block) return [block.name, ...stringsIn(block.input)].join('\n')
  return block.type === 'text' && 'text' in block ? block.text : ''
}

/** The texts in the input of a call, without the escapes that JSON would put into them. */
export function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value === 'number') return [String(value)]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(stringsIn)
}
