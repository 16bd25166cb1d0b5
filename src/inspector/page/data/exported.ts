// The session of an exported file as the page asks for it: the same paths, answered from packs in the file, each opened when
// something of it is wanted.
import type { Carried, ExportedSession, Found, Lines } from '../../protocol.ts'
import { decodeChunk } from '../../columns.ts'
import { blocksIn, factIn } from './preview.ts'
import type { Answer, Source } from './source.ts'

const missing = 'That is not in this exported file. Open the session with `pal inspect` to see it.'
/** Text around a hit. */
const around = 60
/** Packs that stay open. */
const mostOpen = 12

/** `packs`: the texts of the file's packs, by number. Null where the first is no session of this form. */
export async function exportedSource(packs: (pack: number) => string | null): Promise<Source | null> {
  const head = (await unpacked(packs(0))) as ExportedSession | null
  return head?.v === 1 ? sourceOf(head, opener(packs)) : null
}

async function unpacked(text: string | null): Promise<unknown> {
  if (text === null) return null
  try {
    const stream = new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream('deflate-raw'))
    return (await new Response(stream).json()) as unknown
  } catch {
    return null
  }
}

const bytesOf = (base64: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))

type Pack = Readonly<Record<string, unknown>> | null

/** The newest packs stay open; the ones opened first are closed again. */
function opener(packs: (pack: number) => string | null): (pack: number) => Promise<Pack> {
  const open = new Map<number, Promise<Pack>>()
  return (pack) => {
    const opening = open.get(pack) ?? (unpacked(packs(pack + 1)) as Promise<Pack>)
    open.delete(pack)
    open.set(pack, opening)
    for (const oldest of open.keys()) {
      if (open.size <= mostOpen) break
      open.delete(oldest)
    }
    return opening
  }
}

function sourceOf(session: ExportedSession, openPack: (pack: number) => Promise<Pack>): Source {
  const own = `/s/${encodeURIComponent(session.session)}`
  const chunks = session.index.map(bytesOf)
  const kept = async (path: string): Promise<unknown> => {
    const pack = session.places[path]
    return pack === undefined ? undefined : (await openPack(pack))?.[path]
  }
  const answer = async (path: string): Promise<unknown> => {
    const [plain = '', query = ''] = path.split('?', 2)
    const asked = new URLSearchParams(query)
    if (plain === `${own}/lines`)
      return linesOf(session, kept, own, numberIn(asked, 'from'), numberIn(asked, 'to'))
    if (plain === `${own}/find`) return foundIn(session, kept, own, asked)
    if (plain === `${own}/carried`)
      return carriedIn(session.answers[plain], numberIn(asked, 'from'), numberIn(asked, 'to'))
    return session.answers[plain] ?? (await kept(plain))
  }
  return {
    isStatic: true,
    json: async <T>(path: string) => found(await answer(path)) as Answer<T>,
    text: async (path) => {
      const value = await answer(path)
      return found(typeof value === 'string' || value === undefined ? value : JSON.stringify(value))
    },
    bytes: async (path) => {
      const before = numberIn(new URLSearchParams(path.split('?')[1]), 'before')
      return found(chunkBefore(chunks, before))
    },
    ask: async () => ({ ok: false, status: 403, problem: 'An exported session cannot be changed.' }),
    follow: () => () => undefined,
  }
}

function found<T>(value: T | undefined): Answer<T> {
  const isProblem = typeof value === 'object' && value !== null && 'problem' in value
  if (isProblem) return { ok: false, status: 404, problem: String(value.problem) }
  return value === undefined ? { ok: false, status: 404, problem: missing } : { ok: true, value }
}

const numberIn = (asked: URLSearchParams, name: string): number => Number(asked.get(name) ?? Number.NaN)

/** Chunks are whole in the file: the newest that begins before the place. */
function chunkBefore(chunks: readonly Uint8Array[], before: number): Uint8Array | undefined {
  return chunks.find((bytes) => {
    const chunk = decodeChunk(bytes)
    return chunk !== null && chunk.from < before
  })
}

type Kept = (path: string) => Promise<unknown>

const groupAt = async (kept: Kept, own: string, start: number): Promise<Lines['lines']> =>
  ((await kept(`${own}/lines/${start}`)) as Lines | undefined)?.lines ?? []

async function linesOf(
  { lines: starts }: ExportedSession,
  kept: Kept,
  own: string,
  from: number,
  to: number,
): Promise<Lines> {
  const lines: Lines['lines'][number][] = []
  for (const [at, start] of starts.entries())
    if (start <= to && (starts[at + 1] ?? Number.POSITIVE_INFINITY) > from)
      for (const line of await groupAt(kept, own, start))
        if (line.seq >= from && line.seq <= to) lines.push(line)
  return { lines, next: null, damage: [] }
}

function carriedIn(all: unknown, from: number, to: number): Carried | undefined {
  const carried = all as Carried | undefined
  if (carried === undefined) return undefined
  const [low, high] = [Math.max(from, carried.from), Math.min(to, carried.to)]
  const cut = (values: readonly number[]): readonly number[] =>
    values.slice(low - carried.from, high - carried.from + 1)
  return { from: low, to: high, requests: cut(carried.requests), dollars: cut(carried.dollars) }
}

/** One group of lines after the other, newest first; where to go on is the beginning of the last one searched. */
async function foundIn(
  { lines: starts }: ExportedSession,
  kept: Kept,
  own: string,
  asked: URLSearchParams,
): Promise<Found> {
  const wanted = (asked.get('text') ?? '').toLowerCase()
  const before = asked.get('before') === null ? Number.POSITIVE_INFINITY : numberIn(asked, 'before')
  const hits: Found['hits'][number][] = []
  for (const start of starts.filter((one) => one < before).toReversed()) {
    for (const { seq, line } of (await groupAt(kept, own, start)).toReversed())
      hits.push(...hitsIn(seq, line, wanted))
    if (hits.length > 0) return { hits, before: start === starts[0] ? null : start }
  }
  return { hits, before: null }
}

function hitsIn(seq: number, line: string, wanted: string): readonly Found['hits'][number][] {
  const fact = factIn(line)
  if (fact === null) return []
  return blocksIn(fact).flatMap(({ text }, block) => {
    const at = text.toLowerCase().indexOf(wanted)
    if (at < 0) return []
    const start = Math.max(0, at - around)
    const excerpt = text.slice(start, at + wanted.length + around)
    return [{ seq, block, excerpt, at: at - start, length: wanted.length }]
  })
}
