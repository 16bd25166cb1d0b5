// The session of an exported file as the page asks for it: the same paths, answered from the file.
import type { Carried, ExportedSession, Found, Lines } from '../../protocol.ts'
import { decodeChunk } from '../../columns.ts'
import { blocksIn, factIn } from './preview.ts'
import type { Answer, Source } from './source.ts'

const missing = 'That is not in this exported file. Open the session with `pal inspect` to see it.'
/** Text around a hit. */
const around = 60

/** Null where the file holds no session of this form. */
export async function exportedSource(packed: string): Promise<Source | null> {
  const session = await unpacked(packed)
  return session === null ? null : sourceOf(session)
}

async function unpacked(packed: string): Promise<ExportedSession | null> {
  try {
    const { data } = JSON.parse(packed) as { data: string }
    const bytes = bytesOf(data)
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'))
    const session = JSON.parse(await new Response(stream).text()) as ExportedSession
    return session.v === 1 ? session : null
  } catch {
    return null
  }
}

const bytesOf = (base64: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))

function sourceOf(session: ExportedSession): Source {
  const own = `/s/${encodeURIComponent(session.session)}`
  const chunks = session.index.map(bytesOf)
  const found = <T>(value: T | undefined): Answer<T> =>
    value === undefined ? { ok: false, status: 404, problem: missing } : { ok: true, value }
  const answer = (path: string): unknown => {
    const [plain = '', query = ''] = path.split('?', 2)
    const asked = new URLSearchParams(query)
    if (plain === `${own}/lines`) return linesOf(session, numberIn(asked, 'from'), numberIn(asked, 'to'))
    if (plain === `${own}/find`) return foundIn(session, asked.get('text') ?? '')
    if (plain === `${own}/carried`)
      return carriedIn(session.answers[plain], numberIn(asked, 'from'), numberIn(asked, 'to'))
    return session.answers[plain]
  }
  const refuse = (): Promise<{ ok: false; status: number; problem: string }> =>
    Promise.resolve({ ok: false, status: 403, problem: 'An exported session cannot be changed.' })
  return {
    isStatic: true,
    json: <T>(path: string) => Promise.resolve(found(answer(path) as T | undefined)),
    text: (path) => {
      const value = answer(path)
      return Promise.resolve(
        found(value === undefined ? undefined : typeof value === 'string' ? value : JSON.stringify(value)),
      )
    },
    bytes: (path) => {
      const before = numberIn(new URLSearchParams(path.split('?')[1]), 'before')
      return Promise.resolve(found(chunkBefore(chunks, before)))
    },
    change: refuse,
    ask: refuse,
    follow: () => () => undefined,
  }
}

const numberIn = (asked: URLSearchParams, name: string): number => Number(asked.get(name) ?? Number.NaN)

/** Chunks are whole in the file: the newest that begins before the place. */
function chunkBefore(chunks: readonly Uint8Array[], before: number): Uint8Array | undefined {
  return chunks.find((bytes) => {
    const chunk = decodeChunk(bytes)
    return chunk !== null && chunk.from < before
  })
}

function linesOf({ lines }: ExportedSession, from: number, to: number): Lines {
  return { lines: lines.filter(({ seq }) => seq >= from && seq <= to), next: null, damage: [] }
}

function carriedIn(all: unknown, from: number, to: number): Carried | undefined {
  const carried = all as Carried | undefined
  if (carried === undefined) return undefined
  const [low, high] = [Math.max(from, carried.from), Math.min(to, carried.to)]
  const cut = (values: readonly number[]): readonly number[] =>
    values.slice(low - carried.from, high - carried.from + 1)
  return { from: low, to: high, requests: cut(carried.requests), dollars: cut(carried.dollars) }
}

function foundIn({ lines }: ExportedSession, text: string): Found {
  const wanted = text.toLowerCase()
  const hits: Found['hits'][number][] = []
  if (wanted === '') return { hits, before: null }
  for (const { seq, line } of [...lines].reverse()) {
    const fact = line.toLowerCase().includes(wanted.slice(0, 1)) ? factIn(line) : null
    if (fact === null) continue
    blocksIn(fact).forEach((block, number) => {
      const at = block.text.toLowerCase().indexOf(wanted)
      if (at < 0) return
      const start = Math.max(0, at - around)
      const excerpt = block.text.slice(start, at + wanted.length + around)
      hits.push({ seq, block: number, excerpt, at: at - start, length: wanted.length })
    })
  }
  return { hits, before: null }
}
