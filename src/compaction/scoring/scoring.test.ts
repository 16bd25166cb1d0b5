import { describe, expect, it } from 'vitest'
import { Fold } from '../../projection/fold.ts'
import { answered, call, Pen, result, said, start } from '../../testing/builders.ts'
import { scoreWeights } from '../../settings/score-weights.ts'
import type { Fact } from '../../transcript/fact.ts'
import { chanceOf, chooseLines, groupedLines, scored } from './choice.ts'
import { lineFeatures } from './lines.ts'
import { nameFeatures } from './names.ts'
import { surveyOf } from './survey.ts'

function contextOf(facts: readonly Fact[]) {
  const fold = new Fold()
  const pen = new Pen()
  for (const fact of [start(), ...facts]) fold.push(pen.write(fact))
  return { fold, parts: [...fold.parts()] }
}

const rounds = (count: number): readonly Fact[] =>
  Array.from({ length: count }, (_, index): readonly Fact[] => [
    answered([call(`c${index}`, 'zz', { q: `src/part_${index % 7}.ts` })], { id: `m${index}` }),
    result(
      `c${index}`,
      Array.from(
        { length: 12 },
        (_, line) => `const total_${index % 7}_${line} = compute_rows(${line}) // of the month`,
      ).join('\n'),
    ),
  ]).flat()

const facts = [said('Make the totals of monthly_report right.'), ...rounds(30)]

describe('the score', () => {
  it('[O39] has a weight for each feature, and says where they come from', () => {
    expect(scoreWeights.name).toHaveLength(nameFeatures.length)
    expect(scoreWeights.line).toHaveLength(lineFeatures.length)
    expect(scoreWeights.origin).toContain('npm run fit')
    expect(chanceOf([1], [0])).toBe(0.5)
  })

  it('[O39] counts each name as it comes', () => {
    const { names, counts, now } = surveyOf(contextOf(facts))
    expect(now).toBe(30)
    const of = (name: string) => counts[names.indexOf(name)]!
    expect(of('src/part_1.ts')).toMatchObject({ uses: 5, seen: 5, first: 2, last: 30, lastUse: 30 })
    expect(of('total_1_3')).toMatchObject({ uses: 0, seen: 5, errors: 0, subjects: 1 })
    expect(of('monthly_report')).toMatchObject({ typed: 1, first: 0 })
  })

  it('[O39] chooses within its tokens, the same each time, nothing that stands elsewhere, and only what stood there', () => {
    const context = contextOf(facts)
    const all = scored(surveyOf(context), scoreWeights)
    const span = { start: 0, end: context.parts.length - 4 }
    for (const tokens of [60, 300, 900]) {
      const choice = chooseLines(all, span, tokens)
      const lines = choice.chosen.map(({ line }) => line)
      expect(lines.length).toBeGreaterThan(0)
      expect(lines.reduce((sum, line) => sum + line.tokens, 0)).toBeLessThanOrEqual(tokens)
      expect(choice).toEqual(chooseLines(scored(surveyOf(context), scoreWeights), span, tokens))
      const shown = new Set(all.survey.shown.slice(span.end).flatMap((names) => [...names]))
      for (const { names } of lines) expect(names.some((name) => !shown.has(name))).toBe(true)
      for (const item of groupedLines(all.survey, choice).items) {
        const [title, ...texts] = item.split('\n')
        expect(title).toMatch(/^src\/part_\d\.ts \[[\d, ]+\]$/)
        for (const text of texts)
          expect(text).toMatch(/^const total_\d_\d+ = compute_rows\(\d+\) \/\/ of the month$/)
      }
    }
    expect(chooseLines(all, span, 0).chosen).toEqual([])
    const beside = all.survey.names.join('\n')
    expect(chooseLines(all, span, 900, [beside]).chosen).toEqual([])
  })

  it('[O39] does not choose what a person said: that stays word for word beside the lines', () => {
    const context = contextOf(facts)
    expect(surveyOf(context).lines.some(({ text }) => text.includes('monthly_report'))).toBe(false)
  })
})
