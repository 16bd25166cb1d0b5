// kill -9 at random points: whatever moment it strikes, the session opens again, everything that was acknowledged is
// there, once and in order, and the judge accepts every request.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fileStore } from '../../src/index.ts'
import { call, text, type Answerer } from '../../src/simulator/index.ts'
import { sessionId, type SessionId } from '../../src/transcript/ids.ts'
import type { Store } from '../../src/transcript/store.ts'
import { exited, linesOf, program, type Program } from '../faults/child.ts'
import { damageOf, factsOf, folder, ofType, refusals, simulated, type SimulatedApi } from './simulated.ts'

let agent: Program
beforeAll(async () => {
  agent = await program('../e2e/agent-child.ts')
})
afterAll(() => agent.remove())

// Three rounds of calls, then an answer, whatever was said: counted by what the request itself shows since the last input.
const rounds = 3
const worker: Answerer = {
  answer: ({ request, turn }) => {
    const at = request.messages.findLastIndex(
      ({ role, content }) =>
        role === 'user' && (typeof content === 'string' || content.some((block) => block.type === 'text')),
    )
    const done = request.messages.slice(at).filter(({ role }) => role === 'assistant').length
    if (done >= rounds) return { content: [text('done')], stop_reason: 'end_turn' }
    const calls = ['look', 'look', 'touch'].map((name, index) => call(name, {}, `toolu_${turn}_${index}`))
    return { content: [text('working '.repeat(20)), ...calls], stop_reason: 'tool_use' }
  },
}

interface Run {
  readonly session: SessionId | null
  readonly acknowledged: readonly string[]
  readonly ended: string | null
  readonly openMs: number
  readonly turnMs: number
  readonly requests: number
}

/** From which moment: its start, its session being open, or the nth request of its turn. */
interface Kill {
  readonly from: 'start' | 'opened' | number
  readonly ms: number
}

/** Runs the agent and kills it some time after a moment; null lets it end. */
async function run(
  scene: SimulatedApi,
  root: string,
  id: SessionId | null,
  input: string,
  kill: Kill | null,
): Promise<Run> {
  const child = agent.run(root, scene.url, id ?? 'new', input)
  let timer: NodeJS.Timeout | null = null
  const killFrom = (from: Kill['from']): void => {
    if (kill?.from === from) timer ??= setTimeout(() => child.kill('SIGKILL'), kill.ms)
  }
  killFrom('start')
  const { log } = scene.simulator
  const before = log.requests.length
  const watch = setInterval(() => {
    if (typeof kill?.from === 'number' && log.requests.length >= before + kill.from) killFrom(kill.from)
  }, 1)
  const startedAt = performance.now()
  let openedAt = startedAt
  let session = id
  let ended: string | null = null
  const acknowledged: string[] = []
  for await (const line of linesOf(child)) {
    const [word, rest] = [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]
    if (word === 'session') {
      session = sessionId(rest)
      openedAt = performance.now()
      killFrom('opened')
    } else if (word === 'end') ended = rest
    else acknowledged.push(rest)
  }
  await exited(child)
  clearInterval(watch)
  if (timer !== null) clearTimeout(timer)
  return {
    session,
    acknowledged,
    ended,
    openMs: openedAt - startedAt,
    turnMs: performance.now() - openedAt,
    requests: log.requests.length - before,
  }
}

async function inputsOf(store: Store, session: SessionId): Promise<string[]> {
  const inputs = ofType(await factsOf(store, session), 'user-message')
  return inputs.map(({ content }) =>
    content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
  )
}

describe('kill -9', () => {
  // Sixty processes one after the other: the limit is against hanging, on a busy machine too.
  it(
    '[T1] at 50 random points of a session loses nothing acknowledged and every request is accepted',
    { timeout: 900_000 },
    async () => {
      const scene = await simulated([], { answerer: worker })
      const root = await folder()
      const acknowledged: string[] = []
      let session: SessionId | null = null
      let killed = 0
      /** Rounds whose second request has come: their input was acknowledged before. */
      let sure = 0
      const whole = await run(scene, root, null, 'warm up', null)
      expect(whole.ended).toBe('done ')
      for (let round = 0; killed < 50; round++) {
        // Somewhere before and between the requests of the turn, sometimes while the session is being opened.
        const between = (whole.turnMs / whole.requests) * Math.random()
        const kill: Kill =
          round % 6 === 5
            ? { from: 'start', ms: whole.openMs * (0.7 + Math.random() / 2) }
            : { from: round % 6 || 'opened', ms: between }
        const {
          acknowledged: more,
          ended,
          session: own,
          requests,
        } = await run(scene, root, session, `input ${round}`, kill)
        if (requests > 1) sure++
        acknowledged.push(...more)
        session = own
        if (ended === null) killed++
        else expect(ended).toBe('done ')
      }
      const last = await run(scene, root, session, 'are you there?', null)
      expect(last.ended).toBe('done ')
      const store = fileStore({ root })
      const inputs = await inputsOf(store, session!)
      expect(await damageOf(store, session!)).toEqual([])
      expect(sure).toBeGreaterThan(20)
      expect(acknowledged.length).toBeGreaterThanOrEqual(sure)
      const known = inputs.filter((input) => acknowledged.includes(input))
      expect(known).toEqual(acknowledged)
      expect(new Set(inputs).size).toBe(inputs.length)
      expect(refusals(scene)).toEqual([])
    },
  )

  it('[T1] of 20 parallel sessions, then resumed: all are valid', async () => {
    const scene = await simulated([], { answerer: worker })
    const root = await folder()
    const first = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        run(scene, root, null, `session ${index}`, { from: 'opened', ms: 40 * index }),
      ),
    )
    const begun = first.filter((one) => one.session !== null)
    expect(begun.length).toBe(20)
    for (let at = 0; at < begun.length; at += 5) {
      const some = begun.slice(at, at + 5)
      const again = await Promise.all(some.map((one) => run(scene, root, one.session, 'go on', null)))
      expect(again.map((one) => one.ended)).toEqual(again.map(() => 'done '))
    }
    const store = fileStore({ root })
    for (const { session, acknowledged } of begun) {
      const inputs = await inputsOf(store, session!)
      expect(inputs.filter((input) => acknowledged.includes(input))).toEqual(acknowledged)
    }
    expect(refusals(scene)).toEqual([])
  })
})
