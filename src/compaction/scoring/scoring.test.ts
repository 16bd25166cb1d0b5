import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { redact } from '../../disk/redact.ts'
import { Fold } from '../../projection/fold.ts'
import { answered, call, Pen, result, said, start } from '../../testing/builders.ts'
import { scoreWeights } from '../../settings/score-weights.ts'
import type { Fact } from '../../transcript/fact.ts'
import { defaults } from '../../settings/defaults.ts'
import { chanceOf, chooseLines, groupedLines, scored, type Scored } from './choice.ts'
import { titledItem, titledLines } from '../sections.ts'
import { lineFeatures, type Line } from './lines.ts'
import { nameFeatures, newCounts } from './names.ts'
import { surveyOf, type Survey } from './survey.ts'

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

/** Lines of twelve tokens that all help as much, under subjects with these titles; `needs` are the chances of `name_0`, `name_1`, … */
function madeUp(
  titles: readonly string[],
  needs: readonly number[],
  lines: readonly Partial<Line>[],
): Scored {
  const names = needs.map((_, index) => `name_${index}`)
  const line = { text: '', at: 1, part: 0, subject: 0, role: 'result', age: 1, isError: false, tokens: 12 }
  const survey: Survey = {
    ...surveyOf(contextOf([])),
    names,
    index: new Map(names.map((name, index) => [name, index])),
    counts: names.map(() => newCounts(0)),
    subjects: titles.map((title) => ({ title, last: 0, work: 0 })),
    lines: lines.map((own) => ({ ...line, names: [], ...own }) as Line),
    shown: [],
  }
  return { ...scored(survey, scoreWeights), need: Float64Array.from(needs), help: () => 0.8 }
}

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

  it('[O39] a number that a call was given is no sighting: no line of its own, and a use of what something else showed', () => {
    const survey = surveyOf(
      contextOf([
        said('go'),
        answered([call('a', 'zz', { file: 'src/a.ts', offset: 738, limit: '4500', port: 8443 })], {
          id: 'a',
        }),
        result('a', 'offset 738 of src/a.ts'),
        answered([call('b', 'zz', { file: 'src/a.ts', offset: 738, limit: '4500' })], { id: 'b' }),
        answered([{ type: 'text', text: 'port 8443 is taken' }], { id: 'c' }),
      ]),
    )
    const of = (name: string) => survey.counts[survey.names.indexOf(name)]
    expect(of('738')).toMatchObject({ seen: 2, uses: 1, first: 1 })
    expect(of('4500')).toBeUndefined()
    expect(of('8443')).toMatchObject({ seen: 1, uses: 0, first: 3 })
    expect(survey.lines.map(({ text }) => text)).not.toContain('738')
    expect(survey.lines.map(({ text }) => text)).toContain('offset 738 of src/a.ts')
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
        const { title, lines: texts } = titledLines(item)
        expect(title).toMatch(/^src\/part_\d\.ts$/)
        if (texts.length > 0)
          expect(item.split('\n')[0]).toMatch(/^src\/part_\d\.ts \[[\d, ]+\]: const total_/)
        for (const text of texts)
          expect(text).toMatch(/^const total_\d_\d+ = compute_rows\(\d+\) \/\/ of the month$/)
      }
    }
    expect(chooseLines(all, span, 0).chosen).toEqual([])
    const beside = all.survey.names.join('\n')
    expect(chooseLines(all, span, 900, [beside]).chosen).toEqual([])
  })

  it('[O39] never takes a line of which only the number is left that it was shown with', () => {
    const shown = ['   160→', '   161→\treturn total_rows', '   162→\t})', '163', '164\t}', 'v165→', '404→❌']
    const read = [
      answered([call('c0', 'zz', { q: 'src/a.ts' })], { id: 'm0' }),
      result('c0', shown.join('\n')),
    ]
    const survey = surveyOf(contextOf([said('go'), ...read, ...rounds(3)]))
    const all = { ...scored(survey, scoreWeights), need: survey.names.map(() => 0.9) }
    const span = { start: 0, end: survey.shown.length }
    const texts = shown.filter((text) => {
      const lines = survey.lines.filter((line) => line.text === text)
      const one = { ...all, survey: { ...survey, lines } }
      return chooseLines(one as unknown as Scored, span, 900).chosen.length > 0
    })
    expect(texts).toEqual(shown.filter((text) => !/^ *16[02]→/.test(text)))
  })

  it('[O39] weighs a title with all the lines under it, not with the first alone', () => {
    const long = `src/${'deep_folder/'.repeat(7)}totals.ts`
    const all = madeUp([long, 'b.ts'], [0.2, 0.2, 0.2], [{ names: [0, 1] }, { names: [2], subject: 1 }])
    const [first] = chooseLines(all, { start: 0, end: 1 }, 900).chosen
    expect(first!.index).toBe(0)
    expect(all.title(0).tokens).toBeGreaterThan(3 * all.title(1).tokens)
    // In the room it counts whole.
    const needed = 12 + all.title(0).tokens
    expect(chooseLines(all, { start: 0, end: 1 }, needed - 1).chosen.map(({ index }) => index)).toEqual([1])
  })

  it('[O39] never takes a line that its title shows already', () => {
    const texts = ['name_0|name_1', 'name_0|name_2', 'name_1 (', 'b.ts']
    const all = madeUp(
      ['zz name_0|name_1 src/b.ts name_1 (b', 'x'],
      [0.9, 0.9, 0.9, 0.9],
      texts.map((text, index) => ({ text: ` ${text}`, names: [[0, 1], [0, 2], [1], [3]][index]! })),
    )
    const chosen = chooseLines(all, { start: 0, end: 1 }, 900).chosen.map(({ line }) => line.text.trim())
    // What only looks like a part of it stays: `b.ts` is no name of that title.
    expect(chosen.toSorted()).toEqual(['b.ts', 'name_0|name_2'])
  })

  it('[O39] takes a name that stands in a title for told in part', () => {
    const all = madeUp(['see name_0', 'b.ts'], [0.3, 0.9], [{ names: [1] }, { names: [0], subject: 1 }])
    const [first, second] = chooseLines(all, { start: 0, end: 1 }, 900).chosen
    const { titleHelps, titleWeight } = defaults.score
    const tokensOf = (subject: number): number => 12 + titleWeight * all.title(subject).tokens
    expect(first!.worth).toBeCloseTo((0.9 * 0.8 + 0.3 * titleHelps * 0.8) / tokensOf(0), 6)
    expect(second!.worth).toBeCloseTo((0.3 * (0.8 - titleHelps * 0.8)) / tokensOf(1), 6)
  })

  it('[O39] says behind a title the line under it that was worth most, and leaves alone what stands alone', () => {
    const texts = ['name_0', 'name_1 rounds the totals', 'name_2 holds the rows', 'name_3 of the notes [7]']
    const needs = [0.9, 0.3, 0.8, 0.9]
    const all = madeUp(
      ['src/a.ts'],
      needs,
      texts.map((text, index) => ({ text, names: [index], at: index + 1 })),
    )
    const choice = chooseLines(all, { start: 0, end: 1 }, 900)
    expect(choice.chosen.map(({ index }) => index)).toEqual([3, 0, 2, 1])
    const { items, lines } = groupedLines(all.survey, choice)
    expect(items).toEqual([
      'src/a.ts [2, 3, 4]: name_2 holds the rows\nname_0\nname_1 rounds the totals\nname_3 of the notes [7]',
    ])
    expect(lines.map(({ text }) => text)).toEqual(titledLines(items[0]!).lines)
    // Nothing leads behind a title that reads like one with a line.
    const odd = { ...all.survey, subjects: [{ title: '`sed [3]: x`', last: 0, work: 0 }] }
    const [kept] = groupedLines(odd, choice).items
    expect(titledLines(kept!)).toEqual({ title: '`sed [3]: x`', lines: texts })
    const long = {
      ...all.survey,
      subjects: [{ title: 'x'.repeat(defaults.score.lineChars - 20), last: 0, work: 0 }],
    }
    expect(titledLines(groupedLines(long, choice).items[0]!).lines).toEqual(texts)
  })

  it('[O39] reads back what it wrote, whatever stands in titles and lines', () => {
    let leading = 0
    let secret = 0
    const word = fc.constantFrom(
      'name_0',
      'total',
      '[3]',
      ' [3]',
      ']: ',
      ': ',
      '[1, 2]: ',
      '\u2028',
      '\r',
      'ü',
      '`',
      "'",
      '"',
      ' password=',
      'Cookie: sid=a8f3k2x9m3p1q7',
      'mysql ',
      ' -print0',
      '${x}',
      '…',
    )
    const words = fc
      .array(word, { minLength: 1, maxLength: 6 })
      .chain((all) => fc.constantFrom(`a${all.join('')}z`, `a${all.join('')}`, `[${all.join('')}]`))
      .filter((text) => text === text.trim())
    fc.assert(
      fc.property(words, fc.uniqueArray(words, { minLength: 1, maxLength: 4 }), (title, texts) => {
        const all = madeUp(
          [title],
          [0.9],
          texts.map((text, at) => ({ text, names: [0], at: at + 1 })),
        )
        const chosen = all.survey.lines.map((line, index) => ({ line, index, worth: 1 }))
        const { items, lines } = groupedLines(all.survey, { chosen, left: [] })
        expect(titledLines(items[0]!)).toEqual({ title, lines: lines.map(({ text }) => text) })
        expect(titledLines(items[0]!).lines.toSorted()).toEqual(texts.toSorted())
        const refs = all.survey.lines.map(({ at }) => at).slice(-defaults.score.refs)
        // Secrets are taken out of both as if they stood apart.
        const apart = titledItem(title, refs, undefined, titledLines(items[0]!).lines)
        expect(titledLines(redact(items[0]!).text)).toEqual(titledLines(redact(apart).text))
        if (redact(apart).text !== apart) secret++
        if (items[0]!.split('\n').length === texts.length) leading++
      }),
      { numRuns: 2000 },
    )
    expect(leading).toBeGreaterThan(200)
    expect(secret).toBeGreaterThan(200)
  })

  it.each([
    [
      'a cookie',
      'fetch https://a.test Cookie: sid=a8f3k2x9m3p1q7',
      'GET /rows/{user_id} answers load_rows_v2',
    ],
    ['an open quote', '`rg -n "password:" lib`', 'rows_v2("x") of the page'],
    ['an option of a program', 'ops/mysql_backup.sh', 'find /var/backups_v2 -print0'],
    ['refs at the end of the title', 'grep Error [42]:', 'raise error_42 of the page'],
    ['a list of numbers', '`python3 size.py`', '[1024, 768]'],
  ])('[O39] leaves apart what %s would change', (_, title, text) => {
    const all = madeUp([title], [0.9], [{ text, names: [0] }])
    const { items } = groupedLines(all.survey, {
      chosen: [{ line: all.survey.lines[0]!, index: 0, worth: 1 }],
      left: [],
    })
    expect(items).toEqual([`${title} [1]\n${text}`])
  })

  it('[O39] does not choose what a person said: that stays word for word beside the lines', () => {
    const context = contextOf(facts)
    expect(surveyOf(context).lines.some(({ text }) => text.includes('monthly_report'))).toBe(false)
  })
})
