import { describe, expect, it } from 'vitest'
import type { WireBlock, WireRequest } from '../../model/wire.ts'
import { project } from '../../projection/fold.ts'
import { answered, call, entriesOf, result, said, thought } from '../../testing/builders.ts'
import type { Fact, Section } from '../../transcript/fact.ts'
import { seq } from '../../transcript/ids.ts'
import type { ComposeParameters, Composed, ComposerOptions } from '../../request/compose.ts'
import { createComposer } from './compose.ts'
import { problems } from './validity.ts'

const tools = [
  { name: 'Read', description: 'reads', input_schema: {} },
  { name: 'Bash', description: 'runs', input_schema: {} },
]
const sections: Section[] = [
  { name: 'identity', side: 'static', text: 'who' },
  { name: 'tone', side: 'static', text: 'how' },
  { name: 'environment', side: 'dynamic', text: 'where' },
]
const instructed: Fact = { type: 'instructions-set', sections, tools, reminder: 'the rules here' }
const parameters: ComposeParameters = {
  model: 'claude-sonnet-4-6',
  maxTokens: 100,
  bindsPrefix: false,
  lifetime: '5m',
}

function composed(
  facts: readonly Fact[],
  more: Partial<ComposeParameters> = {},
  options: ComposerOptions = {},
): Composed & { readonly request: WireRequest } {
  const outcome = createComposer(options).compose(project(entriesOf(...facts)), { ...parameters, ...more })
  if (!outcome.ok) throw new Error(outcome.why)
  return { ...outcome.composed, request: JSON.parse(outcome.composed.body) as WireRequest }
}

/** Paths of everything that carries a breakpoint. */
function breakpointsIn({ tools: offered, system, messages }: WireRequest): string[] {
  const found: string[] = []
  for (const tool of offered ?? []) if (tool.cache_control) found.push(tool.name)
  for (const block of (system ?? []) as readonly WireBlock[])
    if (block.cache_control) found.push(String(block['text']))
  for (const [index, message] of messages.entries()) {
    for (const [place, block] of (message.content as readonly WireBlock[]).entries())
      if (block.cache_control) found.push(`${index}.${place}`)
  }
  return found
}

describe('breakpoints', () => {
  it('[C6] stand on the last tool, on both sides of the system prompt and once in the messages', () => {
    const { request, lastBreakpoint } = composed([instructed, said('one'), answered('two'), said('three')])
    expect(breakpointsIn(request)).toEqual(['Bash', 'who\n\nhow', 'where', '3.0'])
    expect(lastBreakpoint).toEqual({ seq: 4, block: 0 })
    const blocks = ['one', 'two', 'three'].map((text) => ({ type: 'text', text }) as const)
    expect(breakpointsIn(composed([said(blocks)]).request)).toEqual(['0.2'])
  })

  it('[C6] stand before the parent’s last breakpoint where that block is gone, so that a fork still reads what is left', () => {
    const facts = [instructed, said('one'), answered('two'), said('three')]
    const gone = { seq: seq(3), block: 7 }
    expect(breakpointsIn(composed(facts, { breakpointAt: gone }).request)).toEqual([
      'Bash',
      'who\n\nhow',
      'where',
      '2.0',
    ])
  })

  it('[C6] have the lifetime that was chosen, and there are none where caching is off', () => {
    const facts = [instructed, said('one')]
    expect(breakpointsIn(composed(facts, { lifetime: null }).request)).toEqual([])
    expect(composed(facts, { lifetime: '1h' }).body.match(/"ttl":"1h"/g)).toHaveLength(4)
  })

  it('[C6] pass over reasoning and over what we put in ourselves', () => {
    const { request } = composed([said('one'), answered([{ type: 'text', text: 'so' }, thought('hm')])])
    expect(request.messages.at(-1)?.content).toEqual([{ type: 'text', text: 'Continue.' }])
    expect(breakpointsIn(request)).toEqual(['1.0'])
  })

  it('[C6] follow the system prompt that is there, not the sections that were named', () => {
    const blank: Section[] = [{ name: 'identity', side: 'static', text: ' ' }, ...sections.slice(2)]
    const { request } = composed([{ type: 'instructions-set', sections: blank, tools: [] }, said('one')])
    expect(breakpointsIn(request)).toEqual(['where', '0.0'])
  })

  it('[C6] of a fork stand where the parent’s last one stood', () => {
    const facts = [said('one'), answered('two'), said('three')]
    const parent = composed(facts)
    const child = composed([...facts, said('sum it up', 'injected')], {
      breakpointAt: parent.lastBreakpoint!,
    })
    expect(breakpointsIn(child.request)).toEqual(['2.0'])
    expect(child.request.messages[2]?.content).toHaveLength(2)
    expect(child.lastBreakpoint).toEqual(parent.lastBreakpoint)
    const upTo = composed([...facts, said('sum it up', 'injected')], { breakpointAt: { seq: seq(3) } })
    expect(upTo.body).toBe(child.body)
    expect(breakpointsIn(composed(facts, { breakpointAt: { seq: seq(0) } }).request)).toEqual([])
  })
})

describe('a body', () => {
  it('[C1] begins with what the cache is keyed by; what varies stands behind the messages', () => {
    const { body } = composed([instructed, said('one')], {
      thinking: { type: 'adaptive' },
      effort: 'low',
    })
    expect(Object.keys(JSON.parse(body) as object)).toEqual([
      'model',
      'tools',
      'system',
      'messages',
      'max_tokens',
      'stream',
      'thinking',
      'output_config',
    ])
  })

  it('[C7] is refused while calls wait for their results, and when there is nothing to say', () => {
    const outcome = (...facts: readonly Fact[]) =>
      createComposer().compose(project(entriesOf(...facts)), parameters)
    expect(outcome()).toMatchObject({ ok: false, why: expect.stringContaining('nothing to send') })
    const open = [said('one'), answered([call('a'), call('b')]), result('a')]
    expect(outcome(...open)).toEqual({ ok: false, why: 'calls wait for their results: b' })
    expect(outcome(...open, result('b'))).toMatchObject({ ok: true })
  })

  it('[C8] keeps the words that asked for a further answer between the two answers', () => {
    const before = composed([said('one'), answered('two', { id: 'a' })])
    const after = composed([
      said('one'),
      answered('two', { id: 'a' }),
      answered('three', { id: 'b' }),
      said('x'),
    ])
    expect(after.request.messages.map((message) => message.role)).toEqual([
      'user',
      'assistant',
      'user',
      'assistant',
      'user',
    ])
    expect(after.request.messages[2]).toEqual(before.request.messages[2])
    const oneResponse = [answered('two', { id: 'a' }), answered('three', { id: 'a' })]
    expect(composed([said('one'), ...oneResponse, said('x')]).request.messages).toHaveLength(3)
  })

  it('[Z7] ends every real input with its tag in a block of its own', () => {
    const facts = [said('one'), said('a note', 'injected'), answered('two'), said('three')]
    const { request } = composed(facts, {}, { tag: (part) => `[id:${part.from}]` })
    const texts = request.messages.map(({ content }) =>
      (content as readonly WireBlock[]).map((block) => block['text']),
    )
    expect(texts).toEqual([['one', '[id:1]', 'a note'], ['two'], ['three', '[id:4]']])
  })

  it('[C12] closes an answer that ended in reasoning, as an interrupt leaves it', () => {
    const cut = answered([thought('half')], { partial: true, stop: null })
    for (const facts of [
      [said('one'), cut, said('two')],
      [said('one'), cut],
    ])
      expect(problems(composed(facts).request.messages)).toEqual([])
    const { request } = composed([said('one'), cut, said('two')])
    expect(request.messages[1]?.content).toEqual([thought('half'), { type: 'text', text: '(no answer)' }])
    // Without its reasoning there is nothing of it to send.
    expect(composed([said('one'), cut, said('two')], { model: 'other' }).request.messages).toHaveLength(2)
  })

  it('[C12] puts images of a failed result behind the results, where the wire takes them', () => {
    const source = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } as const
    const image = { type: 'image', source } as const
    const { request } = composed([
      said('look'),
      answered([call('a'), call('b')]),
      result('a', [{ type: 'text', text: 'no' }, image], true),
      result('b', [image], true),
    ])
    expect(problems(request.messages)).toEqual([])
    const content = request.messages[2]?.content as readonly WireBlock[]
    expect(content.map(({ type }) => type)).toEqual(['tool_result', 'tool_result', 'image', 'image'])
    expect(content[0]).toMatchObject({ content: 'no', is_error: true })
    expect(content[2]).toMatchObject(image)
  })

  it('[C12] replaces halves of characters in the input of a call and in tools', () => {
    const input = { 'k\ud83d': ['\udc00', { deep: 'x\ud83d' }] }
    const set: Fact = { ...instructed, tools: [{ ...tools[0]!, description: 'reads \ud83d' }] }
    const { body } = composed([set, said('one'), answered([call('a', 'Read', input)]), result('a')])
    expect(body).not.toMatch(/\\ud[89a-f]/)
  })

  it('[C10] leaves out reasoning of another model, and on binding models what an edit outdated', () => {
    const thinks = (model: string, name: string) =>
      answered([thought(name), { type: 'text', text: name }], { model, id: name })
    const facts: readonly Fact[] = [
      said('one'),
      thinks('claude-opus-5-5', 'early'),
      said('two', 'injected'),
      thinks('claude-opus-5-5', 'late'),
      said('three'),
      thinks('claude-sonnet-4-6', 'foreign'),
      said('four'),
      {
        type: 'view-edit',
        layer: 'test',
        asked: 'user',
        edits: [{ kind: 'stub', at: { seq: seq(3), block: 0 }, text: 'gone', ref: 'r' }],
        why: 'a test',
        tokensFreed: 0,
      },
    ]
    const kept = (more: Partial<ComposeParameters>) => {
      const { body } = composed(facts, more)
      return ['early', 'late', 'foreign'].filter((name) => body.includes(`sig:${name}`))
    }
    expect(kept({ model: 'claude-opus-5-5', bindsPrefix: true })).toEqual(['early'])
    expect(kept({ model: 'claude-opus-5-5', bindsPrefix: false })).toEqual(['early', 'late'])
    expect(kept({ model: 'claude-sonnet-4-6' })).toEqual(['foreign'])
    expect(kept({ model: 'claude-opus-5-5', reasoningFrom: 3 })).toEqual(['late'])
  })
})
