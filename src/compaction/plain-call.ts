// Calls without their secrets. What is made of a call shows its values without the names they stand under, in pieces or cut
// short: there a secret could no longer be known as one.
import { redact } from '../disk/redact.ts'
import type { Fold } from '../projection/fold.ts'
import { blockWords } from '../projection/folding/render.ts'
import type { ViewBlock } from '../projection/view.ts'
import { seq } from '../transcript/ids.ts'

export type CallBlock = Extract<ViewBlock, { readonly type: 'tool_use'; readonly input: unknown }>

export const isCall = (block: ViewBlock): block is CallBlock => block.type === 'tool_use' && 'input' in block

/** Calls are looked at again for every draft. */
const known = new WeakMap<object, CallBlock['input']>()

/** A call without its secrets. */
export function plainCall(call: CallBlock): CallBlock {
  const { input } = call
  const plain = known.get(input) ?? plainFields(input, 0)
  known.set(input, plain)
  return { ...call, input: plain }
}

/** What a fence shows of an entry, without the lines of a call that hold a secret, and the place of the entry. */
export function pieceIn(
  { units }: Fold,
  fenced: string,
): { readonly at: number | undefined; readonly words: string } {
  const [head, at, index = 0] = fence.exec(fenced) ?? []
  const lines = fenced.split('\n').slice(1, -1)
  const part = head === undefined ? undefined : units.find(seq(Number(at)))
  const block = part?.blocks[part.source.indexOf(Number(index))]
  const secret = block?.type === 'tool_use' && 'input' in block ? secretLines(block) : null
  return {
    at: head === undefined ? undefined : Number(at),
    words: lines.filter((line) => secret?.has(line) !== true).join('\n'),
  }
}

const fence = /^<kept (?:id|ref)="(\d{1,15})(?:\.(\d{1,15}))?"/

function secretLines(call: CallBlock): ReadonlySet<string> {
  const plain = new Set(blockWords(plainCall(call)).split('\n'))
  return new Set(
    blockWords(call)
      .split('\n')
      .filter((line) => !plain.has(line)),
  )
}

const plainFields = (fields: object, depth: number): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, plainAt(key, value, depth + 1)]))

/** A password is known by the name it stands under. */
function plainAt(key: string, value: unknown, depth: number): unknown {
  if (typeof value === 'string') {
    const before = `${key}=`
    const named = value.length <= mostNamed ? redact(before + value).text : ''
    return redact(named.startsWith(before) ? named.slice(before.length) : value).text
  }
  if (typeof value !== 'object' || value === null) return value
  if (depth > mostDepth) return null
  return Array.isArray(value)
    ? value.map((one: unknown) => plainAt(key, one, depth + 1))
    : plainFields(value, depth)
}
/** Longer texts are no single value. */
const mostNamed = 1000
/** What nests deeper is not looked at anyway. */
const mostDepth = 32
