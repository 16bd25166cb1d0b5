// One short name for the content of a block. Breakpoints and references are left out, so moving them changes nothing; so are
// fields a response carries and a client may drop. The order of keys counts inside `input` and nowhere else.
// Digests are kept per object: a caller that hands in the same block again pays nothing.
import { hash } from 'node:crypto'
import type { WireBlock, WireRequest, WireTool } from '../model/wire.ts'

const ALGORITHM = 'sha1'
const IGNORED: ReadonlySet<string> = new Set(['cache_control', 'cache_reference'])

export interface Digests {
  block(block: WireBlock): string
  tool(tool: WireTool): string
  system(request: WireRequest): readonly string[]
  /** The chain after this item; the last answer is kept per object, since a session repeats its prefix. */
  follow(previous: string, item: object, digest: string): string
}

/** The digests of one simulator, each text hashed once. */
export function createDigests(): Digests {
  const known = new WeakMap<object, string>()
  const links = new WeakMap<
    object,
    { readonly previous: string; readonly digest: string; readonly hash: string }
  >()
  const of = (value: object): string => {
    const before = known.get(value)
    if (before !== undefined) return before
    const digest = hash(ALGORITHM, JSON.stringify(canonical(value)))
    known.set(value, digest)
    return digest
  }
  return {
    block: of,
    tool: of,
    follow: (previous, item, digest) => {
      const link = links.get(item)
      if (link?.previous === previous && link.digest === digest) return link.hash
      const next = chain(previous, digest)
      links.set(item, { previous, digest, hash: next })
      return next
    },
    system: ({ system }) => {
      if (system === undefined || system === '') return []
      return typeof system === 'string' ? [of({ type: 'text', text: system })] : system.map(of)
    },
  }
}

export function chain(previous: string, ...next: readonly string[]): string {
  return hash(ALGORITHM, `${previous}|${next.join('|')}`)
}

function canonical(block: object): unknown {
  const entries: [string, unknown][] = []
  for (const [key, value] of Object.entries(block).sort(byKey)) {
    if (!IGNORED.has(key) && !isDefault(key, value))
      entries.push([key, key === 'content' ? inner(value) : value])
  }
  return entries
}

function inner(content: unknown): unknown {
  if (!Array.isArray(content)) return content
  return content.map((each: unknown) => (typeof each === 'object' && each !== null ? canonical(each) : each))
}

function byKey([left]: [string, unknown], [right]: [string, unknown]): number {
  return left < right ? -1 : 1
}

/** What responses add to a block without saying anything. */
function isDefault(key: string, value: unknown): boolean {
  if (value === undefined) return true
  if (key === 'citations') return value === null || (Array.isArray(value) && value.length === 0)
  if (key !== 'caller') return false
  return typeof value === 'object' && (value as { type?: unknown } | null)?.type === 'direct'
}
