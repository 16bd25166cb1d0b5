import { describe, expect, it } from 'vitest'
import { isContinuation } from '../simulator/answers/conversation.ts'
import { seq } from '../transcript/ids.ts'
import { summaryIn, partsOf, summaryText, type FrameFacts } from './summary.ts'

const facts: FrameFacts = {
  span: { from: seq(3), to: seq(40) },
  summary: null,
  by: 'model',
  sections: '## Commands\n- `make` — worked [9]',
  words: { whole: 2, shortened: 1, pointed: 3 },
  isUnanswered: false,
  isAutomatic: true,
  isLast: true,
  canExpand: true,
  hasExcerpts: false,
}
const good = {
  ok: true,
  text: 'A real account of what was done. '.repeat(10),
  stop: 'end_turn',
  hasCalls: false,
} as const

describe('the text that stands for a span', () => {
  it('[O21] says that the session continues, how to read the rest and, when automatic, to go on', () => {
    const text = summaryText(facts)
    expect(text).toMatch(/^This session continues from an earlier part/)
    expect(isContinuation(text)).toBe(true)
    expect(text).toContain('Expand {"ref": "3-40"}')
    expect(text).toContain('1 of 6 user messages are shortened')
    expect(text).toContain('3 of 6 user messages are not shown; they are in 3-40')
    expect(text).toMatch(/Continue the task.*Do not ask/)
    expect(summaryText({ ...facts, isAutomatic: false })).not.toContain('Go on with')
    expect(summaryText({ ...facts, isUnanswered: true })).toContain('has not been answered yet')
  })

  it('[O21] even the shortest one is known as a continuation', () => {
    const bare = {
      ...facts,
      sections: '',
      words: { whole: 0, shortened: 0, pointed: 0 },
      isAutomatic: false,
      canExpand: false,
      hasExcerpts: false,
    }
    expect(isContinuation(summaryText(bare))).toBe(true)
  })

  it('[O4] a model’s summary is told apart from the lines around it', () => {
    const text = summaryText({ ...facts, summary: 'It went well.\n## Commands\n- not ours' })
    const { summary, rest } = partsOf(text)
    expect(summary).toBe('It went well.\n## Commands\n- not ours')
    expect(rest).not.toContain('not ours')
    expect(rest).toContain('`make`')
  })
})

describe('a model’s answer', () => {
  it('[O18] is used without its draft', () => {
    const text = `<analysis>thinking</analysis>\n<summary>${good.text}</summary>`
    expect(summaryIn({ ...good, text })).toEqual({ ok: true, summary: good.text.trim() })
  })

  it.each([
    ['empty', { ...good, text: '' }],
    ['empty with a call', { ...good, text: '', stop: 'tool_use', hasCalls: true }],
    ['a text beside a call', { ...good, hasCalls: true }],
    ['only a draft', { ...good, text: `<analysis>${good.text}` }],
    ['a preamble without a body', { ...good, text: 'Here is the summary:' }],
    ['a refusal', { ...good, stop: 'refusal' }],
    ['cut at its end', { ...good, stop: 'max_tokens' }],
    ['cut off', { ...good, stop: null }],
    ['markup of a call', { ...good, text: `${good.text}<tool_use name="Bash">` }],
  ])('[O18] E11: %s is no summary', (_, answer) => {
    expect(summaryIn(answer).ok).toBe(false)
  })
})
