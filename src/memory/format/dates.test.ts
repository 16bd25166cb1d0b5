import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { memoryText } from '../../../test/memory/memories.ts'
import { absoluteDates, datedMemory, hasRelativeDate, withoutDates } from './dates.ts'
import { growthOf, mostGrowth } from '../../../test/until.ts'

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

  // Today, yesterday, tomorrow; last and next week, month and year; a weekday before and ahead.
  const table: Record<string, readonly [words: string, dated: string][]> = {
    German: [
      ['heute gestern vorgestern übermorgen', '2026-11-15 2026-11-14 2026-11-13 2026-11-17'],
      ['Freigabe ist morgen', 'Freigabe ist 2026-11-16'],
      ['letzte Woche und nächste Woche', 'Woche vom 2026-11-02 und Woche vom 2026-11-16'],
      ['letzten Monat, nächstes Jahr', '2026-10, 2027'],
      ['kommenden Freitag nach letztem Montag', '2026-11-20 nach 2026-11-09'],
    ],
    Dutch: [
      ['vandaag gisteren morgen overmorgen', '2026-11-15 2026-11-14 2026-11-16 2026-11-17'],
      ['vorige week, volgende maand, vorig jaar', 'week van 2026-11-02, 2026-12, 2025'],
      ['volgende vrijdag en afgelopen maandag', '2026-11-20 en 2026-11-09'],
    ],
    French: [
      ["aujourd'hui demain avant-hier après-demain", '2026-11-15 2026-11-16 2026-11-13 2026-11-17'],
      ['cassé depuis hier', 'cassé depuis 2026-11-14'],
      ['la semaine dernière, le mois prochain, l’année dernière', 'la semaine du 2026-11-02, 2026-12, 2025'],
      ['vendredi prochain, lundi dernier', '2026-11-20, 2026-11-09'],
    ],
    Spanish: [
      ['hoy ayer mañana', '2026-11-15 2026-11-14 2026-11-16'],
      ['pasado mañana por la mañana', '2026-11-17 por la mañana'],
      ['la semana pasada, el próximo mes, el año pasado', 'la semana de 2026-11-02, 2026-12, 2025'],
      ['el viernes que viene, el lunes pasado', 'el 2026-11-20, el 2026-11-09'],
    ],
    Portuguese: [
      ['hoje ontem amanhã', '2026-11-15 2026-11-14 2026-11-16'],
      ['na próxima semana, no mês passado, ano que vem', 'na semana de 2026-11-16, no 2026-10, 2027'],
      ['na próxima sexta-feira, domingo passado', 'na 2026-11-20, 2026-11-08'],
    ],
    Italian: [
      ['oggi ieri domani dopodomani', '2026-11-15 2026-11-14 2026-11-16 2026-11-17'],
      ['settimana scorsa, il mese prossimo, l’anno scorso', 'settimana del 2026-11-02, il 2026-12, 2025'],
      ['venerdì prossimo, lunedì scorso', '2026-11-20, 2026-11-09'],
    ],
    Polish: [
      ['dzisiaj wczoraj jutro pojutrze', '2026-11-15 2026-11-14 2026-11-16 2026-11-17'],
      ['w zeszłym tygodniu, w przyszłym roku', 'w tygodniu od 2026-11-02, 2027'],
      ['w przyszły piątek, w zeszłą środę', '2026-11-20, 2026-11-11'],
    ],
    Russian: [
      ['сегодня вчера Завтра послезавтра', '2026-11-15 2026-11-14 2026-11-16 2026-11-17'],
      ['на прошлой неделе, в следующем месяце', 'на неделе с 2026-11-02, 2026-12'],
      ['в следующую пятницу, в прошлый понедельник', '2026-11-20, 2026-11-09'],
    ],
    Turkish: [
      ['bugün dün yarın', '2026-11-15 2026-11-14 2026-11-16'],
      ['geçen hafta, gelecek ay, geçen yıl', '2026-11-02 haftası, 2026-12, 2025'],
      ['önümüzdeki cuma, geçen pazartesi, gelecek pazar günü', '2026-11-20, 2026-11-09, 2026-11-22'],
    ],
    Chinese: [
      ['今天发布，昨天测试，明天休息', '2026-11-15发布，2026-11-14测试，2026-11-16休息'],
      ['下周五上线，上周一开会', '2026-11-20上线，2026-11-02开会'],
      ['下周，上个月，去年', '2026-11-16那一周，2026-10，2025'],
    ],
    Japanese: [
      ['今日と昨日と明日', '2026-11-15と2026-11-14と2026-11-16'],
      ['来週の金曜日、先週の月曜日', '2026-11-20、2026-11-02'],
      ['先週、来月、昨年', '2026-11-02の週、2026-12、2025'],
    ],
    Korean: [
      ['오늘 어제 내일까지', '2026-11-15 2026-11-14 2026-11-16까지'],
      ['다음 주 금요일에, 지난주 월요일', '2026-11-20에, 2026-11-02'],
      ['지난 주, 다음 달, 작년', '2026-11-02 주, 2026-12, 2025'],
    ],
  }

  it.each(Object.entries(table))('[DR1] become days in %s too, once and for all', (_, rows) => {
    expect(rows.map(([words]) => put(words))).toEqual(rows.map(([, dated]) => dated))
    expect(rows.map(([, dated]) => put(dated))).toEqual(rows.map(([, dated]) => dated))
  })

  it('[DR24] words that only look like them stay', () => {
    for (const text of [
      'Guten Morgen, am Morgen, heutige, Freitag morgen',
      'von heute auf morgen',
      'hier steht der Server',
      'por la mañana, hoy en día',
      'na segunda passada do compilador',
      'bu pazar büyük',
      '说明天气, 三天前天气, 后天的努力, 下周末',
      '今年度の予算、今週末',
      '오늘날 오늘의집 이번 주말',
      'the last week of the sprint, the next day',
      'letzte Woche des Sprints',
      'see notes/today.md and next-week.txt, today(), ?day=tomorrow, @today, x.tomorrow',
      'the button "Today" and the state ‘tomorrow’',
    ])
      expect(put(text)).toBe(text)
  })

  it('[DR24] nothing in code changes', () => {
    const code = [
      'said:',
      '```js',
      'tomorrow 明天 morgen',
      '~~~',
      'today',
      '```',
      '- ~~~~',
      '  yesterday',
      '  ~~~',
      '  ~~~~',
      '',
      '    echo today',
      '\techo tomorrow',
      'and ``a ` today`` too, or `next week`',
    ].join('\n')
    expect(put(code)).toBe(code)
    expect(put('```\ntoday\n```\ntoday\n  - today')).toBe('```\ntoday\n```\n2026-11-15\n  - 2026-11-15')
  })

  it('[DR24] any text without such words stays byte for byte, and around one nothing else changes', () => {
    const quiet = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.lorem({ maxCount: 8 }),
      fc.constantFrom(
        'the',
        'last',
        'week',
        'in',
        'days',
        '明',
        '天',
        '`',
        '```\n',
        '\r\n',
        'monday',
        '日',
        '주',
      ),
    )
    fc.assert(
      fc.property(
        fc.array(quiet, { maxLength: 6 }),
        fc.constantFrom('tomorrow', 'gestern', '来週'),
        (pieces, word) => {
          const text = pieces.join(' ')
          fc.pre(!hasRelativeDate(text))
          expect(put(text)).toBe(text)
          const date = put(word)
          expect(put(`${text}\n${word}\n`).replace(date, word)).toBe(`${text}\n${word}\n`)
        },
      ),
    )
  })

  it('[DR24] a long text takes no longer than its length', () => {
    const growth = growthOf(500, (times) => {
      const long = 'The quick brown fox 说明天气 jumps over it. '.repeat(times)
      expect(put(long)).toBe(long)
    })
    expect(growth).toBeLessThan(mostGrowth)
  })
})

describe('the days of a memory', () => {
  it('[DR25] are put into description and text, and everything else stays byte for byte', () => {
    const text =
      '---\nname: tomorrow\n# today\ndescription: due tomorrow\ntype: project\n---\nDue tomorrow.\r\nEnd.'
    expect(datedMemory(text, null, at)).toEqual({
      text: '---\nname: tomorrow\n# today\ndescription: due 2026-11-16\ntype: project\n---\nDue 2026-11-16.\r\nEnd.',
      dates: ['2026-11-16'],
    })
  })

  it('[DR25] a line that stood there keeps its words, since it means another day; rules keep theirs', () => {
    const before = memoryText('a', { description: 'due tomorrow', body: 'Due tomorrow.' })
    const after = memoryText('a', { description: 'due tomorrow', body: 'Due tomorrow.\nMoved yesterday.' })
    expect(datedMemory(after, before, at).text).toBe(after.replace('yesterday', '2026-11-14'))
    const rule = memoryText('a', { type: 'feedback', body: 'Say what was done today.' })
    expect(datedMemory(rule, null, at)).toEqual({ text: rule, dates: [] })
    expect(datedMemory('today, without frontmatter', null, at).text).toBe('today, without frontmatter')
  })

  it('[DR25] who says a word has said its day', () => {
    expect(withoutDates('due 2026-11-16, not 2026-11-17', ['due tomorrow'], at)).toBe('due  , not 2026-11-17')
  })
})

it('[DR32] days are those of the user’s time zone, whatever day it is elsewhere', () => {
  const child = join(import.meta.dirname, '..', '..', '..', 'test', 'memory', 'zone-child.ts')
  const inZone = (TZ: string): unknown =>
    JSON.parse(
      execFileSync(process.execPath, ['scripts/run-ts.mjs', child, String(Date.UTC(2026, 10, 16, 3))], {
        env: { ...process.env, TZ },
        encoding: 'utf8',
      }),
    )
  // Sunday evening there, Monday morning in Greenwich and noon in Tokyo.
  expect(inZone('America/Los_Angeles')).toEqual({
    day: '2026-11-15',
    text: 'due 2026-11-16, said 2026-11-14, or 2026-11-20',
    began: '2026-11-15',
    mode: '2026-11-15',
    saved: '2026-11-15, today',
  })
  expect(inZone('Asia/Tokyo')).toEqual({
    day: '2026-11-16',
    text: 'due 2026-11-17, said 2026-11-15, or 2026-11-20',
    began: '2026-11-16',
    mode: '2026-11-16',
    saved: '2026-11-16, today',
  })
  expect(inZone('America/New_York')).toMatchObject({ saved: '2026-11-15, today' })
  expect(inZone('Europe/Berlin')).toMatchObject({ saved: '2026-11-15, the day before this message' })
})
