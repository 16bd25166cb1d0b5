// The engine: opens, resumes and lists sessions over a store.
import { branchedLinks, ownLink } from '../transcript/lineage.ts'
import { defaults } from '../settings/defaults.ts'
import type { Fact } from '../transcript/fact.ts'
import { seq, sessionId, type Seq, type SessionId } from '../transcript/ids.ts'
import type { Damage, LeaseOutcome, Result, SessionInfo } from '../transcript/store.ts'
import { endLost } from './background/spawn.ts'
import { Core, type CoreParts, type Slice } from './core.ts'
import { runFork } from './fork.ts'
import {
  instructionsOf,
  ready,
  wrongOption,
  type ChoosingOptions,
  type EngineOptions,
  type Ready,
} from './options.ts'
import { reminderAt, renewInstructions } from './opening/start-hooks.ts'
import { remove, type Removed } from './opening/removal.ts'
import { missingText, resume, type Resumed } from './opening/resume.ts'
import { fireInstructions, fireStart } from './opening/start-hooks.ts'
import type { AnthropicRequest } from '../wires/anthropic/wire.ts'
import { EngineError, Session } from './session.ts'
import { main } from './role.ts'
import { branched, newState, type SessionState } from './state.ts'
import { unsavedNotice } from './turn.ts'

export interface Opened<Request = unknown> {
  readonly session: Session<Request>
  /** What was found damaged, and what was done about it. To be shown. */
  readonly damage: readonly Damage[]
}

export interface OpenHow {
  /** An earlier session takes prompt, tools and instruction files as they are now; else it keeps those it began with. */
  readonly renew?: boolean | undefined
  /** A new session that begins with everything the other said: it can be written while the other is held. */
  readonly branch?: boolean | undefined
  /** A session that holds nothing yet is begun under this id, which somebody else has chosen. */
  readonly create?: boolean | undefined
}

/** `Request` is what `session.request()` gives: the body of its wire. */
export interface Engine<Request = unknown> {
  /** A new session, or an earlier one by its id. Rejects with an EngineError; damage goes to `listen`. */
  open(id?: string): Promise<Session<Request>>
  /** As `open`, with what was found on the way. */
  openWith(id?: string, how?: OpenHow): Promise<Opened<Request>>
  /** The entries, folded, without becoming the writer: works while another process writes. */
  read(id: string): Promise<Result<Resumed>>
  /** A new session that begins with everything another said. */
  branch(id: string): Promise<Session<Request>>
  /** A new session that begins with what was said elsewhere; `from` names the place. Its facts must be whole. */
  adopt(said: readonly Fact[], from: string): Promise<Session<Request>>
  /** Newest first. */
  sessions(): AsyncIterable<Result<SessionInfo>>
  /** Deletes a session. Refused, with their names, while others stand on it; `withForks` deletes those as well. */
  remove(id: string, how?: { readonly withForks?: boolean }): Promise<Removed>
}

/** An engine over a store: opens, resumes, branches and lists sessions. Throws an EngineError where an option is missing or wrong. */
export function createEngine(options: ChoosingOptions): Engine
export function createEngine<Request = AnthropicRequest>(options: EngineOptions<Request>): Engine<Request>
export function createEngine<Request>(options: EngineOptions<Request> | ChoosingOptions): Engine<Request> {
  const wrong = wrongOption(options)
  if (wrong !== null) throw new EngineError({ code: 'bad-options', message: `createEngine: ${wrong}` })
  const own = ready(options)
  const openWith = async (id?: string, how: OpenHow = {}): Promise<Opened<Request>> =>
    typed(
      await (id === undefined
        ? start(own)
        : how.branch === true
          ? branch(own, sessionId(id))
          : reopen(own, sessionId(id), how)),
    )
  const open = async (id?: string, how?: OpenHow): Promise<Session<Request>> => {
    const { session, damage } = await openWith(id, how)
    tell(own, damage)
    return session
  }
  return {
    open: (id) => open(id),
    openWith,
    read: (id) => resume(own.store, sessionId(id), own.models),
    branch: (id) => open(id, { branch: true }),
    adopt: async (said, from) => typed<Request>(await start(own, { said, from })).session,
    sessions: () => own.store.list(),
    remove: (id, how = {}) => remove(own.store, sessionId(id), how.withForks ?? false),
  }
}

/** Its requests are of the wire that was handed in; sessions inside are not told apart by it. */
const typed = <Request>(opened: Opened): Opened<Request> => opened as Opened<Request>

interface Adopted {
  readonly said: readonly Fact[]
  readonly from: string
}

async function start(options: Ready, adopted: Adopted | null = null): Promise<Opened> {
  const session = sessionId(options.ids.uuid())
  return leased(options, session, (taken) => begin(options, session, taken, adopted))
}

async function begin(
  options: Ready,
  session: SessionId,
  { lease, damage }: Extract<LeaseOutcome, { ok: true }>,
  adopted: Adopted | null,
): Promise<Opened> {
  const core = mainCore({ options, session, lease, state: newState(), links: ownLink(session) })
  const imported = adopted === null ? {} : { imported: adopted.from }
  const begin: Fact = { type: 'session-start', session, purpose: 'main', cwd: options.cwd, ...imported }
  const reminder = await reminderAt(options, 'start', core.background.tell)
  await write(core, [begin, await instructionsOf(options, reminder), ...(adopted?.said ?? [])])
  await fireInstructions(core, core.background.tell)
  await fireStart(core, 'startup', core.background.tell)
  return { session: new Session(core), damage }
}

async function reopen(options: Ready, session: SessionId, how: OpenHow = {}): Promise<Opened> {
  return leased(options, session, async (taken) => {
    const { lease, next, damage: torn } = taken
    if (next === null && how.create === true) return begin(options, session, taken, null)
    const resumed = await resume(options.store, session, options.models)
    if (!resumed.ok) throw new EngineError(resumed.failure)
    if (resumed.readOnly !== null) throw new EngineError({ code: 'read-only', message: resumed.readOnly })
    const { links, entriesRead } = resumed
    const { state, damage } = withMissingEnd(resumed, next)
    const core = mainCore({ options, session, lease, state, links })
    const fresh = unsaid([...torn, ...damage], resumed)
    await write(core, damageFacts(fresh))
    await close(core, 'the process ended before it was finished')
    const unended = await endLost(core)
    if (unended !== null) throw new EngineError(unended)
    // A short cut for the next time; without one nothing is lost, so its failure is not one of opening.
    if (entriesRead > defaults.engine.checkpointEntries) {
      const unsaved = await core.checkpoints.saveNow()
      if (unsaved !== null) options.listen?.(unsavedNotice(unsaved))
    }
    if (how.renew === true || hasLostInstructions(core)) await renewInstructions(core, core.background.tell)
    await fireStart(core, 'resume', core.background.tell)
    return { session: new Session(core), damage: fresh }
  })
}

async function branch(options: Ready, id: SessionId): Promise<Opened> {
  const from = await resume(options.store, id, options.models)
  if (!from.ok) throw new EngineError(from.failure)
  const { links } = from
  const upTo = seq(from.fold.numbers.upTo)
  const session = sessionId(options.ids.uuid())
  return leased(options, session, async ({ lease }) => {
    const line = branchedLinks(links, session, upTo)
    const core = mainCore({ options, session, lease, state: branched(from), links: line })
    const fresh = unsaid(from.damage, from)
    const parent = { session: id, upTo }
    await write(core, [
      { type: 'session-start', session, purpose: 'main', parent, cwd: options.cwd },
      ...damageFacts(fresh),
    ])
    await close(core, 'the session was branched off here')
    if (hasLostInstructions(core)) await renewInstructions(core, core.background.tell)
    await fireStart(core, 'fork', core.background.tell)
    return { session: new Session(core), damage: fresh }
  })
}

const mainCore = (parts: Pick<CoreParts, 'options' | 'session' | 'lease' | 'state' | 'links'>): Core =>
  new Core({ ...parts, source: 'main', role: main, fork: runFork })

/** The line that held prompt and tools was lost: without new ones the session could do nothing for the rest of its life. */
function hasLostInstructions(core: Slice<'state' | 'view'>): boolean {
  const { sections, tools } = core.view()
  return sections.length === 0 && tools.length === 0 && core.state.fold.numbers.lost.length > 0
}

/** What stood at the end when the session was last closed and is no longer there; its places are not given away again. */
function withMissingEnd(
  resumed: Resumed,
  next: Seq | null,
): { readonly state: SessionState; readonly damage: readonly Damage[] } {
  const { fold, tail, spent, latest, damage } = resumed
  const state = { fold, tail, spent, latest }
  if (next === null || next <= tail.next) return { state, damage }
  const lost = { from: tail.next, to: seq(next - 1) }
  const missing = {
    where: 'transcript',
    at: 0,
    what: missingText(lost),
    done: 'the session goes on behind them',
    lost,
  }
  return { state: { ...state, tail: { ...tail, next } }, damage: [...damage, missing] }
}

/** Takes the lease for what is done with it, and gives it back when that fails. */
async function leased<T>(
  { store }: Ready,
  session: SessionId,
  work: (taken: Extract<LeaseOutcome, { ok: true }>) => Promise<T>,
): Promise<T> {
  const outcome = taken(await store.lease(session), session)
  try {
    return await work(outcome)
  } catch (error) {
    const released = await store.release(outcome.lease)
    if (released.ok || !(error instanceof EngineError)) throw error
    const message = `${error.message}; and the session could not be released: ${released.failure.message}`
    throw new EngineError({ code: error.code, message })
  }
}

/** Damage reaches whoever listens, also where the way of opening does not hand it out. */
function tell(options: Ready, damage: readonly Damage[]): void {
  for (const one of damage) options.listen?.({ type: 'notice', code: 'damage', message: damageText(one) })
}

const damageText = ({ where, what, done }: Damage): string => `${where}: ${what}; ${done}`

/** What no earlier opening has written down. Of what was at one place and is said twice, the first counts. */
function unsaid(damage: readonly Damage[], { fold, latest }: SessionState): readonly Damage[] {
  const known = new Set(latest.damagedAt)
  return damage.filter(({ lost, at }) => {
    if (lost !== undefined) return !fold.knowsLoss(lost)
    const isKnown = known.has(at)
    known.add(at)
    return !isKnown
  })
}

/** Damage is written down once: the model must know what is lost, and the next opening must not say it again. */
const damageFacts = (fresh: readonly Damage[]): readonly Fact[] =>
  fresh.length === 0
    ? []
    : [
        {
          type: 'damage-found',
          lost: fresh.flatMap((one) => one.lost ?? []),
          report: fresh.map(damageText),
          at: [...new Set(fresh.map(({ at }) => at))],
        },
      ]

function taken(outcome: LeaseOutcome, session: SessionId): Extract<LeaseOutcome, { ok: true }> {
  if (outcome.ok) return outcome
  if (outcome.why === 'failed') throw new EngineError(outcome.failure)
  const { who, since, freeAt } = outcome.owner
  const unseen =
    freeAt === undefined
      ? ''
      : `. That process cannot be seen from here: if it is dead, the session is free at ${new Date(freeAt).toISOString()}`
  throw new EngineError({
    code: 'session-open',
    message: `session ${session} is open in ${who} since ${new Date(since).toISOString()}; read it, branch off from it, or close it there${unseen}`,
  })
}

async function write(core: Slice<'append'>, facts: readonly Fact[]): Promise<void> {
  const written = await core.append(facts)
  if (!written.ok) throw new EngineError(written.failure)
}

async function close(core: Slice<'transcript'>, why: string): Promise<void> {
  const closed = await core.transcript.close(why)
  if (!closed.ok) throw new EngineError(closed.failure)
}
