// The list that is returned: the caller's own objects wherever nothing changed, and new ones made from their JSON where
// something did; then whatever the wire's repair still has to do.
import type { AppliedDecisions } from './applying.ts'
import { chainOf, linksOf, startOf } from './chain.ts'
import { wordsBefore } from './compaction.ts'
import { plainDigest } from '../wires/plain-digest.ts'
import { bytesOf, spliced, textAt } from './json-spans.ts'
import { listNames, readRequest, userMessage } from './layouts.ts'
import { unitTokens } from './sizing.ts'
import type { Work } from './work.ts'

/** Before the repair. */
export function outputOf(
  { request, pieces }: Work,
  messages: readonly unknown[],
  { splices, boundary }: AppliedDecisions,
): readonly unknown[] {
  const { bytes, elements, wire } = request
  const [from, to] = boundary === null ? [-1, -1] : [boundary.boundary.from, boundary.boundary.to]
  const place = boundary === null ? -1 : wordsBefore(request, from)
  // Those of the compaction begin where a message does: here it is made of whole messages.
  const starts = new Set(elements.map(({ start }) => start))
  const sorted = splices.filter(({ start }) => !starts.has(start)).toSorted((a, b) => a.start - b.start)
  const out: { readonly value: unknown; readonly origin: number | null }[] = []
  let next = 0
  for (const [at, element] of elements.entries()) {
    const own = []
    for (; next < sorted.length && sorted[next]!.start < element.end; next++) own.push(sorted[next]!)
    if (at === place)
      out.push({ value: JSON.parse(userMessage(wire, boundary!.boundary.text)) as unknown, origin: null })
    if (at >= from && at < to) continue
    if (own.length === 0) out.push({ value: pieces[at]!.value, origin: pieces[at]!.origin })
    else {
      const { start, end } = element
      const shifted = own.map((splice) => ({
        ...splice,
        start: splice.start - start,
        end: splice.end - start,
      }))
      const text = textAt(spliced(bytes.subarray(start, end), shifted), {
        start: 0,
        end: Number.MAX_SAFE_INTEGER,
      })
      out.push({ value: JSON.parse(text ?? 'null') as unknown, origin: null })
    }
  }
  return whole(out, pieces, messages)
}

/** Pieces of one message that are all there, next to each other and untouched, are that message again. */
function whole(
  out: readonly { readonly value: unknown; readonly origin: number | null }[],
  pieces: Work['pieces'],
  messages: readonly unknown[],
): readonly unknown[] {
  if (pieces.length === messages.length) return out.map(({ value }) => value)
  const counts = new Map<number, number>()
  for (const { origin } of pieces) counts.set(origin, (counts.get(origin) ?? 0) + 1)
  const list: unknown[] = []
  for (let at = 0; at < out.length; at++) {
    const { value, origin } = out[at]!
    const count = origin === null ? 1 : counts.get(origin)!
    const isWhole =
      count > 1 && out.slice(at, at + count).filter((each) => each.origin === origin).length === count
    list.push(isWhole ? messages[origin!] : value)
    if (isWhole) at += count - 1
  }
  return list
}

export interface Named {
  /** The beginnings of the list that is returned. */
  readonly links: readonly string[]
  /** Estimated tokens of each unit, and of all without system and tools. */
  readonly tokens: readonly number[]
  readonly estimate: number
  readonly bytes: number
}

/** Names and counts what is returned; what is the caller's own was named and counted when it came. */
export function named(work: Work, list: readonly unknown[]): Named {
  const { request, pieces, chain, tokens } = work
  const { wire } = request
  const unitsOf = new Map<unknown, number[]>()
  const unitsByPiece = pieces.map((): number[] => [])
  for (const [at, { message }] of request.units.entries()) unitsByPiece[message]!.push(at)
  for (const [at, { value }] of pieces.entries()) unitsOf.set(value, unitsByPiece[at]!)
  const units: string[] = []
  const sizes: number[] = []
  let bytes = 0
  for (const message of list) {
    const own = unitsOf.get(message)
    if (own !== undefined) {
      for (const at of own) {
        const unit = request.units[at]!
        units.push(chain.units[at]!)
        sizes.push(tokens[at]!)
        bytes += unit.end - unit.start
      }
      continue
    }
    const body = bytesOf(`{"${listNames[wire]}":[${JSON.stringify(message)}]}`)
    const alone = readRequest(wire, body)
    if (alone === null) continue
    units.push(...chainOf('', alone, plainDigest).units)
    sizes.push(...alone.units.map((unit) => unitTokens(alone, unit)))
    bytes += body.length
  }
  const estimate = sizes.reduce((sum, each) => sum + each, 0)
  return {
    links: linksOf(startOf('', wire, plainDigest), units, plainDigest),
    tokens: sizes,
    estimate,
    bytes,
  }
}
