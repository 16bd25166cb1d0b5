// The failure fixtures, groups A to C, as lists of messages. Each is judged twice: by our own validity check
// and by the simulator's rules.
import { describe, expect, it } from 'vitest'
import type { WireBlock, WireMessage } from '../../model/wire.ts'
import { checkRequest } from '../../simulator/rules.ts'
import { originByMessage, repair, type RepairOptions } from './repair.ts'
import { missingResult, truncatedCall } from './block-rules.ts'
import { problems } from './validity.ts'

const model = 'claude-opus-5'
const signature = Buffer.from([0x12, 3, 1, 2, 3]).toString('base64')
const text = (words: string): WireBlock => ({ type: 'text', text: words })
const use = (id: string, input: unknown = { path: 'a.ts' }, name = 'read'): WireBlock => ({
  type: 'tool_use',
  id,
  name,
  input,
})
const result = (id: string, content: unknown = `result of ${id}`): WireBlock => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
})
const thinking = (words: string, proof: string | undefined = signature): WireBlock => ({
  type: 'thinking',
  thinking: words,
  signature: proof,
})
const missing = (id: string): WireBlock => ({
  type: 'tool_result',
  tool_use_id: id,
  content: missingResult,
  is_error: true,
})
const user = (...content: readonly WireBlock[]): WireMessage => ({ role: 'user', content })
const assistant = (...content: readonly WireBlock[]): WireMessage => ({ role: 'assistant', content })
const go = user(text('go'))

/** Repairs, checks that both judges agree and that a second repair finds nothing, and gives back the outcome. */
function out(messages: readonly WireMessage[], options: Partial<RepairOptions> = {}) {
  const kept = structuredClone(messages)
  const repaired = repair(messages, { model, ...options })
  expect(messages).toEqual(kept)
  expect(problems(repaired.messages, options)).toEqual([])
  expect(checkRequest({ model, max_tokens: 1000, messages: repaired.messages })).toBeNull()
  expect(repair(repaired.messages, { model, ...options })).toMatchObject({
    messages: repaired.messages,
    repairs: [],
  })
  return { ...repaired, rules: repaired.repairs.map((each) => each.rule) }
}
const blocks = (message: WireMessage | undefined): readonly WireBlock[] =>
  typeof message?.content === 'object' ? message.content : []
const ids = (message: WireMessage | undefined): readonly unknown[] =>
  blocks(message).flatMap((block) =>
    block.type === 'tool_use' ? [block['id']] : block.type === 'tool_result' ? [block['tool_use_id']] : [],
  )

describe('A: calls and results', () => {
  it('[R5] A1 unanswered calls of a batch are answered before the words of the interrupt', () => {
    const note = text('Interrupted by user')
    const { messages, rules } = out([
      go,
      assistant(use('t1'), use('t2'), use('t3')),
      user(result('t1')),
      user(note),
      user(note),
      user(note),
    ])
    expect(messages[2]).toEqual(user(result('t1'), missing('t2'), missing('t3'), note, note, note))
    expect(rules).toEqual(['same-role', 'result-missing', 'result-missing'])
  })

  it('[R6] A2 results go before other content and keep their order', () => {
    const reminder = text('<system-reminder>be brief</system-reminder>')
    const first = out([go, assistant(use('t1')), user(reminder, result('t1'))])
    expect(first.messages[2]).toEqual(user(result('t1'), reminder))
    const second = out([go, assistant(use('t1'), use('t2')), user(result('t2'), reminder, result('t1'))])
    expect(second.messages[2]).toEqual(user(result('t2'), result('t1'), reminder))
    expect(second.rules).toEqual(['results-first'])
  })

  it('[R5] A3 a cut between ten calls and their results answers all ten', () => {
    const calls = Array.from({ length: 10 }, (_, index) => `t${index}`)
    const { messages } = out([go, assistant(...calls.map((id) => use(id)))])
    expect(messages[2]).toEqual(user(...calls.map(missing)))
    const tail = out([user(...calls.map((id) => result(id))), assistant(text('done')), go])
    expect(tail.messages[0]).toEqual(user(text('(no content)')))
    expect(tail.rules.filter((rule) => rule === 'result-orphan')).toHaveLength(10)
  })

  it('[R7] A4 a cut inside a batch leaves out the results whose calls are not covered', () => {
    const { messages } = out([
      go,
      assistant(use('t2'), use('t3')),
      user(result('t1'), result('t2'), result('t3')),
      assistant(text('ok')),
      go,
    ])
    expect(ids(messages[2])).toEqual(['t2', 't3'])
  })

  it('[R7] A5 a result whose call lies behind two summaries is left out', () => {
    const summary = (count: number): WireMessage => user(text(`summary ${count}`))
    const { messages, rules } = out([
      summary(1),
      summary(2),
      user(result('t1'), text('and now?')),
      assistant(text('yes')),
      go,
    ])
    expect(messages[0]).toEqual(user(text('summary 1'), text('summary 2'), text('and now?')))
    expect(rules).toContain('result-orphan')
  })

  it('[R7] A6 a call summarised away takes its late result with it, also when its id is used again', () => {
    const { messages } = out([
      user(text('summary')),
      user(result('t1', 'old')),
      assistant(use('t1')),
      user(result('t1', 'new')),
      assistant(text('ok')),
      go,
    ])
    expect(messages[0]).toEqual(user(text('summary')))
    expect(messages[2]).toEqual(user(result('t1', 'new')))
  })

  it('[R7] A7 words that shared a message with an orphan result stay', () => {
    const { messages } = out([user(text('summary'), result('t1'), text('keep these words'))])
    expect(messages).toEqual([user(text('summary'), text('keep these words'))])
  })

  it('[R5] A8 results folded into a summary message are no orphans and their calls no loose ends', () => {
    const { messages } = out([
      go,
      assistant(text('looking'), use('t1')),
      user(text('summary of the results')),
      user(result('t0')),
    ])
    expect(messages[2]).toEqual(user(missing('t1'), text('summary of the results')))
  })

  it('[R8] A9a repeated snapshots of one stream become one call each', () => {
    const snapshots = assistant(use('t1'), use('t1'), use('t2'), use('t1'), use('t2'), use('t3'))
    const { messages, rules } = out([go, snapshots, user(result('t1'), result('t2'), result('t3'))])
    expect(messages[1]).toEqual(assistant(use('t1'), use('t2'), use('t3')))
    expect(rules).toEqual(['call-duplicate', 'call-duplicate', 'call-duplicate'])
  })

  it('[R8] A9b calls listed beside the content are taken off, the content stands', () => {
    const twice = { ...assistant(use('t1')), tool_calls: [{ id: 't1' }] }
    const { messages, rules } = out([go, twice, user(result('t1'))])
    expect(messages[1]).toEqual(assistant(use('t1')))
    expect(rules).toEqual(['extra-key'])
  })

  it('[R8] A9c distinct calls under one id are renamed with their results', () => {
    const same = (input: string): WireBlock => use('grep', { input }, 'grep')
    const { messages } = out([
      go,
      assistant(same('a'), same('b')),
      user(result('grep', 'found a'), result('grep', 'found b')),
      assistant(same('c')),
      user(result('grep', 'found c')),
    ])
    expect(ids(messages[1])).toEqual(['grep', 'grep-2'])
    expect(messages[2]).toEqual(user(result('grep', 'found a'), result('grep-2', 'found b')))
    expect(messages[4]).toEqual(user(result('grep-3', 'found c')))
  })

  it('[R9] A10 arguments that were cut go out empty, with a result that says so', () => {
    const { messages, rules } = out([go, assistant(use('t1', '{"path":"a.ts","text":"aaaa'))])
    expect(messages[1]).toEqual(assistant(use('t1', {})))
    expect(messages[2]).toEqual(
      user({ type: 'tool_result', tool_use_id: 't1', content: truncatedCall, is_error: true }),
    )
    expect(rules).toEqual(['call-arguments', 'result-missing'])
  })

  it('[R9] A11 a cut call that was patched into a valid object is still not shown as whole', () => {
    const patched = { ...use('t1', { path: 'a.ts' }), broken: '{"path":"a.ts", "code' }
    const { messages } = out([go, assistant(patched)])
    expect(messages[1]).toEqual(assistant(use('t1', {})))
    expect(blocks(messages[2])[0]?.['content']).toBe(truncatedCall)
  })

  it('[R9] arguments that arrived whole but as text are read, not lost', () => {
    const { messages } = out([go, assistant(use('t1', '{"path":"a.ts"}')), user(result('t1'))])
    expect(messages[1]).toEqual(assistant(use('t1')))
  })

  it('[R5] A12 a call pending when the answer was cut short gets a failure result before the next words', () => {
    const { messages } = out([go, assistant(text('I will'), use('t1')), user(text('what happened?'))])
    expect(messages[2]).toEqual(user(missing('t1'), text('what happened?')))
  })

  it('[R13] A13 an empty result stands; an empty text inside it does not', () => {
    const plain = [go, assistant(use('t1')), user(result('t1', '')), assistant(text('ok')), go]
    expect(out(plain).messages).toBe(plain)
    const { messages } = out([
      go,
      assistant(use('t1')),
      user(result('t1', [text('')])),
      assistant(text('ok')),
      go,
    ])
    expect(messages[2]).toEqual(user(result('t1', '(no output)')))
  })

  it('[R10] A14 results of one batch in two user messages are merged', () => {
    const { messages } = out([
      go,
      assistant(use('t1'), use('t2')),
      user(result('t1')),
      user(result('t2')),
      assistant(text('ok')),
      go,
    ])
    expect(messages[2]).toEqual(user(result('t1'), result('t2')))
  })

  it('[R1] A15 a run that ended cleanly gets no placeholder', () => {
    const clean = [
      go,
      assistant(use('t1')),
      user(result('t1')),
      assistant(text('done')),
      user(text('thanks')),
    ]
    const { messages, repairs } = out(clean)
    expect(messages).toBe(clean)
    expect(repairs).toEqual([])
  })

  it('[R7] A16 a missing human message beside a call takes nothing with it', () => {
    const { messages } = out([assistant(use('t1')), user(result('t1')), assistant(text('ok')), go])
    expect(messages.slice(1)).toEqual([assistant(use('t1')), user(result('t1')), assistant(text('ok')), go])
    expect(messages[0]?.role).toBe('user')
  })
})

describe('B: reasoning', () => {
  const turns = [
    go,
    assistant(thinking('a'), text('1')),
    go,
    assistant(thinking('b'), text('2')),
    go,
    assistant(thinking('c'), text('3')),
    go,
  ]

  it('[R11] B1 of two models in turns only the reader’s own reasoning is sent', () => {
    const origin = originByMessage(turns, [null, model, null, 'gpt-6', null, model, null])
    for (const bindsPrefix of [false, true]) {
      const { messages, rules } = out(turns, { origin, bindsPrefix })
      expect(messages.map((message) => blocks(message)[0]?.type)).toEqual([
        'text',
        'thinking',
        'text',
        'text',
        'text',
        'thinking',
        'text',
      ])
      expect(messages[1]).toBe(turns[1])
      expect(rules).toEqual(['reasoning-foreign'])
    }
  })

  it('[R11] B2 another vendor’s mark in place of a signature is not sent', () => {
    const foreign = Array.from({ length: 63 }, () => [
      assistant(thinking('hm', 'reasoning_content'), text('x')),
      go,
    ]).flat()
    const { messages, rules } = out([go, ...foreign])
    expect(messages.flatMap(blocks).some((block) => block.type === 'thinking')).toBe(false)
    expect(rules).toHaveLength(63)
  })

  it('[R11] B3 the latest answer is no exception for foreign reasoning', () => {
    const last = [go, assistant(thinking('a'), use('t1')), user(result('t1'))]
    const { messages, allowsManualThinking } = out(last, {
      origin: originByMessage(last, [null, 'gpt-6', null]),
    })
    expect(messages[1]).toEqual(assistant(use('t1')))
    expect(allowsManualThinking).toBe(false)
    expect(out(last).allowsManualThinking).toBe(true)
  })

  it('[R11] B4 reasoning cut before its signature is left out', () => {
    const cut: WireBlock = { type: 'thinking', thinking: 'I was about to' }
    const { messages } = out([go, assistant(cut), user(text('still there?'))])
    expect(messages).toEqual([user(text('go'), text('still there?'))])
  })

  it('[R11] B5 of 37 blocks without text only the one with a cut signature goes', () => {
    const list = Array.from({ length: 37 }, (_, index) => [
      assistant(thinking('', index === 20 ? signature.slice(0, -4) : signature), text(`answer ${index}`)),
      go,
    ]).flat()
    const { messages, repairs } = out([go, ...list])
    expect(repairs).toMatchObject([{ rule: 'reasoning-damaged', path: 'messages.41.content.0' }])
    expect(messages.flatMap(blocks).filter((block) => block.type === 'thinking')).toHaveLength(36)
  })

  it('[R11] B6 reasoning deep in the latest interleaved answer keeps its objects', () => {
    const long = Array.from({ length: 70 }, (_, index) => [
      thinking(`step ${index}`),
      use(`t${index}`),
    ]).flat()
    const results = Array.from({ length: 70 }, (_, index) => result(`t${index}`))
    const { messages } = out([go, assistant(...long), user(text('note'), ...results)])
    blocks(messages[1]).forEach((block, index) => expect(block).toBe(long[index]))
  })

  it('[R12] on a binding model reasoning behind a change is left out, reasoning before it stays', () => {
    const list = [
      go,
      assistant(thinking('a'), use('t1')),
      user(text('stop')),
      assistant(thinking('b'), text('2')),
      go,
    ]
    const { messages, rules } = out(list, { bindsPrefix: true })
    expect(messages[1]).toBe(list[1])
    expect(messages[3]).toEqual(assistant(text('2')))
    expect(rules).toContain('reasoning-bound')
    const origin = (): { model: string; afterRepair: boolean } => ({ model, afterRepair: true })
    expect(out(list, { bindsPrefix: true, origin }).messages[3]).toBe(list[3])
    expect(out(list).messages[3]).toBe(list[3])
  })

  it('[R12] on a binding model a damaged block takes the chain behind it along', () => {
    const list = [go, assistant(thinking('a', 'AAA'), text('1')), go, assistant(thinking('b'), text('2')), go]
    expect(out(list, { bindsPrefix: true }).messages[3]).toEqual(assistant(text('2')))
    expect(out(list).messages[3]).toBe(list[3])
  })

  it('[R11] after a refusal of the provider all reasoning can be left out', () => {
    const { messages } = out(turns, { keepReasoning: false })
    expect(messages.flatMap(blocks).every((block) => block.type === 'text')).toBe(true)
  })

  it('[R11] an answer that ends in reasoning is closed by a text', () => {
    const { messages, rules } = out([go, assistant(thinking('a')), go])
    expect(messages[1]).toEqual(assistant(thinking('a'), text('(no answer)')))
    expect(rules).toEqual(['reasoning-last'])
  })
})

describe('C: content', () => {
  it('[R13] C1 empty texts are never sent', () => {
    const { messages } = out([
      user(text('')),
      assistant(text(' \n')),
      user(text('hello'), text('\u2003')),
      assistant(text('hi'), text('')),
      { role: 'user', content: ' \n' },
      assistant(text('still here')),
      go,
    ])
    expect(messages).toEqual([
      user(text('hello')),
      assistant(text('hi')),
      user(text('(no content)')),
      assistant(text('still here')),
      go,
    ])
  })

  it('[R14] C2 a mark on a trailing empty text moves to the last block that has content', () => {
    const mark = { type: 'ephemeral' } as const
    const marked = { ...text(''), cache_control: mark }
    const { messages } = out([user(text('a'), text('b'), marked)])
    expect(messages).toEqual([user(text('a'), { ...text('b'), cache_control: mark })])
    const onThought = { ...thinking('a'), cache_control: mark }
    expect(out([go, assistant(text('x'), onThought, text('y')), go]).messages[1]).toEqual(
      assistant({ ...text('x'), cache_control: mark }, thinking('a'), text('y')),
    )
  })

  it('[R14] C3 marks above the cap are taken from the front, and the cap can be lower', () => {
    const mark = { type: 'ephemeral' } as const
    const five = Array.from({ length: 5 }, (_, index) => ({ ...text(`${index}`), cache_control: mark }))
    const marks = (maxBreakpoints?: number): readonly boolean[] =>
      blocks(out([user(...five)], { maxBreakpoints }).messages[0]).map(
        (block) => block.cache_control !== undefined,
      )
    expect(marks()).toEqual([false, true, true, true, true])
    expect(marks(2)).toEqual([false, false, false, true, true])
  })

  it('[R14] a long mark behind a short one becomes short, also inside a result', () => {
    const long = { ...text('b'), cache_control: { type: 'ephemeral', ttl: '1h' } } as const
    const short = { ...text('a'), cache_control: { type: 'ephemeral' } } as const
    const { messages, rules } = out([go, assistant(use('t1')), user(result('t1', [short, long]), long)])
    expect(rules).toEqual(['breakpoint-order', 'breakpoint-order'])
    expect(JSON.stringify(messages)).not.toContain('1h')
  })

  it('[R15] C4 half characters are replaced in texts, results and arguments', () => {
    const { messages } = out([
      user(text('fire 🔥\ud83d')),
      assistant(use('t1', { 'k\udd25': ['\udd25 tail', 'whole 🔥'] })),
      user(result('t1', [text('cut \ud83d')])),
    ])
    expect(JSON.stringify(messages)).not.toMatch(/\\ud[89a-f]/)
    expect(blocks(messages[0])[0]).toEqual(text('fire 🔥\ufffd'))
    const bytes = Buffer.from(JSON.stringify(messages), 'utf8')
    expect(JSON.parse(bytes.toString('utf8'))).toEqual(messages)
  })
})
