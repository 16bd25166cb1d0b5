import { describe, expect, it } from 'vitest'
import { memoryText } from '../../../test/memory/scene.ts'
import { datedMemory, withoutDates } from './dating.ts'

const at = Date.UTC(2026, 10, 15, 14)

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
