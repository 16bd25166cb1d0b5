// Random damage to random conversations: whatever happened to a list, repair gives one that both judges accept.
// The first judge is the simulator, which shares no logic with us; the second is our own validity check.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { WireBlock, WireMessage } from '../../src/model/wire.ts'
import { repair, type RepairOptions } from '../../src/wires/anthropic/repair.ts'
import { problems } from '../../src/wires/anthropic/validity.ts'
import { checkRequest, judgeRequest } from '../../src/simulator/rules.ts'
import { sealed, visibleDigest } from '../../src/simulator/rules/seal.ts'
import { wireHistory } from '../../src/testing/wire-arbitrary.ts'
import { damaged, visibleDamage } from './wire-damage.ts'

const readers: readonly RepairOptions[] = [
  { model: 'claude-opus-5', systemMessages: true },
  { model: 'claude-sonnet-4-5', prefill: true },
  { model: 'claude-opus-5-5', bindsPrefix: true, systemMessages: true, maxBreakpoints: 2 },
  { model: 'claude-sonnet-5', keepReasoning: false },
]
/** System messages may change tools: repair leaves that to the caller, who sends the header. */
const betas = ['mid-conversation-tool-changes-2026-07-01']
const reader = fc.constantFrom(...readers)
const history = wireHistory(fc, { hugeChars: 300 })
const damage = damaged(fc, history)

const blocksOf = (message: WireMessage): readonly WireBlock[] =>
  typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : (message.content ?? [])
const request = (messages: readonly WireMessage[], model: string) => ({ model, max_tokens: 1000, messages })
const isThought = (block: WireBlock): boolean =>
  block?.type === 'thinking' || block?.type === 'redacted_thinking'
const thoughts = (messages: readonly WireMessage[]): readonly string[] =>
  messages
    .flatMap(blocksOf)
    .filter(isThought)
    .map((block) => JSON.stringify([block['thinking'], block['signature'], block['data']]))
const half = /\p{Surrogate}/u
const userTexts = (messages: readonly WireMessage[]): readonly string[] =>
  messages
    .filter((message) => message.role === 'user')
    .flatMap((message) => blocksOf(message))
    .flatMap((block) => (block?.type === 'text' && typeof block['text'] === 'string' ? [block['text']] : []))
    .filter((words) => words.trim() !== '' && !half.test(words))

describe('repair', () => {
  it('[R1] a valid conversation leaves as the same objects, without a report', () => {
    fc.assert(
      fc.property(history, reader, (messages, options) => {
        fc.pre(options.keepReasoning !== false)
        const { messages: out, repairs } = repair(messages, options)
        expect(repairs).toEqual([])
        expect(out).toBe(messages)
        expect(problems(out, options)).toEqual([])
        expect(checkRequest(request(out, options.model), { betas })).toBeNull()
      }),
    )
  })

  it('[R3] whatever was cut, deleted, reordered, doubled or corrupted, both judges accept what repair makes of it', () => {
    fc.assert(
      fc.property(damage, reader, (messages, options) => {
        const { messages: out } = repair(messages, options)
        expect(problems(out, options)).toEqual([])
        expect(checkRequest(request(out, options.model), { betas })).toBeNull()
      }),
      { numRuns: 1000 },
    )
  })

  it('[R2] a second repair finds nothing', () => {
    fc.assert(
      fc.property(damage, reader, (messages, options) => {
        const once = repair(messages, options)
        const twice = repair(once.messages, options)
        expect(twice.repairs).toEqual([])
        expect(twice.messages).toBe(once.messages)
      }),
      { numRuns: 300 },
    )
  })

  it('[R4] every visible word of the user survives verbatim', () => {
    fc.assert(
      fc.property(damage, reader, (messages, options) => {
        const left = [...userTexts(repair(messages, options).messages)]
        for (const words of userTexts(messages)) {
          const at = left.indexOf(words)
          expect(at, words).toBeGreaterThanOrEqual(0)
          left.splice(at, 1)
        }
      }),
      { numRuns: 300 },
    )
  })

  it('[R11] reasoning that is sent is the very block that came in', () => {
    fc.assert(
      fc.property(damage, reader, (messages, options) => {
        const came = new Set(thoughts(messages))
        for (const thought of thoughts(repair(messages, options).messages)) expect(came).toContain(thought)
      }),
      { numRuns: 300 },
    )
  })

  it('[R20] the input is never mutated, and no change goes unreported', () => {
    fc.assert(
      fc.property(damage, reader, (messages, options) => {
        const before = structuredClone(messages)
        const { messages: out, repairs } = repair(messages, options)
        expect(messages).toEqual(before)
        expect(repairs.length === 0).toBe(out === messages)
        for (const each of repairs) expect(each.path).toMatch(/^messages\.\d+/)
      }),
      { numRuns: 300 },
    )
  })

  it('[R22] a longer list keeps the ids that its beginning got', () => {
    const ids = (messages: readonly WireMessage[]): readonly unknown[] =>
      messages.flatMap(blocksOf).flatMap((block) => (block.type === 'tool_use' ? [block['id']] : []))
    const clash = fc.array(fc.constantFrom('grep', 'grep-2', 'read me', 'read_me', ''), {
      minLength: 1,
      maxLength: 8,
    })
    fc.assert(
      fc.property(clash, (raw) => {
        const rounds = raw.map((id, index): readonly WireMessage[] => [
          { role: 'assistant', content: [{ type: 'tool_use', id, name: 'grep', input: { index } }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: `${index}` }] },
        ])
        const list = (count: number): readonly WireMessage[] => [
          { role: 'user', content: 'go' },
          ...rounds.slice(0, count).flat(),
        ]
        const all = ids(repair(list(raw.length), { model: 'claude-opus-5' }).messages)
        expect(new Set(all).size).toBe(raw.length)
        for (let count = 1; count < raw.length; count++) {
          expect(ids(repair(list(count), { model: 'claude-opus-5' }).messages)).toEqual(all.slice(0, count))
        }
      }),
    )
  })

  it('[R12] on a binding model no reasoning behind a repaired place is sent that the server would refuse', () => {
    const model = 'claude-opus-5-5'
    fc.assert(
      fc.property(
        visibleDamage(
          fc,
          wireHistory(fc, { hugeChars: 50 }).map((messages) => signed(messages, model)),
        ),
        (messages) => {
          const { messages: out } = repair(messages, { model, bindsPrefix: true })
          expect(checkRequest(request(out, model), { secret: 'key' })).toBeNull()
        },
      ),
      { numRuns: 200 },
    )
  })
})

/** The conversation as if the simulator had answered it: each reasoning block bound to what stands before it. */
function signed(messages: readonly WireMessage[], model: string): readonly WireMessage[] {
  const out: WireMessage[] = []
  for (const message of messages) {
    const [first, ...rest] = blocksOf(message)
    if (first === undefined || !isThought(first)) {
      out.push(message)
      continue
    }
    const judged = judgeRequest(request(out, model), { secret: 'key' })
    if (!judged.ok) throw new Error(judged.error.error.message)
    const { prefix, previous } = judged.admission
    const thought: WireBlock = {
      type: 'thinking',
      thinking: typeof first['thinking'] === 'string' ? first['thinking'] : '',
    }
    const { signature } = sealed('key', {
      model,
      textDigest: visibleDigest(thought),
      prefix,
      previous,
      tokens: 1,
    })
    out.push({ role: 'assistant', content: [{ ...thought, signature }, ...rest] })
  }
  return out
}
