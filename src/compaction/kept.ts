// Which messages stay as they are beside a text that somebody wrote: with the notes, all that came after them and
// enough before it (SPEC 7.2); with a summary of everything, only what awaits an answer (SPEC 8.4).
import type { Seq } from '../transcript/ids.ts'
import { defaults } from '../settings/defaults.ts'
import { weightOf, type Scene } from './scene.ts'

export const unanswered = ({ pendingFrom }: Scene): number => pendingFrom

/** The first part that stays. What follows the place is never trimmed; what precedes it joins until there is enough. */
export function keptAfter({ parts, pendingFrom, factor }: Scene, coversTo: Seq): number {
  const { keptTokens, keptLeastTokens, keptLeastMessages } = defaults.compaction
  const after = parts.findIndex((part) => part.from > coversTo)
  let start = Math.min(after < 0 ? parts.length : after, pendingFrom)
  const kept = parts.slice(start)
  let tokens = kept.reduce((sum, part) => sum + factor * weightOf(part), 0)
  let messages = kept.filter(speaks).length
  while (start > 0 && (tokens < keptLeastTokens || messages < keptLeastMessages) && tokens < keptTokens) {
    const part = parts[start - 1]!
    // What was put away before stays away.
    if (part.kind === 'edit') break
    tokens += factor * weightOf(part)
    if (speaks(part)) messages++
    start--
  }
  return start
}

const speaks = ({ blocks }: Scene['parts'][number]): boolean => blocks.some((block) => block.type === 'text')
