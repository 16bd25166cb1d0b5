import { describe, expect, it } from 'vitest'
import { assistant, body, call, old, plain, result, text, user, type Body } from '../../test/wire-bodies.ts'
import { documentBlock, imageBlock, pdf, png as realPng } from '../../test/media-bytes.ts'
import { type RuleOptions, checkRequest } from './rules.ts'

interface Case {
  readonly rule: string
  readonly says: string
  readonly bad: Body
  readonly text: string
  readonly good: Body
  readonly options?: RuleOptions
}

const tool = (name: string, more: Body = {}) => ({ name, input_schema: { type: 'object' }, ...more })
const mark = (ttl?: string) => ({
  cache_control: { type: 'ephemeral', ...(ttl === undefined ? {} : { ttl }) },
})
const png = (width: number, height: number, padding = 0) => {
  const bytes = Buffer.alloc(24 + padding)
  bytes.writeUInt32BE(0x89504e47, 0)
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  return {
    type: 'image',
    source: { type: 'base64', media_type: 'image/png', data: bytes.toString('base64') },
  }
}
const pair = [user(text('hi')), assistant(call('t1')), user(result('t1'))]
const betas = (name: string): RuleOptions => ({ betas: [name] })

const parameters: readonly Case[] = [
  {
    rule: 'V6',
    says: 'tool names match their pattern',
    bad: plain({ tools: [tool('a b')] }),
    text: "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'",
    good: plain({ tools: [tool('a_b')] }),
  },
  {
    rule: 'V6',
    says: 'tool names are unique',
    bad: plain({ tools: [tool('a'), tool('a')] }),
    text: 'tools: Tool names must be unique.',
    good: plain({ tools: [tool('a'), tool('b')] }),
  },
  {
    rule: 'V16',
    says: 'a budget is not for models that adapt',
    bad: plain({ max_tokens: 4000, thinking: { type: 'enabled', budget_tokens: 2000 } }),
    text: '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
    good: plain({ thinking: { type: 'adaptive' } }),
  },
  {
    rule: 'V16',
    says: 'thinking cannot be switched off everywhere',
    bad: plain({ model: 'claude-sonnet-5-5', thinking: { type: 'disabled' } }),
    text: '"thinking.type.disabled" is not supported for this model. Use "thinking.type.between_tools" instead.',
    good: plain({ model: 'claude-sonnet-5-5', thinking: { type: 'between_tools' } }),
  },
  {
    rule: 'V16',
    says: 'older models do not adapt',
    bad: plain({ ...old, thinking: { type: 'adaptive' } }),
    text: 'adaptive thinking is not supported on this model',
    good: plain({ ...old, max_tokens: 4000, thinking: { type: 'enabled', budget_tokens: 2000 } }),
  },
  {
    rule: 'V16',
    says: 'the budget fits into max_tokens',
    bad: plain({ ...old, max_tokens: 2000, thinking: { type: 'enabled', budget_tokens: 2000 } }),
    text: '`max_tokens` must be greater than `thinking.budget_tokens`',
    good: plain({ ...old, max_tokens: 2001, thinking: { type: 'enabled', budget_tokens: 2000 } }),
  },
  {
    rule: 'V17',
    says: 'some models refuse forced tools',
    bad: plain({ model: 'claude-opus-5-5', tools: [tool('a')], tool_choice: { type: 'any' } }),
    text: 'tool_choice: type "tool" and "any" are not supported for this model.',
    good: plain({ tools: [tool('a')], tool_choice: { type: 'any' } }),
  },
  {
    rule: 'V17',
    says: 'a tool choice needs tools',
    bad: plain({ tool_choice: { type: 'auto' } }),
    text: 'tool_choice: may only be specified while providing tools',
    good: plain({ tools: [tool('a')], tool_choice: { type: 'auto' } }),
  },
  {
    rule: 'V18',
    says: 'not all tools are deferred',
    bad: plain({ tools: [tool('a', { defer_loading: true })] }),
    text: 'All tools have defer_loading: true',
    good: plain({ tools: [tool('a', { defer_loading: true }), tool('b')] }),
  },
  {
    rule: 'V19',
    says: 'an image has a largest side',
    bad: body([user(text('hi'), png(8001, 10))]),
    text: 'messages.0.content.1.image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels',
    good: body([user(text('hi'), png(8000, 10))]),
  },
  {
    rule: 'V19',
    says: 'many images have a smaller largest side',
    bad: body([user(...Array.from({ length: 21 }, () => png(2001, 10)))]),
    text: 'messages.0.content.0.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels',
    good: body([user(...Array.from({ length: 20 }, () => png(2001, 10)))]),
  },
  {
    rule: 'V19',
    says: 'an image has a largest size',
    bad: body([user(png(10, 10, 3_932_160))]),
    text: 'messages.0.content.0.image.source.base64: image exceeds 5 MB maximum: 5242912 bytes > 5242880 bytes',
    good: body([user(png(10, 10, 1000))]),
  },
  {
    rule: 'V19',
    says: 'an image that was cut is refused without saying which',
    bad: body([user(imageBlock(realPng(90, 90).subarray(0, -20)))]),
    text: 'Could not process image',
    good: body([user(imageBlock(realPng(90, 90)))]),
  },
  {
    rule: 'V19',
    says: 'a document has a largest number of pages',
    bad: body([user(text('hi'), documentBlock(pdf(101)))], old),
    text: 'messages.0.content.1.pdf.source.base64.data: A maximum of 100 PDF pages may be provided.',
    good: body([user(text('hi'), documentBlock(pdf(100)))], old),
  },
  {
    rule: 'V19',
    says: 'pages and images count together',
    bad: body([user(documentBlock(pdf(99)), png(10, 10), png(10, 10))], old),
    text: 'messages: Too much media: 99 document pages + 2 images > 100',
    good: body([user(documentBlock(pdf(99)), png(10, 10))], old),
  },
  {
    rule: 'V19',
    says: 'a small window takes fewer images',
    bad: body([user(...Array.from({ length: 101 }, () => png(10, 10)))], old),
    text: 'messages: Too much media: 0 document pages + 101 images > 100',
    good: body([user(...Array.from({ length: 101 }, () => png(10, 10)))]),
  },
  {
    rule: 'V21',
    says: 'max_tokens stays within the model’s',
    bad: plain({ ...old, max_tokens: 999_999 }),
    text: 'max_tokens: 999999 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4-5',
    good: plain({ ...old, max_tokens: 64_000 }),
  },
  {
    rule: 'V22',
    says: 'an unknown key of a block is named',
    bad: body([user(text('hi', { foo: 1 }))]),
    text: 'messages.0.content.0.text.foo: Extra inputs are not permitted',
    good: plain(),
  },
  {
    rule: 'V22',
    says: 'an unknown key of the request is named',
    bad: plain({ foo: 1 }),
    text: 'foo: Extra inputs are not permitted',
    good: plain({ metadata: { user_id: 'u' } }),
  },
  {
    rule: 'V22',
    says: 'a missing field is named',
    bad: { model: 'claude-opus-5', messages: [user(text('hi'))] },
    text: 'max_tokens: Field required',
    good: plain(),
  },
  {
    rule: 'V24',
    says: 'the newer version has no sampling parameters',
    bad: plain({ temperature: 1 }),
    text: 'temperature: Extra inputs are not permitted',
    good: plain(),
  },
  {
    rule: 'V27',
    says: 'a pre-warm does not stream',
    bad: plain({ max_tokens: 0, stream: true }),
    text: 'max_tokens: 0 is not supported together with `stream`',
    good: plain({ max_tokens: 0 }),
  },
  {
    rule: 'V28',
    says: 'context editing needs its header',
    bad: plain({ context_management: { edits: [] } }),
    text: 'context_management: Extra inputs are not permitted',
    good: plain(),
  },
  {
    rule: 'V28',
    says: 'clearing thinking comes first',
    options: betas('context-management-2025-06-27'),
    bad: plain({
      context_management: {
        edits: [{ type: 'clear_tool_uses_20250919' }, { type: 'clear_thinking_20251015' }],
      },
    }),
    text: 'context_management.edits.1: `clear_thinking_20251015` must be the first edit',
    good: plain({
      context_management: {
        edits: [{ type: 'clear_thinking_20251015' }, { type: 'clear_tool_uses_20250919' }],
      },
    }),
  },
]

const turnOf = (first: unknown) => [user(text('hi')), assistant(first, call('t1')), user(result('t1'))]
const thought = { type: 'thinking', thinking: 'hm', signature: 's' }
const budget = { ...old, max_tokens: 4000, thinking: { type: 'enabled', budget_tokens: 2000 } }
const breakpoints: readonly Case[] = [
  {
    rule: 'V13',
    says: 'a tool loop begins with thinking where it is on',
    bad: body(turnOf(text('so')), budget),
    text: 'messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `text`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable `thinking`.',
    good: body([...turnOf(thought), assistant(call('t2')), user(result('t2'))], budget),
  },
  {
    rule: 'V23',
    says: 'there are at most four breakpoints, nested ones included',
    bad: body(
      [
        ...pair.slice(0, 2),
        user(result('t1', { content: [text('a', mark()), text('b', mark())] }), text('c', mark())),
      ],
      { system: [text('s', mark())], tools: [tool('a', mark())] },
    ),
    text: 'A maximum of 4 blocks with cache_control may be provided. Found 5.',
    good: plain({ system: [text('s', mark())], tools: [tool('a', mark())] }),
  },
  {
    rule: 'V23',
    says: 'the automatic mark counts',
    bad: body(
      [user(text('a', mark()), text('b', mark()), text('c', mark()), text('d', mark()), text('e'))],
      mark(),
    ),
    text: 'A maximum of 4 blocks with cache_control may be provided. Found 5.',
    good: body([user(text('b', mark()), text('c', mark()), text('d', mark()), text('e'))], mark()),
  },
  {
    rule: 'V23',
    says: 'a long mark does not follow a short one',
    bad: body([user(text('a', mark()), text('b', mark('1h')))]),
    text: "messages.0.content.1.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`.",
    good: body([user(text('a', mark('1h')), text('b', mark('5m')))]),
  },
  {
    rule: 'V23',
    says: 'an empty block carries no mark',
    bad: plain({ system: [text('', mark())] }),
    text: 'system.0: cache_control cannot be set for empty text blocks',
    good: plain({ system: [text('s', mark())] }),
  },
  {
    rule: 'V23',
    says: 'a mark is ephemeral',
    bad: plain({ system: [text('s', { cache_control: { type: 'forever' } })] }),
    text: "system.0.cache_control.type: Input should be 'ephemeral'",
    good: plain({ system: [text('s', mark())] }),
  },
  {
    rule: 'V23',
    says: 'a mark lives 5m or 1h',
    bad: plain({ system: [text('s', mark('2h'))] }),
    text: "system.0.cache_control.ephemeral.ttl: Input should be '5m' or '1h'",
    good: plain({ system: [text('s', mark('1h'))] }),
  },
  {
    rule: 'V23',
    says: 'thinking carries no mark',
    bad: body(turnOf({ ...thought, ...mark() })),
    text: 'messages.1.content.0.thinking.cache_control: Extra inputs are not permitted',
    good: body(turnOf(thought)),
  },
  {
    rule: 'V23',
    says: 'the automatic mark agrees with the last block',
    bad: body([user(text('a', mark('1h')))], mark('5m')),
    text: 'cache_control: the last cacheable block already has a cache_control with a different ttl than the top-level one',
    good: body([user(text('a', mark('1h')))], mark('1h')),
  },
  {
    rule: 'V29',
    says: 'a cache edit names a reference that is there',
    options: { cacheEdits: true },
    bad: body([...pair.slice(0, 2), user(result('t1', { cache_reference: 'a', ...mark() }))], {
      cache_edits: [{ type: 'delete', cache_reference: 'b' }],
    }),
    text: 'cache_edits.0.cache_reference: no block with cache_reference "b" was found',
    good: body([...pair.slice(0, 2), user(result('t1', { cache_reference: 'a', ...mark() }))], {
      cache_edits: [{ type: 'delete', cache_reference: 'a' }],
    }),
  },
  {
    rule: 'V29',
    says: 'a reference lies in the marked prefix',
    options: { cacheEdits: true },
    bad: body([
      user(text('hi', mark())),
      assistant(call('t1')),
      user(result('t1', { cache_reference: 'a' })),
    ]),
    text: 'messages.2.content.0.cache_reference: must not come after the last block with cache_control',
    good: body([...pair.slice(0, 2), user(result('t1', { cache_reference: 'a' }), text('so', mark()))]),
  },
]

describe('wire rules', () => {
  for (const each of [...parameters, ...breakpoints]) {
    it(`[${each.rule}] ${each.says}`, () => {
      expect(checkRequest(each.bad, each.options)?.error).toEqual({
        type: 'invalid_request_error',
        message: each.text,
      })
      expect(checkRequest(each.good, each.options)).toBeNull()
    })
  }

  it('[V21] an unknown model is not found, a dated one is', () => {
    expect(checkRequest(plain({ model: 'claude-none' }))?.error).toEqual({
      type: 'not_found_error',
      message: 'model: claude-none',
    })
    expect(checkRequest(plain({ model: 'claude-opus-4-5-20251101' }))).toBeNull()
  })

  it('[V24] the older version takes sampling parameters, documents of the assistant and citations', () => {
    const cited = body([
      user(text('a', { citations: [{ type: 'char_location' }] })),
      assistant({ type: 'document', source: { type: 'text', data: 'x', media_type: 'text/plain' } }),
      user(text('b')),
    ])
    expect(checkRequest({ ...cited, temperature: 0.5 }, { version: '2023-06-01' })).toBeNull()
    expect(checkRequest(cited)?.error.message).toBe(
      'messages.0.content.0: `citations` are not permitted in `user` messages',
    )
  })

  it('[V30] of several faults the first in the documented order is named', () => {
    const faults = body([assistant(text(''))], { max_tokens: 999_999, foo: 1 })
    expect(checkRequest(faults)?.error.message).toBe('foo: Extra inputs are not permitted')
    expect(checkRequest({ ...faults, foo: undefined })?.error.message).toContain('Extra inputs')
    expect(checkRequest(body([assistant(text(''))], { max_tokens: 999_999 }))?.error.message).toContain(
      'max_tokens: 999999',
    )
  })

  it('[V30] anything that is not a request is answered, not thrown', () => {
    for (const value of [
      null,
      1,
      'x',
      [],
      {},
      { model: 1 },
      { model: 'm', max_tokens: 1, messages: [null] },
      body([user(null)]),
    ]) {
      expect(checkRequest(value)?.error.type).toBe('invalid_request_error')
    }
  })
})
