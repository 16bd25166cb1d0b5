import { describe, expect, it } from 'vitest'
import { absoluteDates, hasRelativeDate } from './dates.ts'

// A Sunday.
const at = Date.UTC(2026, 10, 15, 14)
const put = (text: string): string => absoluteDates(text, at).text

describe('relative dates', () => {
  it('[DR1] become the day they meant, and absolute ones stay', () => {
    const expected: Record<string, string> = {
      'The release is tomorrow.': 'The release is 2026-11-16.',
      'It broke yesterday, Today it works': 'It broke 2026-11-14, 2026-11-15 it works',
      'Freeze in two weeks': 'Freeze 2026-11-29',
      'in 3 days': '2026-11-18',
      'in a month': '2026-12-15',
      'It was renamed 2 months ago.': 'It was renamed 2026-09-15.',
      'due next Friday': 'due 2026-11-20',
      'due next Sunday': 'due 2026-11-22',
      'said last Monday': 'said 2026-11-09',
      'from next week on': 'from the week of 2026-11-16 on',
      'in last month': 'in 2026-10',
      'the day after tomorrow': '2026-11-17',
      'the year 2026-11-20': 'the year 2026-11-20',
      'call `tomorrow()` and in days': 'call `tomorrow()` and in days',
      'the monday meeting, every friday': 'the monday meeting, every friday',
      "today's build": "today's build",
    }
    expect(Object.fromEntries(Object.keys(expected).map((text) => [text, put(text)]))).toEqual(expected)
  })

  it('[DR1] a second time nothing is left to replace', () => {
    for (const text of ['tomorrow and next week', 'in two months', 'last year', 'this friday']) {
      expect(hasRelativeDate(text)).toBe(true)
      expect(hasRelativeDate(put(text))).toBe(false)
      expect(put(put(text))).toBe(put(text))
    }
  })

  it('[DR1] the end of a month stays in its month', () => {
    expect(absoluteDates('in a month', Date.UTC(2026, 0, 31)).text).toBe('2026-02-28')
  })
})
