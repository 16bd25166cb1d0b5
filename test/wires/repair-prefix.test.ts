// What was sent once is sent the same, also when something behind it must be repaired: the beginning of a list that was valid leaves
// repair as the very objects it came as.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { repaired } from '../../src/fit/rules.ts'
import type { WireName } from '../../src/model/model.ts'

type Fields = Readonly<Record<string, unknown>>

const text = fc.constantFrom('', 'hello', ' ', 'é😀')
const ids = fc.uniqueArray(fc.stringMatching(/^call_[a-z0-9]{12}$/), { minLength: 1, maxLength: 2 })
const one = <T>(...values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values)

/** One round of a conversation: a prompt, perhaps calls with their results, an answer. */
const rounds: Readonly<Record<WireName, fc.Arbitrary<readonly Fields[]>>> = {
  'openai-chat': fc
    .tuple(
      text,
      ids,
      fc.boolean(),
      one<unknown>(null, '', 'well'),
      one<unknown>('', 'ok', [{ type: 'text', text: '' }]),
    )
    .map(([said, calls, hasCalls, content, result]) => [
      { role: 'user', content: said },
      ...(hasCalls
        ? [
            {
              role: 'assistant',
              content,
              tool_calls: calls.map((id) => ({
                id,
                type: 'function',
                function: { name: 'f', arguments: said },
              })),
            },
            ...calls.map((id) => ({ role: 'tool', tool_call_id: id, content: result })),
          ]
        : []),
      { role: 'assistant', content: 'done', annotations: [] },
    ]),
  'openai-responses': fc
    .tuple(text, ids, fc.boolean(), one<unknown>('', 'ok', [], [{ type: 'input_text', text: '' }]))
    .map(([said, calls, hasCalls, output]) => [
      { role: 'user', content: said },
      ...(hasCalls
        ? [
            { type: 'reasoning', id: `rs_${calls[0]!}`, summary: [], encrypted_content: 'sealed' },
            ...calls.map((id) => ({
              type: 'function_call',
              id: `fc_${id}`,
              call_id: id,
              name: 'f',
              arguments: said,
            })),
            ...calls.map((id) => ({ type: 'function_call_output', call_id: id, output })),
          ]
        : []),
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: said }] },
    ]),
  gemini: fc
    .tuple(ids, fc.boolean(), one<unknown>({ output: '' }, {}, { error: 'no' }))
    .map(([calls, hasCalls, response]) => [
      { role: 'user', parts: [{ text: 'go' }] },
      ...(hasCalls
        ? [
            { role: 'model', parts: calls.map((id) => ({ functionCall: { id, name: 'f', args: {} } })) },
            { role: 'user', parts: calls.map((id) => ({ functionResponse: { id, name: 'f', response } })) },
          ]
        : []),
      { role: 'model', parts: [{ text: 'done' }, { text: '', thoughtSignature: 'c2ln' }] },
    ]),
  anthropic: fc
    .tuple(ids, fc.boolean(), one<unknown>('', 'ok', [], [{ type: 'text', text: 'r' }]))
    .map(([calls, hasCalls, content]) => [
      { role: 'user', content: 'go' },
      ...(hasCalls
        ? [
            {
              role: 'assistant',
              content: calls.map((id) => ({ type: 'tool_use', id, name: 'f', input: {} })),
            },
            {
              role: 'user',
              content: calls.map((id) => ({ type: 'tool_result', tool_use_id: id, content })),
            },
          ]
        : []),
      {
        role: 'assistant',
        content: [
          { type: 'newer', x: 1 },
          { type: 'text', text: 'done' },
        ],
      },
    ]),
}

/** What must be repaired, or was sent like this. */
const ends: Readonly<Record<WireName, readonly (readonly Fields[])[]>> = {
  'openai-chat': [
    [
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'lost', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
      { role: 'user', content: 'stop' },
    ],
    [{ role: 'tool', tool_call_id: 'nobody', content: 'x' }],
    [{ role: 'user', content: 'half \ud800' }],
  ],
  'openai-responses': [
    [
      { type: 'function_call', call_id: 'lost', name: 'f', arguments: '{}' },
      { role: 'user', content: 'stop' },
    ],
    [{ type: 'function_call_output', call_id: 'nobody', output: 'x' }],
    [{ role: 'user', content: 'half \ud800' }],
  ],
  gemini: [
    [
      { role: 'user', parts: [{ text: 'go on' }] },
      { role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] },
      { role: 'user', parts: [{ text: 'stop' }] },
    ],
    [{ role: 'user', parts: [{ text: 'half \ud800' }] }],
  ],
  anthropic: [
    [
      { role: 'user', content: 'go on' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'lost', name: 'f', input: {} }] },
      { role: 'user', content: 'stop' },
    ],
    [{ role: 'user', content: 'half \ud800' }],
  ],
}

describe.each(Object.keys(rounds) as WireName[])('%s', (wire) => {
  it('[WI13] the beginning that was valid is the same behind a repair', () => {
    const to = { model: 'gemini-2.5-pro', store: false }
    fc.assert(
      fc.property(
        fc.array(rounds[wire], { minLength: 1, maxLength: 4 }),
        fc.constantFrom(...ends[wire]),
        (made, end) => {
          const list = made.flat()
          const { messages, repairs } = repaired(wire, [...list, ...end], to)
          expect(repairs.length).toBeGreaterThan(0)
          expect(messages.slice(0, list.length)).toEqual(list)
        },
      ),
    )
  })
})
