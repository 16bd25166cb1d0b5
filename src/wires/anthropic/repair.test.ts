// What repair does about damage that no fixture names: roles, ends, server tools, system messages, media.
import { describe, expect, it } from 'vitest'
import type { WireBlock, WireMessage } from '../../model/wire.ts'
import { anthropicRepairer, repair, type RepairOptions } from './repair.ts'
import { looksWhole } from './repair/reasoning.ts'
import { problems } from './validity.ts'

const model = 'claude-opus-5'
const text = (words: string): WireBlock => ({ type: 'text', text: words })
const use = (id: string): WireBlock => ({ type: 'tool_use', id, name: 'read', input: {} })
const result = (id: string, more: object = {}): WireBlock => ({
  type: 'tool_result',
  tool_use_id: id,
  content: id,
  ...more,
})
const user = (...content: readonly WireBlock[]): WireMessage => ({ role: 'user', content })
const assistant = (...content: readonly WireBlock[]): WireMessage => ({ role: 'assistant', content })
const system = (...content: readonly WireBlock[]): WireMessage => ({ role: 'system', content })
const go = user(text('go'))
const search: WireBlock = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }
const found: WireBlock = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] }

const mended = (messages: readonly WireMessage[], options: Partial<RepairOptions> = {}) => {
  const outcome = repair(messages, { model, ...options })
  expect(problems(outcome.messages, options)).toEqual([])
  return outcome
}

describe('order of messages', () => {
  it('[R16] a user message is put before a leading answer and behind a trailing one', () => {
    const { messages, repairs } = mended([assistant(text('hello')), user(text('hi')), assistant(text('bye'))])
    expect(messages.map((message) => message.role)).toEqual([
      'user',
      'assistant',
      'user',
      'assistant',
      'user',
    ])
    expect(repairs.map((each) => each.rule)).toEqual(['first-user', 'last-user'])
    expect(mended([]).messages).toHaveLength(1)
  })

  it('[R16] a compaction block may open the list', () => {
    const list = [assistant({ type: 'compaction', content: 'so far' }), go]
    expect(mended(list).messages).toBe(list)
  })

  it('[R16] an answer to be continued stays last, without trailing space', () => {
    const { messages } = mended([go, assistant(text('The answer is \n'))], { prefill: true })
    expect(messages[1]).toEqual(assistant(text('The answer is')))
  })

  it('[R10] merged messages keep the messages around them as they were', () => {
    const list = [go, assistant(text('a')), assistant(text('b')), go, assistant(text('c')), go]
    const { messages } = mended(list)
    expect(messages[1]).toEqual(assistant(text('a'), text('b')))
    expect(messages.slice(2)).toEqual(list.slice(3))
    messages.slice(2).forEach((message, index) => expect(message).toBe(list[index + 3]))
  })

  it('[R19] a system message stays behind a user message and becomes one elsewhere', () => {
    const rule = system(text('be brief'))
    const fine = [go, rule, assistant(text('ok')), go]
    expect(mended(fine, { systemMessages: true }).messages).toBe(fine)
    expect(mended(fine).messages[0]).toEqual(user(text('go'), text('be brief')))
    expect(mended([rule, go], { systemMessages: true }).messages).toEqual([
      user(text('be brief'), text('go')),
    ])
    const between = [go, assistant(use('t1')), rule, user(result('t1'))]
    expect(mended(between, { systemMessages: true }).messages[2]).toEqual(
      user(result('t1'), text('be brief')),
    )
  })

  it('[R7] a result that came late is moved behind its call', () => {
    const { messages, repairs } = mended([
      go,
      assistant(use('t1')),
      user(text('wait')),
      assistant(text('ok')),
      user(result('t1'), text('x')),
    ])
    expect(messages[2]).toEqual(user(result('t1'), text('wait')))
    expect(messages[4]).toEqual(user(text('x')))
    expect(repairs.map((each) => each.rule)).toEqual(['result-moved'])
  })

  it('[R8] a call doubled in one answer is sent once, though its result was doubled too', () => {
    const { messages } = mended([go, assistant(use('t1'), use('t1')), user(result('t1'), result('t1'))])
    expect(messages.slice(1)).toEqual([assistant(use('t1')), user(result('t1'))])
  })

  it('[R8] a result belongs to the nearest call of its id', () => {
    const other = { ...use('t1'), input: { page: 2 } }
    const { messages } = mended([
      go,
      assistant(use('t1')),
      user(text('no')),
      assistant(other),
      user(result('t1')),
    ])
    expect(messages[2]).toMatchObject({ content: [{ tool_use_id: 't1', is_error: true }, text('no')] })
    expect(messages[4]).toEqual(user(result('t1', { tool_use_id: 't1-2' })))
  })

  it('[R8] of several results for one call the first stays', () => {
    const again = result('t1', { content: 'again' })
    expect(mended([go, assistant(use('t1')), user(result('t1'), again)]).messages[2]).toEqual(
      user(result('t1')),
    )
  })
})

describe('blocks in their places', () => {
  it('[R17] results and documents leave an answer for the next user message', () => {
    const document: WireBlock = {
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: 'a' },
    }
    const { messages } = mended([
      go,
      assistant(use('t1'), result('t1'), document, text('read it')),
      user(text('thanks')),
    ])
    expect(messages.slice(1)).toEqual([
      assistant(use('t1'), text('read it')),
      user(result('t1'), document, text('thanks')),
    ])
  })

  it('[R17] calls and reasoning in a user message are left out', () => {
    const thinking: WireBlock = { type: 'thinking', thinking: '', signature: 'AAAA' }
    expect(mended([user(text('a'), use('t1'), thinking)]).messages).toEqual([user(text('a'))])
  })

  it('[R17] an unknown role speaks as the user; keys beside role and content go', () => {
    const odd: unknown = { role: 'developer', content: 'be brief', id: 'm1' }
    expect(mended([odd as WireMessage]).messages).toEqual([user(text('be brief'))])
  })

  it('[R17] images leave a failed result, which may hold only text, and follow the results', () => {
    const image: WireBlock = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }
    const failed = result('t1', { content: [image], is_error: true })
    const { messages } = mended([go, assistant(use('t1'), use('t2')), user(failed, result('t2'))])
    expect(messages[2]).toMatchObject({
      content: [{ tool_use_id: 't1', is_error: true }, result('t2'), image],
    })
  })

  it('[R18] a half pair of a server tool is left out, a whole one stays', () => {
    const whole = [go, assistant(search, found, text('it says')), go]
    expect(mended(whole).messages).toBe(whole)
    expect(mended([go, assistant(search, text('it says')), go]).messages[1]).toEqual(
      assistant(text('it says')),
    )
    expect(mended([go, assistant(found, search, text('it says')), go]).messages[1]).toEqual(
      assistant(text('it says')),
    )
  })

  it('[R18] the open call of a paused turn stays when the turn is to go on', () => {
    const paused = [go, assistant(text('searching'), search)]
    expect(mended(paused, { prefill: true }).messages).toBe(paused)
  })

  it('[R18] beside a call of our own it may be completed in a later answer', () => {
    const began = [go, assistant(search, use('t1')), user(result('t1'))]
    expect(mended(began).messages).toBe(began)
    const whole = [...began, assistant(found, text('it says')), go]
    expect(mended(whole).messages).toBe(whole)
    // It never was, or twice, or before its call: half a pair.
    const lost = mended([...began, assistant(text('so')), go]).messages
    expect(lost[1]).toEqual(assistant(use('t1')))
    const twice = mended([...began, assistant(found, found, text('it says')), go]).messages
    expect(twice[3]).toEqual(assistant(found, text('it says')))
    expect(mended([go, assistant(found, text('a')), ...began]).messages[1]).toEqual(assistant(text('a')))
    // Our own call still needs its result at once.
    expect(mended([go, assistant(search, use('t1'))]).messages.slice(0, 2)).toEqual([
      go,
      assistant(search, use('t1')),
    ])
  })

  it('[R17] a block type of a newer API is carried along untouched', () => {
    const list = [go, assistant({ type: 'hologram', depth: 3 }, text('look')), go]
    expect(mended(list).messages).toBe(list)
  })

  it('[R17] keys of ours on a block are not sent; those a provider declares are', () => {
    const list = [
      go,
      assistant(use('t1')),
      user(result('t1', { cleared: 'cache-edit', cache_reference: 't1' })),
    ]
    expect(mended(list).messages[2]).toEqual(user(result('t1')))
    const extraKeys = ['cache_reference']
    expect(mended(list, { extraKeys }).messages[2]).toEqual(user(result('t1', { cache_reference: 't1' })))
  })
})

describe('reports and signatures', () => {
  it('[R20] a report names the rule, the place in the list handed in, and what was done', () => {
    const { repairs } = anthropicRepairer.repair([go, user(text('b'), text(''))], { model })
    expect(repairs).toEqual([
      {
        rule: 'empty-text',
        path: 'messages.1.content.1',
        what: 'left out: a text without a visible character',
      },
      { rule: 'same-role', path: 'messages.0', what: '2 user messages in a row merged' },
    ])
  })

  it('[R11] a signature is whole when it is padded base64 and holds as many bytes as it says', () => {
    const sealedBytes = Buffer.concat([Buffer.from([0x12, 0xac, 0x02]), Buffer.alloc(300, 7)])
    expect(looksWhole(sealedBytes.toString('base64'))).toBe(true)
    expect(looksWhole(Buffer.concat([sealedBytes, Buffer.from([0x18, 0x01])]).toString('base64'))).toBe(true)
    for (let cut = 4; cut < 300; cut += 4)
      expect(looksWhole(sealedBytes.toString('base64').slice(0, -cut))).toBe(false)
    expect(looksWhole('AAAA')).toBe(true)
    for (const odd of ['', 'AAA', 'reasoning_content', 'A A=', 'EqQB']) expect(looksWhole(odd)).toBe(false)
  })
})
