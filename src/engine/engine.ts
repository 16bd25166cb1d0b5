// The engine: opens, resumes and lists sessions over a store.
import { Fold } from '../projection/fold.ts'
import type { Fact } from '../transcript/fact.ts'
import { emptyTail, type Tail } from '../transcript/grammar.ts'
import { seq, sessionId, type SessionId } from '../transcript/ids.ts'
import type { Damage, LeaseOutcome, Result, SessionInfo } from '../transcript/store.ts'
import { Core } from './core.ts'
import { ready, sectionsOf, type EngineOptions, type Ready } from './options.ts'
import { resume, type Resumed } from './resume.ts'
import { EngineError, Session } from './session.ts'

export interface Opened {
  readonly session: Session
  /** What was found damaged, and what was done about it. To be shown. */
  readonly damage: readonly Damage[]
}

export interface Engine {
  /** A new session, or an earlier one by its id. Rejects with an EngineError. */
  open(id?: SessionId): Promise<Session>
  /** As `open`, with what was found on the way. */
  openWith(id?: SessionId): Promise<Opened>
  /** The entries, folded, without becoming the writer: works while another process writes. */
  read(id: SessionId): Promise<Result<Resumed>>
  /** A new session that begins with everything another said. */
  branch(id: SessionId): Promise<Session>
  /** Newest first. */
  sessions(): AsyncIterable<Result<SessionInfo>>
}

export function createEngine(options: EngineOptions): Engine {
  const own = ready(options)
  const openWith = (id?: SessionId): Promise<Opened> => (id === undefined ? start(own) : reopen(own, id))
  return {
    open: async (id) => (await openWith(id)).session,
    openWith,
    read: (id) => resume(own.store, id, own.models),
    branch: (id) => branch(own, id),
    sessions: () => own.store.list(),
  }
}

async function start(options: Ready): Promise<Opened> {
  const session = sessionId(options.ids.uuid())
  const leased = taken(await options.store.lease(session), session)
  const core = new Core({
    options,
    session,
    source: 'main',
    lease: leased.lease,
    tail: emptyTail(),
    fold: new Fold(),
    links: [{ session, from: seq(0), to: seq(Number.MAX_SAFE_INTEGER) }],
  })
  await write(core, [
    { type: 'session-start', session, purpose: 'main', cwd: options.cwd },
    instructions(options),
  ])
  return { session: new Session(core), damage: leased.damage }
}

async function reopen(options: Ready, session: SessionId): Promise<Opened> {
  const leased = taken(await options.store.lease(session), session)
  const resumed = await resume(options.store, session, options.models)
  if (!resumed.ok || resumed.readOnly !== null) {
    await options.store.release(leased.lease)
    throw new EngineError(resumed.ok ? { code: 'read-only', message: resumed.readOnly! } : resumed.failure)
  }
  const { fold, tail, spent, links } = resumed
  const core = new Core({ options, session, source: 'main', lease: leased.lease, tail, fold, links, spent })
  const damage = [...leased.damage, ...resumed.damage]
  await write(core, damageFacts(resumed.damage, fold))
  const closed = await core.transcript.close('the process ended before it was finished')
  if (!closed.ok) throw new EngineError(closed.failure)
  return { session: new Session(core), damage }
}

/** A session of its own from here on: it can be written while the other is held. */
async function branch(options: Ready, id: SessionId): Promise<Session> {
  const from = await resume(options.store, id, options.models)
  if (!from.ok) throw new EngineError(from.failure)
  const { fold, links } = from
  const upTo = seq(fold.numbers.upTo)
  const session = sessionId(options.ids.uuid())
  const leased = taken(await options.store.lease(session), session)
  const first = seq(upTo + 1)
  const tail: Tail = { ...emptyTail(first), open: from.tail.open, lastUuid: from.tail.lastUuid }
  const line = [
    ...links.slice(0, -1),
    { ...links.at(-1)!, to: upTo },
    { session, from: first, to: seq(Number.MAX_SAFE_INTEGER) },
  ]
  const core = new Core({ options, session, source: 'main', lease: leased.lease, tail, fold, links: line })
  await write(core, [
    { type: 'session-start', session, purpose: 'main', parent: { session: id, upTo }, cwd: options.cwd },
  ])
  const closed = await core.transcript.close('the session was branched off here')
  if (!closed.ok) throw new EngineError(closed.failure)
  return new Session(core)
}

function instructions(options: Ready): Fact {
  return {
    type: 'instructions-set',
    sections: sectionsOf(options.system),
    tools: options.tools.map((tool) => tool.spec),
    ...(options.reminder === undefined ? {} : { reminder: options.reminder }),
  }
}

/** Damage is written down once: the model must know of it, and the next opening must not say it again. */
function damageFacts(damage: readonly Damage[], fold: Fold): readonly Fact[] {
  const report = damage.map((one) => `${one.file}:${one.line}: ${one.what}; ${one.done}`)
  const lost = damage.flatMap((one) => (one.lost === undefined ? [] : [one.lost]))
  const isNew = lost.some((range) => !fold.knowsLoss(range))
  return isNew ? [{ type: 'damage-found', lost, report }] : []
}

function taken(outcome: LeaseOutcome, session: SessionId): Extract<LeaseOutcome, { ok: true }> {
  if (outcome.ok) return outcome
  if (outcome.why === 'failed') throw new EngineError(outcome.failure)
  const { pid, host } = outcome.owner
  throw new EngineError({
    code: 'held',
    message: `session ${session} is being written by process ${pid} on ${host}; read it, branch off from it, or close it there`,
  })
}

async function write(core: Core, facts: readonly Fact[]): Promise<void> {
  const written = await core.append(facts)
  if (!written.ok) throw new EngineError(written.failure)
}
