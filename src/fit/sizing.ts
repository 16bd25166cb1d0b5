// What units take, by the same estimate as in our own sessions: images by their sides and not by their letters, JSON and Han
// as they are tokenised. Only units that are new are counted; the rest is remembered.
import { estimateBlock, estimateBlocks, estimateText } from '../projection/tokens.ts'
import { saidIn } from './facts.ts'
import { textAt, type Span } from './json-spans.ts'
import type { ForeignRequest, Unit } from './layouts.ts'

export function unitTokens(request: ForeignRequest, unit: Unit): number {
  let tokens = 0
  for (const said of saidIn(request, [unit]))
    tokens +=
      said.by === 'tool'
        ? estimateBlock({
            type: 'tool_result',
            tool_use_id: said.call,
            content: said.content,
            is_error: said.isError,
          })
        : estimateBlocks(said.content)
  return tokens
}

/** Tools and system. */
export const headTokens = ({ bytes, root }: ForeignRequest): number =>
  (root.members ?? []).reduce(
    (sum, { key, value }) => sum + (headKeys.has(key) ? estimateText(textAt(bytes, value) ?? '') : 0),
    0,
  )
const headKeys = new Set(['tools', 'system', 'instructions', 'systemInstruction', 'system_instruction'])

/** The tokens of each unit, those at the beginning as they were counted before. */
export const tokensOf = (request: ForeignRequest, known: readonly number[]): readonly number[] =>
  request.units.map((unit, at) => known[at] ?? unitTokens(request, unit))

export const bytesIn = (spans: readonly Span[]): number =>
  spans.reduce((sum, { start, end }) => sum + end - start, 0)
