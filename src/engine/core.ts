// The state of one open session and the few things done to it. Only this and the transcript hold state; everything
// else in this room is functions over it.
import { factorOf } from '../projection/calibration.ts'
import { roomOf, type RoomOutcome } from '../projection/budget.ts'
import type { Fold } from '../projection/fold.ts'
import { viewRefusal } from '../projection/refusal.ts'
import type { View } from '../projection/view.ts'
import { lookUp, windowOf, type ModelInfo } from '../model/models.ts'
import { createComposer, type Composed, type Composer, type MarkPlace } from '../request/compose.ts'
import { defaults } from '../settings/defaults.ts'
import { createReadFiles } from '../tools/files/read-files.ts'
import type { ReadFiles } from '../tools/tool.ts'
import { encode } from '../transcript/codec.ts'
import type { UserBlock } from '../transcript/content.ts'
import type { Fact, StoredEntry, Usage } from '../transcript/fact.ts'
import { isEditing, isKnown } from '../transcript/fact.ts'
import type { Tail } from '../transcript/grammar.ts'
import type { Seq, SessionId } from '../transcript/ids.ts'
import type { Link } from '../transcript/lineage.ts'
import type { Failure, Lease, Result } from '../transcript/store.ts'
import { Transcript, type Appended } from '../transcript/transcript.ts'
import type { LiveEvent } from './live.ts'
import type { Ready } from './options.ts'
import { checkpointFor, supplyMissing } from './resume.ts'
import { nothingSpent, spend, type Spent } from './spend.ts'

export interface CoreParts {
  readonly options: Ready
  readonly session: SessionId
  readonly source: string
  readonly lease: Lease
  readonly tail: Tail
  readonly fold: Fold
  readonly links: readonly Link[]
  readonly spent?: Spent | undefined
  readonly composer?: Composer | undefined
  readonly readFiles?: ReadFiles | undefined
  /** A fork that must not write to the cache marks where its parent marked last. */
  readonly markAt?: MarkPlace | undefined
  readonly isFork?: boolean | undefined
}

export class Core {
  readonly options: Ready
  readonly session: SessionId
  /** Who asks, in logs and figures: main, or what a fork is for. */
  readonly source: string
  readonly fold: Fold
  readonly links: readonly Link[]
  readonly transcript: Transcript
  readonly composer: Composer
  readonly readFiles: ReadFiles
  readonly markAt: MarkPlace | undefined
  readonly isFork: boolean
  spent: Spent
  /** Where the last request of this session carried its mark in the messages. */
  lastMark: MarkPlace | null = null
  lastHash: string | null = null
  lastRequestAt: number | null = null
  modelId: string
  #unsavedBytes = 0
  #hasBoundary = false

  constructor(parts: CoreParts) {
    const { options, fold } = parts
    this.options = options
    this.session = parts.session
    this.source = parts.source
    this.fold = fold
    this.links = parts.links
    this.composer = parts.composer ?? createComposer()
    this.readFiles = parts.readFiles ?? createReadFiles()
    this.markAt = parts.markAt
    this.isFork = parts.isFork ?? false
    this.spent = parts.spent ?? nothingSpent
    this.modelId = options.modelId
    this.transcript = new Transcript(options, parts.lease, parts.tail, {
      prepare: (facts) => this.#supply(facts),
      refuse: (fact) => viewRefusal(fold, fact),
      take: (entry) => this.#take(entry),
    })
  }

  view(): View {
    return this.fold.view()
  }

  append(facts: readonly Fact[] | ((tail: Tail) => readonly Fact[])): Promise<Appended> {
    return this.transcript.append(facts)
  }

  modelInfo(): ModelInfo | null {
    return lookUp(this.options.models, this.modelId)
  }

  /** The room there is with the model and the instructions in force. */
  room(): RoomOutcome {
    const { options, modelId } = this
    const view = this.view()
    const window = windowOf({ model: modelId, table: options.models, override: options.window })
    const factor = factorOf(this.fold.numbers.calibration, modelId)
    const fixed = Math.round(factor * view.fixedEstimate)
    return roomOf({ window: window.tokens, maxOutput: this.maxOutput(), fixed })
  }

  /** Tokens that undoing an edit would bring back, as the edit itself says. */
  freedBy(target: Seq): number {
    const fact = this.fold.edits.editing(target)?.fact
    return fact !== undefined && isEditing(fact) ? fact.tokensFreed : 0
  }

  maxOutput(): number {
    const wanted = this.options.maxOutputTokens ?? defaults.engine.maxOutputTokens
    return Math.min(wanted, this.modelInfo()?.maxOutput ?? wanted)
  }

  noteRequest(composed: Composed, at: number): void {
    this.lastMark = composed.lastMark
    this.lastHash = composed.hash
    this.lastRequestAt = at
  }

  /** Whether the result of a call stands in the view as it came, so that it can be pointed at. */
  isShown(id: string): boolean {
    for (const part of this.fold.parts()) {
      if (part.kind !== 'result' || part.by !== null) continue
      if (
        part.blocks.some(
          (block) =>
            block.type === 'tool_result' &&
            'is_error' in block &&
            block.tool_use_id === id &&
            block.cleared === undefined,
        )
      )
        return true
    }
    return false
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

  /** What the usage of an answer tells about the cache. */
  readUsage(_usage: Usage): readonly LiveEvent[] {
    return []
  }

  /** Writes a checkpoint when enough has come since the last, or a boundary has. */
  async save(): Promise<Failure | null> {
    if (this.#unsavedBytes < defaults.store.checkpointBytes && !this.#hasBoundary) return null
    const checkpoint = checkpointFor(this.fold, this.transcript.tail, this.spent)
    const saved = await this.options.store.putCheckpoint(this.transcript.lease, checkpoint)
    if (!saved.ok) return saved.failure
    this.#unsavedBytes = 0
    this.#hasBoundary = false
    return null
  }

  #take(entry: StoredEntry): void {
    this.fold.push(entry)
    this.spent = spend(this.spent, entry, this.options.models)
    this.#unsavedBytes += encode(entry).length
    if (!isKnown(entry)) return
    if (entry.fact.type === 'boundary') this.#hasBoundary = true
    if (entry.fact.type === 'model-set') this.modelId = entry.fact.model
  }

  async #supply(facts: readonly Fact[]): Promise<Failure | null> {
    for (const fact of facts) {
      const failure = await supplyMissing(this.options.store, this.links, this.fold, fact)
      if (failure !== null) return failure
    }
    return null
  }
}
