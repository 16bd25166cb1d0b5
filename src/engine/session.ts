// One open session, for those who embed it. Four verbs for a loop of your own (say, request, receive, result), one
// verb for ours (send). The verbs reject with an EngineError that carries a code; `send` never does: its last event
// says how the turn ended.
import { EditList, type EditRow } from '../projection/edit-list.ts'
import type { View } from '../projection/view.ts'
import type { Wire } from '../wires/wire.ts'
import type { ToolOutcome } from '../tools/tool.ts'
import type { ToolUseBlock } from '../transcript/content.ts'
import { attachmentOf, type BlockRef, type Entry, type Fact, type Outcome } from '../transcript/fact.ts'
import { seq, type Seq, type SessionId } from '../transcript/ids.ts'
import { readLine } from '../transcript/lineage.ts'
import { closing, type Tail } from '../transcript/grammar.ts'
import type { Result } from '../transcript/store.ts'
import type { AgentRow } from './background/agent-rows.ts'
import { backgroundOf, reportOf, somethingWaits } from './background/deliver.ts'
import { spawn, type SpawnSpec } from './background/spawn.ts'
import { EngineError, fileAttachments } from './api.ts'
import { blocksOf, emptyInput, filled, handedIn, inputProblem, isEmpty, promptOf, type Input } from './api.ts'
import { cutShort, faultText, hookAttachment, messageOf, nothingWaits, failedEnd, requestOf } from './api.ts'
import { namedModel, never, textFor, turnRuns, type Response, type Said, type SendHow } from './api.ts'
import type { CompactAsk, Compacted } from './compacting/ask.ts'
import { compact } from './compacting/compact.ts'
import type { Core } from './core.ts'
import type { ForkOutcome, ForkSpec } from './ports.ts'
import { runFork } from './fork.ts'
import { Channel, type Emit, type LiveEvent } from './live.ts'
import { fireHooks } from './hooks.ts'
import { gated, gatedText } from './results/results.ts'
import { record } from './requests/answer.ts'
import { deliverQueued, makeRequest } from './requests/request-steps.ts'
import { takeBack } from './restoring/take-back.ts'
import type { Spent } from './limits/spend.ts'
import { cacheState, type CacheState } from './limits/budget.ts'
import { switchPrice, type SwitchPrice } from './limits/switch-price.ts'
import { runTurn, save, unsavedNotice } from './turn.ts'

export { EngineError, type Input, type Response, type SendHow }

/** An agent that was started, in a session of its own. */
export interface Spawned {
  readonly session: Session
  /** Writes its end into the one that started it, once, and closes it. Says where the end stands. */
  finish(outcome: Outcome, text: string): Promise<Result<{ readonly end: Seq }>>
}

/** One open session: `send` for our loop, `say`, `request`, `receive` and `result` for yours. */
export class Session<Request = unknown> {
  readonly id: SessionId
  readonly #core: Core
  #turn: Promise<void> | null = null
  #closed: Promise<void> | null = null
  readonly #hurry = new AbortController()

  constructor(core: Core) {
    this.#core = core
    this.id = core.session
  }

  // ---- one verb ----

  /** Says something and runs the turn. Ends with one `turn-end` event; stopping to listen does not stop the turn. */
  send(input: Input, signal = never(), how: SendHow = {}): AsyncGenerator<LiveEvent> {
    return this.#start({ input, how }, signal)
  }

  /** Runs a turn on what waits: input that was queued too late for the last one, or a turn that broke off. */
  goOn(signal = never()): AsyncGenerator<LiveEvent> {
    return this.#start(null, signal)
  }

  async *#start(said: Said | null, signal: AbortSignal): AsyncGenerator<LiveEvent> {
    const channel = new Channel()
    if (this.#turn !== null) {
      yield failedEnd({ code: 'busy', message: 'a turn is running; queue the input or wait for its end' })
      return
    }
    const above = this.#core.payers.map(({ background }) => background.ending.signal)
    const linked = AbortSignal.any([signal, ...above])
    this.#turn = this.#run(said, linked, channel)
      // A port that throws is at fault, but its caller must hear of it all the same (law E1).
      .catch((error: unknown) => channel.push(failedEnd({ code: 'fault', message: faultText(error) })))
      .finally(() => {
        this.#turn = null
        this.#core.background.turnEmit = null
        channel.end()
      })
    yield* channel
  }

  async #run(said: Said | null, signal: AbortSignal, channel: Channel): Promise<void> {
    for (const event of this.takeUnheard()) channel.push(event)
    this.#core.background.turnEmit = channel.push
    if (said === null) {
      if (!this.unfinished()) return channel.push(failedEnd(nothingWaits))
      return runTurn(this.#core, signal, channel.push)
    }
    const { input, how } = said
    const problem = inputProblem(input)
    if (problem !== null) return channel.push(failedEnd(problem))
    const content = blocksOf(input)
    const asked = { prompt: promptOf(input) }
    const answer = await fireHooks(this.#core, 'UserPromptSubmit', asked, channel.push, signal)
    if (answer.block !== null) return channel.push(failedEnd({ code: 'blocked', message: answer.block }))
    const facts: Fact[] = [{ type: 'user-message', content, origin: 'typed', ...how }]
    if (answer.context !== null) {
      const context = await gatedText(this.#core, `hook-${this.#core.state.tail.next}`, answer.context)
      facts.push(hookAttachment('UserPromptSubmit', context))
    }
    if (isEmpty(content)) return channel.push(failedEnd(emptyInput))
    // A turn that could not be ended, when the disk was full, may have left calls open.
    const closed = await this.#core.append((tail) =>
      tail.open.length === 0 ? [] : closing(tail, 'the previous turn was cut off'),
    )
    const undelivered = closed.ok ? await deliverQueued(this.#core) : closed.failure
    if (undelivered !== null) return channel.push(failedEnd(undelivered))
    const written = await this.#core.append(facts)
    if (!written.ok) return channel.push(failedEnd(written.failure))
    await runTurn(this.#core, signal, channel.push)
  }

  /** Keeps input typed while a turn runs: durable when this resolves, delivered once, at the next round. */
  async queue(input: Input): Promise<Entry> {
    return this.#write({ type: 'input-queued', content: filled(input) })
  }

  /** Says something beside the words of the user, before they are said: the mode, a plan. The newest of a kind stands. */
  async attach(kind: string, text: string, source?: string): Promise<Entry> {
    for (const given of [kind, text]) textFor('what is attached, and its kind,', given)
    return this.#write(attachmentOf(kind, text, { source: source ?? kind }))
  }

  /** Shows files the user named, as Read would. Gives back those that cannot be read. */
  async attachFiles(paths: readonly string[]): Promise<readonly string[]> {
    this.#mustBeIdle()
    const { facts, unread } = await fileAttachments(this.#core, paths, this.#core.background.ending.signal)
    await this.#append(facts)
    return unread
  }

  // ---- four verbs ----

  async say(input: Input): Promise<Entry> {
    this.#mustBeIdle()
    const undelivered = this.#core.state.tail.open.length > 0 ? null : await deliverQueued(this.#core)
    if (undelivered !== null) throw new EngineError(undelivered)
    return this.#write({ type: 'user-message', content: filled(input), origin: 'program' })
  }

  /** The request to send now: layers have settled, it is valid and has its cache breakpoints. */
  async request({ streaming = false }: { readonly streaming?: boolean } = {}): Promise<Request> {
    const body = await this.requestBody()
    return requestOf(this.#core.spoken.wire as Wire<Request>, body, streaming)
  }

  /** The same request as the bytes to stream: for those who send them themselves, nothing is parsed or reshaped. */
  async requestBody(): Promise<string> {
    this.#mustBeIdle()
    const prepared = await makeRequest(this.#core, this.#emit)
    if (!prepared.ok) throw new EngineError(prepared.failure)
    return prepared.composed.body
  }

  /** Records the answer. Calls whose arguments were cut off are answered at once; a turn without calls ends here. */
  async receive(response: Response | object): Promise<void> {
    this.#mustBeIdle()
    const recorded = await record(this.#core, messageOf(this.#core, response), false, this.#emit)
    if (!recorded.ok) throw new EngineError(recorded.failure)
    await this.#append((tail) => tail.open.filter((call) => call.broken).map(cutShort))
    if (this.unfinished()) return
    await this.#append((tail) => (tail.inTurn ? [{ type: 'turn-end', outcome: 'done' }] : []))
    await save(this.#core, this.#emit)
  }

  async result(id: string, outcome: string | ToolOutcome): Promise<void> {
    const whole = handedIn(id, outcome)
    const open = this.#core.state.tail.open.find((call) => call.id === id)
    const tool = this.#core.options.tools.find((one) => one.spec.name === open?.name)
    await this.#write(await gated(this.#core, id, tool, whole))
    for (const fact of whole.facts ?? []) await this.#write(fact)
  }

  openCalls(): readonly ToolUseBlock[] {
    const open = new Set(this.#core.state.tail.open.map((call) => call.id as string))
    const last = this.#core.view().messages.last()
    const answer = last?.role === 'assistant' ? last : this.#core.view().messages.at(-2)
    return (answer?.content ?? []).filter(
      (block): block is ToolUseBlock => block.type === 'tool_use' && 'input' in block && open.has(block.id),
    )
  }

  /** Whether the model has to speak again. */
  unfinished(): boolean {
    const { open, queued } = this.#core.state.tail
    if (open.length > 0 || queued.length > 0 || somethingWaits(this.#core)) return true
    return this.#core.view().messages.last()?.role === 'user'
  }

  // ---- looking and editing ----

  view(): View {
    return this.#core.view()
  }

  readonly takeUnheard = (): readonly LiveEvent[] => this.#core.background.unheard.splice(0)
  readonly spent = (): Spent => this.#core.state.spent

  /** Every removal of this session and of what it goes on from, oldest first, with the place to undo it by. */
  async edits(): Promise<readonly EditRow[]> {
    const list = new EditList()
    const { options, links } = this.#core
    for await (const item of readLine(options.store, links, { from: links[0]!.from })) {
      if (item.kind === 'failed') throw new EngineError(item.failure)
      if (item.kind === 'entry') list.push(item.entry)
    }
    return list.rows()
  }

  /** Keeps a message or a block through every compaction. Refused when pins would take too much of the room. */
  async pin(at: BlockRef): Promise<Entry> {
    return this.#write({ type: 'pin', at })
  }

  async release(target: number): Promise<Entry> {
    return this.#write({ type: 'release', target: seq(target) })
  }

  /** Takes an edit back, if the view then still fits; layers leave the range alone until it is released. */
  async undo(target: number): Promise<Entry> {
    const undone = await takeBack(this.#core, seq(target))
    if (!undone.ok) throw new EngineError(undone.failure)
    return undone.entry
  }

  /**
   * Puts the older part away and keeps the newest messages, every word of the user and what is pinned. With `dryRun`
   * it only says what would happen; an edited text of it can be handed in as `text`. Undone by its `seq`.
   */
  async compact(
    ask: Omit<CompactAsk, 'trigger' | 'overflow'> = {},
    signal: AbortSignal = this.#core.background.ending.signal,
  ): Promise<Compacted> {
    this.#mustBeIdle()
    const outcome = await compact(this.#core, { ...ask, trigger: 'manual' }, this.#emit, signal)
    if (!outcome.ok) throw new EngineError(outcome.failure)
    if (ask.dryRun !== true) await save(this.#core, this.#emit)
    return outcome.compacted
  }

  /** Everything after this place stops counting; what was paid stays paid. */
  async rewind(to: number): Promise<Entry> {
    this.#mustBeIdle()
    return this.#write({ type: 'rewind', to: seq(to) })
  }

  /** What going on with a model costs that is not the one that answered last, and what of the conversation it is not sent. */
  readonly switchPrice = (model: string = this.modelId): SwitchPrice =>
    switchPrice(this.#core, textFor('the model of switchPrice', model))
  /** How its model caches what is sent, and until when. */
  readonly cacheState = (): CacheState => cacheState(this.#core)

  /** For this session from now on, also after a resume. */
  async setModel(model: string): Promise<Entry> {
    return this.#write({ type: 'model-set', model: namedModel(model) })
  }

  /** Runs work beside the talk on this session's prefix. Never rejects. */
  fork(spec: ForkSpec, signal = never()): Promise<ForkOutcome> {
    return runFork(this.#core, spec, signal)
  }

  /** Starts an agent with a transcript of its own, paid for by this session. Never rejects. */
  async spawn(spec: SpawnSpec): Promise<Result<Spawned>> {
    const core = this.#core
    const started = await spawn(core, spec)
    if (!started.ok) return started
    const session = new Session(started.core)
    const finish: Spawned['finish'] = async (outcome, text) => {
      await session.#turn
      core.background.ending.signal.removeEventListener('abort', stop)
      return started.finish(outcome, text)
    }
    // Whoever closes a session ends what it has started, and hears of it.
    const stop = (): void => void finish('aborted', 'The session that started it was closed.')
    core.background.ending.signal.addEventListener('abort', stop, { once: true })
    return { ok: true, session, finish }
  }

  /** The bounded report of an agent that has ended. */
  async report(child: string): Promise<Result<{ readonly text: string }>> {
    const row = this.agents().find((each) => each.child === child)
    if (row !== undefined) return reportOf(this.#core, row)
    return { ok: false, failure: { code: 'not-found', message: `there is no agent ${child}` } }
  }

  /** Fires when the session is closed. */
  get ending(): AbortSignal {
    return this.#core.background.ending.signal
  }

  get modelId(): string {
    return this.#core.modelId
  }

  /** The agents of this session, as its facts tell. */
  agents(): readonly AgentRow[] {
    return backgroundOf(this.#core).agents
  }

  /** Ends its turn and what runs beside it, syncs, frees it. `patient`: memories may take their time until it is closed without. */
  close(how: { readonly patient?: boolean } = {}): Promise<void> {
    if (how.patient !== true) this.#hurry.abort()
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    await this.#turn
    const { jobContext, role, options, background } = this.#core
    if (role.isWatched) await options.afterTurn?.closing(jobContext, this.#hurry.signal)
    this.#core.background.ending.abort()
    await Promise.allSettled([...background.children.values(), ...background.jobs.values()])
    const unsaved = await this.#core.checkpoints.saveAtEnd()
    if (unsaved !== null) this.#emit(unsavedNotice(unsaved))
    const released = await this.#core.transcript.release()
    if (!released.ok) throw new EngineError(released.failure)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  readonly #emit: Emit = (event) => this.#core.options.listen?.(event)

  #mustBeIdle(): void {
    if (this.#turn !== null) throw new EngineError(turnRuns)
  }

  async #append(facts: readonly Fact[] | ((tail: Tail) => readonly Fact[])): Promise<readonly Entry[]> {
    const written = await this.#core.append(facts)
    if (!written.ok) throw new EngineError(written.failure)
    return written.entries
  }

  async #write(fact: Fact): Promise<Entry> {
    return (await this.#append([fact]))[0]!
  }
}
