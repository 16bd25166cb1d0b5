// Collapse in an engine against the simulator: staged beside the talk, committed before the room ends.
import { describe, expect, it } from 'vitest'
import { createEngine, type EngineOptions, type Session } from '../../src/index.ts'
import { standardLayers } from '../../src/projection/layers/index.ts'
import type { Fact } from '../../src/transcript/fact.ts'
import { seq, type Seq } from '../../src/transcript/ids.ts'
import { factsOf, modelId, ofType, refusals, simulated, turn } from '../e2e/desk.ts'
import { reopened, turnOf } from './desk.ts'

const layers = standardLayers({ budget: false, microcompact: false, collapse: true })
const window = 100_000
/** Turns of about 8,000 tokens each. */
const past = (turns: number): Fact[] =>
  Array.from({ length: turns }, (_, index) => turnOf(`wish number ${index}`, 8, 100)).flat()

async function at(turns: number, options: Partial<EngineOptions> = {}) {
  const scene = await simulated(['one', 'two', 'three'])
  const { session, store } = await reopened(past(turns), { model: scene.model, window, layers, ...options })
  const facts = () => factsOf(store, session.id)
  const commits = async () => ofType(await facts(), 'view-edit').filter(({ layer }) => layer === 'collapse')
  return { scene, session, store, facts, commits }
}

/** A model that writes an account of each span. */
function writer() {
  const texts: number[] = []
  const summarise = ({ span }: { readonly span: { readonly from: Seq } }) => {
    texts.push(span.from)
    const text = `ACCOUNT of ${span.from}. ${'It says what happened. '.repeat(20)}`
    return Promise.resolve({ ok: true as const, text, stop: 'end_turn', hasCalls: false })
  }
  return { texts, summariser: { summarise } }
}

const fill = (session: Session): number => session.view().tokens / window

describe('collapse', () => {
  it('[CO3] stages the best spans at seventy per cent and leaves the view alone', async () => {
    const { texts, summariser } = writer()
    const { session, facts, commits } = await at(7, { summariser })
    expect(fill(session)).toBeGreaterThan(0.53)
    expect(fill(session)).toBeLessThan(0.65)
    const before = JSON.stringify([...session.view().messages].slice(0, -1))
    await turn(session.send('go on'))
    await session.close()
    const stages = ofType(await facts(), 'collapse-stage')
    expect(stages[0]).toMatchObject({ armed: true })
    expect(stages[0]!.spans.every(({ text }) => text === undefined)).toBe(true)
    const last = stages.at(-1)!
    expect(last.spans.length).toBeGreaterThan(1)
    expect(last.spans.every(({ text }) => text?.startsWith('ACCOUNT of') === true)).toBe(true)
    expect(texts.length).toBe(last.spans.length)
    expect(await commits()).toEqual([])
    expect(JSON.stringify([...session.view().messages])).toContain(before.slice(1, -1))
  })

  it('[CO4] commits at ninety per cent, oldest first, until the target, and autocompact does not run', async () => {
    const { scene, session, facts, commits } = await at(10)
    await turn(session.send('go on'))
    const edits = await commits()
    const places = edits.map(({ edits: [edit] }) => (edit?.kind === 'summary' ? edit.from : 0))
    expect(edits.length).toBeGreaterThan(2)
    // What is written again is paid once, with the first.
    const tails = edits.map(({ price }) => (price as { readonly tailTokens: number }).tailTokens)
    expect(tails[0]).toBeGreaterThan(10_000)
    expect(tails.slice(1).every((tail) => tail === 0)).toBe(true)
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    expect(ofType(await facts(), 'boundary')).toEqual([])
    expect(session.view().tokens).toBeLessThan(40_000)
    const body = JSON.stringify(scene.simulator.log.requests.at(-1)?.body)
    for (let index = 0; index < 10; index++) expect(body).toContain(`wish number ${index}`)
    expect(refusals(scene)).toEqual([])
  })

  it('[CO5] an archived span can be opened again and then stays open', async () => {
    const { session, facts, commits } = await at(10)
    const before = [...session.view().messages]
    await turn(session.send('go on'))
    const [first] = await commits()
    const place = (await facts()).findIndex((fact) => fact.type === 'view-edit' && fact.layer === 'collapse')
    await session.undo(seq(place))
    const opened = JSON.stringify([...session.view().messages].map(({ content }) => content))
    const edit = first!.edits[0]!
    const inside = before.filter(
      (message) => edit.kind === 'summary' && message.from >= edit.from && message.to <= edit.to,
    )
    for (const { content } of inside.slice(1)) expect(opened).toContain(JSON.stringify(content).slice(1, -1))
    await turn(session.send('and on'))
    expect(
      (await commits()).filter(({ edits: [one] }) =>
        JSON.stringify(one).includes(`"from":${edit.kind === 'summary' ? edit.from : -1},`),
      ).length,
    ).toBe(1)
  })

  it('[CO6] a resume brings back what was staged and what was committed', async () => {
    const { scene, session, store, commits } = await at(7, { summariser: writer().summariser })
    await turn(session.send('go on'))
    await session.close()
    const engine = createEngine({ store, modelId, model: scene.model, window: 48_000, layers })
    const again = await engine.open(session.id)
    await turn(again.send('and on'))
    const edits = await commits()
    expect(edits.length).toBeGreaterThan(1)
    for (const { edits: own } of edits) expect(JSON.stringify(own)).toContain('ACCOUNT of')
    const shown = JSON.stringify([...again.view().messages])
    await again.close()
    const third = await engine.open(session.id)
    expect(JSON.stringify([...third.view().messages])).toBe(shown)
    await third.close()
  })

  it('[CO7] is off unless it is switched on', async () => {
    const { session, commits, facts } = await at(10, {
      layers: standardLayers({ budget: false, microcompact: false }),
    })
    await turn(session.send('go on'))
    expect(await commits()).toEqual([])
    expect(ofType(await facts(), 'collapse-stage')).toEqual([])
  })

  it('[CO8] a text that fails is said and its span extracted; nothing breaks', async () => {
    const summariser = {
      summarise: () => Promise.resolve({ ok: false as const, why: 'no luck', isAborted: false }),
    }
    const { session, facts, commits } = await at(7, { summariser })
    const ended = await turn(session.send('go on'))
    expect(ended.outcome).toBe('done')
    await session.close()
    expect(
      ofType(await facts(), 'collapse-stage')
        .at(-1)!
        .spans.some(({ text }) => text === ''),
    ).toBe(true)
    expect(await commits()).toEqual([])
  })

  it('[CO9] autocompact runs where the commits leave the view above the threshold', async () => {
    const scene = await simulated(['one'])
    const { session, store } = await reopened(turnOf('one long wish', 90, 100), {
      model: scene.model,
      window,
      layers,
    })
    expect(session.view().tokens).toBeGreaterThan(80_000)
    await turn(session.send('go on'))
    const facts = await factsOf(store, session.id)
    expect(ofType(facts, 'boundary').length).toBe(1)
    expect(refusals(scene)).toEqual([])
  })
})
