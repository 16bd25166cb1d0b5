import { describe, expect, it } from 'vitest'
import { printed } from './hook-protocol.ts'

describe('what may leave a hook', () => {
  it('[CH14] nothing but what the table of the client and event allows', () => {
    const context = 'x'.repeat(9500)
    expect(printed('claude', 'SessionStart', { context })).toBe(
      `${JSON.stringify({ hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: context } })}\n`,
    )
    for (const [client, event, output] of [
      ['claude', 'SessionStart', { context: `${context}x` }],
      ['claude', 'SessionStart', { plain: 'x' }],
      ['claude', 'PreCompact', { context: 'x' }],
      ['claude', 'PreCompact', { plain: 'x'.repeat(1501) }],
      ['claude', 'PostCompact', { plain: 'x' }],
      ['claude', 'PostCompact', { message: 'x' }],
      ['claude', 'Stop', { context: 'x' }],
      ['claude', 'constructor', { context: 'x' }],
      ['claude', 'SessionStart', { context: '\u001B[2J' }],
      ['claude', 'SessionStart', { context: '\uD800' }],
      ['claude', 'statusLine', { plain: 'a\u0007' }],
      ['codex', 'PreCompact', { plain: 'x' }],
      ['codex', 'SessionStart', { context: 'x'.repeat(9001) }],
      ['codex', 'UserPromptSubmit', { message: 'x' }],
      ['opencode', 'SessionStart', { context: 'x' }],
    ] as const)
      expect(printed(client, event, output), `${client} ${event}`).toBeNull()
    expect(printed('claude', 'PostCompact', {})).toBe('')
    expect(printed('claude', 'SessionStart', { context: '' })).toBe('')
  })
})
