// What must not be forgotten (need 4): a token of its own in each source, five compactions one upon the other, and a
// summariser that answers garbage; the token is in the request that goes over the wire.
import { expect, it } from 'vitest'
import type { Restorer } from '../../src/engine/restoring/restorer.ts'
import { answered, call as calling, result, said } from '../../src/testing/builders.ts'
import type { Fact } from '../../src/transcript/fact.ts'
import { factsOf, ofType, refusals, simulated, turn } from '../e2e/desk.ts'
import { reopened, turnOf, work } from './desk.ts'

const mark = (source: string): string => `PLAN-PERSIST-42-${source}`
const attached = (kind: string, text: string): Fact => ({
  type: 'attachment',
  kind,
  content: [{ type: 'text', text }],
})

/** As the registry of agents says it: whoever still works is named, wherever the list is asked from. */
const agents: Restorer = {
  name: 'agents',
  restore: async () => `<agents>\n${mark('AGENT')} is still working in the background\n</agents>`,
}

const tasks = {
  tasks: [
    { title: 'done before', state: 'done' },
    { title: mark('TASK'), state: 'active' },
  ],
}

const facts: readonly Fact[] = [
  { type: 'instructions-set', sections: [], tools: [], reminder: `Rules of the project: ${mark('RULES')}` },
  said(`The goal: ${mark('GOAL')}`),
  attached('plan', `<plan>\n1. ${mark('PLAN')}\n2. the rest\n</plan>`),
  attached('mode', `<mode>planning ${mark('OLD-MODE')}</mode>`),
  attached('mode', `<mode>working, edits allowed ${mark('MODE')}</mode>`),
  answered([calling('tl', 'TaskList', tasks)], { id: 'tl' }),
  result('tl', 'ok'),
  ...work(6, 100, 'a'),
  answered(`A finding worth keeping: ${mark('PIN')}`, { id: 'pinned' }),
  ...turnOf('a second wish', 6, 100),
]

const garbage = [
  { ok: true, text: 'lorem ipsum dolor '.repeat(40), stop: 'end_turn', hasCalls: false },
  { ok: true, text: '', stop: 'end_turn', hasCalls: false },
  { ok: true, text: 'I cannot do that.', stop: 'refusal', hasCalls: false },
  { ok: true, text: '', stop: 'tool_use', hasCalls: true },
  { ok: false, why: 'the stream was cut', isAborted: false },
] as const

it('[RS8] every source is in the request after five compactions with garbage for a summary', async () => {
  const rounds = 5
  const answers = Array.from(
    { length: rounds },
    (_, n) => `Finding ${n}. ${'A long tale of no use. '.repeat(300)}`,
  )
  const scene = await simulated([...answers, 'the end'])
  let asked = 0
  const summariser = { summarise: () => Promise.resolve(garbage[asked++ % garbage.length]!) }
  const { session, store } = await reopened(facts, {
    model: scene.model,
    summariser,
    restoration: { restorers: [agents] },
  })
  const pinned = [...session.view().messages]
    .flatMap(({ parts }) => parts)
    .find((part) => JSON.stringify(part.blocks).includes(mark('PIN')))!
  await session.pin({ seq: pinned.from })
  for (let round = 0; round < rounds; round++) {
    await turn(session.send(`go on ${round}`))
    await session.compact()
  }
  await turn(session.send(`Last: ${mark('LAST')}`))
  const body = JSON.stringify(scene.simulator.log.requests.at(-1)?.body)
  for (const source of ['RULES', 'GOAL', 'LAST', 'PLAN', 'TASK', 'PIN', 'AGENT', 'MODE'])
    expect(body, source).toContain(mark(source))
  // Once each: what is given back does not pile up, and the mode is the last one set.
  for (const source of ['PLAN', 'MODE', 'AGENT']) expect(body.split(mark(source)).length - 1, source).toBe(1)
  expect(body).not.toContain(mark('OLD-MODE'))
  expect(body).toContain('done before')
  expect(ofType(await factsOf(store, session.id), 'boundary').length).toBe(rounds)
  expect(refusals(scene)).toEqual([])
})
