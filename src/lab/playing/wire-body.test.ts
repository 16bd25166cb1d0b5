import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { differenceOf, WireBody, isSame, relabelled, WireBlocks } from './wire-blocks.ts'

const words = fc.constantFrom('plain', 'other', ',{"role":"', '],"max_tokens":', '"}]}', '\\', '\n', '列')
const block = fc.oneof(
  fc.record({ type: fc.constant('text'), text: words }),
  // What looks like a message inside a call, where quotes are not escaped.
  fc.record({
    type: fc.constant('tool_use'),
    id: fc.constantFrom('a', 'b'),
    input: fc.constantFrom({ list: [{ role: 'user' }, { role: 'x', max_tokens: 1 }] }, {}),
  }),
)
const message = fc.record({
  role: fc.constantFrom('user', 'assistant'),
  content: fc.array(block, { minLength: 1, maxLength: 3 }),
})
type Change = {
  readonly cut: number
  readonly drop: number
  readonly add: readonly unknown[]
  readonly isSwapped: boolean
}
const change: fc.Arbitrary<Change> = fc.record({
  cut: fc.nat(4),
  drop: fc.nat(3),
  add: fc.array(message, { minLength: 1, maxLength: 3 }),
  /** The same length, other words: places behind it do not move. */
  isSwapped: fc.boolean(),
})

const swapped = (json: string): string =>
  json.replaceAll(/plain|other/g, (word) => (word === 'plain' ? 'other' : 'plain'))

describe('reading bodies', () => {
  it('[J8] gives what parsing each body whole gives, however bodies follow each other', () => {
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 8 }), fc.boolean(), (changes, isOther) => {
        const reader = new WireBody()
        let messages: readonly unknown[] = []
        for (const [index, { cut, drop, add, isSwapped }] of changes.entries()) {
          messages = [...messages.slice(drop, Math.max(drop, messages.length - cut)), ...add]
          if (isSwapped) messages = JSON.parse(swapped(JSON.stringify(messages))) as readonly unknown[]
          const system = isOther && index % 2 === 1 ? 'other' : 'same'
          const body = JSON.stringify({ model: 'm', system, messages, max_tokens: 9, stream: true })
          const { request } = reader.read(body)
          expect(request).toEqual(JSON.parse(body))
        }
      }),
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
    const short = relabelled(first.request, '5m')
    expect(short.messages[0]).toBe(first.request.messages[0])
    expect(short.messages[1]!.content).toEqual([
      { ...marked, cache_control: { type: 'ephemeral', ttl: '5m' } },
    ])
  })

  it('[J8] finds the first difference of two texts', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (same, left, right) => {
        const at = differenceOf(same + left, same + right)
        expect(at).toBeGreaterThanOrEqual(same.length)
        expect((same + left).slice(0, at)).toBe((same + right).slice(0, at))
        expect((same + left)[at] === (same + right)[at] && at < (same + left).length).toBe(false)
      }),
    )
    expect(differenceOf('x'.repeat(200_000) + 'a', 'x'.repeat(200_000) + 'b')).toBe(200_000)
    expect(isSame({ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] })).toBe(true)
    expect(isSame({ a: 1 }, { a: 1, b: undefined })).toBe(false)
  })
})
