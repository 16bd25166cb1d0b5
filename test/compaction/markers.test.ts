// What must not be forgotten: a token of its own in each source, five compactions one upon the other, and a
// summariser that answers garbage; the token is in the request that goes over the wire.
import { expect, it } from 'vitest'
import type { Restorer } from '../../src/engine/restoring/restorer.ts'
import { call } from '../../src/simulator/index.ts'
import { answered, call as calling, result, said } from '../../src/testing/builders.ts'
import { fixedSession } from '../../src/testing/builders.ts'
import type { Tool } from '../../src/tools/tool.ts'
import type { Fact } from '../../src/transcript/fact.ts'
import { factsOf, ofType, refusals, simulated, tool, turn } from '../e2e/simulated.ts'
import { reopened, turnOf, work } from './sessions.ts'

const mark = (source: string): string => `PLAN-PERSIST-42-${source}`
const attached = (kind: string, text: string): Fact => ({
  type: 'attachment',
  kind,
  content: [{ type: 'text', text }],
})

/** Handed in from outside, as the skills of a preset are. */
const skills: Restorer = {
  name: 'skills',
  restore: async ({ kept }) =>
    kept.some(({ attachment }) => attachment?.kind === 'skills') ? null : `<skills>${mark('SKILL')}</skills>`,
}

/** Starts an agent that does not end: its start is a fact, as that of every agent is. */
const start: Tool = {
  ...tool('Start', () => ''),
  run: async () => ({
    content: [{ type: 'text', text: 'started' }],
    isError: false,
    facts: [
      {
        type: 'agent-start',
        child: fixedSession(9),
        label: mark('AGENT'),
        agent: 'explore',
        mode: 'background',
      },
    ],
  }),
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

it('[O11] every source is in the request after five compactions with garbage for a summary', async () => {
  const rounds = 5
  const answers = Array.from(
    { length: rounds },
    (_, n) => `Finding ${n}. ${'A long tale of no use. '.repeat(300)}`,
  )
  const scene = await simulated([[call('Start', {})], ...answers, 'the end'])
  let asked = 0
  const summariser = { summarise: () => Promise.resolve(garbage[asked++ % garbage.length]!) }
  const { session, store } = await reopened(facts, {
    model: scene.model,
    tools: [start],
    summariser,
    restoration: { restorers: [skills] },
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
  for (const source of ['RULES', 'GOAL', 'LAST', 'PLAN', 'TASK', 'PIN', 'AGENT', 'MODE', 'SKILL'])
    expect(body, source).toContain(mark(source))
  // Once each: what is given back does not pile up, and the mode is the last one set.
  for (const source of ['PLAN', 'MODE', 'AGENT', 'SKILL'])
    expect(body.split(mark(source)).length - 1, source).toBe(1)
  expect(body).not.toContain(mark('OLD-MODE'))
  expect(body).toContain('done before')
  expect(ofType(await factsOf(store, session.id), 'boundary').length).toBe(rounds)
  expect(refusals(scene)).toEqual([])
})
