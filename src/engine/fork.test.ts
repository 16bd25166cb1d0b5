import { expect, it } from 'vitest'
import { scriptedMessage, scriptedModel } from '../model/scripted.ts'
import { inMemoryStore } from '../stores/index.ts'
import { countingIds, fixedClock, said, start } from '../testing/builders.ts'
import { storeWith, type Store } from '../transcript/store.ts'
import { seq, sessionId } from '../transcript/ids.ts'
import { Core } from './core.ts'
import { runFork } from './fork.ts'
import { ready } from './options.ts'
import { fork as forkRole, main, type Role } from './role.ts'
import { newState } from './state.ts'

const signal = new AbortController().signal

async function coreOf(name: string, store: Store, role: Role = main): Promise<Core> {
  const session = sessionId(name)
  const model = scriptedModel([scriptedMessage('done')])
  const options = ready({ store, modelId: 'm', model, clock: fixedClock(), ids: countingIds() })
  const leased = await store.lease(session)
  if (!leased.ok) throw new Error('the session is open elsewhere')
  const core = new Core({
    options,
    session,
    source: 'main',
    role,
    fork: runFork,
    lease: leased.lease,
    state: newState(),
    links: [{ session, from: seq(0), to: seq(Number.MAX_SAFE_INTEGER) }],
  })
  await core.append([start(session), said('hello')])
  return core
}

it('[F5] a fork cannot fork again', async () => {
  const store = inMemoryStore()
  const parent = await coreOf('parent', store)
  const child = await coreOf('child', store, forkRole)
  const refused = await runFork(child, { purpose: 'agent', directive: 'deeper' }, signal)
  expect(refused).toMatchObject({ outcome: 'failed', session: null, failure: { code: 'no-recursion' } })
  expect(await runFork(parent, { purpose: 'agent', directive: 'work' }, signal)).toMatchObject({
    text: 'done',
  })
})

it('[E1] a fork that cannot begin says why and leaves no session held', async () => {
  const inner = inMemoryStore()
  let isFull = false
  const leases: string[] = []
  const full = { ok: false, why: 'failed', failure: { code: 'disk-full', message: 'no space' } } as const
  const store = storeWith(inner, {
    append: (...facts) => (isFull ? Promise.resolve(full) : inner.append(...facts)),
    lease: (session) => (leases.push(session), inner.lease(session)),
    release: (lease) => (leases.splice(leases.indexOf(lease.session), 1), inner.release(lease)),
  })
  const parent = await coreOf('parent', store)
  isFull = true
  const outcome = await runFork(parent, { purpose: 'agent', directive: 'work' }, signal)
  expect(outcome).toMatchObject({ outcome: 'failed', failure: { code: 'disk-full' } })
  expect(leases).toEqual(['parent'])
})
