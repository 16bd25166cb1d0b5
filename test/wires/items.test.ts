// Items and sidecars: kept in the transcript as they came, counted, and shown to no wire but their own.
import { describe, expect, it } from 'vitest'
import { Fold } from '../../src/projection/fold.ts'
import { estimateBlock } from '../../src/projection/tokens.ts'
import { answered, Pen, result, said, start } from '../../src/testing/builders.ts'
import { decode, encode } from '../../src/transcript/codec.ts'
import type { AssistantBlock } from '../../src/transcript/content.ts'
import { callsOf } from '../../src/transcript/grammar.ts'
import { endOf, stopKindOf } from '../../src/transcript/stop.ts'
import { createComposer } from '../../src/wires/anthropic/compose.ts'

const maker = { wire: 'openai-responses', model: 'gpt-6-sol' }
const content: readonly AssistantBlock[] = [
  { type: 'item', ...maker, raw: '{"type":"reasoning","encrypted_content":"gAAA=="}', tokens: 77 },
  { type: 'text', text: 'I look.', sidecar: { ...maker, raw: '{"phase":"commentary"}' } },
  {
    type: 'tool_use',
    id: 'call_1',
    name: 'Read',
    input: { path: 'a' },
    sidecar: { ...maker, arguments: '{ "path":"a" }' },
  },
]
const answer = answered(content, { model: 'gpt-6-sol', stop: 'tool_use' })

describe('an item', () => {
  it('[T21] is read back from its line as it was written, and so is a sidecar', () => {
    const entry = new Pen().write(answer)
    const decoded = decode(encode(entry))
    expect(decoded).toMatchObject({ ok: true, entry: { fact: { content } } })
  })

  it('[T21] stands in the view where it came, takes the tokens it says, and reaches no other wire', () => {
    const fold = new Fold()
    const pen = new Pen()
    for (const fact of [start(), said('go'), answer, result('call_1', 'found')]) fold.push(pen.write(fact))
    const view = fold.view()
    expect(view.messages.at(1)?.content).toEqual(content)
    expect(estimateBlock(content[0]!)).toBe(77)
    const outcome = createComposer().compose(view, {
      model: 'gpt-6-sol',
      maxTokens: 100,
      bindsPrefix: false,
      lifetime: '5m',
    })
    const { messages } = JSON.parse(outcome.ok ? outcome.composed.body : '{}') as {
      messages: { content: object[] }[]
    }
    expect(messages[1]?.content).toEqual([
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', id: 'call_1', name: 'Read', input: { path: 'a' } },
    ])
  })
})

describe('why an answer ended', () => {
  it('[T22] is said by its wire or read from a word of the Messages API', () => {
    expect(['end_turn', 'max_tokens', 'tool_use', 'made_up', null].map(stopKindOf)).toEqual([
      'end',
      'length',
      'tool',
      'other',
      'other',
    ])
    expect(endOf({ stop: 'MAX_TOKENS', ended: 'length' })).toBe('length')
  })

  it('[T22] by its length leaves its calls unrun, whatever the word of the wire is', () => {
    const cut = answered([content[2]!], { stop: 'length' })
    expect(callsOf({ ...cut, ended: 'length' })).toMatchObject([{ broken: true }])
    expect(callsOf({ ...cut, ended: 'tool' })).toMatchObject([{ broken: false }])
  })
})
