// Whole sessions at random, for properties: parallel tools, reasoning with signatures, images, interrupts, crashes,
// CJK and emoji, huge and empty results, and every kind of edit. `fc` is handed in, so that this door costs nothing
// to those who do not use it.
//
// A session is a list of moves. A move that may not be made at its place is passed over, so every list of moves is a
// session and fast-check can shrink it freely.
import type fastCheck from 'fast-check'
import type { AssistantBlock, UserBlock } from '../transcript/content.ts'
import type { Edit, Entry, Fact, FactOf } from '../transcript/fact.ts'
import { closing, emptyTail, refusal, step } from '../transcript/grammar.ts'
import { callId, seq, type Seq } from '../transcript/ids.ts'
import { Fold } from '../projection/fold.ts'
import { userWords, viewRefusal } from '../projection/refusal.ts'
import { answered, Pen, said, start, thought } from './builders.ts'

type Fc = typeof fastCheck

export type Move =
  | { readonly move: 'say'; readonly content: readonly UserBlock[]; readonly injected: boolean }
  | {
      readonly move: 'answer'
      readonly texts: readonly string[]
      readonly calls: number
      readonly thinks: boolean
      readonly cut: boolean
      readonly usage: boolean
      readonly model: string
    }
  | { readonly move: 'result'; readonly text: string; readonly isError: boolean; readonly image: boolean }
  | { readonly move: 'crash' | 'attach' | 'ask' | 'end' | 'instruct' }
  | {
      readonly move: 'stub' | 'drop' | 'summarise' | 'clear' | 'pin' | 'undo' | 'release' | 'rewind'
      readonly at: number
      readonly span: number
      readonly asked: 'user' | 'automatic'
    }

/** Random moves of a session, for properties with fast-check. */
export function arbitraryMoves(fc: Fc): fastCheck.Arbitrary<readonly Move[]> {
  const text = arbitraryText(fc)
  const move: fastCheck.Arbitrary<Move> = fc.oneof(
    { weight: 8, arbitrary: arbitrarySaying(fc, text) },
    { weight: 12, arbitrary: arbitraryAnswer(fc, text) },
    {
      weight: 16,
      arbitrary: fc.record({
        move: fc.constant('result' as const),
        text,
        isError: fc.boolean(),
        image: fc.boolean(),
      }),
    },
    {
      weight: 6,
      arbitrary: fc.record({ move: fc.constantFrom('crash', 'attach', 'ask', 'end', 'instruct') }),
    },
    ...controls.map(([name, weight]) => ({ weight, arbitrary: arbitraryControl(fc, name) })),
  )
  return fc.array(move, { minLength: 1, maxLength: 80, size: 'max' })
}

const controls = [
  ['stub', 3],
  ['drop', 2],
  ['summarise', 3],
  ['clear', 1],
  ['pin', 2],
  ['undo', 3],
  ['release', 1],
  ['rewind', 1],
] as const

const image: UserBlock = {
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' },
}

function arbitraryText(fc: Fc): fastCheck.Arbitrary<string> {
  const odd = [
    '',
    ' \n',
    '修复登录页面的错误',
    '고쳐 주세요',
    '🔥 emoji 👩‍👩‍👧',
    'cut \ud83d',
    '\udd25 tail',
    'a\u2028b\u2029c',
  ]
  return fc.oneof(
    { weight: 6, arbitrary: fc.string({ maxLength: 60 }) },
    { weight: 2, arbitrary: fc.constantFrom(...odd) },
    { weight: 1, arbitrary: fc.nat({ max: 3000 }).map((count) => 'line of output\n'.repeat(count)) },
  )
}

function arbitrarySaying(fc: Fc, text: fastCheck.Arbitrary<string>): fastCheck.Arbitrary<Move> {
  const words = text.map((said): UserBlock => ({ type: 'text', text: said }))
  return fc.record({
    move: fc.constant('say' as const),
    content: fc.array(fc.oneof(words, fc.constant(image)), { minLength: 1, maxLength: 3 }),
    injected: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
  })
}

function arbitraryAnswer(fc: Fc, text: fastCheck.Arbitrary<string>): fastCheck.Arbitrary<Move> {
  return fc.record({
    move: fc.constant('answer' as const),
    texts: fc.array(text, { maxLength: 2 }),
    calls: fc.integer({ min: 0, max: 4 }),
    thinks: fc.boolean(),
    cut: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
    usage: fc.boolean(),
    model: fc.constantFrom('claude-sonnet-4-6', 'claude-opus-5-5'),
  })
}

function arbitraryControl(fc: Fc, name: (typeof controls)[number][0]): fastCheck.Arbitrary<Move> {
  return fc.record({
    move: fc.constant(name),
    at: fc.nat({ max: 1000 }),
    span: fc.nat({ max: 12 }),
    asked: fc.constantFrom('user', 'automatic'),
  })
}

/** What an answer becomes before it is written, where a judge signs its reasoning. */
export type Answering = (fact: FactOf<'assistant-message'>, fold: Fold) => FactOf<'assistant-message'>

/** The entries of a session in which these moves were made. */
export function played(moves: readonly Move[], answering: Answering = (fact) => fact): Entry[] {
  const pen = new Pen()
  const fold = new Fold()
  const entries: Entry[] = []
  let tail = emptyTail()
  const write = (fact: Fact): void => {
    if (refusal(tail, fact) !== null || viewRefusal(fold, fact) !== null) return
    const entry = pen.write(fact.type === 'assistant-message' ? answering(fact, fold) : fact)
    entries.push(entry)
    fold.push(entry)
    tail = step(tail, entry)
  }
  write(start())
  for (const [index, move] of moves.entries()) {
    for (const fact of factsOf(
      move,
      index,
      fold,
      tail.open.map((call) => call.id),
      tail.next,
    ))
      write(fact)
    if (move.move === 'crash') for (const fact of closing(tail, 'the process ended')) write(fact)
  }
  return entries
}

function factsOf(move: Move, index: number, fold: Fold, open: readonly string[], next: Seq): Fact[] {
  switch (move.move) {
    case 'say':
      return [said(move.content, move.injected ? 'injected' : 'typed')]
    case 'answer':
      return [answerFact(move, index)]
    case 'result': {
      const content: UserBlock[] = [{ type: 'text', text: move.text }]
      if (move.image) content.push(image)
      return open.length === 0
        ? []
        : [
            {
              type: 'tool-result',
              call: callId(open[move.text.length % open.length]!),
              content,
              isError: move.isError,
            },
          ]
    }
    case 'attach':
      return [{ type: 'attachment', kind: 'note', content: [{ type: 'text', text: `note ${index}` }] }]
    case 'ask':
      return [
        {
          type: 'request-sent',
          source: 'main',
          model: 'm',
          upTo: seq(Math.max(0, next - 1)),
          hash: 'h',
          tokens: 0,
          marks: [],
        },
      ]
    case 'end':
      return [{ type: 'turn-end', outcome: 'done' }]
    case 'instruct':
      return [
        {
          type: 'instructions-set',
          sections: [{ name: 'identity', text: `you are agent ${index}`, side: 'static' }],
          tools: [],
        },
      ]
    case 'crash':
      return []
    default:
      return controlFacts(move, fold, index)
  }
}

function answerFact(move: Extract<Move, { move: 'answer' }>, index: number): Fact {
  const content: AssistantBlock[] = []
  if (move.thinks) content.push(thought(`thought ${index}`))
  for (const text of move.texts) content.push({ type: 'text', text })
  for (let call = 0; call < move.calls; call++) {
    content.push({
      type: 'tool_use',
      id: `call_${index}_${call}`,
      name: call % 2 === 0 ? 'Read' : 'Bash',
      input: { n: call },
    })
  }
  if (move.cut) content.push({ type: 'thinking', thinking: 'cut off' })
  const usage = { input: 10 * index, cacheRead: 100 * index, cacheWrite: 7, output: 20 }
  return answered(content, {
    id: `msg_${index}`,
    model: move.model,
    stop: move.cut ? null : move.calls > 0 ? 'tool_use' : 'end_turn',
    ...(move.cut ? { partial: true } : {}),
    ...(move.usage ? { usage } : {}),
  })
}

function controlFacts(move: Extract<Move, { at: number }>, fold: Fold, index: number): Fact[] {
  const parts = [...fold.parts()]
  const pick = parts[move.at % Math.max(1, parts.length)]
  if (pick === undefined) return []
  const end = parts[Math.min(parts.length - 1, (move.at % parts.length) + move.span)]!
  const range = { from: pick.from, to: end.to }
  const edit = (edits: readonly Edit[]): Fact[] => [
    { type: 'view-edit', layer: 'test', asked: move.asked, edits, why: 'a test', tokensFreed: 0 },
  ]
  const results = parts.filter((part) => part.kind === 'result' && part.source[0] !== -1)
  const hit = results[move.at % Math.max(1, results.length)]
  const editings = fold.edits.controls.filter((control) => control.fact.type === 'view-edit')
  switch (move.move) {
    case 'stub':
      return hit === undefined
        ? []
        : edit([
            { kind: 'stub', at: { seq: hit.from, block: 0 }, text: `[stub ${index}]`, ref: `${hit.from}` },
          ])
    case 'clear': {
      const at = results.slice(0, 1 + move.span).map((part) => ({ seq: part.from, block: 0 }))
      return edit([{ kind: 'remote', at, via: 'cache-edit' }])
    }
    case 'drop':
      return edit([{ kind: 'drop', ...range }])
    case 'summarise':
      return edit([
        {
          kind: 'summary',
          ...range,
          text: `summary ${index}`,
          ref: `${range.from}-${range.to}`,
          keep: userWords(fold, range),
        },
      ])
    case 'pin':
      return [
        {
          type: 'pin',
          at: move.span % 2 === 0 ? { seq: pick.from } : { seq: pick.from, block: pick.source[0]! },
        },
      ]
    case 'undo':
      // One in four brings back a result that was too large when it came.
      if (move.span % 4 === 3 && hit !== undefined)
        return [{ type: 'undo', target: hit.from, whole: `the whole result of ${index}` }]
      return editings.length === 0 ? [] : [{ type: 'undo', target: editings[move.at % editings.length]!.seq }]
    case 'release': {
      const holders = [...fold.edits.pins, ...fold.edits.holds]
      return holders.length === 0 ? [] : [{ type: 'release', target: holders[move.at % holders.length]!.seq }]
    }
    case 'rewind':
      return [{ type: 'rewind', to: pick.from }]
  }
}
