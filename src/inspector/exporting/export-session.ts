// One session as one file: the page with everything it would ask for answered beforehand, in packs that the page opens when it
// needs them. The file asks nobody: its policy lets its own script run and nothing else.
import { createHash } from 'node:crypto'
import { deflateRawSync } from 'node:zlib'
import { refused } from '../../disk/failure.ts'
import { defaults } from '../../settings/defaults.ts'
import { isKnown } from '../../transcript/fact.ts'
import type { Result } from '../../transcript/store.ts'
import { blocksOf } from '../answers/lines.ts'
import { carriedBy, indexChunk, requestChunk } from '../answers/chunks.ts'
import { encodeChunk } from '../columns.ts'
import type { OpenedIndex } from '../indexing/open-index.ts'
import type { Inspection } from '../inspection.ts'
import type { About, AgentNode, Carried, ExportedSession, Lines, RequestDetail } from '../protocol.ts'
import { answerTo } from '../server/routes.ts'

export interface ExportOptions {
  readonly inspection: Inspection
  readonly session: string
  readonly about: Pick<About, 'version'>
  readonly exported: NonNullable<About['exported']>
  /** The page as one script, and its style. */
  readonly page: { readonly script: string; readonly style: string }
  /** Larger files are refused. */
  readonly mostBytes: number
  readonly progress?: ((done: number, of: number) => void) | undefined
}

export async function exportSession(options: ExportOptions): Promise<Result<{ readonly html: string }>> {
  const { inspection, session, mostBytes, progress } = options
  const opened = await inspection.opened(session)
  if (!opened.ok) return opened
  const packs = new Packs()
  const details = await detailPaths(inspection, opened)
  for (const [at, path] of details.entries()) {
    const answer = await ask(options, path)
    if (!answer.ok) return answer
    packs.put(path, answer.value)
    if (packs.bytes > mostBytes) return tooLarge(session, mostBytes)
    progress?.(at + 1, details.length)
  }
  const lines = await packLines(options, opened, packs)
  if (!lines.ok) return lines
  const first = await firstAnswers(options, opened)
  if (!first.ok) return first
  const { places, texts } = packs.end()
  const head: ExportedSession = {
    v: 1,
    session,
    answers: first.answers,
    index: chunksOf(opened),
    lines: lines.starts,
    places,
  }
  const html = pageWith([packed(head), ...texts], options)
  return html.length > mostBytes ? tooLarge(session, mostBytes) : { ok: true, html }
}

const tooLarge = (session: string, most: number) =>
  refused(
    'too-large',
    `session ${session} makes a file of more than ${Math.round(most / 1e6)} MB. Look at it with pal inspect ${session}, or copy it with pal sessions export`,
  )

const ownPath = (session: string): string => `/s/${encodeURIComponent(session)}`

/** What the screens of single things ask for: requests, blocks, edits. */
async function detailPaths(
  { options }: Inspection,
  { index, links }: OpenedIndex,
): Promise<readonly string[]> {
  const own = ownPath(index.lists.session)
  const { requests } = index
  const paths = Array.from(
    { length: requests.length },
    (_, row) => `${own}/request/${requests.get(row, 'seq')}`,
  )
  if (requests.length > 0) paths.push(`${paths.at(-1)!}/body`)
  for (const { seq } of index.editList.rows()) paths.push(`${own}/edit/${seq}`)
  for await (const item of options.store.read(links.at(-1)!.session))
    if (item.kind === 'entry' && isKnown(item.entry))
      for (const block of blocksOf(item.entry).keys()) paths.push(`${own}/block/${item.entry.seq}/${block}`)
  return paths
}

/** As the route says it. A request that cannot be composed again is no reason to have no file: what is wrong is kept in its place. */
async function ask(
  { inspection, exported, about }: ExportOptions,
  path: string,
): Promise<Result<{ readonly value: unknown }>> {
  const context = { inspection, about: { ...about, protocol: 1 as const, session: null, canChange: false } }
  const answer = await answerTo(context, new URL(`/api${path}`, 'http://inspector'))
  if (answer.kind === 'problem') return { ok: true, value: { problem: answer.problem } }
  if (answer.kind === 'bytes') return { ok: true, value: String(answer.bytes) }
  const { value } = answer
  return { ok: true, value: exported.isRedacted && isDetail(value) ? withReason(value) : value }
}

const isDetail = (value: unknown): value is RequestDetail =>
  typeof value === 'object' && value !== null && 'composedHash' in value
const withReason = (detail: RequestDetail): RequestDetail =>
  detail.isExact
    ? detail
    : { ...detail, inexact: `in this file what looks like a secret is redacted; else: ${detail.inexact}` }

/** What the page asks for as soon as it opens. */
async function firstAnswers(
  options: ExportOptions,
  opened: OpenedIndex,
): Promise<Result<{ readonly answers: Readonly<Record<string, unknown>> }>> {
  const { inspection, session, about, exported } = options
  const own = ownPath(session)
  const { sessions } = await inspection.sessions()
  const answers: Record<string, unknown> = {
    '/about': { ...about, protocol: 1, session, canChange: false, exported } satisfies About,
    '/sessions': { sessions: sessions.filter((row) => row.session === session), problems: [] },
    [`${own}/requests`]: requestChunk(opened.index, null, Infinity),
    [`${own}/carried`]: allCarried(opened),
  }
  for (const path of [own, `${own}/edits`, `${own}/breaks`, `${own}/agents`]) {
    const answer = await ask(options, path)
    if (!answer.ok) return answer
    answers[path] = answer.value
  }
  const { root } = answers[`${own}/agents`] as { readonly root: AgentNode }
  answers[`${own}/agents`] = { root: elsewhere(root, session) }
  return { ok: true, answers }
}

/** Other sessions are named and counted; they lie in no file. */
const elsewhere = (node: AgentNode, session: string): AgentNode => ({
  ...node,
  isHere: node.session === session,
  children: node.children.map((child) => elsewhere(child, session)),
})

function allCarried({ index }: OpenedIndex): Carried {
  const { first, head } = index.lists
  const all = { from: first ?? 0, to: head ?? -1, requests: [] as number[], dollars: [] as number[] }
  for (let from = all.from; from <= all.to; from += defaults.inspector.carriedEntries) {
    const piece = carriedBy(index, from, all.to)
    all.requests.push(...piece.requests)
    all.dollars.push(...piece.dollars)
  }
  return all
}

function chunksOf({ index }: OpenedIndex): readonly string[] {
  const chunks: string[] = []
  for (let before: number | null = null; ;) {
    const chunk = indexChunk(index, before, defaults.inspector.chunkEntries)
    chunks.push(Buffer.from(encodeChunk(chunk)).toString('base64'))
    before = chunk.before
    if (before === null) return chunks
  }
}

/** Stored lines in groups, each an answer of its own. */
async function packLines(
  options: ExportOptions,
  { index }: OpenedIndex,
  packs: Packs,
): Promise<Result<{ readonly starts: readonly number[] }>> {
  const { first, head } = index.lists
  const own = ownPath(options.session)
  const starts: number[] = []
  for (let from = first ?? 0; from <= (head ?? -1);) {
    const to = Math.min(head!, from + linesPerGroup - 1)
    const answer = await ask(options, `${own}/lines?from=${from}&to=${to}`)
    if (!answer.ok) return answer
    packs.put(`${own}/lines/${from}`, answer.value)
    if (packs.bytes > options.mostBytes) return tooLarge(options.session, options.mostBytes)
    starts.push(from)
    from = (answer.value as Lines).next ?? to + 1
  }
  return { ok: true, starts }
}
const linesPerGroup = 64

/** Answers by path, packed together until a pack is large enough to be worth opening by itself. */
class Packs {
  readonly #places: Record<string, number> = {}
  readonly #texts: string[] = []
  #open: Record<string, unknown> = {}
  #size = 0
  bytes = 0

  put(path: string, answer: unknown): void {
    this.#open[path] = answer
    this.#places[path] = this.#texts.length
    this.#size += JSON.stringify(answer).length
    if (this.#size >= packChars) this.#close()
  }

  end(): { readonly places: Readonly<Record<string, number>>; readonly texts: readonly string[] } {
    if (this.#size > 0) this.#close()
    return { places: this.#places, texts: this.#texts }
  }

  #close(): void {
    const text = packed(this.#open)
    this.#texts.push(text)
    this.bytes += text.length
    this.#open = {}
    this.#size = 0
  }
}
const packChars = 400_000

const packed = (value: unknown): string =>
  deflateRawSync(JSON.stringify(value), { level: 9 }).toString('base64')

/** Base64 alone stands between the tags: nothing of a session is markup. The bundler writes no closing tag into script or style. */
function pageWith(texts: readonly string[], { page }: ExportOptions): string {
  const hash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
  const rules = `default-src 'none'; script-src ${hash(page.script)}; style-src ${hash(page.style)}; img-src data: blob:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'`
  const data = texts.map((text, at) => `<script type="text/plain" id="pal-export-${at}">${text}</script>`)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${rules}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>pal inspect</title>
<link rel="icon" href="data:,">
<style>${page.style}</style>
</head>
<body>
<div id="app"><noscript>This page draws itself with a script of its own.</noscript></div>
${data.join('\n')}
<script>${page.script}</script>
</body>
</html>
`
}
