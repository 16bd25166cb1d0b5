// Random conversations as they stand on the wire: every one valid, with all that real ones hold (parallel calls, signed
// reasoning shown and hidden, images, CJK and emoji, empty and huge results, steering words behind results).
// fast-check comes in as an argument, so that whoever imports this room does not need it installed.
import type FastCheck from 'fast-check'
import type { WireBlock, WireMessage } from '../model/wire.ts'

type Fc = typeof FastCheck
type Arbitrary<T> = FastCheck.Arbitrary<T>

export interface WireHistoryShape {
  /** Most user inputs with their answers. */
  readonly turns: number
  /** Most responses with tool calls in one turn, and calls in one response. */
  readonly rounds: number
  readonly calls: number
  readonly hugeChars: number
}
const usual: WireHistoryShape = { turns: 4, rounds: 3, calls: 4, hugeChars: 20_000 }

/** A valid list of messages that begins and ends with the user. */
export function wireHistory(
  fc: Fc,
  shape: Partial<WireHistoryShape> = {},
): Arbitrary<readonly WireMessage[]> {
  const size = { ...usual, ...shape }
  const turn = fc.record({
    input: userInput(fc),
    rounds: fc.array(round(fc, size), { maxLength: size.rounds }),
    answer: fc.tuple(optionally(fc, reasoning(fc)), words(fc)),
  })
  return fc
    .record({ turns: fc.array(turn, { maxLength: size.turns }), input: userInput(fc) })
    .map(({ turns, input }) => {
      const messages: WireMessage[] = []
      let calls = 0
      for (const each of turns) {
        messages.push({ role: 'user', content: each.input })
        for (const { thought, said, results, steering } of each.rounds) {
          const ids = results.map(() => `toolu_${String((calls += 1)).padStart(4, '0')}`)
          const uses = results.map((result, index) => ({
            type: 'tool_use',
            id: ids[index],
            name: result.name,
            input: result.input,
          }))
          messages.push({ role: 'assistant', content: [...thought, ...said.map(textBlock), ...uses] })
          const answers = results.map((result, index) => ({
            type: 'tool_result',
            tool_use_id: ids[index],
            ...result.output,
          }))
          messages.push({ role: 'user', content: [...answers, ...steering.map(textBlock)] })
        }
        const [thought, said] = each.answer
        messages.push({ role: 'assistant', content: [...thought, textBlock(said)] })
      }
      return [...messages, { role: 'user', content: input }]
    })
}

const textBlock = (text: string): WireBlock => ({ type: 'text', text })
const optionally = <T>(fc: Fc, arbitrary: Arbitrary<T>): Arbitrary<readonly T[]> =>
  fc.array(arbitrary, { maxLength: 1 })

/** Some visible, well-formed text. */
const words = (fc: Fc): Arbitrary<string> =>
  fc.oneof(
    fc.constantFrom(
      'fix the login bug',
      '登录页面打不开',
      'これを直して',
      '고쳐 주세요',
      'done 🔥👩‍💻🇩🇪',
      ' leading and trailing \n',
      'zero\u200bwidth',
    ),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).map((text) => `${text}.`),
  )

const image = (fc: Fc): Arbitrary<WireBlock> =>
  fc.uint8Array({ minLength: 3, maxLength: 30 }).map((bytes) => ({
    type: 'image',
    source: { type: 'base64', media_type: 'image/png', data: Buffer.from(bytes).toString('base64') },
  }))

const userInput = (fc: Fc): Arbitrary<string | readonly WireBlock[]> =>
  fc.oneof(words(fc), fc.array(fc.oneof(words(fc).map(textBlock), image(fc)), { minLength: 1, maxLength: 3 }))

/** Reasoning as a response carries it: shown, hidden (empty text, signed all the same) or redacted. */
const reasoning = (fc: Fc): Arbitrary<WireBlock> =>
  fc
    .tuple(
      fc.constantFrom('shown', 'hidden', 'redacted'),
      words(fc),
      fc.uint8Array({ minLength: 24, maxLength: 60 }),
    )
    .map(([kind, thinking, bytes]) => {
      const proof = signature(bytes)
      if (kind === 'redacted') return { type: 'redacted_thinking', data: proof }
      return { type: 'thinking', thinking: kind === 'hidden' ? '' : thinking, signature: proof }
    })

/** Bytes behind their length, in base64: the outer form of the provider's own. */
const signature = (bytes: Uint8Array): string =>
  Buffer.from([0x12, bytes.length, ...bytes]).toString('base64')

function round(fc: Fc, size: WireHistoryShape) {
  const text = fc.oneof(words(fc), fc.constant(''), fc.constant('x'.repeat(size.hugeChars)))
  const parts = fc.array(fc.oneof(words(fc).map(textBlock), image(fc)), { maxLength: 2 })
  const output: Arbitrary<Readonly<Record<string, unknown>>> = fc.oneof(
    text.map((content) => ({ content })),
    parts.map((content) => ({ content })),
    words(fc).map((content) => ({ content, is_error: true })),
    fc.constant({}),
  )
  const result = fc.record({
    name: fc.constantFrom('Read', 'Bash', 'Grep', 'mcp__files__list'),
    input: fc.oneof(
      fc.record({ path: words(fc) }),
      fc.dictionary(
        fc.string({ unit: 'grapheme', maxLength: 6 }),
        fc.oneof(words(fc), fc.integer(), fc.constant(null)),
        { maxKeys: 3 },
      ),
    ),
    output,
  })
  return fc.record({
    thought: optionally(fc, reasoning(fc)),
    said: optionally(fc, words(fc)),
    results: fc.array(result, { minLength: 1, maxLength: size.calls }),
    steering: optionally(fc, words(fc)),
  })
}
