// One open session: its state, its ports and the objects of the jobs that need more than facts. Functions of this room take
// the members they use; only what carries a session through its life takes it whole.
import { factorOf } from '../projection/calibration.ts'
import { roomOf, thresholdClues, type RoomOutcome } from '../projection/budget.ts'
import { pinRoomRefusal, viewRefusal } from '../projection/refusal.ts'
import type { View } from '../projection/view.ts'
import { lookUp, windowOf, type ModelInfo } from '../model/models.ts'
import type { Lifetime } from '../transcript/lifetime.ts'
import type { Spoken } from '../wires/wire.ts'
import { createReadFiles } from '../tools/files/read-files.ts'
import type { ReadFiles } from '../tools/tool.ts'
import type { Fact } from '../transcript/fact.ts'
import type { Tail } from '../transcript/grammar.ts'
import type { SessionId } from '../transcript/ids.ts'
import type { Link } from '../transcript/lineage.ts'
import type { Lease } from '../transcript/store.ts'
import { Transcript, type Appended } from '../transcript/transcript.ts'
import { notPreparing, type JobContext, type Preparing } from './ports.ts'
import { jobContextOf, Background } from './background/background.ts'
import type { FolderInstructions, ForkOutcome, ForkSpec } from './ports.ts'
import { maxOutputOf, type Ready } from './options.ts'
import { withKept } from './media/keeping.ts'
import { Checkpoints } from './opening/resume.ts'
import { supplyAll } from './opening/supply.ts'
import { notRecalling, type Recalling } from './ports.ts'
import { Requests } from './requests/requests.ts'
import type { Role } from './role.ts'
import type { EarlierReading } from '../request/break-detector.ts'
import { advance, isRefused, type Latest, type SessionState } from './state.ts'

export interface CoreParts {
  readonly options: Ready
  readonly session: SessionId
  readonly source: string
  readonly role: Role
  readonly lease: Lease
  readonly state: SessionState
  readonly links: readonly Link[]
  /** How it forks; handed in, since a fork is a session too. */
  readonly fork: (parent: Core, spec: ForkSpec, signal: AbortSignal) => Promise<ForkOutcome>
  /** Of a fork: those that go on from its parent's. */
  readonly requests?: Requests | undefined
  readonly readFiles?: ReadFiles | undefined
  /** The sessions that pay for it, nearest first; it is held to caps together with them. */
  readonly payers?: readonly Core[] | undefined
}

/** The members a function uses: what it may touch of a session stands in its signature. */
export type Slice<Name extends keyof Core> = Pick<Core, Name>

export class Core {
  readonly options: Ready
  readonly session: SessionId
  /** Who asks, in logs and figures: main, or what a fork is for. */
  readonly source: string
  readonly role: Role
  readonly links: readonly Link[]
  readonly payers: readonly Core[]
  readonly transcript: Transcript
  readonly readFiles: ReadFiles
  /** What folders say when a call comes to them; null where nobody says any. */
  readonly folders: FolderInstructions | null
  readonly requests: Requests
  readonly background: Background
  readonly checkpoints: Checkpoints
  /** For jobs beside the talk. */
  readonly jobContext: JobContext
  readonly preparing: Preparing = notPreparing()
  readonly recalling: Recalling = notRecalling()
  /** One compaction at a time; and why the last one a layer asked for was refused. */
  readonly compacting: { isUnderWay: boolean; refusedFor: string | null } = {
    isUnderWay: false,
    refusedFor: null,
  }
  #state: SessionState

  constructor(parts: CoreParts) {
    const { options, session, source, state, links, lease } = parts
    this.options = options
    this.session = session
    this.source = source
    this.role = parts.role
    this.links = links
    this.payers = parts.payers ?? []
    this.#state = state
    this.readFiles = parts.readFiles ?? createReadFiles(state.latest.readFiles)
    this.folders = options.folderInstructions?.() ?? null
    const lifetime = options.cacheLifetime
    const begunWith = state.latest.lifetime
    this.requests =
      parts.requests ??
      new Requests({ watchKey: source, session, lifetime, begunWith, earlier: earlierOf(state.latest) })
    this.background = new Background(options.listen)
    this.checkpoints = new Checkpoints(options.store, lease, this.readFiles, () => this.#state)
    this.transcript = new Transcript(options, lease, {
      tail: () => this.#state.tail,
      prepare: (facts) => supplyAll(options.store, links, this.#state.fold, facts),
      refuse: (fact) =>
        viewRefusal(this.#state.fold, fact) ??
        (fact.type === 'pin'
          ? pinRoomRefusal(this.#state.fold, this.spoken.model, this.room(), fact.at)
          : null),
      take: (entry) => {
        this.requests.announce(entry, this.#state.fold)
        this.#state = advance(this.#state, entry, options.models)
        this.checkpoints.note(entry)
      },
    })
    this.jobContext = jobContextOf<Core>(this, parts.fork)
  }

  get state(): SessionState {
    return this.#state
  }

  view(): View {
    return this.#state.fold.view()
  }

  async append(facts: readonly Fact[] | ((tail: Tail) => readonly Fact[])): Promise<Appended> {
    return this.transcript.append(typeof facts === 'function' ? facts : await withKept(this, facts))
  }

  /** The model in force: the one last chosen in the session, or the engine's. */
  get modelId(): string {
    return this.#state.latest.model ?? this.options.modelId
  }

  /** How that model is spoken to. */
  get spoken(): Spoken {
    return this.options.wire(this.modelId)
  }

  /** Its row, less what its wire cannot ask for. */
  modelInfo(): ModelInfo | null {
    const info = lookUp(this.options.models, this.modelId)
    return info === null || this.spoken.wire.capabilities.breakpoints ? info : withoutServerEdits(info)
  }

  /** How long what this one sends is cached: the lifetime of its breakpoints, or the provider's own; null where nothing is. */
  get lifetime(): Lifetime | null {
    const { kind, lifetimes } = this.spoken.wire.cacheRules(this.modelInfo())
    if (kind !== 'explicit') return lifetimes[0] ?? null
    if (this.options.cacheLifetime === null || isRefused(this, 'caching')) return null
    return isRefused(this, 'long-lifetime') ? '5m' : this.requests.lifetimeOf(this.source)
  }

  /** The room there is with the model and the instructions in force; `most` is a window a provider has named. */
  room(most: number | null = null): RoomOutcome {
    const { options, modelId } = this
    const { fold, latest } = this.#state
    const window = windowOf({
      model: modelId,
      table: options.models,
      override: options.window,
      learned: latest.learnedWindow,
    })
    const factor = factorOf(fold.numbers.calibration, this.spoken.model)
    return roomOf({
      window: Math.min(window.tokens, most ?? Infinity),
      maxOutput: maxOutputOf(this),
      fixed: Math.round(factor * fold.view().fixedEstimate),
      ...thresholdClues(this.modelInfo()?.threshold ?? options.threshold),
    })
  }
}

const withoutServerEdits = (info: ModelInfo): ModelInfo => ({
  ...info,
  capabilities: { ...info.capabilities, bindsPrefix: false, contextEditing: false, cacheEdits: false },
})

/** What a break of the cache is held against where the process has asked nothing yet. */
function earlierOf({ cached, parameters }: Latest): EarlierReading | undefined {
  return cached === undefined || parameters === undefined ? undefined : { ...cached, parameters }
}
