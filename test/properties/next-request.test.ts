// Law P13: resuming is invisible. The same random session is played twice, once in one process and once closed and opened
// again at a random place; from there on both must send the same bytes. The model is scripted: it refuses reasoning,
// names a window, cuts prompts in silence, and answers with reasoning and calls.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createEngine } from '../../src/engine/engine.ts'
import { EngineError, type Session } from '../../src/engine/session.ts'
import type { Model, ModelEvent, ModelFailure, ModelMessage } from '../../src/model/model.ts'
import { inMemoryStore } from '../../src/stores/index.ts'
import { countingIds, fixedClock } from '../../src/testing/builders.ts'
import type { Tool } from '../../src/tools/tool.ts'
import type { AssistantBlock } from '../../src/transcript/content.ts'
import { seq } from '../../src/transcript/ids.ts'

const runs = Number(process.env['PROPERTY_RUNS'] ?? 60)

/** How the model takes the first request of a move. */
type Mood = 'plain' | 'refuses-reasoning' | 'names-window' | 'cuts-prompt'
type Move =
  | { readonly kind: 'say'; readonly words: number; readonly calls: number; readonly mood: Mood }
  | { readonly kind: 'compact' }
  | { readonly kind: 'undo'; readonly which: number }
  | { readonly kind: 'rewind'; readonly back: number }
  | { readonly kind: 'fork' }
  | { readonly kind: 'model'; readonly model: string }
  | { readonly kind: 'wait'; readonly ms: number }

const say = (mood: fc.Arbitrary<Mood>): fc.Arbitrary<Move> =>
  fc.record({
    kind: fc.constant('say' as const),
    words: fc.integer({ min: 1, max: 900 }),
    calls: fc.integer({ min: 0, max: 2 }),
    mood,
  })
const plainSay = say(fc.constant('plain'))
const anyMove: fc.Arbitrary<Move> = fc.oneof(
  { weight: 5, arbitrary: plainSay },
  {
    weight: 6,
    arbitrary: say(fc.constantFrom<Mood>('refuses-reasoning', 'names-window', 'cuts-prompt')),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('compact' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('undo' as const), which: fc.nat(5) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('rewind' as const), back: fc.integer({ min: 1, max: 9 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('fork' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('model' as const),
      model: fc.constantFrom('local-a', 'local-b'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 4_000_000 }) }),
  },
)
/** Some work, one thing that must be remembered, more of anything; then the place, and what is asked behind it. */
const plays = fc.record({
  before: fc.array(say(fc.constantFrom<Mood>('plain', 'plain', 'cuts-prompt')), {
    minLength: 1,
    maxLength: 3,
  }),
  told: say(fc.constantFrom<Mood>('refuses-reasoning', 'names-window')),
  more: fc.array(anyMove, { maxLength: 6 }),
  after: fc.array(anyMove, { maxLength: 3 }),
  last: fc.oneof(plainSay, fc.constant<Move>({ kind: 'fork' })),
})

interface Played {
  /** The bodies that were sent, by the move they were sent in. */
  readonly bodies: readonly (readonly string[])[]
  /** What had happened by each move. */
  readonly facts: ReadonlySet<string>
}

async function play(moves: readonly Move[], resumeAt: number | null): Promise<Played> {
  const scripted = scriptedModel()
  const clock = fixedClock()
  const store = inMemoryStore()
  const engine = createEngine({
    store,
    model: scripted.model,
    modelId: 'local-a',
    clock,
    ids: countingIds(),
    tools: [lookTool],
    thinking: { type: 'adaptive' },
    system: 'Work.',
    prepare: false,
    maxOutputTokens: 1000,
  })
  let session = await engine.open()
  const bodies: (readonly string[])[] = []
  const facts = new Set<string>()
  for (const [index, move] of moves.entries()) {
    if (index === resumeAt) {
      for await (const item of store.read(session.id))
        if (item.kind === 'entry' && 'fact' in item.entry) facts.add(item.entry.fact.type)
      if (scripted.refused()) facts.add('refused')
      await session.close()
      session = await engine.open(session.id)
    }
    clock.advance(1000)
    if (move.kind === 'wait') clock.advance(move.ms)
    else await carryOut(session, move, scripted)
    bodies.push(scripted.taken())
  }
  await session.close()
  return { bodies, facts }
}

async function carryOut(session: Session, move: Move, scripted: Scripted): Promise<void> {
  if (move.kind === 'say') {
    scripted.expect(move)
    for await (const _ of session.send(`do ${'lorem ipsum '.repeat(move.words)}`)) void _
    return
  }
  scripted.expect({ mood: 'plain', calls: 0 })
  try {
    if (move.kind === 'compact') await session.compact()
    if (move.kind === 'undo') await undo(session, move.which)
    if (move.kind === 'rewind') await session.rewind(seq(Math.max(1, session.view().upTo - move.back)))
    if (move.kind === 'model') await session.setModel(move.model)
    if (move.kind === 'fork') await session.fork({ purpose: 'probe', directive: 'say what was done' })
  } catch (error) {
    // A refusal is an answer; both sessions must be given the same.
    if (!(error instanceof EngineError)) throw error
    scripted.note(error.code)
  }
}

async function undo(session: Session, which: number): Promise<void> {
  const rows = await session.edits()
  const row = rows[which % Math.max(1, rows.length)]
  if (row !== undefined) await session.undo(row.seq)
}

interface Scripted {
  readonly model: Model
  expect(next: { readonly mood: Mood; readonly calls: number }): void
  note(text: string): void
  /** What was sent since the last time. */
  taken(): readonly string[]
  /** Whether reasoning that was sent has been refused. */
  refused(): boolean
}

function scriptedModel(): Scripted {
  let sent: string[] = []
  let mood: Mood = 'plain'
  let calls = 0
  let count = 0
  let isRefused = false
  const answer = (body: string, source: string): ModelEvent => {
    const tokens = Math.ceil(body.length / 4)
    const now = mood
    mood = 'plain'
    if (now === 'refuses-reasoning' && body.includes('"type":"thinking","thinking"')) {
      isRefused = true
      return failed({ code: 'reasoning-invalid', message: 'Invalid signature', status: 400 })
    }
    if (now === 'names-window')
      return failed({
        code: 'overflow',
        message: 'too long',
        status: 400,
        overflow: {
          provider: 'test',
          promptTokens: tokens,
          outputTokens: null,
          limitTokens: Math.max(1500, Math.round(tokens * 0.9)),
          perMinute: false,
          bytes: false,
        },
      })
    const hasCall = calls > 0 && source === 'main'
    if (hasCall) calls--
    const id = ++count
    const content: AssistantBlock[] = [
      { type: 'thinking', thinking: `so ${id}`, signature: `sig-${id}` },
      { type: 'text', text: `answer ${id}` },
      ...(hasCall ? [{ type: 'tool_use' as const, id: `toolu_${id}`, name: 'Look', input: { at: id } }] : []),
    ]
    const input = now === 'cuts-prompt' ? Math.ceil(tokens / 3) : tokens
    return { type: 'end', message: messageOf(`msg_${id}`, content, hasCall ? 'tool_use' : 'end_turn', input) }
  }
  const model: Model = {
    async *stream({ body, source }) {
      sent.push(body)
      yield answer(body, source)
    },
  }
  return {
    model,
    expect: (next) => {
      mood = next.mood
      calls = next.calls
    },
    note: (text) => void sent.push(`refused: ${text}`),
    taken: () => {
      const all = sent
      sent = []
      return all
    },
    refused: () => isRefused,
  }
}

const failed = (failure: ModelFailure): ModelEvent => ({ type: 'failed', failure, partial: null })

const messageOf = (
  messageId: string,
  content: readonly AssistantBlock[],
  stop: string,
  input: number,
): ModelMessage => ({
  messageId,
  model: 'local',
  content,
  stop,
  usage: { input, cacheRead: 0, cacheWrite: 0, output: 20 },
  appliedEdits: [],
  inputTransformations: [],
  diagnostics: null,
})

const lookTool: Tool = {
  spec: { name: 'Look', description: 'looks', input_schema: { type: 'object', properties: {} } },
  policy: { readOnly: true, results: 'clear', maxResultChars: null },
  parse: (input) => ({ ok: true, input }),
  run: async (input) => ({
    content: [{ type: 'text', text: `saw ${JSON.stringify(input)} ${'data '.repeat(400)}` }],
    isError: false,
  }),
}

describe('the next request', () => {
  it('[P13] after a resume has the bytes it would have had without', async () => {
    const seen = { all: 0, real: 0, refused: 0, window: 0, boundary: 0, undo: 0, fork: 0 }
    await fc.assert(
      fc.asyncProperty(plays, async ({ before, told, more, after, last }) => {
        const moves = [...before, told, ...more, ...after, last]
        const resumeAt = before.length + 1 + more.length
        const whole = await play(moves, null)
        const resumed = await play(moves, resumeAt)
        seen.all++
        const remembers = [...resumed.facts].some((fact) => remembered.has(fact))
        if (remembers && resumed.bodies.slice(resumeAt).flat().length > 0) seen.real++
        if (resumed.facts.has('refused')) seen.refused++
        if (resumed.facts.has('window-learned')) seen.window++
        if (resumed.facts.has('boundary')) seen.boundary++
        if (resumed.facts.has('undo')) seen.undo++
        if (moves.slice(resumeAt).some(({ kind }) => kind === 'fork')) seen.fork++
        expect(firstDifference(whole.bodies.flat(), resumed.bodies.flat())).toBe(null)
      }),
      { numRuns: runs, endOnFailure: true },
    )
    expect(seen.real / seen.all, JSON.stringify(seen)).toBeGreaterThanOrEqual(0.95)
    for (const kind of ['refused', 'window', 'boundary', 'fork'] as const)
      expect(seen[kind] / seen.all, `${kind}: ${JSON.stringify(seen)}`).toBeGreaterThan(0.1)
  })
})

/** What a session must still know when it is opened again. */
const remembered = new Set([
  'refused',
  'window-learned',
  'boundary',
  'undo',
  'view-edit',
  'model-set',
  'rewind',
])

/** Bodies are long: what a failure shows is the place, not the whole. */
function firstDifference(expected: readonly string[], found: readonly string[]): string | null {
  if (expected.length !== found.length)
    return `${expected.length} requests, and ${found.length} after a resume`
  for (const [index, body] of expected.entries()) {
    const other = found[index]!
    if (body === other) continue
    let at = 0
    while (body[at] === other[at]) at++
    const near = (text: string): string => text.slice(Math.max(0, at - 60), at + 120)
    return `request ${index}, byte ${at}: ${near(body)} ≠ ${near(other)}`
  }
  return null
}
