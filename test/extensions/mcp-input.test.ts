import { expect, it } from 'vitest'
import { deferringTools } from '../../src/cli/extensions/mcp/tools.ts'

it('[EX4] the input of a deferred tool is an object, or the same written as JSON', () => {
  const [, call] = deferringTools(() => [])
  const parsed = (input: unknown) => call!.parse({ tool: 'mcp__a__b', input } as never)
  for (const input of [{ words: 'deep' }, '{"words":"deep"}'])
    expect(parsed(input)).toMatchObject({ ok: true, input: { input: { words: 'deep' } } })
  for (const input of ['words', '[1]', 7, null]) expect(parsed(input).ok).toBe(false)
})
