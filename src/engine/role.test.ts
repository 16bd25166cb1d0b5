import { describe, expect, it } from 'vitest'
import { inMemoryStore } from '../stores/index.ts'
import { anthropicWire } from '../wires/anthropic/wire.ts'
import { noHooks } from './hooks.ts'
import { ready, type EngineOptions } from './options.ts'
import { requestSteps } from './requests/request-steps.ts'
import { agent, fork, forkedAgent, inherited, main } from './role.ts'

const never = (): never => {
  throw new Error('asked')
}

/** Every option there is, so that one that is added must be decided about here. */
const every: Required<{ [Name in keyof EngineOptions]: EngineOptions[Name] }> = {
  store: inMemoryStore(),
  modelId: 'm',
  wire: anthropicWire,
  model: { stream: never },
  system: 'Work.',
  reminder: 'read this',
  situation: () => '',
  folderInstructions: never,
  tools: [],
  formerTools: [],
  layers: [],
  automaticRemoval: true,
  keepResults: 3,
  summariser: { summarise: never },
  notes: { heard: never, read: never },
  notesAsSummary: true,
  afterTurn: { ended: never, closing: never },
  prepare: true,
  restoration: {},
  recall: { quick: never, choose: never },
  companion: { hasWaiting: never, waiting: never, delivered: never },
  hooks: noHooks,
  judges: [],
  caps: { tokens: 1 },
  maxRounds: 3,
  toolPolicies: {},
  listen: () => undefined,
  nativeClearing: true,
  cacheDiagnostics: true,
  cwd: '.',
  models: new Map(),
  window: 1000,
  threshold: 500,
  thrift: 0.5,
  pressureClearing: true,
  maxOutputTokens: 100,
  thinking: { type: 'adaptive' },
  effort: 'low',
  cacheLifetime: '5m',
  clock: { now: () => 0 },
  ids: { uuid: never },
}

const kept = (role: typeof main): readonly string[] =>
  Object.entries(inherited(ready(every), role))
    .filter(
      ([name, value]) =>
        value !== undefined && !(name === 'caps' && Object.keys(value as object).length === 0),
    )
    .map(([name]) => name)
    .toSorted((a, b) => a.localeCompare(b))

describe('a role', () => {
  it('[E16] takes over from the session that made it what its list names, and nothing else', () => {
    const all = Object.keys(every)
    const left = (role: typeof main): readonly string[] => all.filter((name) => !kept(role).includes(name))
    const memory = ['recall', 'afterTurn', 'notes']
    expect(left(fork)).toEqual(
      expect.arrayContaining([...memory, 'companion', 'summariser', 'hooks', 'judges', 'caps']),
    )
    expect(left(forkedAgent)).toEqual(expect.arrayContaining([...memory, 'companion', 'summariser', 'caps']))
    expect(left(agent).toSorted((a, b) => a.localeCompare(b))).toEqual([
      'afterTurn',
      'caps',
      'notes',
      'recall',
      'situation',
    ])
    for (const role of [agent, fork, forkedAgent])
      expect(
        kept(role).filter(
          (name) => !(role.inherits as readonly string[]).includes(name) && name !== 'layers',
        ),
      ).toEqual([])
    // What is not known to be asked for does not reach a child, whatever it is called.
    expect(inherited(Object.assign(ready(every), { invented: 1 }), agent)).not.toHaveProperty('invented')
  })

  it('[E16] says what it may do: a fork changes nothing of the prefix it works on', () => {
    expect([main, agent, forkedAgent, fork].map(({ compacts }) => compacts)).toEqual([
      'all',
      'all',
      'own',
      'none',
    ])
    for (const role of [fork, forkedAgent])
      expect(role).toMatchObject({
        mayFork: false,
        mayStartAgents: false,
        hearsOthers: false,
        renewsReminder: false,
      })
    expect(agent).toMatchObject({ mayFork: true, mayStartAgents: false, hearsOthers: true, recalls: false })
  })
})

describe('making a request', () => {
  it('[E17] goes through its steps in this order', () => {
    expect(requestSteps.map(({ name }) => name)).toEqual([
      'deliver queued input',
      'tell of another working folder',
      'deliver what start hooks said',
      'say what holds now',
      'deliver results and messages',
      'recall memories',
      'hold media to the limits',
      'make room by media',
      'run layers',
      'deliver what start hooks said of a compaction',
      'compose',
      'check caps',
      'write down that it is sent',
      'choose memories meanwhile',
    ])
  })
})
