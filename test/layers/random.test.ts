// The laws of layers over random sessions as they are really led: over HTTP, with pauses, undo, pins, snips and forks,
// straight through or closed and opened again.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { WireRequest } from '../../src/model/wire.ts'
import { call, type ScriptStep } from '../../src/simulator/index.ts'
import { isEditing, type Fact, type FactOf } from '../../src/transcript/fact.ts'
import { seq, type Seq } from '../../src/transcript/ids.ts'
import { snipTool } from '../../src/tools/context.ts'
import { refusals } from '../e2e/simulated.ts'
import { lines, minute } from './scribe.ts'
import { plainBytes, stage, toolOf, type Stage } from './stage.ts'

// More runs for a long look: PROPERTY_RUNS=500 npx vitest run test/layers/random.test.ts
const runs = { numRuns: Number(process.env['PROPERTY_RUNS'] ?? 7) }

const calls = fc.record({
  tool: fc.constantFrom('Read', 'Read', 'Bash', 'Edit', 'mcp__x'),
  file: fc.nat({ max: 2 }),
  size: fc.constantFrom(2, 60, 250, 900),
})
const turns = fc.array(
  fc.record({
    rounds: fc.array(fc.array(calls, { minLength: 1, maxLength: 3 }), { maxLength: 8 }),
    snips: fc.nat({ max: 4 }).map((n) => n === 0),
    /** Before it. */
    minutes: fc.constantFrom(0, 0, 1, 6, 61),
    after: fc.constantFrom('nothing', 'nothing', 'undo', 'pin', 'fork'),
  }),
  { minLength: 3, maxLength: 6 },
)
const settings = fc.record({
  cacheEdits: fc.boolean(),
  window: fc.constantFrom(24_000, 60_000, 200_000),
  lifetime: fc.constantFrom('5m', '1h'),
  layers: fc.record({
    timeBased: fc.constant(true),
    pressure: fc.boolean(),
    autocompact: fc.boolean(),
    digestChars: fc.constantFrom(0, 240),
    keep: fc.integer({ min: 1, max: 5 }),
    messageChars: fc.constantFrom(20_000, 200_000),
    thrift: fc.constantFrom(0, 0.4, 1),
  }),
})
type Turns = typeof turns extends fc.Arbitrary<infer T> ? T : never
type Set = typeof settings extends fc.Arbitrary<infer T> ? T : never

const tagsIn = (request: WireRequest): string[] =>
  [...JSON.stringify(request.messages).matchAll(/\[id:([0-9a-f]+)\]/g)].map(([, tag]) => tag!)

function stepsOf(list: Turns): ScriptStep[] {
  const steps = list.flatMap(({ rounds, snips }, turn): ScriptStep[] => [
    ...rounds.map((round, at) =>
      round.map(({ tool, file, size }, index) =>
        call(tool, { file_path: `/f${file}`, size }, `t${turn}-${at}-${index}`),
      ),
    ),
    ...(snips
      ? [
          (request: WireRequest) => [
            call('Snip', { ids: tagsIn(request).slice(0, 1), reason: 'x' }, `s${turn}`),
          ],
        ]
      : []),
    `answer ${turn}`,
  ])
  return [...steps, ...Array.from({ length: 40 }, (_, index) => `more ${index}`)]
}

/** Leads the session; where it is told to, closes and opens it before its last turn. */
async function played(list: Turns, { cacheEdits, window, lifetime, layers }: Set, resumes: boolean) {
  const tools = ['Read', 'Bash', 'Edit', 'mcp__x'].map((name) =>
    toolOf(name, ({ size }) => lines(Number(size)), { results: name === 'mcp__x' ? 'keep' : 'clear' }),
  )
  const play = await stage(stepsOf(list), {
    cacheEdits,
    layers,
    simulator: { log: { bodies: 1000 } },
    engine: { tools: [...tools, snipTool()], window, cacheLifetime: lifetime },
  })
  const failures: string[] = []
  let before = 0
  for (const [index, { minutes, after }] of list.entries()) {
    play.clock.advance(minutes * minute)
    before = play.requests().length
    if (resumes && index === list.length - 1) await play.reopen()
    const end = (await play.say(`turn ${index}`)).at(-1)
    if (end?.type === 'turn-end' && end.failure !== null) failures.push(end.failure.message)
    await done(play, after)
  }
  return { play, failures, before, bodies: tagsNumbered(play.requests().map(plainBytes)) }
}

/** A tag comes from an id, and opening a session may take some: here they are numbered as they come. */
function tagsNumbered(bodies: readonly string[]): readonly string[] {
  const numbers = new Map<string, number>()
  return bodies.map((body) =>
    body.replaceAll(/\[id:[0-9a-f]+\]/g, (tag) => {
      numbers.set(tag, numbers.get(tag) ?? numbers.size)
      return `[id:${numbers.get(tag)}]`
    }),
  )
}

/** What is done between turns; what cannot be done is left. */
async function done(play: Stage, after: Turns[number]['after']): Promise<void> {
  const { session } = play
  const newest = (await session.edits()).findLast(({ state }) => state === 'live')
  if (after === 'undo' && newest !== undefined) await session.undo(newest.seq).catch(() => null)
  if (after === 'pin') await session.pin({ seq: firstResult(await play.facts()) }).catch(() => null)
  if (after === 'fork') await session.fork({ purpose: 'notes', directive: 'write notes' })
}

const firstResult = (facts: readonly Fact[]): Seq =>
  seq(
    Math.max(
      0,
      facts.findIndex(({ type }) => type === 'tool-result'),
    ),
  )

/** What stood between two requests of the main thread changed bytes that had been sent. */
const rewrites = (fact: Fact): boolean =>
  fact.type === 'undo' || (isEditing(fact) && fact.edits.some(({ kind }) => kind !== 'remote'))

const startsOf = (fact: FactOf<'boundary'>): number[] =>
  fact.edits.map((edit) => ('from' in edit ? edit.from : 'seq' in edit.at ? edit.at.seq : Infinity))

/** The calls whose results the server is told to leave out. */
const deletedIn = (body: string): string[] =>
  ((JSON.parse(body) as WireRequest).cache_edits ?? []).map(({ cache_reference }) => cache_reference)

const resultPlace = (facts: readonly Fact[], id: string): number =>
  facts.findIndex((fact) => fact.type === 'tool-result' && fact.call === id)

const messagesOf = (body: string): string[] =>
  (JSON.parse(body) as WireRequest).messages.map((message) => JSON.stringify(message))

/** Where two runs part, in few words: whole requests would say nothing. */
function firstDifference(these: readonly string[], those: readonly string[]): string | null {
  for (const [index, body] of those.entries()) {
    const other = these[index] ?? ''
    if (other === body) continue
    let at = 0
    while (other[at] === body[at]) at++
    const around = (text: string) => text.slice(Math.max(0, at - 60), at + 60)
    return `request ${index}, character ${at}: ${around(other)} <> ${around(body)}`
  }
  return these.length === those.length ? null : `${these.length} requests and ${those.length}`
}

describe('random sessions with the layers on', () => {
  it('[L1][L2][C1] send what fits and is accepted, each request begins with the one before unless an edit says so, a fork too, and a resume changes no byte', async () => {
    const ways = new Map<string, number>()
    let forks = 0
    await fc.assert(
      fc.asyncProperty(turns, settings, async (list, set) => {
        const { play, failures, before, bodies } = await played(list, set, false)
        expect(refusals(play.scene)).toEqual([])
        for (const { prompt } of play.scene.simulator.log.requests)
          expect(prompt!.totalTokens).toBeLessThanOrEqual(set.window)
        for (const failure of failures) expect(failure).toMatch(/\d+/)
        const facts = await play.facts()
        const sent = facts.flatMap((fact, place) => (fact.type === 'request-sent' ? [place] : []))
        const own = bodies.filter((body) => !body.includes('write notes'))
        expect(own.length).toBe(sent.length)
        for (const [index, body] of own.entries()) {
          const since = facts.slice(index === 0 ? 0 : sent[index - 1], sent[index])
          // What stands in front of a boundary was not rewritten by it: only there the server may still leave out.
          const rewritten = Math.min(...since.filter((fact) => fact.type === 'boundary').flatMap(startsOf))
          for (const place of deletedIn(body).map((id) => resultPlace(facts, id)))
            expect(place).toBeLessThan(rewritten)
          if (index === 0 || since.some(rewrites)) continue
          const earlier = messagesOf(own[index - 1]!)
          expect(messagesOf(body).slice(0, earlier.length)).toEqual(earlier)
        }
        for (const [index, body] of bodies.entries()) {
          if (!body.includes('write notes')) continue
          const parent = messagesOf(bodies[index - 1]!)
          expect(messagesOf(body).slice(0, parent.length)).toEqual(parent)
          forks++
        }
        for (const { layer, price } of (await play.session.edits()).values()) {
          const way = (price as { kind?: string } | undefined)?.kind ?? layer
          ways.set(way, (ways.get(way) ?? 0) + 1)
        }
        // Behind that the two may part: who saw the last request is told more of a cache that was lost.
        const resumed = (await played(list, set, true)).bodies
        expect(firstDifference(resumed.slice(0, before + 1), bodies.slice(0, before + 1))).toBeNull()
      }),
      { ...runs, endOnFailure: true },
    )
    // One that says nothing has not been tried.
    expect(ways.size).toBeGreaterThan(2)
    expect(forks).toBeGreaterThan(0)
  })
})
