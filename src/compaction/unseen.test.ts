import { expect, it } from 'vitest'
import { roomOf } from '../projection/budget.ts'
import { Fold } from '../projection/fold.ts'
import { answered, call, Pen, result, said, start } from '../testing/builders.ts'
import type { Fact } from '../transcript/fact.ts'
import { plan } from './ladder.ts'

const round = (at: number, chars: number): Fact[] => [
  answered([call(`call${at}`, 'Read', { file_path: `part${at}.txt` })], { id: `m${at}` }),
  result(`call${at}`, `part${at} says: ${'many things '.repeat(chars / 12)}`),
]

function planned(rounds: number, last: number) {
  const [fold, pen] = [new Fold(), new Pen()]
  const facts = [
    start(),
    said(`look through all parts. ${'Mind every one of them. '.repeat(700)}`),
    ...Array.from({ length: rounds }, (_, at) => round(at, 1800)).flat(),
    ...round(rounds, last),
  ]
  for (const fact of facts) fold.push(pen.write(fact))
  const outcome = roomOf({ window: 16_000, maxOutput: 4000, fixed: 3000 })
  if (!outcome.ok) throw new Error(outcome.why)
  const made = plan(fold, outcome.room, { trigger: 'auto' })
  if (!made.ok) throw new Error(made.message)
  return { fold, plan: made.plan, target: outcome.room.target }
}

it('[DI6] a result that no answer has followed yet stays at a boundary while it fits beside the text', () => {
  const { fold, plan: made, target } = planned(18, 1800)
  const newest = [...fold.parts()].at(-1)!
  expect(made.partsKept.map((part) => part.from)).toContain(newest.from)
  expect(made.tokensAfter).toBeLessThanOrEqual(target)
})

it('[DI6] one that is too large does not stand in the way of the target', () => {
  const { plan: made, target } = planned(4, 60_000)
  expect(made.tokensAfter).toBeLessThanOrEqual(target)
})
