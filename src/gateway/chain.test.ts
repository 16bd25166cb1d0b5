import { describe, expect, it } from 'vitest'
import { chainOf, ChainIndex, type Chain } from '../fit/chain.ts'
import { sha256 } from './digest.ts'
import { credentialOf, isSideRequest, labelOf, tenantOf } from './identity.ts'
import { readRequest, type ForeignRequest } from '../fit/layouts.ts'

const requestOf = (body: unknown, blanks?: number): ForeignRequest =>
  readRequest('anthropic', Buffer.from(JSON.stringify(body, null, blanks)))!
const user = (text: string) => ({ role: 'user', content: text })
const model = (text: string) => ({ role: 'assistant', content: [{ type: 'text', text }] })
const chain = (messages: readonly unknown[], system = 'S', tenant = 't'): Chain =>
  chainOf(tenant, requestOf({ system, tools: [{ name: 'x' }], messages }), sha256)

describe('which conversation a request goes on', () => {
  const first = [user('one'), model('a'), user('two')]
  const begun = (label = ''): ChainIndex => {
    const index = new ChainIndex({ conversations: 10 })
    index.take('main', label, chain(first))
    return index
  }

  it('[GW9] tells the next turn, a retry, a rewind and a new one apart by their content', () => {
    const index = begun()
    expect(index.match('', chain([...first, model('b'), user('three')]))).toEqual({
      kind: 'next',
      session: 'main',
      common: 3,
    })
    expect(index.match('', chain(first))).toEqual({ kind: 'again', session: 'main', common: 3 })
    expect(index.match('', chain([user('one'), model('a'), user('other')]))).toEqual({
      kind: 'branch',
      session: 'main',
      common: 2,
    })
    expect(index.match('', chain([user('else')]))).toEqual({ kind: 'new' })
  })

  it('[GW9] keeps a conversation apart from a fork of it, and goes on with both', () => {
    const index = begun()
    index.take('fork', '', chain([user('one'), model('a'), user('other')]))
    expect(index.match('', chain([...first, model('b')]))).toMatchObject({ kind: 'next', session: 'main' })
    expect(index.match('', chain([user('one'), model('a'), user('other'), model('c')]))).toMatchObject({
      kind: 'next',
      session: 'fork',
    })
  })

  it('[GW9] takes a known label with new content for a compaction by the client, under the same prompt and tools alone', () => {
    const index = begun('L')
    expect(index.match('L', chain([user('This goes on from …')]))).toEqual({
      kind: 'restart',
      session: 'main',
    })
    expect(index.match('L', chain([user('This goes on from …')], 'other prompt'))).toEqual({ kind: 'new' })
  })

  it('[GW9] keeps two agents apart that begin alike, and one that has another prompt', () => {
    const index = begun('L/1')
    expect(index.match('L/2', chain(first))).toEqual({ kind: 'new' })
    expect(index.sentBefore(chain(first))).toBe(3)
    const unnamed = begun()
    expect(unnamed.match('', chain(first, 'memory extraction'))).toEqual({ kind: 'new' })
    expect(unnamed.match('', chain([...first, model('b')], 'more tools'))).toMatchObject({ kind: 'next' })
  })

  it('[GW9] shares nothing between credentials', () => {
    const index = begun()
    expect(index.match('', chain(first, 'S', 'other'))).toEqual({ kind: 'new' })
    const key = (value: string) => {
      const header = (name: string) => (name === 'x-api-key' ? value : undefined)
      return tenantOf(credentialOf(header, new URLSearchParams()), 'salt')
    }
    expect(key('a')).not.toBe(key('b'))
    expect(key('a')).toBe(key('a'))
  })

  it('[GW9] finds a conversation of an earlier run by its end, and forgets the oldest beyond its bound', () => {
    const index = new ChainIndex({ conversations: 2 })
    const { head, links } = chain(first)
    index.recall('main', 'L', { head, tip: links.at(-1)!, units: links.length })
    expect(index.match('L', chain([...first, model('b')]))).toEqual({
      kind: 'next',
      session: 'main',
      common: 3,
    })
    index.take('b', '', chain([user('b')]))
    index.take('c', '', chain([user('c')]))
    expect(index.match('L', chain([...first, model('b')]))).toEqual({ kind: 'new' })
    expect(index.sentBefore(chain(first))).toBe(0)
  })

  it('[GW10] sees the same conversation whatever steers the cache and however it is written', () => {
    const marked = { type: 'ephemeral' }
    const plain = [
      user('one'),
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'r' }] }],
      },
    ]
    const other = [
      { role: 'user', content: [{ type: 'text', text: 'one', cache_control: marked }] },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'a',
            content: [{ type: 'text', text: 'r', cache_control: marked }],
            cache_control: marked,
          },
        ],
      },
    ]
    const whole = chainOf('t', requestOf({ system: 'S', messages: plain }), sha256)
    expect(chainOf('t', requestOf({ system: 'S', messages: other }), sha256)).toEqual(whole)
    expect(chainOf('t', requestOf({ system: 'S', messages: other }, 2), sha256)).toEqual(whole)
    const texts = [user('one'), user('"cache_control" is only said here')]
    expect(chain(texts).links[1]).not.toBe(chain([user('one'), user('" is only said here')]).links[1])
  })

  it('[GW9] reads labels from headers before bodies and ignores what is not printable', () => {
    const request = requestOf({
      messages: [],
      prompt_cache_key: 'from-body',
      metadata: { user_id: '{"session_id":"m"}' },
    })
    const header = (values: Record<string, string>) => (name: string) => values[name]
    expect(labelOf(header({ 'x-claude-code-session-id': 's', 'x-claude-code-agent-id': 'a' }), request)).toBe(
      's/a',
    )
    expect(labelOf(header({ 'session-id': 'bad label\n' }), request)).toBe('from-body')
    expect(
      labelOf(header({}), requestOf({ messages: [], metadata: { user_id: '{"session_id":"m"}' } })),
    ).toBe('m')
    expect(labelOf(header({}), requestOf({ messages: [], metadata: { user_id: 'no json' } }))).toBe('')
  })

  it('[GW11] knows what is asked beside a conversation', () => {
    const none = () => undefined
    expect(isSideRequest(none, requestOf({ messages: [user('title?')] }))).toBe(true)
    expect(isSideRequest(none, requestOf({ messages: [user('go')], tools: [{ name: 'x' }] }))).toBe(false)
    expect(isSideRequest(none, requestOf({ messages: first, tools: [{}], max_tokens: 1 }))).toBe(true)
    expect(isSideRequest(() => 'auxiliary', requestOf({ messages: first, tools: [{}] }))).toBe(true)
  })
})
