// A cache that nobody marks: warm after a request, and broken only where its own rules say so.
import { describe, expect, it } from 'vitest'
import type { CacheRules } from '../../src/model/cache-rules.ts'
import { scriptedMessage, scriptedModel } from '../../src/model/scripted.ts'
import { createEngine, inMemoryStore, type LiveEvent } from '../../src/index.ts'
import { createBreakDetector } from '../../src/request/break-detector.ts'
import type { Composed } from '../../src/request/compose.ts'
import { Fold } from '../../src/projection/fold.ts'
import { fixedClock, Pen, said, start } from '../../src/testing/builders.ts'
import type { Fact, Usage } from '../../src/transcript/fact.ts'
import { anthropicWire } from '../../src/wires/anthropic/wire.ts'
import { createComposer } from '../../src/wires/anthropic/compose.ts'
import type { Wire } from '../../src/wires/wire.ts'

const implicit: CacheRules = {
  kind: 'implicit',
  lifetimes: ['10m'],
  readFactor: 0.5,
  writeFactor: 1,
  minTokens: 1024,
  stepTokens: 128,
  breaks: { slackTokens: 1024, hitsBefore: 1, lookback: null },
}
const unpromised: CacheRules = {
  ...implicit,
  promised: false,
  breaks: { ...implicit.breaks, hitsBefore: 3 },
}

/** The Messages API with another cache behind it. */
const withRules = (rules: CacheRules): Wire<object> => ({
  ...(anthropicWire as Wire<object>),
  name: 'openai-chat',
  capabilities: { ...anthropicWire.capabilities, breakpoints: false },
  cacheRules: () => rules,
})

const usage = (cacheRead: number, input = 100): Usage => ({ input, cacheRead, cacheWrite: 0, output: 10 })

function composed(text = 'go'): Composed {
  const fold = new Fold()
  const pen = new Pen()
  for (const fact of [start(), said(text)]) fold.push(pen.write(fact))
  const outcome = createComposer().compose(fold.view(), {
    model: 'm',
    maxTokens: 100,
    bindsPrefix: false,
    lifetime: '10m',
  })
  if (!outcome.ok) throw new Error(outcome.why)
  return outcome.composed
}

/** The breaks of readings one after the other, a minute apart. */
function breaksOf(reads: readonly number[], rules: CacheRules, apartMs = 60_000) {
  const detector = createBreakDetector()
  return reads.map((read, turn) =>
    detector.after(detector.before('main', composed(), turn * apartMs), { usage: usage(read), rules }),
  )
}

describe('a cache without breakpoints', () => {
  it('[X17] breaks where what was read falls by more than its slack, and not by a step of its counting', () => {
    expect(breaksOf([0, 8192, 7680, 7168], implicit)).toEqual([null, null, null, null])
    const [, , broken] = breaksOf([0, 8192, 4096], implicit)
    expect(broken).toMatchObject({ tokens: 4096, causes: [{ kind: 'server' }] })
    const [, , old] = breaksOf([0, 8192, 0], implicit, 11 * 60_000)
    expect(old?.causes).toMatchObject([{ kind: 'expired', lifetime: '10m' }])
  })

  it('[X17] that promises nothing is missed only after three hits in a row', () => {
    expect(breaksOf([0, 8192, 0, 8192, 8192, 0], unpromised).filter((one) => one !== null)).toEqual([])
    expect(breaksOf([0, 8192, 8192, 8192, 0], unpromised).filter((one) => one !== null)).toHaveLength(1)
  })

  it('[X17] names what changed, and neither a look back nor images, which are of breakpoints', () => {
    const detector = createBreakDetector()
    const before = detector.before('main', composed('one'), 0)
    detector.after(before, { usage: usage(8192), rules: implicit })
    const next = detector.before('main', composed('two'), 1)
    const found = detector.after(next, { usage: usage(0), rules: implicit })
    expect(found?.causes.map(({ kind }) => kind)).toEqual(['message'])
  })
})

interface Played {
  readonly facts: readonly Fact[]
  readonly events: readonly LiveEvent[]
  readonly wires: readonly unknown[]
}

async function played(wire: Wire<object>, reads: readonly number[]): Promise<Played> {
  const clock = fixedClock()
  const events: LiveEvent[] = []
  const model = scriptedModel(
    reads.map((read, turn) =>
      scriptedMessage(`answer ${turn}`, { usage: usage(read, 8292 - read), model: 'm' }),
    ),
  )
  const store = inMemoryStore()
  const engine = createEngine({ store, modelId: 'm', wire, model, clock })
  const session = await engine.open()
  for (const turn of reads.keys()) for await (const event of session.send(`go ${turn}`)) events.push(event)
  await session.close()
  const facts: Fact[] = []
  for await (const item of store.read(session.id, {}))
    if (item.kind === 'entry' && 'fact' in item.entry) facts.push(item.entry.fact)
  return { facts, events, wires: model.requests.map((request) => request.wire) }
}

describe('an engine on another wire', () => {
  it('[EM7] names the wire with each request, sends no breakpoints by its own lifetime, and reports its breaks', async () => {
    const { facts, events, wires } = await played(withRules(implicit), [0, 8192, 0])
    expect(wires).toEqual(['openai-chat', 'openai-chat', 'openai-chat'])
    const sent = facts.filter((fact) => fact.type === 'request-sent')
    expect(sent.map(({ lifetime }) => lifetime)).toEqual(['10m', '10m', '10m'])
    expect(facts.filter((fact) => fact.type === 'cache-break')).toMatchObject([{ tokens: 8192 }])
    expect(events.filter((event) => event.type === 'notice').map(({ code }) => code)).toEqual(['cache-break'])
  })

  it('[EM7] hands out requests and takes answers in the form of that wire', async () => {
    interface Letter {
      readonly letter: string
    }
    const wire: Wire<Letter> = {
      ...(withRules(implicit) as Wire<object> as Wire<Letter>),
      requestOf: (body) => ({ letter: body }),
      parse: (answer) =>
        typeof answer === 'object' && answer !== null && 'reply' in answer
          ? scriptedMessage(String(answer.reply), { stop: 'stop', ended: 'end' })
          : null,
    }
    const engine = createEngine({ store: inMemoryStore(), modelId: 'm', wire })
    const session = await engine.open()
    await session.say('hello')
    const { letter } = await session.request()
    expect(letter).toContain('hello')
    await expect(session.receive({ no: 'answer' })).rejects.toMatchObject({ code: 'no-message' })
    await session.receive({ reply: 'hello too' })
    expect(session.view().messages.last()?.content).toMatchObject([{ type: 'text', text: 'hello too' }])
    await session.close()
  })
})
