import { describe, expect, it } from 'vitest'
import { answered, call, entriesOf, result, said } from '../testing/builders.ts'
import { cutPlaces } from './cuts.ts'
import { Fold } from './fold.ts'
import { roundsOf, turnsOf } from './turns.ts'

const entries = entriesOf(
  said('a'),
  answered([call('x')], { id: 'm1' }),
  result('x'),
  answered('b', { id: 'm2' }),
  said('c'),
  said('reminder', 'injected'),
  answered([call('y')], { id: 'm3' }),
  result('y'),
  answered('d', { id: 'm3' }),
)
const fold = new Fold()
for (const entry of entries) fold.push(entry)
const parts = [...fold.parts()]

describe('turns, rounds and cuts', () => {
  it('[P11] a turn runs from one real input to the next', () => {
    expect(turnsOf(parts).map((turn) => [turn.from, turn.to])).toEqual([
      [1, 4],
      [5, 9],
    ])
  })

  it('[P11] a round is one response with its results; an input belongs to the response that follows', () => {
    expect(roundsOf(parts).map((round) => [round.from, round.to])).toEqual([
      [1, 3],
      [4, 4],
      [5, 9],
    ])
  })

  it('[P12] cuts lie where every rule allows them: not inside a pair, not inside one response', () => {
    const cuts = cutPlaces(parts)
    expect(parts.map((part, index) => (cuts[index] ? part.from : null))).toEqual([
      1,
      2,
      null,
      4,
      5,
      6,
      7,
      null,
      null,
    ])
    expect(cuts.at(-1)).toBe(true)
  })
})
