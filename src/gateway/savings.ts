// What the requests cost, and what they would have cost untouched: both are kept from the first request on, so that "never
// more expensive than direct" is a figure. The untouched ones are counted as the same requests with what was left out still
// in them, read from a cache that broke only where the client or time broke it. What an agent does only because something
// was left out (it reads the file that holds the whole) would not have been asked at all.
import { lookUp, price, type ModelTable } from '../model/models.ts'
import { promptTokens } from '../model/usage.ts'
import type { Usage } from '../transcript/fact.ts'
import type { Heard } from './breaks.ts'
import { Recent } from './recent.ts'

/** One answered request. */
export interface Paid {
  /** Null for what was asked beside a conversation. */
  readonly session: string | null
  readonly model: string
  readonly usage: Usage
  readonly savedChars: number
  /** Bytes of the body, by which its tokens tell how many characters one is here; null where it is not the whole prompt. */
  readonly sentBytes: number | null
  /** What the answer says of the cache; null for what was asked beside a conversation. */
  readonly heard: Heard | null
  /** Its answer reads back what was left out. */
  readonly isReadBack: boolean
}

export interface Figures {
  readonly requests: number
  readonly input: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly output: number
  /** Dollars, of the requests whose model has a known price. */
  readonly cost: number
  readonly untouchedCost: number
  readonly unpriced: number
  /** Answers without a report of what they took (cut off, or of a server that reports nothing): in no other figure. */
  readonly unreported: number
  /** Requests that only read back what was left out. */
  readonly readBacks: number
}

const nothing: Figures = {
  requests: 0,
  input: 0,
  cacheRead: 0,
  cacheWrite: 0,
  output: 0,
  cost: 0,
  untouchedCost: 0,
  unpriced: 0,
  unreported: 0,
  readBacks: 0,
}

/** A session's figures, and what the untouched one would have in the cache. */
interface Account {
  readonly figures: Figures
  readonly untouchedCached: number
  /** Requests since a summary was first sent, or since the beginning. */
  readonly since: number
  readonly isEdited: boolean
}
const opened: Account = { figures: nothing, untouchedCached: 0, since: 0, isEdited: false }

/** Where the body does not tell. */
const usualChars = 4
/** Sessions whose figures are told one by one; those of older ones stay in the sum. */
const mostSessions = 1000

export class Savings {
  readonly #models: ModelTable
  readonly #bySession = new Recent<Account>(mostSessions)
  #all: Figures = nothing

  constructor(models: ModelTable) {
    this.#models = models
  }

  add(paid: Paid): void {
    const { session } = paid
    const before = session === null ? opened : (this.#bySession.get(session) ?? opened)
    const after = accountOf(before, paid, this.#models)
    this.#all = sumOf(this.#all, before.figures, after.figures)
    if (session === null) return
    this.#bySession.set(session, after)
  }

  get all(): Figures {
    return this.#all
  }

  sessions(): readonly (readonly [session: string, figures: Figures])[] {
    return [...this.#bySession.entries()].map(([session, { figures }]) => [session, figures])
  }

  /** What was changed has cost more than it saved, over enough requests to tell. */
  costsMore(session: string): boolean {
    const account = this.#bySession.get(session)
    if (account === undefined || !account.isEdited || account.since < enoughRequests) return false
    return account.figures.cost > account.figures.untouchedCost * (1 + excessShare)
  }
}
/** A summary costs at first and saves with every later request: earlier nothing is said of it. */
const enoughRequests = 20
const excessShare = 0.02

const sumOf = (all: Figures, before: Figures, after: Figures): Figures =>
  Object.fromEntries(
    (Object.keys(all) as (keyof Figures)[]).map((name) => [name, all[name] + after[name] - before[name]]),
  ) as Record<keyof Figures, number>

function accountOf(before: Account, paid: Paid, models: ModelTable): Account {
  const { usage, heard } = paid
  if (promptTokens(usage) === 0) return unreported(before)
  const info = lookUp(models, paid.model)
  const cost = info === null ? null : (price(info, usage)?.total ?? null)
  const prompt = promptTokens(usage)
  const saved = paid.savedChars / (paid.sentBytes === null ? usualChars : paid.sentBytes / prompt)
  const isEdited = before.isEdited || saved > 0 || heard?.isOurs === true
  const untouched = isEdited ? untouchedUsage(before, usage, saved, heard) : usage
  const untouchedCost = info === null || paid.isReadBack ? 0 : (price(info, untouched)?.total ?? 0)
  const { figures } = before
  // Without writes only what was read is known to be cached: of what was left out it would have been the same share.
  const cached = heard?.left ?? (usage.cacheWrite > 0 ? usage.cacheRead + usage.cacheWrite : prompt)
  return {
    figures: {
      requests: figures.requests + 1,
      input: figures.input + usage.input,
      cacheRead: figures.cacheRead + usage.cacheRead,
      cacheWrite: figures.cacheWrite + usage.cacheWrite,
      output: figures.output + usage.output,
      cost: figures.cost + (cost ?? 0),
      untouchedCost: figures.untouchedCost + untouchedCost,
      unpriced: figures.unpriced + (cost === null ? 1 : 0),
      unreported: figures.unreported,
      readBacks: figures.readBacks + (paid.isReadBack ? 1 : 0),
    },
    untouchedCached: cached + (prompt > 0 && cached === usage.cacheRead ? (saved * cached) / prompt : saved),
    since: heard?.isOurs === true ? 0 : before.since + 1,
    isEdited,
  }
}

/** Nothing is known of it: what it took, and what the untouched one would have taken. */
function unreported(before: Account): Account {
  const { requests, unreported: count } = before.figures
  return { ...before, figures: { ...before.figures, requests: requests + 1, unreported: count + 1 } }
}

/** The same request with what was left out in it. */
function untouchedUsage(before: Account, usage: Usage, saved: number, heard: Heard | null): Usage {
  const prompt = promptTokens(usage) + saved
  const read = Math.min(prompt, readOf(before, usage, heard))
  const fresh = prompt - read
  const unread = usage.cacheWrite + usage.input
  // What this request did not write to the cache, the untouched one would not have either.
  const input =
    usage.cacheWrite > 0 ? Math.min(usage.input, fresh) : unread > 0 || usage.cacheRead > 0 ? fresh : 0
  const cacheWrite = fresh - input
  const long = usage.cacheWrite > 0 ? (usage.cacheWrite1h ?? 0) / usage.cacheWrite : 0
  return { input, cacheRead: read, cacheWrite, cacheWrite1h: cacheWrite * long, output: usage.output }
}

function readOf({ untouchedCached }: Account, usage: Usage, heard: Heard | null): number {
  if (heard === null || heard.expected === 0) return usage.cacheRead
  // Where we have sent something in another way, nobody knows what else the cache had lost: all, once its time is over.
  const share = heard.isOurs ? (heard.isWarm ? 1 : 0) : Math.min(1, usage.cacheRead / heard.expected)
  return untouchedCached * share
}
