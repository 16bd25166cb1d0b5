// Which messages stay as they are beside a text that somebody wrote: with the notes, all that came after them and
// enough before it; with a summary of everything, only what awaits an answer.
import type { Seq } from '../transcript/ids.ts'
import { defaults } from '../settings/defaults.ts'
import { cutBefore, stubsOf, weightOf, type PlanContext, type Stub } from './plan-context.ts'

export const unanswered = ({ pendingFrom }: PlanContext): number => pendingFrom

/** Beside a text that somebody wrote no pieces of what goes are kept: the user's words are, and single lines it lacks. */
export const bareCut = (context: PlanContext, keptFrom: number) => ({
  end: cutBefore(context, keptFrom),
  stubs: [],
  excerptTokens: 0,
})

/** The first part that stays. What follows the place is never trimmed; what precedes it joins until there is enough. */
export function keptAfter({ parts, pendingFrom, factor }: PlanContext, coversTo: Seq): number {
  const { keptTokens, keptLeastTokens, keptLeastMessages } = defaults.compaction
  // A text that stands for more than was noted is itself part of what came after.
  const after = parts.findIndex((part) => part.to > coversTo)
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
 * does: what is older than what fits may still be kept in lines. What the model has not seen yet stays before all else,
 * as long as it takes no more than `unseenMost`: put away unseen, it would have been done in vain.
 */
export function newestOf(
  context: PlanContext,
  most: number,
  unseenMost: number,
): { readonly start: number; readonly stubs: readonly Stub[] } {
  const { parts, cuts, factor } = context
  const pending = cutBefore(context, context.pendingFrom)
  const unseen = unseenFrom(context, pending, unseenMost)
  const room = Math.max(most, unseen.tokens)
  let found: { start: number; stubs: readonly Stub[] } = { start: unseen.start, stubs: [] }
  const stubs: Stub[] = []
  let { tokens } = unseen
  for (let index = unseen.start - 1; index >= 0; index--) {
    const part = parts[index]!
    let cost = factor * weightOf(part)
    if (tokens + cost > room && found.start === pending) {
      const small = stubsOf(context, part)
      stubs.push(...small)
      cost -= factor * small.reduce((sum, { freed }) => sum + freed, 0)
    }
    tokens += cost
    if (tokens > room) break
    if (cuts[index]!) found = { start: index, stubs: [...stubs] }
  }
  return found
}

/** Where the round begins whose results no answer has followed yet, if it may stay; else where the pending input does. */
function unseenFrom(
  context: PlanContext,
  pending: number,
  most: number,
): { readonly start: number; readonly tokens: number } {
  const { parts, factor } = context
  const answered = parts.findLastIndex((part) => part.kind === 'answer')
  const first = parts.findIndex((part, index) => index > answered && part.kind === 'result')
  if (first < 0 || first >= pending) return { start: pending, tokens: 0 }
  const start = cutBefore(context, first)
  const tokens = parts.slice(start, pending).reduce((sum, part) => sum + factor * weightOf(part), 0)
  return tokens <= most ? { start, tokens } : { start: pending, tokens: 0 }
}

const speaks = ({ blocks }: PlanContext['parts'][number]): boolean =>
  blocks.some((block) => block.type === 'text')
