// Which messages stay as they are beside a text that somebody wrote: with the notes, all that came after them and
// enough before it (SPEC 7.2); with a summary of everything, only what awaits an answer (SPEC 8.4).
import type { Seq } from '../transcript/ids.ts'
import { defaults } from '../settings/defaults.ts'
import { wordCaps, type WordCaps } from './keeping.ts'
import { cutBefore, stubsOf, weightOf, type Scene, type Stub } from './scene.ts'

export const unanswered = ({ pendingFrom }: Scene): number => pendingFrom

/** Beside a text that somebody wrote no lines of what goes are kept, and of the user's words what must be. */
export function bareCut(scene: Scene, caps: WordCaps, keptFrom: number) {
  const must = wordCaps(scene.factor)
  return {
    end: cutBefore(scene, keptFrom),
    stubs: [],
    excerptTokens: 0,
    caps: {
      ...caps,
      messageTokens: Math.min(caps.messageTokens, must.messageTokens),
      totalTokens: Math.min(caps.totalTokens, must.totalTokens),
    },
  }
}

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

/**
 * The newest messages that fit: where they begin, and what of them becomes a stub. Only a result that alone is too large
 * does: what is older than what fits may still be kept in lines.
 */
export function newestOf(
  scene: Scene,
  most: number,
): { readonly start: number; readonly stubs: readonly Stub[] } {
  const { parts, cuts, factor, pendingFrom } = scene
  const pending = cutBefore(scene, pendingFrom)
  let found: { start: number; stubs: readonly Stub[] } = { start: pending, stubs: [] }
  const stubs: Stub[] = []
  let tokens = 0
  for (let index = pending - 1; index >= 0; index--) {
    const part = parts[index]!
    let cost = factor * weightOf(part)
    if (tokens + cost > most && found.start === pending) {
      const small = stubsOf(scene, part)
      stubs.push(...small)
      cost -= factor * small.reduce((sum, { freed }) => sum + freed, 0)
    }
    tokens += cost
    if (tokens > most) break
    if (cuts[index]!) found = { start: index, stubs: [...stubs] }
  }
  return found
}

const speaks = ({ blocks }: Scene['parts'][number]): boolean => blocks.some((block) => block.type === 'text')
