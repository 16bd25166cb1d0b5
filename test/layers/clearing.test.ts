// Microcompact at work in an engine: over HTTP, on the simulator's own cache and with its own rules.
import { clearedMark } from '../../src/transcript/markers.ts'
import { describe, expect, it } from 'vitest'
import type { WireRequest } from '../../src/model/wire.ts'
import { call, thinking, type ScriptStep } from '../../src/simulator/index.ts'
import type { FactOf } from '../../src/transcript/fact.ts'
import type { Seq } from '../../src/transcript/ids.ts'
import { createEngine, inMemoryStore } from '../../src/index.ts'
import { EditList, type DeclinedRow } from '../../src/projection/index.ts'
import { standardLayers, type ClearingPrice } from '../../src/projection/layers/index.ts'
import { modelId, ofType, refusals, turn, words } from '../e2e/simulated.ts'
import { lines, minute } from './scribe.ts'
import { plainBytes, resultsIn, stage, toolOf, type Stage, type StageOptions } from './stage.ts'

const bash = toolOf('Bash', (input) => lines(120, `line of run ${String(input['n'])}`))
/** One round for each name, then an answer. */
const rounds = (...names: readonly string[]): ScriptStep[] => [
  ...names.map((name) => [call('Bash', { n: name }, name)]),
  'done',
]
const named = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`)
const marked = (request: WireRequest): string[] =>
  [...resultsIn(request)].filter(([, text]) => text.startsWith(clearedMark)).map(([id]) => id)
const deletions = (request: WireRequest): string[] =>
  (request.cache_edits ?? []).map((edit) => edit.cache_reference)
const edits = async (play: Stage): Promise<FactOf<'view-edit'>[]> => ofType(await play.facts(), 'view-edit')
const usageAt = (play: Stage, index: number) => play.scene.simulator.log.requests.at(index)!.usage!

function clearing(steps: readonly ScriptStep[], options: StageOptions = {}): Promise<Stage> {
  return stage(steps, { ...options, engine: { tools: [bash], ...options.engine } })
}

describe('time-based clearing', () => {
  it('[Z12] clears old results in the first request after an hour, and they stay cleared', async () => {
    const play = await clearing([...rounds(...named('a', 8)), 'one', 'two'])
    await play.say('work')
    play.clock.advance(61 * minute)
    await play.say('back again')
    play.clock.advance(1000)
    await play.say('and on')
    const [before, first, second] = play.requests().slice(-3)
    expect(marked(before!)).toEqual([])
    expect(marked(first!)).toEqual(['a0', 'a1', 'a2'])
    expect(marked(second!)).toEqual(['a0', 'a1', 'a2'])
    expect(await edits(play)).toMatchObject([{ layer: 'microcompact', price: { kind: 'time', costs: 0 } }])
    expect(refusals(play.scene)).toEqual([])
  })

  it('[Z12] leaves everything within the hour', async () => {
    const play = await clearing([...rounds(...named('a', 8)), 'one'])
    await play.say('work')
    play.clock.advance(59 * minute)
    await play.say('back again')
    expect(marked(play.requests().at(-1)!)).toEqual([])
    expect(await edits(play)).toEqual([])
  })

  it('[Z13] wins over cached clearing', async () => {
    const play = await clearing([...rounds(...named('a', 11)), ...rounds('b0')], {
      cacheEdits: true,
      engine: { cacheLifetime: '1h' },
    })
    await play.say('work')
    play.clock.advance(61 * minute)
    await play.say('more')
    const [first, second] = play.requests().slice(-2)
    expect(deletions(first!)).toEqual([])
    expect(marked(first!)).toEqual(named('a', 6))
    expect(deletions(second!)).toEqual([])
  })
})

describe('time-based clearing beside native clearing', () => {
  it('[Z13] the server clears no results in the request for which old ones were cleared, and what it had cleared stays so', async () => {
    const asked = (request: WireRequest): string[] =>
      (request.context_management?.edits ?? []).map((edit) => edit.type)
    const engine = { nativeClearing: true, thinking: { type: 'adaptive' } } as const
    const idle = async (play: Stage): Promise<readonly string[][]> => {
      await play.say('work')
      play.clock.advance(61 * minute)
      await play.say('back again')
      play.clock.advance(1000)
      await play.say('and on')
      expect(refusals(play.scene)).toEqual([])
      return play.requests().slice(-3).map(asked)
    }
    const both = ['clear_thinking_20251015', 'clear_tool_uses_20250919']
    const play = await clearing([...rounds(...named('a', 8)), 'one', 'two'], {
      layers: { nativeClearing: true },
      engine,
    })
    expect(await idle(play)).toEqual([both, both.slice(0, 1), both])
    expect(marked(play.requests().at(-1)!)).toEqual(['a0', 'a1', 'a2'])
    expect(ofType(await play.facts(), 'cache-break')).toEqual([])
    const big = toolOf('Bash', (input) => lines(170, `line of run ${String(input['n'])}`))
    const full = await clearing([...rounds(...named('a', 33)), 'one', 'two'], {
      layers: { nativeClearing: true, autocompact: false, pressureClearing: false, keepResults: 2 },
      engine: { ...engine, tools: [big], window: 40_000 },
    })
    expect(await idle(full)).toEqual([both, both, both])
    expect((await edits(full)).at(-1)).toMatchObject({ price: { kind: 'time' } })
  })
})

describe('cached clearing', () => {
  const many = [...rounds(...named('a', 12)), 'one', 'two', 'from the fork']

  it('[Z14] deletes in the request, moves no byte of ours, is sent again each time, and costs no cached token', async () => {
    const play = await clearing(many, { cacheEdits: true })
    await play.say('work')
    await play.say('on')
    await play.say('and on')
    const fork = await play.session.fork({ purpose: 'notes', directive: 'write notes' })
    expect(fork.outcome).toBe('done')
    const requests = play.requests()
    const gone = named('a', 7)
    const from = requests.findIndex((request) => deletions(request).length > 0)
    // The twelfth result is the one the model has not answered to when it is counted.
    expect(from).toBe(13)
    for (const request of requests.slice(from)) {
      expect(deletions(request)).toEqual(gone)
      expect(marked(request)).toEqual([])
      expect(resultsIn(request).get('a0')).toContain('line of run a0 119')
    }
    const [before, after] = [usageAt(play, from - 1), usageAt(play, from)]
    expect(after.cache_deleted_input_tokens).toBeGreaterThan(3000)
    expect(after.cache_read_input_tokens! + after.cache_deleted_input_tokens!).toBeGreaterThanOrEqual(
      before.cache_read_input_tokens! + before.cache_creation_input_tokens!,
    )
    expect(ofType(await play.facts(), 'cache-break')).toEqual([])
    expect(refusals(play.scene)).toEqual([])
  })

  it('[Z14] is for the main thread: an agent with a transcript of its own has nothing deleted', async () => {
    const play = await clearing(many, { cacheEdits: true })
    const about = { label: 'work', agent: 'general', mode: 'foreground', options: {} } as const
    const agent = await play.session.spawn(about)
    if (!agent.ok) throw new Error(agent.failure.message)
    await turn(agent.session.send('work'))
    await turn(agent.session.send('on'))
    expect(play.requests().length).toBeGreaterThan(13)
    expect(play.requests().flatMap(deletions)).toEqual([])
    await agent.finish('done', 'worked')
  })

  it('[Z14] survives a resume with the same bytes', async () => {
    const run = async (resumes: boolean): Promise<readonly string[]> => {
      const play = await clearing([...rounds(...named('a', 12)), 'one', ...rounds('b0', 'b1'), 'two'], {
        cacheEdits: true,
        resumes,
      })
      for (const text of ['work', 'on', 'more work', 'end']) await play.say(text)
      expect(refusals(play.scene)).toEqual([])
      return play.requests().map(plainBytes)
    }
    const straight = await run(false)
    expect(straight.at(-1)).toContain('"cache_edits"')
    expect(await run(true)).toEqual(straight)
  })

  it('[Z15] becomes stubs in the very request that finds the cache expired', async () => {
    const play = await clearing(many, { cacheEdits: true })
    await play.say('work')
    await play.say('on')
    expect(deletions(play.requests().at(-1)!)).toHaveLength(7)
    play.clock.advance(6 * minute)
    await play.say('later')
    const last = play.requests().at(-1)!
    expect(deletions(last)).toEqual([])
    expect(marked(last)).toEqual(named('a', 7))
    // Deleted text took no room any more, so a stub in its place frees none; nor is that shown as a negative.
    expect((await edits(play)).at(-1)).toMatchObject({ tokensFreed: 0, price: { kind: 'expired', costs: 0 } })
    expect(refusals(play.scene)).toEqual([])
  })

  it('[Z15] undone, its stubs show the results again, and the server is not asked either', async () => {
    const play = await clearing(many, { cacheEdits: true })
    await play.say('work')
    await play.say('on')
    play.clock.advance(6 * minute)
    await play.say('later')
    expect(marked(play.requests().at(-1)!)).toEqual(named('a', 7))
    await play.session.undo((await play.session.edits()).at(-1)!.seq)
    await play.say('show them')
    const last = play.requests().at(-1)!
    expect([deletions(last), marked(last)]).toEqual([[], []])
    expect(resultsIn(last).get('a0')).toContain('line of run a0 119')
    expect((await play.session.edits()).map(({ state }) => state)).toEqual(['undone', 'undone'])
    expect(refusals(play.scene)).toEqual([])
  })

  it('[Z15] becomes stubs once a fall of cache reads has shown the cache to be lost', async () => {
    const play = await clearing([...rounds(...named('a', 12)), 'one'], { cacheEdits: true })
    // Another server with the same key and an empty cache: as if the first had forgotten everything.
    const other = await clearing(['two', 'three', ...rounds(...named('b', 12)), 'four'], { cacheEdits: true })
    await play.say('work')
    await play.say('on')
    expect(deletions(play.requests().at(-1)!)).toHaveLength(7)
    play.reach(other.scene.model)
    await play.say('lost')
    await play.say('noticed')
    const [lost, noticed] = other.requests()
    expect(deletions(lost!)).toEqual(named('a', 7))
    expect(ofType(await play.facts(), 'cache-break')).toMatchObject([{ causes: [{ kind: 'server' }] }])
    expect(deletions(noticed!)).toEqual([])
    expect(marked(noticed!)).toEqual(named('a', 7))
    await play.say('work on the new cache')
    await play.say('end')
    expect(deletions(other.requests().at(-1)!).length).toBeGreaterThan(0)
    expect(refusals(other.scene)).toEqual([])
  })

  it('[Z15] becomes stubs when a compaction rewrites what stood before', async () => {
    const compact = toolOf('Compact', () => 'compacted')
    let play: Stage | null = null
    const tools = [
      bash,
      {
        ...compact,
        run: async (...given: Parameters<typeof compact.run>) => {
          const { messages } = play!.session.view()
          return {
            ...(await compact.run(...given)),
            facts: [boundary(messages.at(0)!.from, messages.at(2)!.to)],
          }
        },
      },
    ]
    const steps = [...rounds(...named('a', 12)), 'one', [call('Compact', {}, 'c')], 'two']
    play = await clearing(steps, { cacheEdits: true, engine: { tools } })
    await play.say('work')
    await play.say('on')
    await play.say('compact it')
    const [before, after] = play.requests().slice(-2)
    expect(deletions(before!)).toEqual(named('a', 7))
    expect(deletions(after!)).toEqual([])
    expect(marked(after!)).toEqual(named('a', 7).slice(1))
    expect(refusals(play.scene)).toEqual([])
    // Undone, it brings back a result that the server was to leave out of a cache that is gone: held, but in nobody's sight.
    const made = (await play.session.edits()).find(({ layer }) => layer === 'autocompact')!
    await play.session.undo(made.seq)
    await play.say('on with it')
    const last = play.requests().at(-1)!
    expect(deletions(last)).toEqual([])
    expect(marked(last)).toEqual(named('a', 7))
    expect(refusals(play.scene)).toEqual([])
  })
})

describe('cached clearing and a compaction that comes by itself', () => {
  it('[Z15] deletions that stay in sight become stubs in the very request for which it was made', async () => {
    const small = toolOf('Bash', (input) => lines(60, `line of run ${String(input['n'])}`))
    const kept = toolOf('Note', () => lines(150), { results: 'keep' })
    const work = named('a', 40).map((n) => [call('Bash', { n }, n), call('Note', {}, `k${n}`)])
    const play = await clearing([...work, 'done'], {
      cacheEdits: true,
      layers: { keepResults: 1, thrift: 0 },
      simulator: { log: { bodies: 100 } },
      engine: { tools: [small, kept], window: 36_000 },
    })
    await play.say('work')
    const facts = await play.facts()
    const sent = facts.flatMap((fact, place) => (fact.type === 'request-sent' ? [place] : []))
    const rewritten = play
      .requests()
      .filter((_, index) => facts.slice(sent[index - 1], sent[index]).some(({ type }) => type === 'boundary'))
    expect(rewritten.length).toBeGreaterThan(0)
    for (const request of rewritten) {
      expect(deletions(request)).toEqual([])
      expect(marked(request).length).toBeGreaterThan(0)
    }
    expect(refusals(play.scene)).toEqual([])
  })
})

/** What a compaction of these entries writes. */
const boundary = (from: Seq, to: Seq): FactOf<'boundary'> => ({
  type: 'boundary',
  layer: 'autocompact',
  asked: 'user',
  trigger: 'manual',
  source: 'extractive',
  edits: [
    {
      kind: 'summary',
      from,
      to,
      text: 'what was done',
      ref: `${from}-${to}`,
      keep: [{ at: { seq: from, block: 0 } }],
    },
  ],
  why: 'asked for',
  tokensFreed: 0,
  tokensBefore: 0,
  tokensAfter: 0,
  messagesSummarised: 3,
})

describe('native clearing', () => {
  it('[Z16] asks for reasoning first and then tool uses, and writes down what the server applied', async () => {
    const big = toolOf('Bash', (input) => lines(170, `line of run ${String(input['n'])}`))
    const keepsAll = toolOf('Ask', () => 'yes', { results: 'never-clear' })
    const play = await clearing(
      [...named('a', 33).map((name) => [thinking('hm'), call('Bash', { n: name }, name)]), 'done', 'end'],
      {
        layers: { nativeClearing: true },
        engine: {
          tools: [big, keepsAll, toolOf('Write', () => 'ok')],
          nativeClearing: true,
          window: 40_000,
          thinking: { type: 'adaptive' },
        },
      },
    )
    await play.say('work')
    await play.say('on')
    const sent = play.requests().at(-1)!.context_management!.edits
    expect(sent).toMatchObject([
      { type: 'clear_thinking_20251015', keep: 'all' },
      {
        type: 'clear_tool_uses_20250919',
        // Of a threshold of 29 400: four fifths, and of that what 140 000 are of 180 000.
        trigger: { type: 'input_tokens', value: 23_520 },
        clear_at_least: { type: 'input_tokens', value: 18_293 },
        keep: { type: 'tool_uses', value: 5 },
        exclude_tools: ['Ask'],
        clear_tool_inputs: ['Write'],
      },
    ])
    const applied = play.scene.simulator.log.requests.flatMap((request) => request.appliedEdits)
    expect(applied.length).toBeGreaterThan(0)
    const listed = (await play.session.edits()).filter((row) => row.layer === 'native-clearing')
    expect(listed.length).toBeGreaterThan(0)
    const freed = listed.reduce((sum, row) => sum + row.tokensFreed, 0)
    expect(freed).toBe(applied.at(-1)!['cleared_input_tokens'])
    expect(refusals(play.scene)).toEqual([])
  })

  const natively = (n: number, keepResults?: number) =>
    clearing([...rounds(...named('a', n)), 'two', 'three', 'four'], {
      layers: { nativeClearing: true, autocompact: false },
      engine: {
        tools: [toolOf('Bash', (input) => lines(170, `line of run ${String(input['n'])}`))],
        nativeClearing: true,
        keepResults,
        window: 60_000,
        system: words(2000),
      },
    })
  const clearedBy = (play: Stage) =>
    play.scene.simulator.log.requests.at(-1)!.appliedEdits.map((edit) => edit['cleared_tool_uses'])

  it('[Z33] undone it is undone at the server too: every result is sent to the model again, and clearing rests', async () => {
    const play = await natively(46)
    await play.say('work')
    await play.say('on')
    expect(clearedBy(play)).not.toEqual([])
    const listed = (await play.session.edits()).filter((row) => row.layer === 'native-clearing')
    expect(listed.length).toBeGreaterThan(1)
    await play.session.undo(listed.at(-1)!.seq)
    await play.say('and on')
    expect(clearedBy(play)).toEqual([])
    const { prompt } = play.scene.simulator.log.requests.at(-1)!
    expect(prompt!.totalTokens).toBeGreaterThan(30_000)
    const rows = (await play.session.edits()).filter((row) => row.layer === 'native-clearing')
    expect(rows.filter(({ state }) => state === 'live')).toEqual([])
    expect(Math.abs(play.session.view().tokens / prompt!.totalTokens - 1)).toBeLessThan(0.1)
    expect(refusals(play.scene)).toEqual([])
  })

  it('[X15] is no break of the cache, however much of it is read anew', async () => {
    const play = await natively(60)
    await play.say(`work ${words(2500)}`)
    await play.say('on')
    expect(clearedBy(play)).not.toEqual([])
    expect(ofType(await play.facts(), 'cache-break')).toEqual([])
  })

  it('[Z34] leaves as many results as the setting says', async () => {
    const play = await natively(46, 9)
    await play.say('work')
    const edit = play.requests().at(-1)!.context_management!.edits[0]
    expect(edit).toMatchObject({ keep: { type: 'tool_uses', value: 9 } })
  })

  it('[Z16] keeps only the last reasoning after an hour, from then on', async () => {
    const play = await clearing(['one', 'two', 'three'], {
      layers: { nativeClearing: true },
      engine: { nativeClearing: true, thinking: { type: 'adaptive' } },
    })
    await play.say('hi')
    play.clock.advance(61 * minute)
    await play.say('later')
    play.clock.advance(1000)
    await play.say('and on')
    const kept = play.requests().map((request) => request.context_management!.edits[0])
    expect(kept.map((edit) => (edit as { keep: unknown }).keep)).toEqual([
      'all',
      { type: 'thinking_turns', value: 1 },
      { type: 'thinking_turns', value: 1 },
    ])
    expect(refusals(play.scene)).toEqual([])
  })
})

describe('settling', () => {
  it('[L2] a window that fills ends below the target or with the numbers, never with a request that is too long', async () => {
    const big = toolOf('Bash', (input) => lines(400, `line of run ${String(input['n'])}`))
    const play = await clearing([...rounds(...named('a', 30)), 'end'], {
      engine: { tools: [big], window: 40_000 },
      layers: { pressureClearing: true },
    })
    const events = await play.say('work')
    expect(events.at(-1)).toMatchObject({ outcome: 'done' })
    expect(refusals(play.scene)).toEqual([])
    const pressed = (await edits(play)).filter((fact) => (fact.price as { kind: string }).kind === 'pressure')
    expect(pressed.length).toBeGreaterThan(0)
    expect(pressed.length).toBeLessThan(15)
    const full = await clearing(['one'], { engine: { window: 8000 } })
    const last = (await full.say(words(12_000))).at(-1)
    if (last?.type === 'turn-end' && last.outcome === 'failed')
      expect(last.failure?.message).toMatch(/\d+ tokens.*8,000/)
    const sizes = full.scene.simulator.log.requests.map(({ prompt }) => prompt!.totalTokens)
    expect(sizes.filter((tokens) => tokens > 8000)).toEqual([])
  })

  it('[Z19] results so large that the newest alone pass the target do not press at nearly every request', async () => {
    const big = toolOf('Bash', (input) => lines(700, `line of run ${String(input['n'])}`))
    const play = await clearing([...rounds(...named('a', 30)), 'end'], {
      engine: { tools: [big], window: 40_000 },
      layers: { pressureClearing: true, autocompact: false },
    })
    expect((await play.say('work')).at(-1)).toMatchObject({ outcome: 'done' })
    const pressed = (await edits(play)).filter((fact) => (fact.price as { kind: string }).kind === 'pressure')
    expect(pressed.length).toBeGreaterThan(3)
    expect(pressed.length).toBeLessThan(7)
  })

  it('[Z19] E3: a result of 618 KB among the newest does not brick the session', async () => {
    const page = toolOf('Read', () => 'x'.repeat(79).concat('\n').repeat(7725), { maxResultChars: null })
    const steps = [[call('Bash', { n: 1 }, 'b')], [call('Read', {}, 'r')], 'seen', 'on']
    const store = inMemoryStore()
    const wide = await clearing(steps, { engine: { store, tools: [bash, page], window: 400_000 } })
    await wide.say('look')
    expect(wide.session.view().tokens).toBeGreaterThan(131_072)
    await wide.session.close()
    const layers = standardLayers({ pressureClearing: true })
    const engine = { store, layers, modelId, model: wide.scene.model, window: 131_072, clock: wide.clock }
    const narrow = await createEngine(engine).open(wide.session.id)
    const { outcome } = await turn(narrow.send('go on'))
    expect(outcome).toBe('done')
    expect(marked(wide.requests().at(-1)!)).toEqual(['r'])
    expect(wide.scene.simulator.log.last()!.prompt!.totalTokens).toBeLessThan(10_000)
    await narrow.close()
  })

  it('[Z22] what is left for its price is written down with the request, once for each choice, and listed', async () => {
    const read = toolOf('Read', () => lines(900), { maxResultChars: null })
    const reading = (id: string) => [call('Read', { file_path: '/a' }, id)]
    const steps = [reading('r1'), [call('Bash', { n: 1 }, 'b')], reading('r2'), 'one', 'two', 'three']
    const play = await clearing(steps, { engine: { tools: [bash, read] } })
    for (const text of ['look', 'on', 'and on']) await play.say(text)
    const list = new EditList()
    for await (const item of play.store.read(play.session.id))
      if (item.kind === 'entry') list.push(item.entry)
    expect(list.rows()).toEqual([])
    expect(list.declined()).toHaveLength(1)
    const [{ layer, tokens, price }] = list.declined() as [DeclinedRow]
    expect(layer).toBe('microcompact')
    expect(tokens).toBeGreaterThan(4000)
    const { saves, costs } = price as ClearingPrice
    expect(costs).toBeGreaterThan(0)
    expect(saves).toBeLessThan(10 * costs)
  })

  it('[Z20] one switch leaves everything alone, and every removal is listed and can be undone', async () => {
    const steps = [...rounds(...named('a', 8)), 'one', 'two']
    const off = await clearing(steps, { layers: { automaticRemoval: false } })
    await off.say('work')
    off.clock.advance(61 * minute)
    await off.say('back')
    expect(await off.session.edits()).toEqual([])
    const on = await clearing(steps)
    await on.say('work')
    on.clock.advance(61 * minute)
    await on.say('back')
    const [row] = await on.session.edits()
    expect(row).toMatchObject({ layer: 'microcompact', state: 'live', does: [{ kind: 'stub', count: 3 }] })
    await on.session.undo(row!.seq)
    expect((await on.session.edits())[0]!.state).toBe('undone')
    await on.say('and on')
    expect(marked(on.requests().at(-1)!)).toEqual([])
  })
})
