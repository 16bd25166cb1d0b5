// The agents of one process: started for a session, followed, written to, stopped. What they are and how they ended
// stands in the transcripts; here is only what lives as long as the process.
import type { OrWhy } from '../../disk/failure.ts'
import type { Companion } from '../../engine/ports.ts'
import type { Emit } from '../../engine/live.ts'
import type { Session } from '../../engine/session.ts'
import { defaults } from '../../settings/defaults.ts'
import { restriction } from '../../tools/permission/pipeline.ts'
import type { Uuid } from '../../transcript/ids.ts'
import type { Box } from '../mailbox/box.ts'
import { createMessageSender, type Directory, type Posted, type Sent } from '../mailbox/directory.ts'
import type { Message, MessageKind } from '../mailbox/message.ts'
import { aboutOf, neverAborted, type AgentAsk, type AgentType } from './types.ts'
import { prepareWorkspace, unplanned, type WorkspacePorts } from './workspace.ts'
import { forkAgent } from './fork-agent.ts'
import { companionOf, Inbox } from './inbox.ts'
import { startProgress } from './progress.ts'
import { turnReport } from './texts.ts'
import { sweepWorktree } from './worktree.ts'
import { runTurnOf, tellTask, Worker, type Finished, type Look } from './worker.ts'

export interface RegistryOptions extends WorkspacePorts {
  readonly types: readonly AgentType[]
  readonly unique: () => Uuid
  readonly now: () => number
  /** Null: messages stay in this process. */
  readonly directory: Directory | null
  readonly listen?: Emit | undefined
  /** Who is asked what an agent is at; null: nobody. */
  readonly progressModel: string | null
}

export type Started = OrWhy<{ readonly worker: Worker }>

interface Attended {
  readonly session: Session
  readonly name: string
  readonly inbox: Inbox
  /** The box is made beside; whoever leaves waits for it. */
  readonly opening: Promise<unknown>
}

/** The agents of a program: their types, who runs, and the tools that start them. */
export class AgentRegistry {
  readonly options: RegistryOptions
  readonly companion: Companion
  readonly #attended = new Map<string, Attended>()
  readonly #workers = new Map<string, Worker>()
  /** Those that begin, and are no workers yet. */
  readonly #starting = new Set<{ readonly parent: Session; readonly ask: AgentAsk }>()
  readonly #leaving = new Set<Promise<unknown>>()
  readonly #post

  constructor(options: RegistryOptions) {
    this.options = options
    this.companion = companionOf((session) => this.#inboxOf(session))
    this.#post = createMessageSender({
      nearby: {
        names: (except) => this.#names().filter(({ session }) => session !== except),
        hand: (session, message) => this.#hand(session, message),
      },
      directory: options.directory,
    })
  }

  // ---- sessions with a user ----

  /** From now on the session can start agents and be written to, until it is closed. */
  attend(session: Session): Session {
    const name = `main-${session.id.slice(-nameTail)}`
    const inbox = new Inbox()
    this.#attended.set(session.id, { session, name, inbox, opening: this.#openBox(session.id, name, inbox) })
    session.ending.addEventListener('abort', () => this.#track(this.#leave(session.id)), { once: true })
    this.#track(this.#sweep(session))
    return session
  }

  /** Worktrees that agents of an earlier process have left. */
  async #sweep(session: Session): Promise<void> {
    const { git, cwd, listen } = this.options
    for (const { worktree, state, label } of session.agents()) {
      if (worktree === undefined || state === 'running') continue
      const swept = await sweepWorktree(git, cwd, worktree, label)
      if (swept === null) continue
      const kept =
        swept.files.length === 0
          ? 'it had changed nothing'
          : `its changes to ${swept.files.length} files are on ${worktree.branch}`
      const message =
        swept.why === null
          ? `the worktree of agent "${label}" was cleared away: ${kept}`
          : `the worktree ${worktree.path} of agent "${label}" could not be cleared away: ${swept.why}`
      listen?.({ type: 'notice', code: 'worktree-cleared', message })
    }
  }

  attended(session: string): Session | null {
    return this.#attended.get(session)?.session ?? null
  }

  async #leave(session: string): Promise<void> {
    const attended = this.#attended.get(session)
    this.#attended.delete(session)
    await attended?.opening
    await Promise.all(this.workersOf(session).map((worker) => worker.done))
    await this.options.directory?.leave(session)
  }

  /** Waits for everything that is still being cleared away. */
  async close(): Promise<void> {
    for (const worker of this.#workers.values()) worker.stop('the program ends')
    await Promise.all([...this.#workers.values()].map((worker) => worker.done))
    await Promise.all([...this.#attended.keys()].map((session) => this.#leave(session)))
    await Promise.all(this.#leaving)
  }

  #track(work: Promise<unknown>): void {
    this.#leaving.add(work)
    void work.finally(() => this.#leaving.delete(work))
  }

  // ---- agents ----

  workersOf(session: string): readonly Worker[] {
    return [...this.#workers.values()].filter(({ parent }) => parent.id === session)
  }

  looks(session: string): readonly Look[] {
    return this.workersOf(session).map((worker) => worker.look())
  }

  /** By its id, the beginning of it, its name or its label. */
  find(session: string, word: string): Worker | null {
    const own = this.workersOf(session)
    return (
      own.find(({ child, about }) => child === word || about.name === word) ??
      own.find(
        ({ child, about }) => about.label === word || child.startsWith(word) || child.endsWith(word),
      ) ??
      null
    )
  }

  async stop(worker: Worker, why: string): Promise<Finished> {
    worker.stop(why)
    return worker.done
  }

  /** Until no agent that will end by itself is running for a session. Teammates wait for more and are not waited for. */
  async settled(session: string, signal: AbortSignal): Promise<void> {
    const busy = (): readonly Worker[] =>
      this.workersOf(session).filter(({ about, isIdle }) => about.mode !== 'teammate' || !isIdle)
    const stopped = new Promise<void>((resolve) => {
      if (signal.aborted) resolve()
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
    const attended = this.#attended.get(session)
    while (!signal.aborted && busy().length > 0 && attended?.inbox.hasWaiting !== true) {
      const pause = new Promise<void>((resolve) => setTimeout(resolve, defaults.mailbox.pollMs))
      await Promise.race([stopped, pause, ...busy().map(({ done }) => done)])
    }
  }

  async start(parent: Session, ask: AgentAsk, signal: AbortSignal): Promise<Started> {
    const type = this.options.types.find(({ name }) => name === ask.type)
    if (type === undefined)
      return no(
        `there is no agent type ${JSON.stringify(ask.type)}. There are: ${this.options.types.map(({ name }) => name).join(', ')}.`,
      )
    const begun = [...this.#starting]
    const running =
      this.workersOf(parent.id).length + begun.filter((one) => one.parent.id === parent.id).length
    if (running >= defaults.agents.running)
      return no(`${running} agents are running already; wait for one or stop one.`)
    const taken = [...this.#names(), ...begun.map((one) => one.ask)].some(({ name }) => name === ask.name)
    if (ask.name !== undefined && taken) return no(`the name ${JSON.stringify(ask.name)} is taken.`)
    // Several calls of one answer run side by side.
    const starting = { parent, ask }
    this.#starting.add(starting)
    try {
      if (!ask.forked) return await this.#spawn(parent, ask, type, signal)
      const forked = await forkAgent(parent, ask, type, signal)
      return forked.ok ? this.#employ(forked.worker, forked.work) : forked
    } finally {
      this.#starting.delete(starting)
    }
  }

  async #spawn(parent: Session, ask: AgentAsk, type: AgentType, signal: AbortSignal): Promise<Started> {
    const isTeammate = ask.mode === 'teammate'
    const name = ask.name ?? null
    const unique = this.options.unique().replaceAll('-', '').slice(-uniqueChars)
    const prepared = await prepareWorkspace(this.options, parent, {
      type,
      label: ask.label,
      name,
      isTeammate,
      wantsWorktree: ask.worktree,
      plans: ask.plans === true,
      unique,
    })
    if (!prepared.ok) return prepared
    const { workspace } = prepared
    const about = aboutOf(ask, workspace.worktree)
    let worker: Worker | null = null
    const planned = restriction('plan approval', (call, tool) =>
      worker === null || worker.awaitsPlan ? unplanned(this.options, call, tool) : null,
    )
    const spawned = await parent.spawn({
      ...about,
      options: workspace.options,
      ...(ask.plans === true ? { judges: [planned] } : {}),
    })
    if (!spawned.ok) {
      const left = await workspace.clear()
      return no([spawned.failure.message, left].filter((text) => text !== null).join(' '))
    }
    const own = new Worker(parent, spawned.session.id, about)
    own.awaitsPlan = ask.plans === true
    worker = own
    const opening = isTeammate && name !== null ? this.#openBox(own.child, name, own.inbox) : null
    const outer = ask.mode === 'foreground' ? signal : neverAborted()
    return this.#employ(own, async () => {
      const untold = await tellTask(spawned, ask.task)
      const ended = untold ?? (await this.#turns(own, spawned.session, type, outer))
      await opening
      if (opening !== null) await this.options.directory?.leave(own.child)
      const left = await workspace.clear()
      const text = [ended.text, left].filter((part) => part !== null && part !== '').join('\n')
      const written = await spawned.finish(ended.outcome, text)
      if (!written.ok) this.options.listen?.({ type: 'notice', ...written.failure })
      return { outcome: ended.outcome, text }
    })
  }

  /** One turn, or, for a teammate, as many as there are messages. */
  async #turns(worker: Worker, session: Session, type: AgentType, outer: AbortSignal): Promise<Finished> {
    for (;;) {
      const watch = worker.watch(type.limits, AbortSignal.any([outer, worker.parent.ending]))
      const ended = await runTurnOf(worker, session, watch)
      const isStopped = watch.why() !== null || ended.outcome !== 'done'
      worker.unwatch()
      if (worker.about.mode !== 'teammate' || isStopped || worker.isLeaving) return ended
      const said = turnReport(ended.text)
      const report = this.#messageOf(worker.child, 'turn ended', said, 'message', worker.parent.id)
      const handed = await this.#hand(worker.parent.id, report)
      if (handed?.ok === false)
        this.options.listen?.({ type: 'notice', code: 'not-sent', message: handed.why })
      worker.isIdle = true
      const isCalled = await worker.inbox.next(AbortSignal.any([worker.stopped, worker.parent.ending]))
      worker.isIdle = false
      if (!isCalled) return ended
    }
  }

  #employ(worker: Worker, work: () => Promise<Finished>): Started {
    this.#workers.set(worker.child, worker)
    const { progressModel } = this.options
    const quiet = worker.about.mode === 'foreground' || progressModel === null
    const stopAsking = quiet ? () => {} : startProgress(worker, progressModel)
    worker.done = work().finally(() => {
      stopAsking()
      this.#workers.delete(worker.child)
    })
    if (worker.about.mode !== 'foreground') void worker.done.then((ended) => this.#tellEnd(worker, ended))
    return { ok: true, worker }
  }

  #tellEnd({ about, child }: Worker, { outcome }: Finished): void {
    const message = `agent "${about.label}" (${child}) has ended: ${outcome}`
    this.options.listen?.({ type: 'notice', code: 'agent-ended', message })
  }

  // ---- messages ----

  /** From a session of this process, agent or not. */
  async send(
    from: string,
    to: string,
    about: {
      readonly summary: string
      readonly text: string
      readonly kind: MessageKind
      readonly approve?: boolean | undefined
    },
  ): Promise<Posted> {
    const message = this.#messageOf(from, about.summary, about.text, about.kind, to)
    return this.#post.send({ ...message, ...(about.approve === undefined ? {} : { approve: about.approve }) })
  }

  worker(child: string): Worker | null {
    return this.#workers.get(child) ?? null
  }

  /** Whether something waits for a session, its box on disk included. */
  async hasMail(session: string): Promise<boolean> {
    return (await this.#inboxOf(session)?.look()) ?? false
  }

  #messageOf(from: string, summary: string, text: string, kind: MessageKind, to: string): Message {
    const name = this.#names().find(({ session }) => session === from)?.name ?? from
    const { now, unique } = this.options
    return { id: unique(), from: { name, session: from }, to, kind, summary, text, at: now() }
  }

  #names(): readonly { readonly name: string; readonly session: string }[] {
    const workers = [...this.#workers.values()].map(({ about, child }) => ({
      name: about.name ?? child,
      session: child as string,
    }))
    return [...[...this.#attended].map(([session, { name }]) => ({ name, session })), ...workers]
  }

  #hand(session: string, message: Message): Promise<Sent> | null {
    const inbox = this.#inboxOf(session)
    if (inbox === undefined) return null
    return inbox.hand(message).then((put) => (put.ok ? put : { ok: false, why: put.failure.message }))
  }

  #inboxOf(session: string): Inbox | undefined {
    return this.#attended.get(session)?.inbox ?? this.#workers.get(session)?.inbox
  }

  #openBox(session: string, name: string, inbox: Inbox): Promise<Box | null> {
    const opening = (async () => {
      const opened = await this.options.directory?.open({ name, session })
      if (opened?.ok === false) this.options.listen?.({ type: 'notice', ...opened.failure })
      return opened?.ok === true ? opened.box : null
    })()
    inbox.box = opening
    return opening
  }
}

const nameTail = 6
const uniqueChars = 12
const no = (why: string) => ({ ok: false, why }) as const
