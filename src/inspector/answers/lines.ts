// Lines as they are stored, in bounded pieces, and a search through everything that was said.
import { partOf } from '../../projection/folding/part.ts'
import type { ViewBlock } from '../../projection/view.ts'
import { defaults } from '../../settings/defaults.ts'
import { encode } from '../../transcript/codec.ts'
import { textIn, textsIn } from '../../transcript/content.ts'
import { type Entry, isKnown } from '../../transcript/fact.ts'
import { seq } from '../../transcript/ids.ts'
import { type Link, readLine, readLineBack } from '../../transcript/lineage.ts'
import type { Result, Store } from '../../transcript/store.ts'
import type { Found, Lines } from '../protocol.ts'

// The blocks of an entry as a person knows them, and a short name for each.

/** By their index in the entry's own content; a result is one block. */
export function blocksOf(entry: Entry): readonly ViewBlock[] {
  const { fact } = entry
  if (fact.type === 'tool-result') return partOf(entry)?.blocks ?? []
  if ('content' in fact) return fact.content
  return fact.type === 'memory-recall' || fact.type === 'compaction-recorded'
    ? [{ type: 'text', text: fact.text }]
    : []
}

export function textOf(block: ViewBlock): string {
  if (block.type === 'text' && 'text' in block) return block.text
  if (block.type === 'thinking' && 'thinking' in block) return block.thinking
  if (block.type === 'tool_result' && 'content' in block) return textsIn(block.content).join('\n')
  if (block.type === 'tool_use' && 'input' in block) return JSON.stringify(block.input, null, 2)
  return JSON.stringify(block, (key, value: unknown) => (key === 'data' ? '…' : value)) ?? ''
}

const labelChars = 80

export function labelOf({ fact }: Entry, block: ViewBlock): string {
  const text =
    block.type === 'tool_use' && 'name' in block ? `${block.name} ${argumentIn(block.input)}` : textOf(block)
  const source = fact.type === 'attachment' ? `${fact.kind} ` : ''
  return `${source}${text.replace(/\s+/gu, ' ').trim()}`.slice(0, labelChars).toWellFormed()
}

/** What a call is about: its first text. */
export function argumentIn(input: Readonly<Record<string, unknown>>): string {
  for (const value of Object.values(input)) if (typeof value === 'string') return value
  return ''
}

/** What was said last by a person. */
export const saidIn = ({ fact }: Entry): string =>
  fact.type === 'user-message' ? textIn(fact.content, ' ').replace(/\s+/gu, ' ').trim() : ''

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
