// Lines as they are stored, in bounded pieces, and a search through everything that was said.
import { encode } from '../../transcript/codec.ts'
import { isKnown, type Entry } from '../../transcript/fact.ts'
import { seq } from '../../transcript/ids.ts'
import { readLine, readLineBack, type Link } from '../../transcript/lineage.ts'
import type { Result, Store } from '../../transcript/store.ts'
import { defaults } from '../../settings/defaults.ts'
import type { Found, Lines } from '../protocol.ts'
import { blocksOf, textOf } from './blocks-of.ts'

/** However much is asked for, an answer holds no more than the limits; it says where to go on. */
export async function linesBetween(
  store: Store,
  links: readonly Link[],
  from: number,
  to: number,
): Promise<Result<{ readonly answer: Lines }>> {
  const lines: { seq: number; line: string }[] = []
  const damage: string[] = []
  let bytes = 0
  const last = Math.min(to, from + defaults.inspector.linesEntries - 1)
  for await (const item of readLine(store, links, { from: seq(from), to: seq(last) })) {
    if (item.kind === 'failed') return { ok: false, failure: item.failure }
    if (item.kind === 'damage') {
      damage.push(`${item.damage.what}; ${item.damage.done}`)
      continue
    }
    const line = encode(item.entry)
    bytes += line.length
    // The first goes along whatever its size: a reader that asks for one entry gets it.
    if (lines.length > 0 && bytes > defaults.inspector.linesBytes)
      return { ok: true, answer: { lines, next: item.entry.seq, damage } }
    lines.push({ seq: item.entry.seq, line })
  }
  return { ok: true, answer: { lines, next: last < to && lines.length > 0 ? last + 1 : null, damage } }
}

const excerptBefore = 60
const excerptAfter = 160

/** Newest first, as far as the limits of one answer reach. Letters of any case. */
export async function findText(
  store: Store,
  links: readonly Link[],
  text: string,
  before: number,
): Promise<Result<{ readonly answer: Found }>> {
  const wanted = text.toLowerCase()
  const hits: Found['hits'][number][] = []
  let bytes = 0
  for await (const item of readLineBack(store, links, seq(before))) {
    if (item.kind === 'failed') return { ok: false, failure: item.failure }
    if (item.kind !== 'entry' || !isKnown(item.entry)) continue
    bytes += item.bytes ?? 0
    hits.push(...hitsIn(item.entry, wanted))
    if (hits.length >= defaults.inspector.findHits || bytes >= defaults.inspector.findBytes)
      return { ok: true, answer: { hits, before: item.entry.seq } }
  }
  return { ok: true, answer: { hits, before: null } }
}

function hitsIn(entry: Entry, wanted: string): readonly Found['hits'][number][] {
  return blocksOf(entry).flatMap((block, index) => {
    const text = textOf(block)
    const found = text.toLowerCase().indexOf(wanted)
    if (found < 0) return []
    const begin = Math.max(0, found - excerptBefore)
    const excerpt = text.slice(begin, found + wanted.length + excerptAfter).toWellFormed()
    return [{ seq: entry.seq, block: index, excerpt, at: found - begin, length: wanted.length }]
  })
}
