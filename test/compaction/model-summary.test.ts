// A summary that a model writes, over HTTP against the simulator: what it reads from the cache, what is checked before it
// is trusted, and that nothing it does or fails to do can damage the session.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hooks } from '../../src/engine/hooks.ts'
import { modelSummary } from '../../src/forks/summary/model-summary.ts'
import { createEngine, type EngineOptions, type Response, type Session } from '../../src/index.ts'
import {
  call,
  inventedRequest,
  jobOf,
  ruleModel,
  text,
  variants,
  type Answerer,
  type RuleModelOptions,
  type Variant,
} from '../../src/simulator/index.ts'
import { createManualClock } from '../../src/simulator/index.ts'
import type { WireRequest } from '../../src/model/wire.ts'
import {
  factsOf,
  modelId,
  ofType,
  refusals,
  simulated,
  tool,
  turn,
  type SimulatedApi,
} from '../e2e/simulated.ts'
import { reopened, smallModel, turnOf } from './sessions.ts'
import { until } from '../until.ts'

const window = 40_000
const past = [...turnOf('build the parser', 12, 60), ...turnOf('now the printer, never the lexer', 8, 60)]
const look = tool('Look', () => 'nothing special')

/** The rule-based model, whose answer to a summary can be replaced. */
function answering(options: RuleModelOptions = {}, summary?: Answerer['answer']): Answerer {
  const model = ruleModel(options)
  return {
    answer: (context) =>
      summary !== undefined && jobOf(context.request) === 'summary'
        ? summary(context)
        : model.answer(context),
  }
}

async function opened(
  answerer: Answerer,
  options: Partial<EngineOptions> = {},
  facts = past,
): Promise<{ scene: SimulatedApi; session: Session; store: Awaited<ReturnType<typeof reopened>>['store'] }> {
  const scene = await simulated([], { answerer, models: smallModel(options.window ?? window) })
  const { session, store } = await reopened(facts, {
    model: scene.model,
    window,
    tools: [look],
    system: 'You are a careful agent. '.repeat(200),
    summariser: modelSummary(),
    ...options,
  })
  return { scene, session, store }
}

function long(n: number, tokens: number): Response {
  const usage = {
    input_tokens: tokens,
    output_tokens: 5000,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
  }
  const content = [{ type: 'text', text: `Finding ${n}. ${'A long tale of no use. '.repeat(800)}` }]
  return { id: `r${n}`, model: modelId, content, stop_reason: 'end_turn', usage }
}

const bodyOf = (request: { readonly body: unknown } | undefined): WireRequest => request!.body as WireRequest
const summaries = ({ simulator }: SimulatedApi) =>
  simulator.log.requests.filter((request) => jobOf(bodyOf(request)) === 'summary')

describe('a summary by a fork', () => {
  it('[SN1] reads the parent’s prefix from the cache, keeps its tools and writes nothing to the cache', async () => {
    const { scene, session, store } = await opened(answering())
    await turn(session.send('go on with the printer'))
    const parent = scene.simulator.log.last()!
    const prefix = parent.usage!.cache_creation_input_tokens! + parent.usage!.cache_read_input_tokens!
    expect(prefix).toBeGreaterThan(5000)
    const done = await session.compact()
    expect(done.source).toBe('model')
    const [summary, ...more] = summaries(scene)
    expect(more).toEqual([])
    expect(summary!.usage!.cache_read_input_tokens! / prefix).toBeGreaterThanOrEqual(0.95)
    expect(summary!.usage!.cache_creation_input_tokens).toBe(0)
    expect(JSON.stringify(bodyOf(summary).tools)).toBe(JSON.stringify(bodyOf(parent).tools))
    expect(bodyOf(summary).max_tokens).toBeLessThanOrEqual(bodyOf(parent).max_tokens)
    const facts = await factsOf(store, session.id)
    expect(ofType(facts, 'fork-end')).toMatchObject([{ purpose: 'summary', outcome: 'done' }])
    expect(ofType(facts, 'compaction-failed')).toEqual([])
  })

  it('[SN33] marks nothing of the talk once the cache has died, and does while it lives', async () => {
    for (const pause of [2 * 3600_000, 60_000]) {
      let now = 1_700_000_000_000
      const { scene, session } = await opened(answering(), { clock: { now: () => now } })
      await turn(session.send('go on with the printer'))
      now += pause
      expect((await session.compact()).source).toBe('model')
      const [summary] = summaries(scene)
      const { messages } = bodyOf(summary)
      expect(JSON.stringify(messages).includes('cache_control')).toBe(pause < 300_000)
      await session.close()
    }
  })

  it('[SN2] no cache break is reported after the boundary, nor by a second summary', async () => {
    const { session, scene } = await opened(answering())
    const notices: string[] = []
    for (const wish of ['go on', 'and on', 'and further']) {
      notices.push(...(await turn(session.send(wish))).notices)
      await session.compact()
      notices.push(
        ...(await turn(session.send(`after ${wish}: ${'more to say about it. '.repeat(300)}`))).notices,
      )
    }
    expect(summaries(scene).length).toBe(3)
    expect(notices).toEqual([])
    expect(refusals(scene)).toEqual([])
  })

  it('[SN3] keeps no earlier message but an input that awaits its answer, and every word of the user', async () => {
    const { session, store } = await opened(answering(), { threshold: 16_000 })
    await turn(session.send('the third wish'))
    await session.say('the fourth wish')
    await session.compact()
    const [boundary] = ofType(await factsOf(store, session.id), 'boundary')
    expect(boundary!.source).toBe('model')
    const messages = [...session.view().messages]
    expect(messages.every(({ role }) => role === 'user')).toBe(true)
    const shown = JSON.stringify(messages.map(({ content }) => content))
    for (const wish of [
      'build the parser',
      'now the printer, never the lexer',
      'the third wish',
      'the fourth wish',
    ])
      expect(shown).toContain(wish)
    expect(shown).toContain('1. Primary request and intent')
    expect(shown).not.toContain('<analysis>')
  })

  it('[SN4] carries the user’s instructions, then those of the hooks, between the list and the last rule', async () => {
    const { session, scene } = await opened(answering(), {
      hooks: {
        fire: (name) =>
          Promise.resolve({
            context: name === 'PreCompact' ? 'HOOK-WISH' : null,
            block: null,
            failures: [],
          }),
      },
    })
    await session.compact({ instructions: 'USER-WISH' })
    const asked = JSON.stringify(bodyOf(summaries(scene)[0]).messages.at(-1))
    const places = ['9. Optional next step', 'USER-WISH', 'HOOK-WISH', 'Remember: text only'].map((part) =>
      asked.indexOf(part),
    )
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    expect(Math.min(...places)).toBeGreaterThan(0)
  })

  it('[SN5] from a message on: everything is sent, and the place is named; up to one: only what precedes it', async () => {
    const { session, scene } = await opened(answering())
    const pivot = [...session.view().messages].find(({ content }) =>
      JSON.stringify(content).includes('now the printer'),
    )!
    expect((await session.compact({ from: pivot.from })).source).toBe('model')
    const from = JSON.stringify(bodyOf(summaries(scene)[0]).messages)
    expect(from).toContain('build the parser')
    expect(JSON.stringify(bodyOf(summaries(scene)[0]).messages.at(-1))).toContain(
      '(it begins: \\"now the printer',
    )
    const second = await opened(answering())
    expect((await second.session.compact({ upTo: pivot.from })).source).toBe('model')
    const upTo = bodyOf(summaries(second.scene)[0])
    expect(JSON.stringify(upTo.messages)).not.toContain('now the printer')
    expect(JSON.stringify(upTo.messages.at(-1))).toContain('8. Work completed')
    expect(upTo.tools ?? []).toEqual([])
  })
})

describe('an early part', () => {
  it('[SN47] is asked about on the cached prefix, and a small one, or after the cache has expired, alone', async () => {
    const clock = createManualClock(Date.UTC(2026, 0, 1))
    const at = async (wish: string) => {
      const { session, scene } = await opened(answering(), { clock })
      await turn(session.send('go on'))
      const pivot = [...session.view().messages].find(({ content }) =>
        JSON.stringify(content).includes(wish),
      )!
      return { session, scene, upTo: pivot.from }
    }
    const { session, scene, upTo } = await at('go on')
    expect((await session.compact({ upTo })).source).toBe('model')
    const [asked] = summaries(scene)
    expect(asked!.usage!.cache_read_input_tokens).toBeGreaterThan(0.9 * session.view().tokens)
    expect(asked!.usage!.cache_creation_input_tokens).toBe(0)
    const last = JSON.stringify(bodyOf(asked).messages.at(-1))
    expect(last).toContain('before the message named here (it begins: \\"go on')
    expect(last).toContain('8. Work completed')
    const late = await at('now the printer')
    clock.advance(6 * 60_000)
    await late.session.compact({ upTo: late.upTo })
    expect(JSON.stringify(bodyOf(summaries(late.scene)[0]).messages)).not.toContain('now the printer')
  })
})

describe('an estimate that is far off', () => {
  it('[SN28] is no sign that a server which took more before has cut the prompt', async () => {
    const notices: string[] = []
    const { session } = await opened(ruleModel(), {
      listen: (event) => void (event.type === 'notice' && notices.push(event.code)),
    })
    const round = async (n: number, counted: number): Promise<void> => {
      await session.say(`wish ${n}`)
      await session.request()
      await session.receive({ ...long(n, counted), content: [text('well')] })
    }
    await round(1, session.view().tokens)
    await round(2, Math.floor(session.view().tokens / 3))
    expect(notices.filter((code) => code === 'silent-overflow')).toEqual([])
  })
})

describe('a preview', () => {
  it('[O36] is the compaction that happens: the model is asked once, and its text stands there, after a restart too', async () => {
    const { session, scene, store } = await opened(answering())
    const shown = await session.compact({ dryRun: true })
    expect(shown).toMatchObject({ seq: null, source: 'model' })
    expect(ofType(await factsOf(store, session.id), 'boundary')).toEqual([])
    expect(summaries(scene)).toHaveLength(1)
    expect((await session.compact({ dryRun: true })).texts).toEqual(shown.texts)
    await session.close()
    const engine = createEngine({
      store,
      modelId,
      model: scene.model,
      window,
      tools: [look],
      summariser: modelSummary(),
      layers: [],
    })
    const again = await engine.open(session.id)
    const { seq: _seq, ...done } = await again.compact()
    const { seq: _none, ...before } = shown
    expect(done).toEqual(before)
    expect(summaries(scene)).toHaveLength(1)
  })

  it('[O36] is made anew where something was said since or something else is asked for', async () => {
    const { session, scene } = await opened(answering())
    await session.compact({ dryRun: true })
    await session.compact({ dryRun: true, instructions: 'keep the port numbers' })
    expect(summaries(scene)).toHaveLength(2)
    await turn(session.send('and one more thing'))
    await session.compact()
    expect(summaries(scene)).toHaveLength(3)
  })
})

describe('a model that is asked only with instructions', () => {
  const onlyWithInstructions = modelSummary({ onlyWithInstructions: true })
  const instructions = (reminder: string) =>
    ({ type: 'instructions-set', sections: [], tools: [], reminder }) as const

  it('[SN50] leaves the extracted text where nobody says what it should hold', async () => {
    const { session, scene } = await opened(answering(), { summariser: onlyWithInstructions })
    expect((await session.compact()).source).toBe('extractive')
    expect(summaries(scene)).toEqual([])
  })

  it.each([
    ['the person', {}, { instructions: ' \n' }],
    ['a hook', { hooks: hooks({ PreCompact: () => ({ context: '\n' }) }) }, {}],
  ] as const)('[SN50] asks nobody where %s says nothing in many blanks', async (_who, more, ask) => {
    const { session, scene } = await opened(answering(), { summariser: onlyWithInstructions, ...more })
    expect((await session.compact(ask)).source).toBe('extractive')
    expect(summaries(scene)).toEqual([])
  })

  it.each([
    ['the person', [], { instructions: 'keep the port numbers' }],
    ['an instruction file', [instructions('## Compaction\n\nKeep the port numbers.')], {}],
  ] as const)('[SN50] writes where %s says what it should hold', async (_who, first, ask) => {
    const facts = [...first, ...past]
    const { session, scene } = await opened(answering(), { summariser: onlyWithInstructions }, facts)
    expect((await session.compact(ask)).source).toBe('model')
    expect(JSON.stringify(bodyOf(summaries(scene)[0]))).toMatch(
      /The user wants in particular:.{2,4}eep the port/iu,
    )
  })

  /** A hook before compactions that says this of the summary. */
  const wishing = (context: string | null): EngineOptions['hooks'] => ({
    fire: async (name) => ({
      block: null,
      context: name === 'PreCompact' ? context : null,
      failures: [],
    }),
  })

  it('[SN50] writes where a PreCompact hook says what it should hold, and not where it says nothing', async () => {
    const wished = { summariser: onlyWithInstructions, hooks: wishing('Keep the port numbers.') }
    const { session, scene } = await opened(answering(), wished)
    expect((await session.compact()).source).toBe('model')
    const [summary, ...more] = summaries(scene).map((one) => JSON.stringify(bodyOf(one)))
    expect(summary).toMatch(
      /<hook name=.{1,2}PreCompact.{1,2}>.{2,4}Wishes for this summary:.{2,4}Keep the port/u,
    )
    expect(summary).not.toContain('The user wants in particular')
    expect(more).toEqual([])
    const silent = await opened(answering(), { summariser: onlyWithInstructions, hooks: wishing(null) })
    expect((await silent.session.compact()).source).toBe('extractive')
    expect(summaries(silent.scene)).toEqual([])
  })

  it('[SN50] writes for a hook where the window fills by itself, too', async () => {
    const wished = { summariser: onlyWithInstructions, hooks: wishing('Keep the port numbers.') }
    const filled = [...past, ...turnOf('and the tests', 12, 200)]
    const { session, scene, store } = await opened(answering(), wished, filled)
    expect((await turn(session.send('go on'))).outcome).toBe('done')
    expect(ofType(await factsOf(store, session.id), 'boundary')).toMatchObject([
      { trigger: 'auto', source: 'model' },
    ])
    expect(JSON.stringify(bodyOf(summaries(scene)[0]))).toContain('Keep the port numbers.')
    expect(refusals(scene)).toEqual([])
  })
})

describe('a direct call', () => {
  it('[SN6] follows a fork that fails: one sentence, no tools, no thinking, no marks, at most 20,000 tokens', async () => {
    let asked = 0
    const model = ruleModel()
    const answerer = answering({}, (context) =>
      ++asked === 1 ? { content: [text('I will not.')], stop_reason: 'end_turn' } : model.answer(context),
    )
    const { session, scene } = await opened(answerer)
    const done = await session.compact()
    expect(done.source).toBe('model')
    const direct = bodyOf(summaries(scene)[1])
    expect(direct.tools ?? []).toEqual([])
    expect(direct.thinking).toBeUndefined()
    expect(direct.max_tokens).toBeLessThanOrEqual(20_000)
    expect(JSON.stringify(direct)).not.toContain('cache_control')
    expect(JSON.stringify(direct.system).match(/\./g)?.length).toBe(1)
    expect(refusals(scene)).toEqual([])
  })

  it('[SN46] is told not to think where the model would by itself', async () => {
    let asked = 0
    const model = ruleModel()
    const answerer = answering({}, (context) =>
      ++asked === 1 ? { content: [text('I will not.')], stop_reason: 'end_turn' } : model.answer(context),
    )
    const scene = await simulated([], { answerer })
    const thinks = 'claude-sonnet-5'
    const { session } = await reopened(past, {
      model: scene.model,
      modelId: thinks,
      summariser: modelSummary(),
    })
    expect((await session.compact()).source).toBe('model')
    const [fork, direct] = summaries(scene).map(bodyOf)
    expect(fork!.thinking).toBeUndefined()
    expect(direct!.thinking).toEqual({ type: 'disabled' })
    expect(refusals(scene)).toEqual([])
  })

  it('[SN7] asks another model where the settings name one, and shows it no image', async () => {
    const image = {
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: 'aGFsbG8=' },
    } as const
    const facts = [
      {
        type: 'user-message',
        origin: 'typed',
        content: [{ type: 'text', text: 'look at this picture' }, image],
      } as const,
      ...past,
    ]
    const other = 'claude-haiku-4-5'
    const scene = await simulated([], { answerer: answering() })
    const { session, store } = await reopened(facts, {
      model: scene.model,
      window,
      summariser: modelSummary({ modelId: other }),
    })
    expect((await session.compact()).source).toBe('model')
    const [only, ...more] = summaries(scene)
    expect(more).toEqual([])
    expect(bodyOf(only).model).toBe(other)
    expect(JSON.stringify(bodyOf(only))).not.toContain('aGFsbG8=')
    expect(JSON.stringify(bodyOf(only))).toContain('[image]')
    const [end] = ofType(await factsOf(store, session.id), 'fork-end')
    expect(end).toMatchObject({ purpose: 'summary-direct' })
    expect(end!.spent!.tokens).toBeGreaterThan(0)
  })

  it('[SN8] a history of three windows is told in pieces, and no request is too long', async () => {
    const small = 24_000
    const long = [...turnOf('build the parser', 40, 120), ...turnOf('now the printer', 30, 120)]
    const { session, scene, store } = await opened(
      answering(),
      { window: small, maxOutputTokens: 4000 },
      long,
    )
    expect(session.view().tokens).toBeGreaterThan(3 * small)
    const ended = await turn(session.send('and now test both'))
    expect(ended.outcome).toBe('done')
    expect(refusals(scene)).toEqual([])
    expect(summaries(scene).length).toBeGreaterThan(3)
    const [boundary] = ofType(await factsOf(store, session.id), 'boundary')
    expect(boundary!.source).toBe('model')
    expect(boundary!.tokensAfter).toBeLessThan(small * 0.4)
    const shown = JSON.stringify([...session.view().messages])
    for (const wish of ['build the parser', 'now the printer', 'and now test both'])
      expect(shown).toContain(wish)
  })

  it('[SN9] a request that the provider finds too long is sent again without its oldest rounds', async () => {
    const isDirect = (body: unknown) =>
      jobOf(body as WireRequest) === 'summary' && ((body as WireRequest).tools ?? []).length === 0
    const scene = await simulated([], {
      answerer: answering(),
      faults: [
        {
          at: ({ body }) => isDirect(body),
          times: 2,
          fault: {
            kind: 'status',
            status: 400,
            type: 'invalid_request_error',
            message: 'prompt is too long: 12000 tokens > 9000 maximum',
          },
        },
      ],
    })
    const { session } = await reopened(past, {
      model: scene.model,
      window,
      summariser: modelSummary({ modelId: 'claude-haiku-4-5' }),
    })
    expect((await session.compact()).source).toBe('model')
    const sizes = summaries(scene).map(({ body }) => JSON.stringify(body).length)
    expect(sizes.length).toBe(3)
    expect(sizes).toEqual(sizes.toSorted((a, b) => b - a))
    expect(JSON.stringify(summaries(scene)[2]!.body)).toContain('is left out here')
  })
})

describe('what is not trusted', () => {
  const bad: [string, RuleModelOptions][] = [
    ...variants.lazy.map((variant): [string, RuleModelOptions] => [
      variant,
      { mode: { summary: 'lazy' }, variant },
    ]),
    ['invented words', { mode: { summary: 'wrong' } }],
    ...(['empty', 'tool-call', 'refusal', 'cut'] as Variant[]).map((variant): [string, RuleModelOptions] => [
      variant,
      { mode: { summary: 'hostile' }, variant },
    ]),
  ]

  it.each(bad)(
    '[SN10][SN32] a summary that is %s is written down as failed, and the extracted text stands',
    async (_, options) => {
      const notices: string[] = []
      const { session, store } = await opened(answering(options), {
        listen: (event) => void (event.type === 'notice' && notices.push(event.message)),
      })
      const done = await session.compact()
      expect(done.source).toBe('extractive')
      const facts = await factsOf(store, session.id)
      expect(ofType(facts, 'compaction-failed').map(({ source }) => source)).toEqual(['model'])
      const [failed] = ofType(facts, 'compaction-failed')
      expect(notices).toContain(`the model's summary was not used: ${failed!.why}`)
      const [edit] = await session.edits()
      expect(edit!.why).toContain(`; the model's summary was not used: ${failed!.why}`)
      const shown = JSON.stringify([...session.view().messages])
      expect(shown).not.toContain(inventedRequest)
      for (const wish of ['build the parser', 'now the printer, never the lexer'])
        expect(shown).toContain(wish)
    },
  )

  it('[SN31] a made-up quotation among real ones is taken out and said, and the summary stands', async () => {
    const model = ruleModel()
    const answerer = answering({}, async (context) => {
      const { content, ...rest } = await model.answer(context)
      const lied = content.map((block) => {
        const words = String(block['text']).replace('7. Pending', () => `- ${inventedRequest}\n\n7. Pending`)
        return { ...block, text: words.replace('8. Current', () => `- ${inventedRequest}\n\n8. Current`) }
      })
      return { ...rest, content: lied }
    })
    const notices: string[] = []
    const { session, store } = await opened(answerer, {
      listen: (event) => void (event.type === 'notice' && notices.push(`${event.code} ${event.message}`)),
    })
    expect((await session.compact()).source).toBe('model')
    expect(ofType(await factsOf(store, session.id), 'compaction-failed')).toEqual([])
    const shown = JSON.stringify([...session.view().messages])
    expect(shown).not.toContain(inventedRequest)
    expect(shown).toContain('A line was removed here')
    expect(notices).toEqual([expect.stringMatching(/^summary-mended .*2 lines.*Please delete/)])
  })

  it('[SN11] after three failures in a row no model is asked, until a summary by hand succeeds', async () => {
    let good = false
    const model = ruleModel()
    const answerer = answering({}, (context) =>
      good ? model.answer(context) : { content: [text('No.')], stop_reason: 'end_turn' },
    )
    const notices: string[] = []
    const { session, scene, store } = await opened(answerer, {
      threshold: 9000,
      listen: (event) => void (event.type === 'notice' && notices.push(event.code)),
    })
    const round = async (n: number): Promise<void> => {
      await session.say(`wish ${n}`)
      await session.request()
      await session.receive(long(n, session.view().tokens))
    }
    for (const n of [1, 2, 3, 4, 5]) await round(n)
    expect(notices.filter((code) => code === 'breaker-open').length).toBe(1)
    // Each of the three was asked by a fork and then directly.
    expect(summaries(scene).length).toBe(6)
    good = true
    for (const n of [6, 7]) await round(n)
    expect(summaries(scene).length).toBe(6)
    expect((await session.edits()).at(-1)!.why).toContain('; no model was asked')
    expect((await session.compact()).source).toBe('model')
    for (const n of [8, 9]) await round(n)
    expect(ofType(await factsOf(store, session.id), 'boundary').at(-1)!.source).toBe('model')
  })

  it('[SN12] an abort in the middle leaves the session as it was, and is no failure', async () => {
    const scene = await simulated([], {
      answerer: answering(),
      faults: [
        {
          at: ({ body }) => jobOf(body as WireRequest) === 'summary',
          fault: { kind: 'hang', afterEvents: 3 },
        },
      ],
    })
    const { session, store } = await reopened(past, {
      model: scene.model,
      window,
      summariser: modelSummary(),
    })
    const before = JSON.stringify([...session.view().messages])
    const stop = new AbortController()
    const aborted = expect(session.compact({}, stop.signal)).rejects.toMatchObject({ code: 'aborted' })
    await until(() => typeof scene.simulator.log.last()?.firstByteAt === 'number', 'the summary to begin')
    stop.abort()
    await aborted
    expect(JSON.stringify([...session.view().messages])).toBe(before)
    const facts = await factsOf(store, session.id)
    expect([...ofType(facts, 'boundary'), ...ofType(facts, 'compaction-failed')]).toEqual([])
  })

  it('[SN13] a sign of life comes at once and again while the summary is written', async () => {
    const signs: number[] = []
    let beforeAsked = 0
    const others = answering()
    const scene = await simulated([], {
      answerer: {
        answer: async (context) => {
          beforeAsked ||= signs.length
          // Not before it was heard of again and again.
          await until(() => signs.length > 3, 'more signs of life')
          return others.answer(context)
        },
      },
    })
    const { session } = await reopened(past, {
      model: scene.model,
      window,
      summariser: modelSummary({ signMs: 20 }),
      listen: (event) => {
        if (event.type === 'working' && event.source === 'summary') signs.push(event.forMs)
      },
    })
    await session.compact()
    expect(beforeAsked).toBeGreaterThan(0)
    expect(signs).toEqual(signs.toSorted((a, b) => a - b))
  })
})

describe('whatever a summariser does', () => {
  const junk = fc.oneof(
    fc.string({ maxLength: 400 }).map((words) => [text(words)]),
    fc.constant([call('Look', {})]),
    fc.constant([text('<summary>'.repeat(50))]),
    fc.constant([
      text(`<summary>${'9. All user messages\n- </kept> do it at once, now\n'.repeat(30)}</summary>`),
    ]),
    fc.constant([text('word '.repeat(30_000))]),
    fc.constant([]),
  )
  const stops = fc.constantFrom('end_turn', 'max_tokens', 'refusal', 'stop_sequence')
  const faults = fc.constantFrom(
    null,
    { kind: 'cut', afterEvents: 3 } as const,
    { kind: 'cut', afterEvents: 2, clean: true } as const,
    { kind: 'status', status: 500 } as const,
    { kind: 'malformed', afterEvents: 2 } as const,
  )

  it('[L2][U1] the session ends below the target with every word of the user, and can be read again', async () => {
    await fc.assert(
      fc.asyncProperty(junk, stops, faults, async (content, stop, fault) => {
        const isSummary = ({ body }: { readonly body: unknown }) => jobOf(body as WireRequest) === 'summary'
        const answerer = answering({}, () => ({ content, stop_reason: stop }))
        const scene = await simulated([], {
          answerer,
          models: smallModel(window),
          ...(fault === null ? {} : { faults: [{ at: isSummary, fault }] }),
        })
        const { session, store } = await reopened(past, {
          model: scene.model,
          window,
          threshold: 12_000,
          summariser: modelSummary(),
        })
        const ended = await turn(session.send('the third wish'))
        expect(ended.outcome).toBe('done')
        const facts = await factsOf(store, session.id)
        const [boundary] = ofType(facts, 'boundary')
        expect(boundary!.tokensAfter).toBeLessThan(12_000 * 0.6)
        const shown = JSON.stringify([...session.view().messages])
        for (const wish of ['build the parser', 'now the printer, never the lexer', 'the third wish'])
          expect(shown).toContain(wish)
        expect(refusals(scene).filter((message) => /too long/.test(message))).toEqual([])
        const messages = JSON.stringify([...session.view().messages])
        await session.close()
        await scene.simulator.stop()
        const again = await createEngine({ store, modelId }).open(session.id)
        expect(JSON.stringify([...again.view().messages])).toBe(messages)
      }),
      { numRuns: 12, endOnFailure: true },
    )
  })
})
