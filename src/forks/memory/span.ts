// What an extraction looks at: the messages since its cursor, whose words they hold, and whether memories were written
// in them already. What was recalled is nobody's words here, so that nothing is learnt from itself.
import type { Fold } from '../../projection/fold.ts'
import type { Part, ViewBlock } from '../../projection/view.ts'
import { seq, type Seq } from '../../transcript/ids.ts'
import { textsIn } from '../../transcript/content.ts'

export interface Span {
  /** Everything the view holds up to here is covered. */
  readonly coversTo: Seq
  readonly messages: number
  /** What the user typed in it, a text each. */
  readonly userWords: readonly string[]
  /** What the user and tools said in it: the only place exact names may come from. */
  readonly said: string
  /** The last thing the user typed: which entry, and when. */
  readonly message: string | null
  readonly at: number
  /** A memory was written in it. */
  readonly hasWritten: boolean
}

export function spanSince(
  fold: Fold,
  cursor: Seq | undefined,
  isOurs: (input: Readonly<Record<string, unknown>>) => boolean,
): Span {
  const parts = [...fold.parts()].filter((part) => cursor === undefined || part.from > cursor)
  const inputs = parts.filter((part) => part.kind === 'input')
  const results = parts.filter((part) => part.kind === 'result')
  const last = inputs.at(-1)
  return {
    coversTo: seq(fold.numbers.upTo),
    messages: parts.length,
    userWords: inputs.map((part) => wordsIn(part.blocks)),
    said: [...inputs, ...results].map((part) => wordsIn(part.blocks)).join('\n'),
    message: last?.uuid ?? null,
    at: last?.at ?? 0,
    hasWritten: wroteIn(parts, isOurs),
  }
}

/** An Edit or Write in a folder of memories that went well. */
function wroteIn(
  parts: readonly Part[],
  isOurs: (input: Readonly<Record<string, unknown>>) => boolean,
): boolean {
  const calls = new Set<string>()
  for (const { blocks } of parts)
    for (const block of blocks) {
      if (block.type !== 'tool_use' || !('input' in block)) continue
      if ((block.name === 'Write' || block.name === 'Edit') && isOurs(block.input)) calls.add(block.id)
    }
  return parts.some(({ blocks }) =>
    blocks.some(
      (block) =>
        block.type === 'tool_result' &&
        'is_error' in block &&
        calls.has(block.tool_use_id) &&
        !block.is_error,
    ),
  )
}

function wordsIn(blocks: readonly ViewBlock[]): string {
  return blocks
    .flatMap((block) => {
      if (block.type === 'text' && 'text' in block) return [block.text]
      if (block.type !== 'tool_result' || !('is_error' in block)) return []
      return textsIn(block.content)
    })
    .join('\n')
}
