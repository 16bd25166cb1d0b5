// A summary prepared beside the talk, in an engine against the simulator.
import { describe, expect, it } from 'vitest'
import type { SummaryAnswer, SummaryAsk } from '../../src/compaction/summary.ts'
import type { EngineOptions, Session } from '../../src/index.ts'
import { Fold } from '../../src/projection/fold.ts'
import { entriesOf } from '../../src/testing/builders.ts'
import type { Fact } from '../../src/transcript/fact.ts'
import { seq, type Seq } from '../../src/transcript/ids.ts'
import { factsOf, ofType, refusals, simulated, turn, words } from '../e2e/simulated.ts'
import { reopened, turnOf } from './sessions.ts'
import { until } from '../until.ts'

const window = 40_000
const account = (count: number): SummaryAnswer => ({
  ok: true,
  text: `ACCOUNT ${count}. ${'It says what happened. '.repeat(20)}`,
  stop: 'end_turn',
  hasCalls: false,
})

const sizeOf = (rounds: number): number => {
  const fold = new Fold()
  for (const entry of entriesOf(...turnOf('build the parser', rounds, 40))) fold.push(entry)
  return fold.view().tokens
}
const threshold = 29_400
/** Enough words to pass the threshold from where the session is now. */
const rest = (session: Session): string => words(Math.ceil((threshold - session.view().tokens) * 1.3))

/** A session at about so many tokens, and a model that writes accounts when it is let. */
async function at(
  tokens: number,
  options: Partial<EngineOptions> = {},
  first: readonly Fact[] = [],
  onlyWithInstructions = false,
) {
  const asked: { readonly upTo: Seq; readonly wishes: string | null; readonly signal: AbortSignal }[] = []
  let release = (): void => undefined
  const gate = new Promise<void>((resolve) => (release = resolve))
  const summariser = {
    onlyWithInstructions,
    summarise: async ({ span, instructions: wishes }: SummaryAsk, signal: AbortSignal) => {
      asked.push({ upTo: span.to, wishes, signal })
      const stopped = new Promise<boolean>((resolve) =>
        signal.addEventListener('abort', () => resolve(true), { once: true }),
      )
      const isAborted = await Promise.race([gate.then(() => false), stopped])
      return isAborted ? ({ ok: false, why: 'stopped', isAborted: true } as const) : account(asked.length)
    },
  }
  const scene = await simulated(['one', 'two', 'three'])
  let rounds = 1
  while (sizeOf(rounds) < tokens) rounds++
  const { session, store } = await reopened([...first, ...turnOf('build the parser', rounds, 40)], {
    model: scene.model,
    window,
    summariser,
    ...options,
  })
  return { scene, session, store, asked, release, facts: () => factsOf(store, session.id) }
}

/** Above nine tenths of the threshold of this window, and below it. */
const nearly = 27_300

describe('a summary prepared ahead', () => {
  it('[RS13] is asked for shortly before the threshold and used without another call; what came since stays', async () => {
    const { scene, session, asked, release, facts } = await at(nearly)
    await turn(session.send('go on'))
    expect(asked.length).toBe(1)
    expect(ofType(await facts(), 'boundary')).toEqual([])
    release()
    await new Promise((resolve) => setImmediate(resolve))
    await turn(session.send(`and now this ${rest(session)}`))
    const [boundary] = ofType(await facts(), 'boundary')
    expect(boundary).toMatchObject({ trigger: 'auto', source: 'model' })
    expect(asked.length).toBe(1)
    const body = JSON.stringify(scene.simulator.log.requests.at(-1)?.body)
    expect(body).toContain('ACCOUNT 1')
    for (const wish of ['build the parser', 'go on', 'and now this']) expect(body).toContain(wish)
    expect(body).toContain('{"type":"text","text":"one"}')
    expect(refusals(scene)).toEqual([])
  })

  it('[SN11] that is the third in a row to fail says that the breaker opens', async () => {
    const failed = { type: 'compaction-failed', source: 'model', why: 'it is no summary' } as const
    const told: string[] = []
    const hostile: SummaryAnswer = { ok: true, text: 'no', stop: 'end_turn', hasCalls: true }
    const summariser = { summarise: async () => hostile }
    const listen: EngineOptions['listen'] = (event) => void (event.type === 'notice' && told.push(event.code))
    const { session, facts } = await at(nearly, { summariser, listen }, [failed, failed])
    await turn(session.send('go on'))
    await until(async () => ofType(await facts(), 'compaction-failed').length === 3)
    await session.close()
    expect(told).toEqual(['summary-failed', 'breaker-open'])
  })

  it('[SN29] heeds the compaction section of an instruction file', async () => {
    const reminder = '# Project\n\n## Compaction\n\nKeep every port number.\n\n## Style\n\nTabs.'
    const { session, asked } = await at(nearly, {}, [
      { type: 'instructions-set', sections: [], tools: [], reminder },
    ])
    await turn(session.send('go on'))
    expect(asked.map(({ wishes }) => wishes)).toEqual(['Keep every port number.'])
  })

  it('[SN50] is not asked for where a model writes only with instructions and there are none', async () => {
    const { session, asked, facts } = await at(nearly, {}, [], true)
    await turn(session.send('go on'))
    await turn(session.send(`and now this ${rest(session)}`))
    expect(ofType(await facts(), 'boundary')).toMatchObject([{ trigger: 'auto', source: 'extractive' }])
    expect(asked).toEqual([])
    const reminder = '# Project\n\n## Compaction\n\nKeep every port number.'
    const wished = await at(
      nearly,
      {},
      [{ type: 'instructions-set', sections: [], tools: [], reminder }],
      true,
    )
    await turn(wished.session.send('go on'))
    expect(wished.asked).toHaveLength(1)
  })

  it('[RS14] is stopped with the turn and with the session, and leaves no trace', async () => {
    const { session, asked, facts } = await at(nearly)
    const stop = new AbortController()
    const running = turn(session.send('go on', stop.signal))
    await running
    const before = (await facts()).map(({ type }) => type)
    expect(before).not.toContain('compaction-failed')
    stop.abort()
    expect(asked[0]!.signal.aborted).toBe(true)
    await session.close()
    expect((await facts()).map(({ type }) => type)).toEqual(before)
  })

  it('[RS15] is not used once something was taken back, nor where somebody asks for something else', async () => {
    const { session, asked, release, facts } = await at(nearly)
    release()
    await turn(session.send('go on'))
    await new Promise((resolve) => setImmediate(resolve))
    const place = (await facts()).findIndex(
      (fact) => fact.type === 'assistant-message' && fact.messageId === 'm_buildtheparser_12',
    )
    await session.rewind(seq(place - 1))
    await session.compact()
    expect(asked.length).toBe(2)
    const other = await at(nearly)
    other.release()
    await turn(other.session.send('go on'))
    await other.session.compact({ instructions: 'the printer' })
    expect(other.asked.length).toBe(2)
  })

  it('[RS16] E12: one that is too late or too long does not hold anything up: the text is extracted', async () => {
    const huge = { summarise: () => Promise.resolve({ ...account(1), text: words(30_000) } as SummaryAnswer) }
    const { scene, session, facts } = await at(nearly, { summariser: huge })
    await turn(session.send('go on'))
    const ended = await turn(session.send(`and now this ${rest(session)}`))
    expect(ended.outcome).toBe('done')
    expect(ofType(await facts(), 'boundary')[0]).toMatchObject({ source: 'extractive' })
    expect(refusals(scene)).toEqual([])
  })

  it('[RS16] E12: one that hangs is given up, and the text made without it', async () => {
    const { session, asked, release, facts } = await at(nearly, { prepare: { waitMs: 20 } })
    await turn(session.send('go on'))
    const compacting = session.compact()
    await until(() => asked.length === 2, 'another summary to be asked for')
    expect(asked[0]!.signal.aborted).toBe(true)
    release()
    await compacting
    expect(ofType(await facts(), 'boundary')[0]).toMatchObject({ source: 'model' })
    expect(ofType(await facts(), 'compaction-failed')).toEqual([])
  })

  it('[RS13] is not asked for where notes or nobody would write it, nor when switched off', async () => {
    const { session, asked } = await at(nearly, { prepare: false })
    await turn(session.send('go on'))
    expect(asked).toEqual([])
  })
})
