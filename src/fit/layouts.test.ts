import { describe, expect, it } from 'vitest'
import { factsOf, instructionsOf, saidIn } from './facts.ts'
import { stringAt } from './json-spans.ts'
import { readRequest, resultTexts } from './layouts.ts'
import type { WireName } from '../model/model.ts'

/** The same small conversation on each wire: a question, a call, its result. */
const bodies: Readonly<Record<WireName, unknown>> = {
  anthropic: {
    system: 'S',
    tools: [{ name: 'shell', description: 'd', input_schema: { type: 'object' } }],
    messages: [
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'c1', name: 'shell', input: { command: 'ls' } }],
      },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'out' }] }],
      },
    ],
  },
  'openai-chat': {
    tools: [
      { type: 'function', function: { name: 'shell', description: 'd', parameters: { type: 'object' } } },
    ],
    messages: [
      { role: 'system', content: 'S' },
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'shell', arguments: '{"command":"ls"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'out' },
    ],
  },
  'openai-responses': {
    instructions: 'S',
    tools: [{ type: 'function', name: 'shell', description: 'd', parameters: { type: 'object' } }],
    input: [
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'go' }] },
      { type: 'function_call', call_id: 'c1', name: 'shell', arguments: '{"command":"ls"}' },
      { type: 'function_call_output', call_id: 'c1', output: 'out' },
    ],
  },
  gemini: {
    systemInstruction: { parts: [{ text: 'S' }] },
    tools: [{ functionDeclarations: [{ name: 'shell', description: 'd', parameters: { type: 'object' } }] }],
    contents: [
      { role: 'user', parts: [{ text: 'go' }] },
      { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'shell', args: { command: 'ls' } } }] },
      {
        role: 'user',
        parts: [{ functionResponse: { id: 'c1', name: 'shell', response: { output: 'out' } } }],
      },
    ],
  },
}

describe.each(Object.keys(bodies) as WireName[])('a request of %s', (wire) => {
  const request = readRequest(wire, Buffer.from(JSON.stringify(bodies[wire])))!

  it('[GW2] shows where the text of its result stands, and of nothing else', () => {
    const results = request.units.map((unit) => resultTexts(request, unit))
    expect(results.slice(0, -1)).toEqual(results.slice(0, -1).map(() => null))
    const { call, texts } = results.at(-1)!
    expect(call).toBe('c1')
    expect(texts.map((span) => stringAt(request.bytes, span))).toEqual(['out'])
  })

  it('[GW14] becomes the same facts', () => {
    const facts = factsOf(saidIn(request, request.units), [], { model: 'm', messageId: () => 'id' })
    expect(facts.filter((fact) => fact.type !== 'user-message' || fact.origin === 'program')).toEqual([
      { type: 'user-message', origin: 'program', content: [{ type: 'text', text: 'go' }] },
      {
        type: 'assistant-message',
        content: [{ type: 'tool_use', id: 'c1', name: 'shell', input: { command: 'ls' } }],
        messageId: 'id',
        stop: null,
        model: 'm',
      },
      { type: 'tool-result', call: 'c1', content: [{ type: 'text', text: 'out' }], isError: false },
    ])
    const instructions = instructionsOf(request)
    expect(instructions).toMatchObject({
      tools: [{ name: 'shell', description: 'd', input_schema: { type: 'object' } }],
    })
  })

  it('[GW1] is not read where its list is missing or something else', () => {
    for (const body of [
      '{}',
      '{"messages":{},"input":{},"contents":{}}',
      '[]',
      '{"messages":[5],"input":[5],"contents":[5]}',
    ])
      expect(readRequest(wire, Buffer.from(body)), body).toBeNull()
  })
})
