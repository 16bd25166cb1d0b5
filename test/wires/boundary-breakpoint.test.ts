// Breakpoints of OpenAI's newer models: where the static prompt ends, and where a boundary begins.
import { describe, expect, it } from 'vitest'
import { checkChatRequest, checkResponsesRequest } from '../../src/simulator/dialects/check.ts'
import { Fold } from '../../src/projection/fold.ts'
import { answered, Pen, said, start } from '../../src/testing/builders.ts'
import type { Fact, Section } from '../../src/transcript/fact.ts'
import { seq } from '../../src/transcript/ids.ts'
import { openAiChatWire } from '../../src/wires/openai-chat/wire.ts'
import { openAiResponsesWire } from '../../src/wires/openai-responses/wire.ts'
import type { Quirks, Wire } from '../../src/wires/wire.ts'

const sections: readonly Section[] = [
  { name: 'rules', side: 'static', text: 'You help.' },
  { name: 'place', side: 'dynamic', text: 'In a folder.' },
]

/** A session of three turns; the summary stands for the entries named. */
function viewOf(span: { readonly from: number; readonly to: number } | null, reminder?: string) {
  const fold = new Fold()
  const pen = new Pen()
  const facts: readonly Fact[] = [
    start(),
    { type: 'instructions-set', sections, tools: [], ...(reminder === undefined ? {} : { reminder }) },
    said('the first question'),
    answered([{ type: 'text', text: 'one' }], { id: 'm1' }),
    said('the second question'),
    answered([{ type: 'text', text: 'two' }], { id: 'm2' }),
    said('the third question'),
  ]
  for (const fact of facts) fold.push(pen.write(fact))
  if (span !== null) {
    const range = { from: seq(span.from), to: seq(span.to) }
    const edit = { kind: 'summary' as const, ...range, text: 'what was said', ref: 'r', keep: [] }
    const layer = { layer: 'autocompact', asked: 'automatic' as const, why: 'a test', tokensFreed: 0 }
    fold.push(pen.write({ type: 'view-edit', ...layer, edits: [edit] }))
  }
  return fold.view()
}

function bodyOf(wire: Wire, view: ReturnType<typeof viewOf>, model = 'gpt-6-sol', quirks?: Quirks): string {
  const outcome = wire.createComposer({ quirks }).compose(view, {
    model,
    maxTokens: 100,
    bindsPrefix: false,
    lifetime: '30m',
  })
  if (!outcome.ok) throw new Error(outcome.why)
  return outcome.composed.body
}

/** The texts that carry a breakpoint, in their order. */
function marked(body: string): readonly string[] {
  const found: string[] = []
  JSON.parse(body, (_, value: unknown) => {
    if (typeof value === 'object' && value !== null && 'prompt_cache_breakpoint' in value)
      found.push((value as { readonly text?: string }).text ?? '?')
    return value
  })
  return found
}

const wires = [
  ['openai-chat', openAiChatWire as Wire, checkChatRequest],
  ['openai-responses', openAiResponsesWire as Wire, checkResponsesRequest],
] as const

describe.each(wires)('%s', (_, wire, check) => {
  it('[WI11] without a boundary only the static prompt ends with a breakpoint', () => {
    const body = bodyOf(wire, viewOf(null))
    expect(marked(body)).toEqual(['You help.'])
    expect(check(JSON.parse(body))).toBeNull()
  })

  it('[WI11] with one, also what stands before its summary', () => {
    const body = bodyOf(wire, viewOf({ from: 3, to: 5 }))
    expect(marked(body)).toEqual(['You help.', 'the first question'])
    expect(body).toContain('what was said')
    expect(check(JSON.parse(body))).toBeNull()
  })

  it('[WI11] the reminder stands before it, or else the system prompt', () => {
    expect(marked(bodyOf(wire, viewOf({ from: 2, to: 5 }, 'Instructions of the folder.')))).toEqual([
      'You help.',
      'Instructions of the folder.',
    ])
    const body = bodyOf(wire, viewOf({ from: 2, to: 5 }))
    expect(marked(body)).toEqual(['You help.', 'In a folder.'])
    expect(check(JSON.parse(body))).toBeNull()
  })

  it('[WI11] it stands on the block before the boundary, and not on a later one that reads alike', () => {
    const fold = new Fold()
    const pen = new Pen()
    const image = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } as const
    const picture = [{ type: 'image' as const, source: image }]
    const facts: readonly Fact[] = [start(), said(picture), said(picture), said('what is it?')]
    for (const fact of facts) fold.push(pen.write(fact))
    // The second is pinned: it is shown where the edit stands.
    fold.push(pen.write({ type: 'pin', at: { seq: seq(2) } }))
    const gone = { kind: 'drop' as const, from: seq(2), to: seq(2) }
    const edit = { layer: 'test', asked: 'user' as const, why: 'a test', tokensFreed: 0, edits: [gone] }
    fold.push(pen.write({ type: 'view-edit', ...edit }))
    const body = bodyOf(wire, fold.view())
    const marks: boolean[] = []
    JSON.parse(body, (_key, value: unknown) => {
      if (typeof value === 'object' && value !== null && 'image_url' in value && 'type' in value)
        marks.push('prompt_cache_breakpoint' in value)
      return value
    })
    expect(marks).toEqual([true, false])
    expect(check(JSON.parse(body))).toBeNull()
  })

  it('[WI11] models and servers that take none get none', () => {
    const view = viewOf({ from: 3, to: 5 })
    expect(marked(bodyOf(wire, view, 'gpt-5.5'))).toEqual([])
    expect(marked(bodyOf(wire, view, 'gpt-6-sol', { breakpoints: false }))).toEqual([])
  })
})
