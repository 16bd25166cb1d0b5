import { describe, expect, it } from 'vitest'
import { defaults } from '../../settings/defaults.ts'
import { answered, call, entriesOf, Pen, result, said } from '../../testing/builders.ts'
import type { Fact } from '../../transcript/fact.ts'
import { cutPlaces } from '../cuts.ts'
import { Fold } from '../fold.ts'
import { collapsible } from './collapse.ts'

function foldOf(...facts: readonly Fact[]): Fold {
  const fold = new Fold()
  for (const entry of entriesOf(...facts)) fold.push(entry)
  return fold
}

const turn = (name: string, path: string, rounds: number, lines = 60): Fact[] => [
  said(`do ${name}`),
  ...Array.from({ length: rounds }, (_, index): Fact[] => [
    answered([call(`${name}${index}`, 'Read', { file_path: `${path}/part${index}.ts` })], {
      id: `m${name}${index}`,
    }),
    result(`${name}${index}`, `export const value = ${index}\n`.repeat(lines)),
  ]).flat(),
  answered(`done with ${name}`, { id: `end${name}` }),
]

describe('spans', () => {
  const fold = foldOf(...['a', 'b', 'c', 'd', 'e', 'f'].flatMap((name) => turn(name, `src/${name}`, 24)))

  it('[CO1] are whole rounds of at least so many tokens, and never of the newest three turns', () => {
    const parts = [...fold.parts()]
    const cuts = cutPlaces(parts)
    const spans = collapsible(fold.view())
    const inputs = parts.filter(({ kind }) => kind === 'input')
    expect(spans.length).toBeGreaterThan(2)
    for (const { from, to, tokens } of spans) {
      expect(tokens).toBeGreaterThanOrEqual(defaults.collapse.leastTokens)
      expect(to).toBeLessThan(inputs.at(-3)!.from)
      expect(cuts[parts.findIndex((part) => part.from === from)]).toBe(true)
      expect(cuts[parts.findIndex((part) => part.to === to) + 1]).toBe(true)
    }
    for (const [index, { from }] of spans.entries())
      if (index > 0) expect(from).toBeGreaterThan(spans[index - 1]!.to)
  })

  it('[CO1] are none in what an edit stands for or an undo gave back', () => {
    const whole = foldOf(...['a', 'b', 'c', 'd', 'e', 'f'].flatMap((name) => turn(name, `src/${name}`, 24)))
    const [first] = collapsible(whole.view())
    const pen = new Pen({ first: whole.numbers.upTo + 1 })
    const edit: Fact = {
      type: 'view-edit',
      layer: 'x',
      asked: 'user',
      edits: [{ kind: 'drop', from: first!.from, to: first!.to }],
      why: 'test',
      tokensFreed: 0,
    }
    const entry = pen.write(edit)
    whole.push(entry)
    expect(collapsible(whole.view()).some(({ from }) => from <= first!.to)).toBe(false)
    whole.push(pen.write({ type: 'undo', target: entry.seq }))
    expect(collapsible(whole.view()).some(({ from }) => from <= first!.to)).toBe(false)
  })

  it('[CO2] are scored by size, by age, and by how little later work refers to them', () => {
    const spans = collapsible(fold.view())
    const alike = spans.filter(({ tokens }) => Math.abs(tokens - spans[0]!.tokens) < 50)
    expect(alike[0]!.score).toBeGreaterThan(alike.at(-1)!.score)
    const referred = foldOf(
      ...turn('a', 'src/often', 24),
      ...turn('b', 'src/never', 24),
      ...turn('c', 'src/often', 24, 2),
      ...turn('d', 'src/often', 24, 2),
      ...turn('e', 'src/often', 24, 2),
    )
    const [often, never] = collapsible(referred.view())
    expect(never!.score).toBeGreaterThan(often!.score)
  })
})
