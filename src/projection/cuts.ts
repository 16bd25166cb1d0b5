// Where a span may begin or end. Each rule of the wire that a cut can break is one function; the legal cuts are
// those that every rule allows.
import type { Range } from '../transcript/fact.ts'
import type { Part } from './view.ts'

/** For each place before a part, and one past the last: may the parts be cut there? */
type Rule = (parts: readonly Part[]) => boolean[]

const rules: readonly Rule[] = [pairing, oneResponse]

/** `cuts[i]` says whether a span may begin at part i, or end before it. */
export function cutPlaces(parts: readonly Part[]): boolean[] {
  const verdicts = rules.map((rule) => rule(parts))
  return Array.from({ length: parts.length + 1 }, (_, index) => verdicts.every((verdict) => verdict[index]!))
}

/** A call and its result stay together, and so does a batch of parallel calls with all of its results. */
function pairing(parts: readonly Part[]): boolean[] {
  const open = new Set<string>()
  const allowed = [true]
  for (const part of parts) {
    for (const block of part.blocks) {
      if (block.type === 'tool_use' && 'name' in block) open.add(block.id)
      else if (block.type === 'tool_result' && 'is_error' in block) open.delete(block.tool_use_id)
    }
    allowed.push(open.size === 0)
  }
  return allowed
}

/** The pieces of one response share their reasoning: they are kept or cut together. */
function oneResponse(parts: readonly Part[]): boolean[] {
  const last = new Map<string, number>()
  for (const [index, part] of parts.entries())
    if (part.messageId !== undefined) last.set(part.messageId, index)
  const allowed = [true]
  let until = -1
  for (const [index, part] of parts.entries()) {
    if (part.messageId !== undefined) until = Math.max(until, last.get(part.messageId)!)
    allowed.push(index >= until)
  }
  return allowed
}

/** The parts a range covers, as indexes from (included) to (excluded); null when it cuts one in two. */
export function covered(
  parts: readonly Part[],
  range: Range,
): { readonly start: number; readonly end: number } | null {
  const start = parts.findIndex((part) => part.to >= range.from)
  if (start < 0) return { start: parts.length, end: parts.length }
  let end = start
  while (end < parts.length && parts[end]!.from <= range.to) end++
  const isWhole = end === start || (parts[start]!.from >= range.from && parts[end - 1]!.to <= range.to)
  return isWhole ? { start, end } : null
}
