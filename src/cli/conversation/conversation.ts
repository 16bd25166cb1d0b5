// A conversation without its looks: one session, at most one turn, and input that waits for it. The line mode and the screen
// show the same conversation; neither knows the other. Law: what was typed while a turn ran is durable before it is
// acknowledged, and reaches the model once.
import { errorText } from '../../disk/failure.ts'
import type { Emit, LiveEvent } from '../../engine/live.ts'
import { EngineError, type Input, type Session } from '../../engine/session.ts'
import type { Preset } from '../../preset.ts'
import type { SessionId } from '../../transcript/ids.ts'
import { exitFor, sayingOf, exits, refuse, type Exit, type Refusal } from '../exit-codes.ts'
import { exitOf, openSession, type ConversationOptions, type OpenedPreset } from '../headless.ts'
import type { Io } from '../terminal/io.ts'

/** What is expected to fail, with the code a script gets. */
export class RefusedError extends Error {
  readonly exit: Exit
  constructor(refusal: Refusal) {
    super(refusal.message)
    this.exit = refusal.exit
  }
}

export type WorkOutcome = { readonly ok: true; readonly exit: Exit } | Refusal

export class Conversation {
  readonly #preset: Preset
  readonly #options: ConversationOptions
  readonly #io: Io
  #session: Promise<Session> | null = null
  #opened: Session | null = null
  /** Of the turn that runs. */
  #abort: AbortController | null = null
  /** Input on its way to the disk, and how much of it this turn has been given. */
  #queueing: Promise<unknown> = Promise.resolve()
  #queued = 0
  /** Sessions that were left, while what was said in them is still looked through. */
  readonly #left = new Map<Session, Promise<void>>()

  constructor(preset: Preset, options: ConversationOptions, io: Io) {
    this.#preset = preset
    this.#options = options
    this.#io = io
  }

  get isBusy(): boolean {
    return this.#abort !== null
  }

  /** The session in which something may have been said; null as long as none was opened. */
  begun(): Session | null {
    return this.#opened
  }

  /** The session, begun or opened if there is none yet. */
  session(): Promise<Session> {
    this.#session ??= this.#open().catch((error: unknown) => {
      this.#session = null
      throw error
    })
    return this.#session
  }

  async #open(): Promise<Session> {
    const opened = await openSession(this.#preset, this.#options, this.#io)
    if ('exit' in opened) throw new RefusedError(opened)
    this.#opened = opened
    return opened
  }

  /** Goes on with another session, or with a new one. The one before is closed beside, and stays as it is. */
  async change(to: SessionId | null): Promise<void> {
    const before = this.#opened
    // One that was left a moment ago has to be free again.
    const same = [...this.#left.keys()].find(({ id }) => id === to)
    await same?.close()
    const next = await this.#preset.engine.open(to ?? undefined)
    this.#opened = next
    this.#session = Promise.resolve(next)
    if (before !== null) this.#left.set(before, this.#closeInBackground(before))
  }

  async #closeInBackground(session: Session): Promise<void> {
    try {
      await session.close({ patient: true })
    } catch (error) {
      // Nobody waits for it any more, so the person is told.
      this.#io.err(`pal: session ${session.id} was not closed: ${errorText(error)}\n`)
    } finally {
      this.#left.delete(session)
    }
  }

  /** One turn, and those that input queued too late for it needs. */
  async turn(input: Input, hear: Emit): Promise<Exit> {
    const session = await this.session()
    return this.#run(session, (signal) => session.send(input, signal), hear)
  }

  /** A turn on what waits in the session, if anything does. */
  async goOn(hear: Emit): Promise<Exit> {
    const session = await this.session()
    return session.unfinished() ? this.#run(session, (signal) => session.goOn(signal), hear) : exits.done
  }

  async #run(
    session: Session,
    start: (signal: AbortSignal) => AsyncIterable<LiveEvent>,
    hear: Emit,
  ): Promise<Exit> {
    this.#abort = new AbortController()
    this.#queued = 0
    try {
      const { signal } = this.#abort
      const exit = await runTurn(start(signal), hear)
      await this.#queueing
      if (exit !== exits.done || this.#queued === 0 || !session.unfinished()) return exit
      // Queued after the model had ended: it has a turn of its own.
      return await runTurn(session.goOn(signal), hear)
    } finally {
      this.#abort = null
    }
  }

  /** Keeps input for the turn that runs. Durable when this resolves. */
  async queue(input: Input): Promise<void> {
    const session = await this.session()
    this.#queued++
    const queued = session.queue(input)
    this.#queueing = queued.catch(() => undefined)
    await queued
  }

  /** Stops the turn that runs; false where none does or it was stopped already. */
  interrupt(): boolean {
    if (this.#abort === null || this.#abort.signal.aborted) return false
    this.#abort.abort()
    return true
  }

  /** Ends when everything that was said is looked through, or was waited for long enough. */
  async close(): Promise<void> {
    const left = [...this.#left].map(([session, closed]) => {
      // It is closing already, and what goes wrong there is said there: this only ends the patience.
      void session.close().catch(() => undefined)
      return closed
    })
    await Promise.all([this.#opened?.close(), ...left])
  }
}

async function runTurn(events: AsyncIterable<LiveEvent>, hear: Emit): Promise<Exit> {
  let exit: Exit = exits.failed
  for await (const event of events) {
    if (event.type === 'turn-end') exit = exitOf(event)
    hear(event)
  }
  return exit
}

/** What is expected to fail becomes a value. */
export async function attemptWork(work: () => Promise<Exit | void>): Promise<WorkOutcome> {
  try {
    return { ok: true, exit: (await work()) ?? exits.done }
  } catch (error) {
    if (error instanceof RefusedError) return refuse(error.exit, error.message)
    if (error instanceof EngineError) return refuse(exitFor(error.code), sayingOf(error))
    throw error
  }
}

/**
 * Opens everything anew while a conversation goes on: settings, tools, servers and instructions as they count now. The
 * session is closed and continues in the new engine, and takes its prompt and tools from there.
 */
export async function reopen(
  before: OpenedPreset,
  conversation: Conversation,
  open: (options: ConversationOptions) => Promise<OpenedPreset | Exit>,
  options: ConversationOptions,
): Promise<{ readonly opened: OpenedPreset; readonly options: ConversationOptions }> {
  const session = conversation.begun()
  const kept = before.unsaved === null ? options : { ...options, unsaved: before.unsaved }
  const how: ConversationOptions =
    session === null
      ? { ...kept, renew: true }
      : { ...kept, renew: true, continue: false, forkSession: false, resume: session.id }
  const opened = await open(how)
  if (typeof opened === 'number')
    throw new RefusedError(
      refuse(exits.failed, 'that takes effect at the next start; see above for what went wrong'),
    )
  const mode = before.preset.permission.mode()
  // A mode that the person chose in this run stays.
  if (mode !== (before.place.settings.permissionMode ?? 'default')) opened.preset.permission.setMode(mode)
  await conversation.close()
  return { opened, options: how }
}
