import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createEngine } from '../../engine/engine.ts'
import { inMemoryStore } from '../../stores/in-memory.ts'
import { wireFor } from './caching.ts'
import { isSame, WireBlocks } from './wire-blocks.ts'

const words = fc.constantFrom(
  'plain',
  'other',
  ',{"role":"',
  '],"max_tokens":',
  '"}]}',
  '\\',
  '\n',
  '列',
  '\ud800',
)
const turn = fc.record({ said: words, answered: words, calls: fc.nat(2), isTakenBack: fc.boolean() })

async function open(isImplicit: boolean) {
  const blocks = new WireBlocks()
  const rules = {
    kind: 'implicit' as const,
    lifetimes: ['5m' as const],
    readFactor: 0.1,
    writeFactor: 1,
    minTokens: 0,
    stepTokens: 1,
    breaks: { slackTokens: 0, hitsBefore: 0, lookback: null },
  }
  const engine = createEngine({
    store: inMemoryStore(),
    modelId: 'claude-opus-4-5',
    system: 'Be brief.',
    wire: wireFor(isImplicit ? rules : undefined, (...heard) => blocks.heard(...heard)),
  })
  return { blocks, session: await engine.open() }
}

describe('reading bodies', () => {
  it('[J8] gives what parsing each body whole gives, however bodies follow each other', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(turn, { minLength: 2, maxLength: 6 }),
        fc.boolean(),
        async (turns, isImplicit) => {
          const { blocks, session } = await open(isImplicit)
          for (const [index, { said, answered, calls, isTakenBack }] of turns.entries()) {
            const { seq } = await session.say(`${said} ${index}`)
            const uses = Array.from({ length: calls }, (_, call) => ({
              type: 'tool_use',
              id: `call_${index}_${call}`,
              name: 'read',
              // What looks like a message inside a call, where quotes are not escaped.
              input: { list: [{ role: 'user' }, { role: 'x', max_tokens: 1 }] },
            }))
            for (const content of [...(calls > 0 ? [uses] : []), [{ type: 'text', text: `${answered}.` }]]) {
              const body = await session.requestBody()
              const { request } = blocks.show(body)
              expect(request).toEqual(JSON.parse(body))
              await session.receive({
                id: `msg_${index}`,
                model: 'claude-opus-4-5',
                content,
                stop_reason: content === uses ? 'tool_use' : 'end_turn',
                usage: { input_tokens: 10, output_tokens: 10 },
              })
              for (const { id } of session.openCalls()) await session.result(id, `${said} of ${id}`)
            }
            if (isTakenBack && turns[index - 1]?.isTakenBack === false) await session.rewind(seq - 1)
          }
          await session.close()
        },
      ),
      { numRuns: 25 },
    )
  })

  it('[J8] keeps a block the same object as long as it is sent, moved or marked', () => {
    const bodyOf = (messages: readonly unknown[]) => JSON.stringify({ model: 'm', messages, max_tokens: 9 })
    const marked = { type: 'text', text: 'b', cache_control: { type: 'ephemeral', ttl: '1h' } }
    const blocks = new WireBlocks()
    const first = blocks.show(
      bodyOf([
        { role: 'user', content: [{ type: 'text', text: 'a' }] },
        { role: 'assistant', content: [marked] },
      ]),
    )
    const second = blocks.show(
      bodyOf([
        { role: 'assistant', content: [{ type: 'text', text: 'b' }] },
        { role: 'user', content: [{ type: 'text', text: 'c' }] },
      ]),
    )
    expect(second.blocks[0]).toBe(first.blocks[1])
    expect(first.request.messages[1]!.content).toEqual([marked])
  })

  it('[J8] tells the same JSON from another', () => {
    expect(isSame({ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] })).toBe(true)
    expect(isSame({ a: 1 }, { a: 1, b: undefined })).toBe(false)
  })
})
