// What a session keeps from one request to the next: what was serialized, the tags it gave, the lifetime its cache was begun
// with, and the watch over that cache. A fork begins with its parent's, so that its requests begin with the same bytes.
import type { Fold } from '../../projection/fold.ts'
import { rangeOf } from '../../projection/folding/live-edits.ts'
import { type Tags, createTags, taggingOf } from '../../projection/layers/snip.ts'
import {
  type BreakDetector,
  type EarlierReading,
  type Pending,
  createBreakDetector,
} from '../../request/break-detector.ts'
import type { BreakpointPosition, Composed, Composer } from '../../request/compose.ts'
import { digest } from '../../request/segments.ts'
import type { Lifetime } from '../../transcript/lifetime.ts'
import { defaults } from '../../settings/defaults.ts'
import { type Fact, type StoredEntry, isEditing, isKnown } from '../../transcript/fact.ts'
import type { Seq, SessionId } from '../../transcript/ids.ts'
import type { Spoken } from '../../wires/wire.ts'
import type { LoadedMedia } from '../media/keeping.ts'

export interface RequestParts {
  /** What the cache is watched under: requests of one key share a prefix. */
  readonly watchKey: string
  /** Whose requests these are. */
  readonly session: SessionId
  /** Of a fork: whose requests it goes on from. */
  readonly from?: Requests | undefined
  readonly composer?: Composer | undefined
  /** A fork that must not write to the cache puts its breakpoint where its parent's last one stood. */
  readonly breakpointAt?: BreakpointPosition | { readonly seq: Seq } | undefined
  readonly lifetime: Lifetime | null
  /** What the session was begun with, where it has asked before. */
  readonly begunWith?: Lifetime | undefined
  /** What the last answer left in the cache, where it came in another process. */
  readonly earlier?: EarlierReading | undefined
}

export class Requests {
  readonly watchKey: string
  /** Names the prefix that a session shares with its forks, for providers who send equal names to one machine. */
  readonly cacheKey: string
  readonly tags: Tags
  readonly detector: BreakDetector
  /** Whether the long lifetime was chosen: decided before the first request, for the session and its forks. */
  readonly isLong: boolean
  readonly breakpointAt: BreakpointPosition | { readonly seq: Seq } | undefined
  /** Media that are kept beside the session, as the next request carries them; shared with forks. */
  readonly media: LoadedMedia
  /** Options that were left out of requests and have been said so. */
  readonly leftOut = new Set<string>()
  /** What SessionStart hooks said and no request has carried yet. */
  startContext: string | null = null
  /** What layers weighed and left for the last request, in short. */
  lastDeclined = ''
  readonly #inherited: Composer | null
  readonly #composers = new Map<string, Composer>()
  #pending: Pending | null = null
  #earlier: EarlierReading | null

  constructor({
    watchKey,
    session,
    from,
    composer,
    breakpointAt,
    lifetime,
    begunWith,
    earlier,
  }: RequestParts) {
    this.watchKey = watchKey
    this.cacheKey = from?.cacheKey ?? digest(session)
    this.tags = from?.tags ?? createTags()
    this.media = from?.media ?? new Map()
    this.detector = from?.detector ?? createBreakDetector()
    this.isLong = from?.isLong ?? (begunWith ?? lifetime) === '1h'
    this.#inherited = composer ?? null
    this.#earlier = earlier ?? null
    this.breakpointAt = breakpointAt
  }

  /** One for each form of the request copy: for each wire, with tags or without, with references for deletions or without. */
  composer(fold: Fold, references: boolean, { wire, quirks }: Spoken): Composer {
    if (this.#inherited !== null) return this.#inherited
    const tag = taggingOf(fold.view(), this.tags)
    const key = `${wire.name} ${JSON.stringify(quirks ?? null)} ${references} ${tag !== undefined}`
    const composer =
      this.#composers.get(key) ??
      wire.createComposer({ references, tag, quirks, media: (blob) => this.media.get(blob) ?? null })
    this.#composers.set(key, composer)
    return composer
  }

  /** Lifetime of the breakpoints in requests of a source. It stays: another would change the price of all that is cached. */
  lifetimeOf(source: string): Lifetime {
    const isMeant = defaults.request.longLifetimeSources.some((pattern) =>
      pattern.endsWith('*') ? source.startsWith(pattern.slice(0, -1)) : source === pattern,
    )
    return this.isLong && isMeant ? '1h' : '5m'
  }

  sent(composed: Composed, now: number): void {
    if (this.#earlier !== null) this.detector.resume(this.watchKey, composed, this.#earlier)
    this.#earlier = null
    this.#pending = this.detector.before(this.watchKey, composed, now)
  }

  /** The request whose answer is read now. */
  takePending(): Pending | null {
    const pending = this.#pending
    this.#pending = null
    return pending
  }

  /** A change that was decided on is no accident: what it makes unreadable is said to the watch before. */
  announce(entry: StoredEntry, fold: Fold): void {
    if (!isKnown(entry)) return
    const { fact } = entry
    if (fact.type === 'boundary') return this.detector.reset(this.watchKey)
    const from = changedFrom(fact, fold)
    if (from === null) return
    const view = fold.view()
    // Another model has read nothing yet, the system prompt included.
    let estimate = fact.type === 'model-set' ? view.fixedEstimate : 0
    for (const message of view.messages) if (message.to >= from) estimate += message.estimate
    const why = fact.type === 'view-edit' ? `${fact.layer}: ${fact.why}` : fact.type
    this.detector.announce(Math.round(view.factor * estimate), why, this.watchKey)
  }
}

/** The first place whose bytes a fact changes, or null. */
function changedFrom(fact: Fact, fold: Fold): number | null {
  if (fact.type === 'view-edit') return firstOf(fact)
  if (fact.type === 'rewind') return fact.to
  if (fact.type === 'model-set') return 0
  if (fact.type !== 'undo') return null
  if (fact.whole !== undefined) return fact.target
  const undone = fold.edits.editing(fact.target)?.fact
  return undone !== undefined && isEditing(undone) ? firstOf(undone) : null
}

function firstOf(fact: Extract<Fact, { edits: unknown }>): number | null {
  const places = fact.edits.flatMap((edit) => rangeOf(edit)?.from ?? [])
  return places.length === 0 ? null : Math.min(...places)
}
