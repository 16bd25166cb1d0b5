// Each rule of the validity check, by a list that breaks it alone.
import { expect, it } from 'vitest'
import type { WireBlock, WireMessage } from '../../model/wire.ts'
import { problems } from './validity.ts'

const text = (words: string, more: object = {}): WireBlock => ({ type: 'text', text: words, ...more })
const use = (id: string, more: object = {}): WireBlock => ({
  type: 'tool_use',
  id,
  name: 'read',
  input: {},
  ...more,
})
const result = (id: string, more: object = {}): WireBlock => ({
  type: 'tool_result',
  tool_use_id: id,
  ...more,
})
const user = (...content: readonly WireBlock[]): WireMessage => ({ role: 'user', content })
const assistant = (...content: readonly WireBlock[]): WireMessage => ({ role: 'assistant', content })
const system: WireMessage = { role: 'system', content: 'be brief' }
const go = user(text('go'))
const thinking: WireBlock = { type: 'thinking', thinking: '', signature: 'AAAA' }
const mark = { cache_control: { type: 'ephemeral' } } as const
const longMark = { cache_control: { type: 'ephemeral', ttl: '1h' } } as const
const search: WireBlock = { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} }

const broken: readonly (readonly [rule: string, messages: readonly WireMessage[]])[] = [
  ['some-message', []],
  ['first-user', [assistant(text('a')), go]],
  ['last-user', [go, assistant(text('a'))]],
  ['same-role', [go, go]],
  ['empty-message', [go, assistant(), go]],
  ['empty-text', [user(text(' '))]],
  ['empty-text', [{ role: 'user', content: '' }]],
  ['empty-text', [go, assistant(use('t')), user(result('t', { content: [text('')] }))]],
  ['lone-surrogate', [user(text('a\ud83d'))]],
  ['extra-key', [user(text('a', { note: 1 }))]],
  ['misplaced-block', [user(text('a'), thinking)]],
  ['misplaced-block', [go, assistant({ type: 'image', source: { type: 'url', url: 'u' } }), go]],
  ['user-citations', [user(text('a', { citations: [{}] }))]],
  ['system-place', [go, system]],
  ['call-shape', [go, assistant(use('a b')), user(result('a b'))]],
  ['call-shape', [go, assistant(use('t', { name: 'x'.repeat(65) })), user(result('t'))]],
  ['call-shape', [go, assistant(use('t', { input: '{}' })), user(result('t'))]],
  ['call-duplicate', [go, assistant(use('t')), user(result('t')), assistant(use('t')), user(result('t'))]],
  ['result-missing', [go, assistant(use('t')), go]],
  ['result-missing', [go, assistant(use('t')), user(text('a'), result('t'))]],
  ['result-orphan', [user(result('t'))]],
  ['result-orphan', [go, assistant(use('t')), user(result('t'), result('t'))]],
  ['result-shape', [go, assistant(use('t')), user(result('t', { is_error: true }))]],
  ['result-shape', [go, assistant(use('t')), user(result('t', { content: [search] }))]],
  ['server-pair', [go, assistant(search), go]],
  ['reasoning-unsigned', [go, assistant({ type: 'thinking', thinking: 'a' }, text('b')), go]],
  ['reasoning-last', [go, assistant(thinking), go]],
  [
    'breakpoint-place',
    [
      go,
      assistant(
        { type: 'server_tool_use', id: 's', name: 'x', input: {} },
        { type: 'x_tool_result', tool_use_id: 's' },
        { ...thinking, ...mark },
        text('b'),
      ),
      go,
    ],
  ],
  ['breakpoint-count', [user(...'abcde'.split('').map((word) => text(word, mark)))]],
  ['breakpoint-order', [user(text('a', mark), text('b', longMark))]],
]

it.each(broken)('[R21] %s is named when it is broken', (rule, messages) => {
  const named = new Set(problems(messages).map((problem) => problem.rule))
  expect(named).toContain(rule)
  // A mark on reasoning is also a key it may not have; every other list breaks one rule only.
  expect([...named].filter((other) => other !== rule)).toEqual(
    rule === 'breakpoint-place' ? ['extra-key'] : [],
  )
})

it('[R21] what depends on the reader is judged by its options', () => {
  const prefilled = [go, assistant(text('a'))]
  expect(problems(prefilled, { prefill: true })).toEqual([])
  expect(problems([go, assistant(text('a '))], { prefill: true })).toMatchObject([{ rule: 'last-user' }])
  expect(problems([go, system], { systemMessages: true })).toEqual([])
  expect(problems([system, go], { systemMessages: true }).map((problem) => problem.rule)).toContain(
    'system-place',
  )
  expect(problems([user(text('a', mark), text('b', mark))], { maxBreakpoints: 1 })).toMatchObject([
    { rule: 'breakpoint-count' },
  ])
})

it('[R18] a server tool beside a call of ours is whole with a result in a later answer, and half without', () => {
  const found: WireBlock = { type: 'web_search_tool_result', tool_use_id: 's1', content: [] }
  const began = [go, assistant(search, use('t1')), user(result('t1'))]
  expect(problems(began)).toEqual([])
  expect(problems([...began, assistant(found, text('so')), go])).toEqual([])
  expect(problems([...began, assistant(text('so')), go])).toMatchObject([{ rule: 'server-pair' }])
})
