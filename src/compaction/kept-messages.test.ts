import { describe, expect, it } from 'vitest'
import { roomOf, type Room } from '../projection/budget.ts'
import { Fold } from '../projection/fold.ts'
import { answered, Pen, said, start } from '../testing/builders.ts'
import type { Fact } from '../transcript/fact.ts'
import { seq } from '../transcript/ids.ts'
import { keptAfter, unanswered } from './kept-messages.ts'
import { plan, rewritten, type Plan } from './ladder.ts'
import { planContextOf } from './plan-context.ts'

function foldOf(sizes: readonly number[]): Fold {
  const fold = new Fold()
  const pen = new Pen()
  fold.push(pen.write(start()))
  for (const [index, tokens] of sizes.entries()) {
    const text = 'one more word about it. '.repeat(tokens / 6)
    fold.push(pen.write(index % 2 === 0 ? said(text) : answered(text, { id: `m${index}` })))
  }
  return fold
}
const outcome = roomOf({ window: 200_000, maxOutput: 32_000, fixed: 0 })
const { room } = outcome as { readonly room: Room }
const context = (sizes: readonly number[]) => planContextOf(foldOf(sizes), room, {})
const tokensFrom = ({ parts, factor }: ReturnType<typeof context>, start: number): number =>
  parts.slice(start).reduce((sum, part) => sum + factor * part.estimate, 0)

const boundaryOf = ({ edits, tokensBefore, tokensAfter }: Plan): Fact => ({
  type: 'boundary',
  layer: 'autocompact',
  asked: 'automatic',
  edits,
  why: 'a test',
  tokensFreed: tokensBefore - tokensAfter,
  trigger: 'auto',
  source: 'extractive',
  tokensBefore,
  tokensAfter,
  messagesSummarised: 1,
})

describe('what stays beside a text that somebody wrote', () => {
  it.each(['model', 'notes'] as const)('[SN34] is as much of the user’s words as beside ours (%s)', (by) => {
    // Longer than law U1 demands, and within what the dial adds to it.
    const fold = foldOf([9000, 60_000, 600, 40_000, 600, 300])
    const ours = plan(fold, room, { trigger: 'auto' })
    if (!ours.ok) throw new Error(ours.message)
    const summary = 'What was done, in a few words. '.repeat(20)
    const theirs = rewritten(fold, room, { trigger: 'auto' }, ours.plan, {
      summary,
      by,
      keptFrom: unanswered,
    })
    if (!theirs.ok) throw new Error(theirs.message)
    expect(ours.plan.audit!.userMessages).toMatchObject({ shortened: 0, pointed: 0 })
    expect(theirs.plan.audit!.userMessages).toMatchObject({ shortened: 0, pointed: 0 })
    expect(theirs.plan.audit!.userMessages.whole).toBe(3)
  })
})

it('[O23] of a long text that a model wrote both ends stay when the next one is extracted', () => {
  const fold = foldOf([300, 60_000, 300, 60_000, 300, 300])
  const options = { trigger: 'auto' } as const
  const ours = plan(fold, room, options)
  if (!ours.ok) throw new Error(ours.message)
  const middle = Array.from({ length: 900 }, (_, n) => `Point ${n} of what was done and why.`).join('\n')
  const summary = `it began with the parser\n${middle}\nit stood at the printer`
  const theirs = rewritten(fold, room, options, ours.plan, { summary, by: 'model', keptFrom: unanswered })
  if (!theirs.ok) throw new Error(theirs.message)
  const pen = new Pen({ first: fold.numbers.upTo + 1 })
  fold.push(pen.write(boundaryOf(theirs.plan)))
  for (let n = 0; n < 40; n++) {
    const answer = `I decided to take road ${n} because it is shorter. ${'one more word. '.repeat(1000)}`
    fold.push(pen.write(answered(answer, { id: `later${n}` })))
    fold.push(pen.write(said(`go on ${n}`)))
  }
  const next = plan(fold, room, options)
  if (!next.ok) throw new Error(next.message)
  expect(next.plan.source).toBe('extractive')
  for (const point of ['it began with the parser', 'it stood at the printer', 'decided to take road'])
    expect(next.plan.texts.join('\n').includes(point)).toBe(true)
})

describe('what stays beside notes', () => {
  it('[SN27] is everything after the cursor, however much', () => {
    const all = context(Array.from({ length: 40 }, () => 3000))
    const covers = all.parts[3]!.to
    expect(keptAfter(all, covers)).toBe(4)
  })

  it('[SN27] is extended until there are 10,000 tokens and five messages', () => {
    const many = context(Array.from({ length: 40 }, () => 1500))
    const start = keptAfter(many, many.parts.at(-1)!.to)
    expect(tokensFrom(many, start)).toBeGreaterThanOrEqual(10_000)
    expect(tokensFrom(many, start + 1)).toBeLessThan(10_000)
    const large = context(Array.from({ length: 10 }, () => 9000))
    expect(keptAfter(large, large.parts.at(-1)!.to)).toBe(5)
  })

  it('[SN27] stops once 40,000 tokens are reached, the message that crosses included', () => {
    const huge = context(Array.from({ length: 10 }, () => 30_000))
    expect(keptAfter(huge, huge.parts.at(-1)!.to)).toBe(8)
  })

  it('[SN27] begins at the nearest surviving message where the last one noted is gone', () => {
    const all = context(Array.from({ length: 40 }, () => 3000))
    expect(keptAfter(all, seq(0))).toBe(0)
  })

  it('[SN27] is an earlier summary too, where it stands for more than was noted', () => {
    const sizes = Array.from({ length: 40 }, () => 3000)
    const fold = foldOf(sizes)
    const noted = [...fold.parts()][3]!.to
    const made = plan(fold, room, { trigger: 'auto' })
    if (!made.ok) throw new Error(made.message)
    fold.push(new Pen({ first: fold.numbers.upTo + 1 }).write(boundaryOf(made.plan)))
    const now = planContextOf(fold, room, {})
    expect(now.parts[0]).toMatchObject({ kind: 'edit' })
    expect(keptAfter(now, noted)).toBe(0)
    expect(keptAfter(now, now.parts[0]!.to)).toBeGreaterThan(0)
  })

  it('[SN3] beside a summary of everything is only what awaits an answer', () => {
    const open = context([100, 100, 100])
    expect(unanswered(open)).toBe(2)
    expect(unanswered(context([100, 100]))).toBe(2)
  })
})
