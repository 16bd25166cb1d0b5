import { expect, it } from 'vitest'
import { durabilityOf, strictest } from './transcript.ts'
import { seq } from './ids.ts'

const said = [{ type: 'text' as const, text: 'x' }]
const answer = { type: 'assistant-message', messageId: 'm', stop: null, model: 'x' } as const

it('[S1] what is acted on is synced before, what can be lost for a moment soon, what can be made again never', () => {
  expect(durabilityOf({ type: 'user-message', content: said, origin: 'typed' })).toBe('now')
  expect(durabilityOf({ type: 'permission', tool: 'Bash', decision: 'allow', by: 'user' })).toBe('now')
  expect(durabilityOf({ ...answer, content: said })).toBe('soon')
  expect(durabilityOf({ ...answer, content: [{ type: 'tool_use', id: 'a', name: 'Bash', input: {} }] })).toBe(
    'now',
  )
  expect(durabilityOf({ type: 'rewind', to: seq(0) })).toBe('soon')
  expect(durabilityOf({ type: 'compaction-failed', source: 'x', why: 'y' })).toBe('none')
})

it('[S1] of facts written together the most careful decides', () => {
  expect(strictest([])).toBe('none')
  expect(strictest(['none', 'soon', 'none'])).toBe('soon')
  expect(strictest(['none', 'now', 'soon'])).toBe('now')
})
