// Which conversation a request belongs to. Each unit is hashed with everything before it, so that one hash names a whole
// beginning: two requests that share it share every unit up to there. What a client says about itself (a label) only
// proposes; the content decides. Nothing is looked up across tenants: the salt of each goes into its first hash.
import { bytesOf, joined } from './json-spans.ts'
import type { ForeignRequest } from './layouts.ts'

/** Names bytes or a text by 128 bits of them, as a text. Which hash it is, its user says: one of a server is of another kind than one of a browser. */
export type Digest = (value: Uint8Array | string) => string

/** Names a request by its content: `head` its tools and system, `links` the beginning up to each unit, `units` each by itself. */
export interface Chain {
  readonly head: string
  readonly links: readonly string[]
  readonly units: readonly string[]
}

export function chainOf(tenant: string, { wire, head, units }: ForeignRequest, digest: Digest): Chain {
  // The role stands beside the hash and not in it: a copy of every unit would cost as much as hashing it.
  const named = units.map(({ role, canonical }) => role.charAt(0) + digest(canonical))
  const start = startOf(tenant, wire, digest)
  return {
    head: digest(joined([bytesOf(tenant), ...head])),
    links: linksOf(start, named, digest),
    units: named,
  }
}

/** What stands before the first unit of every conversation of one tenant. */
export const startOf = (tenant: string, wire: string, digest: Digest): string => digest(`${tenant}\n${wire}`)

/** The beginnings of a list of units, each named by the one before it and its last unit. */
export function linksOf(start: string, units: readonly string[], digest: Digest): readonly string[] {
  const links: string[] = []
  for (const unit of units) links.push(digest(`${links.at(-1) ?? start}\n${unit}`))
  return links
}

/** How a request goes on from what is known. `common` is how many of its units were there before. */
export type Match =
  | { readonly kind: 'new' }
  | { readonly kind: 'next' | 'again' | 'branch'; readonly session: string; readonly common: number }
  /** The client says it is the same session, and nothing of it is: it has compacted or cleared it. */
  | { readonly kind: 'restart'; readonly session: string }

interface Known {
  readonly session: string
  readonly at: number
}
interface Conversation {
  readonly label: string
  readonly head: string
  readonly links: readonly string[]
}

/** The end of a conversation, as it is written down. */
export interface Tip {
  readonly head: string
  readonly tip: string
  readonly units: number
}

export const tipOf = ({ head, links }: Pick<Chain, 'head' | 'links'>): Tip => ({
  head,
  tip: links.at(-1) ?? '',
  units: links.length,
})

export interface ChainBounds {
  /** Conversations that are remembered; the one unused for longest goes first. */
  readonly conversations: number
}

/** The conversations of one tenant. */
export class ChainIndex {
  readonly #bounds: ChainBounds
  /** In the order of their last use. */
  readonly #conversations = new Map<string, Conversation>()
  readonly #known = new Map<string, Known>()
  /** Beginnings that were sent, by whichever conversation. */
  readonly #sent = new Map<string, number>()
  readonly #latestOf = new Map<string, string>()

  constructor(bounds: ChainBounds) {
    this.#bounds = bounds
  }

  match(label: string, { head, links }: Pick<Chain, 'head' | 'links'>): Match {
    const at = links.findLastIndex((link) => this.#known.has(key(label, link)))
    const known = at < 0 ? undefined : this.#known.get(key(label, links[at]!))
    if (known === undefined) return this.#unknown(label, head)
    const { session } = known
    const before = this.#conversations.get(session)!
    const isTip = known.at === before.links.length - 1
    // The same opening under another system prompt is another conversation; a longer one has changed its tools or its model.
    if (isTip && at === links.length - 1)
      return before.head === head ? { kind: 'again', session, common: at + 1 } : { kind: 'new' }
    return { kind: isTip ? 'next' : 'branch', session, common: at + 1 }
  }

  #unknown(label: string, head: string): Match {
    const session = label === '' ? undefined : this.#latestOf.get(key(label, head))
    return session === undefined ? { kind: 'new' } : { kind: 'restart', session }
  }

  /** The beginnings that the newest request of a session had; those of an earlier run but the last are empty. */
  linksOf(session: string): readonly string[] {
    return this.#conversations.get(session)?.links ?? []
  }

  /** How many units of a request were sent before, by whichever conversation of this tenant. */
  sentBefore({ links }: Chain): number {
    return links.findLastIndex((link) => this.#sent.has(link)) + 1
  }

  /** A conversation of an earlier run, of which only its end is known. */
  recall(session: string, label: string, { head, tip, units }: Tip): void {
    this.take(session, label, { head, links: [...Array<string>(units - 1).fill(''), tip] })
  }

  /** The request was taken as the newest of a session. */
  take(session: string, label: string, { head, links }: Pick<Chain, 'head' | 'links'>): void {
    const before = this.#conversations.get(session)
    this.#conversations.delete(session)
    this.#conversations.set(session, { label, head, links })
    this.#latestOf.set(key(label, head), session)
    const same = before === undefined || before.label !== label ? 0 : sharedStart(before.links, links)
    if (before !== undefined) this.#forget(before, same)
    for (const [at, link] of links.entries()) {
      if (at < same || link === '') continue
      this.#known.set(key(label, link), { session, at })
      this.#sent.set(link, (this.#sent.get(link) ?? 0) + 1)
    }
    this.#shrink()
  }

  #shrink(): void {
    while (this.#conversations.size > this.#bounds.conversations) {
      const [session, conversation] = this.#conversations.entries().next().value!
      this.#conversations.delete(session)
      this.#forget(conversation, 0)
      const latest = key(conversation.label, conversation.head)
      if (this.#latestOf.get(latest) === session) this.#latestOf.delete(latest)
    }
  }

  #forget({ label, links }: Conversation, from: number): void {
    for (const link of links.slice(from)) {
      if (link === '') continue
      this.#known.delete(key(label, link))
      const count = (this.#sent.get(link) ?? 1) - 1
      if (count > 0) this.#sent.set(link, count)
      else this.#sent.delete(link)
    }
  }
}

const key = (label: string, link: string): string => `${link}${label}`

/** How many of the first are the same in both. */
export function sharedStart(a: readonly string[], b: readonly string[]): number {
  const most = Math.min(a.length, b.length)
  let count = 0
  while (count < most && a[count] === b[count]) count++
  return count
}
