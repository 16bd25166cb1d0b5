import { describe, expect, it } from 'vitest'
import type { ModelEvent, ModelRequest } from './model.ts'
import { scriptedMessage, scriptedModel } from './scripted.ts'

const request: ModelRequest = { model: 'scripted', body: '{}', betas: [], source: 'main' }
async function play(events: AsyncIterable<ModelEvent>): Promise<ModelEvent[]> {
  const all: ModelEvent[] = []
  for await (const event of events) all.push(event)
  return all
}

describe('the scripted model', () => {
  it('[D9] plays its steps in order, and remembers the requests', async () => {
    const model = scriptedModel([
      scriptedMessage([
        { type: 'thinking', thinking: 'hm' },
        { type: 'tool_use', id: 'a', name: 'read', input: { path: 'x' } },
      ]),
      (asked, turn) => scriptedMessage(`${asked.source} ${turn}`),
    ])
    const first = await play(model.stream(request, new AbortController().signal))
    expect(first.map((event) => event.type)).toEqual([
      'start',
      'thinking-delta',
      'call-start',
      'call-delta',
      'end',
    ])
    expect(first.at(-1)).toMatchObject({ message: { stop: 'tool_use' } })
    const second = await play(model.stream({ ...request, source: 'notes' }, new AbortController().signal))
    expect(second.at(-1)).toMatchObject({
      type: 'end',
      message: { stop: 'end_turn', content: [{ text: 'notes 2' }] },
    })
    expect(model.requests.map((asked) => asked.source)).toEqual(['main', 'notes'])
  })

  it('[E1] a failure, an abort and the end of the script are events, each the last', async () => {
    const cut = { code: 'cut-short', message: 'cut', status: null } as const
    const model = scriptedModel([{ failure: cut, partial: scriptedMessage('half') }, scriptedMessage('a')])
    const failed = await play(model.stream(request, new AbortController().signal))
    expect(failed.map((event) => event.type)).toEqual(['start', 'text-delta', 'failed'])
    expect(failed.at(-1)).toMatchObject({ failure: cut, partial: { content: [{ text: 'half' }] } })
    const aborted = await play(model.stream(request, AbortSignal.abort()))
    expect(aborted).toMatchObject([{ type: 'failed', failure: { code: 'aborted' }, partial: null }])
    const past = await play(model.stream(request, new AbortController().signal))
    expect(past).toMatchObject([{ type: 'failed', failure: { code: 'invalid' }, partial: null }])
  })

  it('[E1] an abort on the way keeps what was shown', async () => {
    const controller = new AbortController()
    const model = scriptedModel([
      scriptedMessage([
        { type: 'text', text: 'one' },
        { type: 'text', text: 'two' },
      ]),
    ])
    const seen: ModelEvent[] = []
    for await (const event of model.stream(request, controller.signal)) {
      seen.push(event)
      if (event.type === 'text-delta') controller.abort()
    }
    expect(seen.at(-1)).toMatchObject({
      type: 'failed',
      failure: { code: 'aborted' },
      partial: { stop: null },
    })
    expect(seen.filter((event) => event.type === 'text-delta')).toHaveLength(1)
  })
})
