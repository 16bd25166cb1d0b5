// What a boundary carries over is read as it was written.
import { describe, expect, it } from 'vitest'
import type { Counted } from '../../transcript/fact.ts'
import { seq } from '../../transcript/ids.ts'
import { longForm, shortForm, type Carried } from './short-form.ts'

describe('[O44] the short form of what was counted', () => {
  it('is read as it was written, whatever names, titles and files are called', () => {
    const titles = [
      '#1',
      '=a',
      '+b',
      '/+c',
      '^0',
      '`echo ^a, "b" \\n`',
      'said',
      '',
      '/src/alone/one.ts',
      'src/two.ts',
    ]
    const names = [
      '.git',
      'a/.git',
      '142',
      'src/two.ts',
      'two.ts',
      'a.b.c1',
      'c1',
      'home/x/y1',
      'home/x/y2',
      'home/x/y3',
    ]
    const text = 'See /src/alone/one.ts, `home/x/y2` and a.b.c1; 142 lines.'
    const keep = [{ at: { seq: seq(3) }, lines: [[0, 1]] as const }, { at: { seq: seq(5) } }]
    const carried: Carried = {
      upTo: seq(90),
      answers: 40,
      names: names.map((name, index) => [
        name,
        index >> 1,
        20 + index,
        index % 3 === 0 ? -1 : 12,
        9 + index,
        3,
        index % 2,
        1,
        0,
        index % 4,
        2,
        index % 5 === 4 ? -1 : index,
      ]),
      subjects: titles.map((title, index) => [title, 3 * index, index / 2]),
      lines: [
        [7, 3, 1, 0],
        [7, 3, 1, 0],
        [8, 3, 1, 1],
        [9, 0, -1, 0],
        [12, 5, 0, 0],
      ],
      kept: [[3, -38]],
      files: [
        ['alone/one.ts', 2.125, 1, 30, 29, -1],
        ['a b, c', 0, 0, -1, -1, -1],
        ['+4', 1, 0, 2, -1, 2],
      ],
    }
    const short = shortForm(carried, { text, keep })
    const long = longForm(JSON.parse(JSON.stringify(short)) as Counted, { text, keep })!
    const sorted = (one: Carried) => ({ ...one, names: one.names.toSorted(([a], [b]) => (a < b ? -1 : 1)) })
    expect(sorted(long)).toEqual(sorted(carried))
    expect(longForm(short, { text: `${text} And more_words.`, keep })).toBeNull()
  })
})
