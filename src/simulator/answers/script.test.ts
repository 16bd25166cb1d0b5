import { describe, expect, it } from 'vitest'
import { ask, callsIn, request, textIn, user } from '../../../test/answers/tool-loop.ts'
import { call, scripted, text, thinking } from '../answer.ts'

const hello = request([user('hello')])

describe('scripted', () => {
  it('[W1] gives out texts, calls, thinking and functions of the request in order', async () => {
    const model = scripted([
      'first',
      [thinking('hm'), text('looking'), call('Read', { file_path: 'a' }), call('Read', { file_path: 'b' })],
      (wanted) => `you sent ${wanted.messages.length}`,
      { content: [text('cut')], stop_reason: 'max_tokens' },
    ])
    expect(await ask(model, hello)).toEqual({
      content: [{ type: 'text', text: 'first' }],
      stop_reason: 'end_turn',
    })
    const second = await ask(model, hello)
    expect(second.stop_reason).toBe('tool_use')
    expect(second.content.map((block) => block.type)).toEqual(['thinking', 'text', 'tool_use', 'tool_use'])
    const ids = callsIn(second).map((block) => String(block['id']))
    expect(new Set(ids).size).toBe(2)
    for (const id of ids) expect(id).toMatch(/^toolu_[a-zA-Z0-9_-]+$/u)
    expect(textIn(await ask(model, hello))).toBe('you sent 1')
    expect((await ask(model, hello)).stop_reason).toBe('max_tokens')
    expect(model.position).toBe(4)
  })

  it('[W1] derives ids from the place in the script, so that two runs agree', async () => {
    const steps = [[call('Read', { file_path: 'a' })], [call('Read', { file_path: 'a' })]]
    const [one, two] = [scripted(steps), scripted(steps)]
    const first = [await ask(one, hello), await ask(one, hello)]
    expect([await ask(two, hello), await ask(two, hello)]).toEqual(first)
    expect(callsIn(first[0]!)[0]?.['id']).not.toBe(callsIn(first[1]!)[0]?.['id'])
  })

  it('[W2] says clearly that it ran out', async () => {
    const model = scripted(['only'])
    await ask(model, hello)
    const answer = await ask(model, hello)
    expect(textIn(answer)).toBe('[script ended] request 2 has no answer: the script holds 1 step.')
    expect(answer.stop_reason).toBe('end_turn')
  })
})
