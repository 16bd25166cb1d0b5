// The state of a session: one fold of its entries, stepped by one function, live and on resume alike. So a session that was
// opened again is the one that was closed, and what it must still know then is a fact. What need not outlive the process
// belongs to the job that needs it.
import type { Feature } from '../model/model.ts'
import type { ModelTable } from '../model/models.ts'
import { promptTokens } from '../model/usage.ts'
import { Fold } from '../projection/fold.ts'
import type { ReadFile } from '../tools/tool.ts'
import {
  isKnown,
  type CacheParameters,
  type Entry,
  type FactOf,
  type LearnedMedia,
  type StoredEntry,
} from '../transcript/fact.ts'
import { emptyTail, step, type Tail } from '../transcript/grammar.ts'
import { after, seq, type Seq } from '../transcript/ids.ts'
import type { Lifetime } from '../transcript/lifetime.ts'
import { noteBackground, nothingInBackground, type BackgroundRows } from './background/agent-rows.ts'
import { nothingSpent, spend, type Spent } from './limits/spend.ts'

export interface SessionState {
  /** Grows in place: whoever needs it as it was takes a copy. */
  readonly fold: Fold
  readonly tail: Tail
  readonly spent: Spent
  readonly latest: Latest
}

/** The little that a session knows of itself besides its view. */
export interface Latest {
  /** The model last chosen in the session. */
  readonly model: string | null
  /** When the last request was sent: the lifetime of the cache counts from there. */
  readonly requestAt: number | null
  /** The last request: its hash, its size as we counted it, and the block its breakpoint in the messages stood on. */
  readonly request?: Pick<FactOf<'request-sent'>, 'hash' | 'tokens' | 'markedAt' | 'lifetime'> | undefined
  /** The provider refused reasoning made before this place; it is not sent again. */
  readonly reasoningFrom?: Seq | undefined
  /** The working folder as the model was last told. */
  readonly cwd?: string | undefined
  /** What the endpoint refused to be asked for; it is not asked again with this model. */
  readonly refused?: readonly Feature[] | undefined
  /** The window of the model as an overflow has told it. */
  readonly learnedWindow?: number | undefined
  /** What a request to this model may carry beside words, as refusals have told it. */
  readonly learnedMedia?: LearnedMedia | undefined
  /** Largest prompt a server has counted: it does not cut what is smaller. */
  readonly largestPrompt?: number | undefined
  /** What of the last request beside its messages was part of the cache key. */
  readonly parameters?: CacheParameters | undefined
  /** What the last answer left in the cache, while nothing was decided since that changes what is read of it. */
  readonly cached?: { readonly tokens: number; readonly at: number } | undefined
  /** The last answer by its name at the provider, for a comparison with its request. */
  readonly answer?: string | undefined
  /** Its answer read less from the cache than was there, and nothing of ours explains it. */
  readonly cacheLost?: boolean | undefined
  /** Lifetime of the breakpoints of its first request; it stays for the session. */
  readonly lifetime?: Lifetime | undefined
  /** Model summaries that failed in a row. */
  readonly summaryFailures?: number | undefined
  /** What a preview showed last, and where that was written down. */
  readonly previewed?: (Omit<FactOf<'summary-previewed'>, 'type'> & { readonly at: Seq }) | undefined
  /** The last entry the session notes speak of. */
  readonly notesTo?: Seq | undefined
  /** The last entry that was looked through for memories. */
  readonly memoriesTo?: Seq | undefined
  /** The files read so far, as a checkpoint keeps them: without it an Edit after a resume would ask to read again. */
  readonly readFiles?: readonly (readonly [path: string, file: ReadFile])[] | undefined
  /** Where in its files damage was found and written down. */
  readonly damagedAt?: readonly number[] | undefined
  /** Agents and messages: this session's own, never those of what it was forked from. */
  readonly background?: BackgroundRows | undefined
}

/** The attachment that tells of another working folder. */
export const folderKind = 'working-folder'

export const nothingYet: Latest = { model: null, requestAt: null }

export const newState = (first: Seq = seq(0)): SessionState => ({
  fold: new Fold(),
  tail: emptyTail(first),
  spent: nothingSpent,
  latest: nothingYet,
})

export function advance(state: SessionState, entry: StoredEntry, models: ModelTable): SessionState {
  state.fold.push(entry)
  return {
    fold: state.fold,
    tail: step(state.tail, entry),
    spent: spend(state.spent, entry, models),
    latest: noted(state.latest, entry),
  }
}

/**
 * What a fork or a branch begins with. It has a life of its own: what was paid before is the other's, and so is what the
 * other started; but calls that were open stand in its view and want an answer.
 */
export function branched({ fold, tail, latest }: SessionState, first?: Seq): SessionState {
  const { open, lastUuid } = tail
  return {
    fold,
    tail: { ...emptyTail(first ?? after(seq(fold.numbers.upTo))), open, lastUuid },
    spent: nothingSpent,
    latest: { ...latest, background: undefined, notesTo: undefined },
  }
}

function noted(latest: Latest, entry: StoredEntry): Latest {
  if (!isKnown(entry)) return latest
  const { background = nothingInBackground } = latest
  const now = noteBackground(background, entry)
  return notedFact(now === background ? latest : { ...latest, background: now }, entry)
}

function notedFact(latest: Latest, entry: Entry): Latest {
  const { fact } = entry
  switch (fact.type) {
    case 'instructions-set':
    case 'view-edit':
    case 'undo':
      return { ...latest, cached: undefined }
    case 'session-start':
      return latest.cwd !== undefined || fact.cwd === undefined ? latest : { ...latest, cwd: fact.cwd }
    case 'attachment':
      return fact.kind === folderKind && fact.source !== undefined ? { ...latest, cwd: fact.source } : latest
    case 'model-set':
      // What was learned of one model's window says nothing of another's.
      return {
        ...latest,
        cached: undefined,
        model: fact.model,
        learnedWindow: undefined,
        learnedMedia: undefined,
        largestPrompt: undefined,
        refused: undefined,
      }
    case 'feature-refused':
      return { ...latest, refused: [...(latest.refused ?? []), fact.feature] }
    case 'damage-found':
      return fact.at === undefined
        ? latest
        : { ...latest, damagedAt: [...(latest.damagedAt ?? []), ...fact.at] }
    case 'reasoning-refused':
      return { ...latest, reasoningFrom: fact.upTo }
    case 'window-learned':
      return { ...latest, learnedWindow: fact.tokens }
    case 'media-learned':
      return { ...latest, learnedMedia: { ...latest.learnedMedia, ...fact.limits } }
    case 'assistant-message':
      if (fact.usage === undefined || fact.usage.estimated === true || fact.partial === true) return latest
      return {
        ...latest,
        answer: fact.provider === undefined && fact.messageId !== '' ? fact.messageId : undefined,
        cached: { tokens: fact.usage.cacheRead + fact.usage.cacheWrite, at: latest.requestAt ?? entry.at },
        largestPrompt: Math.max(latest.largestPrompt ?? 0, promptTokens(fact.usage)),
      }
    case 'compaction-failed':
      if (fact.source !== 'model') return latest
      return { ...latest, summaryFailures: (latest.summaryFailures ?? 0) + 1 }
    case 'summary-previewed': {
      const { account, ask, upTo } = fact
      return { ...latest, previewed: { account, ask, upTo, at: entry.seq } }
    }
    case 'boundary':
      // What was read before a boundary is out of sight.
      return {
        ...latest,
        readFiles: undefined,
        previewed: undefined,
        cached: undefined,
        ...(fact.source === 'model' ? { summaryFailures: 0 } : {}),
      }
    case 'notes-update':
      return { ...latest, notesTo: fact.coversTo }
    case 'memories-extracted':
      return { ...latest, memoriesTo: fact.coversTo }
    case 'rewind':
      // Notes of what was taken back speak of things that are no longer so.
      return {
        ...latest,
        cached: undefined,
        ...((latest.notesTo ?? -1) > fact.to ? { notesTo: undefined } : {}),
      }
    case 'cache-break':
      return { ...latest, cacheLost: fact.causes.every(isLoss) }
    case 'request-sent':
      return sent(latest, fact, entry.at)
    default:
      return latest
  }
}

function sent(latest: Latest, fact: FactOf<'request-sent'>, at: number): Latest {
  const { hash, tokens, markedAt } = fact
  // A cache that needs no breakpoints says nothing of those a later model may need.
  const begun = fact.source === 'main' && fact.marks.length > 0 ? fact.lifetime : undefined
  const lifetime = latest.lifetime ?? begun
  return {
    ...latest,
    requestAt: at,
    request: {
      hash,
      tokens,
      ...(markedAt === undefined ? {} : { markedAt }),
      ...(fact.lifetime === undefined ? {} : { lifetime: fact.lifetime }),
    },
    cacheLost: false,
    ...(fact.parameters === undefined ? {} : { parameters: fact.parameters }),
    ...(lifetime === undefined ? {} : { lifetime }),
  }
}

/** The cache was lost by age or by the server, not by a change of ours. */
function isLoss(cause: unknown): boolean {
  const kind = typeof cause === 'object' && cause !== null && 'kind' in cause ? cause.kind : null
  return kind === 'expired' || kind === 'server'
}

/** Whether the endpoint has refused it to this model. */
export const isRefused = ({ state }: { readonly state: SessionState }, feature: Feature): boolean =>
  state.latest.refused?.includes(feature) === true
