// Where two requests part: piece by piece in the order the provider reads them, without the breakpoints, which move with
// every request and are no part of what is cached.
import { describeCause, firstDifferent, type BreakCause } from '../../request/break-report.ts'
import type { Segments } from '../../request/segments.ts'
import { defaults } from '../../settings/defaults.ts'
import type { RequestDifference } from '../protocol.ts'

interface Piece {
  readonly name: string
  readonly json: string
  readonly entry: number | null
  readonly block: number | null
}

function* piecesOf(segments: Segments): Generator<Piece> {
  yield { name: 'model', json: segments.model, entry: null, block: null }
  for (const { name, json } of segments.tools) yield { name: `tool ${name}`, json, entry: null, block: null }
  for (const { name, json } of segments.system)
    yield { name: `system prompt, ${name} part`, json, entry: null, block: null }
  for (const [index, message] of segments.messages.entries())
    for (const [block, { json, part }] of message.blocks.entries())
      yield {
        name: `message ${index}, block ${block}`,
        json: block === 0 ? `${message.role} ${json}` : json,
        entry: part?.from ?? null,
        block,
      }
}

type Compared = Omit<RequestDifference, 'seq' | 'number' | 'lost'>

export function differenceOf(before: Segments, after: Segments): Compared {
  const [was, is] = [[...piecesOf(before)], [...piecesOf(after)]]
  const bytes = is.reduce((sum, { json }) => sum + Buffer.byteLength(json), 0)
  let common = 0
  for (const [at, piece] of is.entries()) {
    const old = was[at]
    if (old === undefined) break
    if (old.json === piece.json) {
      common += Buffer.byteLength(piece.json)
      continue
    }
    const offset = firstDifferent(old.json, piece.json)
    common += Buffer.byteLength(piece.json.slice(0, offset))
    const { entry, block } = old.entry === null ? piece : old
    const named = entry === null ? '' : ` (entry ${entry})`
    return {
      common,
      bytes,
      where: `${piece.name}${named}, character ${offset}`,
      entry,
      block,
      offset,
      before: around(old.json, offset),
      after: around(piece.json, offset),
    }
  }
  const isShorter = is.length < was.length
  const gone = was[is.length]
  return {
    common,
    bytes,
    where: isShorter ? `${gone!.name} and what follows is gone` : null,
    entry: isShorter ? gone!.entry : null,
    block: isShorter ? gone!.block : null,
    offset: isShorter ? 0 : null,
    before: isShorter ? around(gone!.json, 0) : '',
    after: '',
  }
}

const around = (text: string, offset: number): string =>
  text.slice(Math.max(0, offset - shownBefore), offset + defaults.request.diffChars).toWellFormed()
const shownBefore = 40

/** In words; what a later version wrote is shown as it is. */
export function causeText(cause: unknown): string {
  try {
    return describeCause(cause as BreakCause)
  } catch {
    return JSON.stringify(cause) ?? 'unknown'
  }
}

export interface MessageCause {
  readonly entry: number | null
  readonly block: number | null
  readonly offset: number | null
}

/** The first message that changed, among the causes of a break. */
export function messageIn(causes: readonly unknown[]): MessageCause {
  for (const cause of causes) {
    if (typeof cause !== 'object' || cause === null) continue
    const { kind, entry, block, offset } = cause as Partial<Record<string, unknown>>
    if (kind === 'message')
      return { entry: numberOr(entry), block: numberOr(block), offset: numberOr(offset) }
  }
  return { entry: null, block: null, offset: null }
}
const numberOr = (value: unknown): number | null => (typeof value === 'number' ? value : null)
