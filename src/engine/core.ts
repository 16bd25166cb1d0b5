// The state of one open session and the few things done to it. Only this and the transcript hold state; everything
// else in this room is functions over it.
import { factorOf } from '../projection/calibration.ts'
import { roomOf, thresholdClues, type RoomOutcome } from '../projection/budget.ts'
import type { Fold } from '../projection/fold.ts'
import { viewRefusal } from '../projection/refusal.ts'
import { createTags, taggingOf, type Tags } from '../projection/layers/snip.ts'
import type { View } from '../projection/view.ts'
import { lookUp, windowOf, wireModelId, type ModelInfo } from '../model/models.ts'
import { createComposer, type Composed, type Composer, type MarkPlace } from '../request/compose.ts'
import { createBreakDetector, type BreakDetector, type Pending } from '../request/fingerprint.ts'
import { createLifetime, type LatchedLifetime } from '../request/lifetime.ts'
import type { Lifetime } from '../request/segments.ts'
import { defaults } from '../settings/defaults.ts'
import { createReadFiles } from '../tools/files/read-files.ts'
import type { ReadFiles, Tool } from '../tools/tool.ts'
import { encode } from '../transcript/codec.ts'
import type { UserBlock } from '../transcript/content.ts'
import type { Fact, StoredEntry } from '../transcript/fact.ts'
import { isEditing, isKnown } from '../transcript/fact.ts'
import type { Tail } from '../transcript/grammar.ts'
import type { Seq, SessionId } from '../transcript/ids.ts'
import type { Link } from '../transcript/lineage.ts'
import type { Failure, Lease, Result } from '../transcript/store.ts'
import { Transcript, type Appended } from '../transcript/transcript.ts'
import type { Aside } from './aside/aside.ts'
import type { LiveEvent } from './live.ts'
import type { Ready } from './options.ts'
import { pinRefusal } from './limits/pins.ts'
import { notRecalling } from './recalling/recalling-state.ts'
import { isShown } from './restoring/shown.ts'
import { checkpointFor } from './opening/resume.ts'
import { advance, type Latest, type SessionState } from './state.ts'
import { supplyMissing } from './opening/supply.ts'
import { changedFrom } from './keeping/changed-from.ts'
import { totalOf, type Spent, type Total } from './limits/spend.ts'

export interface CoreParts {
  readonly options: Ready
  readonly session: SessionId
  readonly source: string
  readonly lease: Lease
  readonly state: SessionState
  readonly links: readonly Link[]
  readonly composer?: Composer | undefined
  readonly readFiles?: ReadFiles | undefined
  /** A fork that must not write to the cache marks where its parent marked last. */
  readonly markAt?: MarkPlace | { readonly seq: Seq } | undefined
  /** Of a fork: on whose prefix it stands. */
  readonly parent?: Core | undefined
  /** Of an agent with a transcript of its own: who started it. A fork is paid for by its parent. */
  readonly payer?: Core | undefined
}

export class Core {
  readonly options: Ready
  readonly session: SessionId
  /** Who asks, in logs and figures: main, or what a fork is for. */
  readonly source: string
  readonly links: readonly Link[]
  readonly transcript: Transcript
  readonly tags: Tags
  readonly readFiles: ReadFiles
  readonly markAt: MarkPlace | { readonly seq: Seq } | undefined
  readonly parent: Core | null
  /** Who pays for it, and is held to caps together with it. */
  readonly payer: Core | null
  readonly detector: BreakDetector
  /** Decided at the first request, for the session and its forks. */
  readonly latched: LatchedLifetime
  /** Forks and agents under way, and what each of them ends with. */
  readonly forks = new Map<Core, Promise<unknown>>()
  /** What goes on beside the talk, by what it is for; the end of the session waits for it. */
  readonly jobs = new Map<string, Promise<void>>()
  /** A summary made ahead; only memory holds it. */
  prepared: { readonly account: string; readonly upTo: Seq; readonly askedAt: number } | null = null
  /** Stops the one being made. */
  preparing: AbortController | null = null
  /** Fires when the session is closed: what runs beside it is stopped. */
  readonly ending = new AbortController()
  /** Of the turn that runs. A fork made in it ends with it. */
  turnSignal: AbortSignal | null = null
  /** What SessionStart hooks said and no request has carried yet. */
  startContext: string | null = null
  /** Events from before anybody listened; the next turn tells them. */
  readonly unheard: LiveEvent[] = []
  /** For jobs beside the talk; a fork has none. */
  aside: Aside | null = null
  /** Memories asked for and not yet written down. */
  readonly recalling = notRecalling()
  /** One compaction at a time. */
  isCompacting = false
  /** What layers weighed and left for the last request, in short. */
  lastDeclined = ''
  #state: SessionState
  #pending: Pending | null = null
  readonly #inherited: Composer | null
  readonly #composers = new Map<string, Composer>()
  #unsavedBytes = 0
  #hasBoundary = false

  constructor(parts: CoreParts) {
    const { options } = parts
    this.options = options
    this.session = parts.session
    this.source = parts.source
    this.#state = parts.state
    this.links = parts.links
    this.tags = parts.parent?.tags ?? createTags()
    this.#inherited = parts.composer ?? null
    this.readFiles = parts.readFiles ?? createReadFiles(parts.state.latest.readFiles)
    this.markAt = parts.markAt
    this.parent = parts.parent ?? null
    this.payer = parts.payer ?? this.parent
    this.detector = parts.parent?.detector ?? createBreakDetector()
    this.latched = parts.parent?.latched ?? latchedLifetime(options.cacheLifetime, this.latest.lifetime)
    this.transcript = new Transcript(options, parts.lease, {
      tail: () => this.#state.tail,
      prepare: (facts) => this.#supply(facts),
      refuse: (fact) => viewRefusal(this.fold, fact) ?? this.#pinRefusal(fact),
      take: (entry) => this.#take(entry),
    })
  }

  view(): View {
    return this.fold.view()
  }

  append(facts: readonly Fact[] | ((tail: Tail) => readonly Fact[])): Promise<Appended> {
    return this.transcript.append(facts)
  }

  /** The model in force: the one last chosen in the session, or the engine's. */
  get modelId(): string {
    return this.latest.model ?? this.options.modelId
  }

  /** The same by the name that is sent and written down; what asks for a longer window is no part of it. */
  get wireModel(): string {
    return wireModelId(this.modelId)
  }

  /** Lifetime of this one's cache marks; null sends none. */
  get lifetime(): Lifetime | null {
    return this.options.cacheLifetime === null ? null : this.latched.of(this.source)
  }

  get state(): SessionState {
    return this.#state
  }

  get fold(): Fold {
    return this.#state.fold
  }

  get spent(): Spent {
    return this.#state.spent
  }

  get latest(): Latest {
    return this.#state.latest
  }

  /** What the session and its forks have taken, running ones included. */
  total(): Total {
    let { tokens, dollars } = totalOf(this.spent)
    for (const child of this.forks.keys()) {
      const own = child.total()
      tokens += own.tokens
      dollars += own.dollars
    }
    return { tokens, dollars }
  }

  modelInfo(): ModelInfo | null {
    return lookUp(this.options.models, this.modelId)
  }

  /** One for each form of the request copy: with tags or without, with references for deletions or without. */
  get composer(): Composer {
    if (this.#inherited !== null) return this.#inherited
    const references = this.lifetime !== null && this.modelInfo()?.capabilities.cacheEdits === true
    const tag = taggingOf(this.view(), this.tags)
    const key = `${references} ${tag !== undefined}`
    const composer = this.#composers.get(key) ?? createComposer({ references, tag })
    this.#composers.set(key, composer)
    return composer
  }

  /** The room there is with the model and the instructions in force; `most` is a window a provider has named. */
  room(most: number | null = null): RoomOutcome {
    const { options, modelId } = this
    const view = this.view()
    const window = windowOf({
      model: modelId,
      table: options.models,
      override: options.window,
      learned: this.latest.learnedWindow,
    })
    const factor = factorOf(this.fold.numbers.calibration, this.wireModel)
    const fixed = Math.round(factor * view.fixedEstimate)
    return roomOf({
      window: Math.min(window.tokens, most ?? Infinity),
      maxOutput: this.maxOutput(),
      fixed,
      ...thresholdClues(this.modelInfo()?.threshold ?? options.threshold),
    })
  }

  /** Tokens that undoing an edit would bring back, as the edit itself says. */
  freedBy(target: Seq): number {
    const fact = this.fold.edits.editing(target)?.fact
    return fact !== undefined && isEditing(fact) ? fact.tokensFreed : 0
  }

  /** The tools that run here: the engine's, and of those no longer offered the ones this session's list names. */
  runnable(): readonly Tool[] {
    const { tools, formerTools = [] } = this.options
    const named = new Set(this.view().tools.map((tool) => tool.name))
    return [...tools, ...formerTools.filter((tool) => named.has(tool.spec.name))]
  }

  maxOutput(): number {
    const wanted = this.options.maxOutputTokens ?? defaults.engine.maxOutputTokens
    return Math.min(wanted, this.modelInfo()?.maxOutput ?? wanted)
  }

  noteRequest(composed: Composed): void {
    this.#pending = this.detector.before(this.#watched, composed, this.options.clock.now())
  }

  /** The request whose answer is read now. */
  takePending(): Pending | null {
    const pending = this.#pending
    this.#pending = null
    return pending
  }

  /** Whether the result of a call stands in the view as it came, so that it can be pointed at. */
  isShown(id: string): boolean {
    return isShown(this.fold, id)
  }

  /** Whether the answer that made this call was cut off before its arguments were complete. */
  isCutShort(id: string): boolean {
    return this.transcript.tail.open.some((call) => call.id === id && call.broken)
  }

  /** What was typed at this place while the model was busy. */
  async queuedContent(place: Seq): Promise<Result<{ readonly content: readonly UserBlock[] }>> {
    for await (const item of this.options.store.read(this.session, { from: place, to: place })) {
      if (item.kind === 'failed') return { ok: false, failure: item.failure }
      if (item.kind === 'entry' && isKnown(item.entry) && item.entry.fact.type === 'input-queued') {
        return { ok: true, content: item.entry.fact.content }
      }
    }
    return {
      ok: false,
      failure: { code: 'not-found', message: `the queued input at ${place} cannot be read` },
    }
  }

  /** Writes a checkpoint when enough has come since the last, or a boundary has. */
  async save(): Promise<Failure | null> {
    if (this.#unsavedBytes < defaults.store.checkpointBytes && !this.#hasBoundary) return null
    return this.saveNow()
  }

  /** Only a checkpoint keeps the table of read files. */
  async saveReadFiles(): Promise<Failure | null> {
    return this.#unsavedBytes === 0 || this.readFiles.entries().length === 0 ? null : this.saveNow()
  }

  async saveNow(): Promise<Failure | null> {
    const latest = { ...this.latest, readFiles: this.readFiles.entries() }
    const checkpoint = checkpointFor({ ...this.#state, latest })
    const saved = await this.options.store.putCheckpoint(this.transcript.lease, checkpoint)
    if (!saved.ok) return saved.failure
    this.#unsavedBytes = 0
    this.#hasBoundary = false
    return null
  }

  #take(entry: StoredEntry): void {
    this.#announce(entry)
    this.#state = advance(this.#state, entry, this.options.models)
    this.#unsavedBytes += encode(entry).length
    if (isKnown(entry) && entry.fact.type === 'boundary') this.#hasBoundary = true
  }

  /** Forks have prefixes of their own; a summary asked on the main thread's bytes has not. */
  get #watched(): string {
    return this.parent === null || this.source === 'summary' ? this.source : `${this.source}/${this.session}`
  }

  /** A change that was decided on is no accident: what it makes unreadable is said to the watch before. */
  #announce(entry: StoredEntry): void {
    if (!isKnown(entry)) return
    const { fact } = entry
    if (fact.type === 'boundary') return this.detector.reset(this.#watched)
    const from = changedFrom(fact, this.fold)
    if (from === null) return
    // Another model has read nothing yet, the system prompt included.
    let estimate = fact.type === 'model-set' ? this.view().fixedEstimate : 0
    for (const message of this.view().messages) if (message.to >= from) estimate += message.estimate
    const why = fact.type === 'view-edit' ? `${fact.layer}: ${fact.why}` : fact.type
    this.detector.announce(Math.round(this.view().factor * estimate), why, this.#watched)
  }

  #pinRefusal(fact: Fact): Failure | null {
    return fact.type === 'pin' ? pinRefusal(this.fold, this.wireModel, this.room(), fact.at) : null
  }

  async #supply(facts: readonly Fact[]): Promise<Failure | null> {
    for (const fact of facts) {
      const failure = await supplyMissing(this.options.store, this.links, this.fold, fact)
      if (failure !== null) return failure
    }
    return null
  }
}

/** What the user chose counts for a session that has not asked yet; afterwards what it was begun with. */
function latchedLifetime(chosen: Lifetime | null, before: Lifetime | undefined): LatchedLifetime {
  const sources = defaults.request.longLifetimeSources
  return createLifetime({
    isEligible: () => false,
    optedIn: () => chosen === '1h',
    latched: before === undefined ? undefined : { isLong: before === '1h', sources },
  })
}
