// How well memories and past turns are found, and how fast: `npm run bench:recall FILE… [--json] [--use files|turns]
// [--no-times] [--sizes N,N] [--peers]`. A file holds one JSON object a line, grouped by `collection`: `{"collection", "doc": {"id", "text",
// "tags"?, "session"?, "speaker"?, "date"?}}` and `{"collection", "query": {"text", "category"?, "gold": [ids]}}`.
// Documents with a session are turns of a transcript, those without are memory files. R@k is the share of a query's gold
// ids among the first k, averaged over queries. Plain BM25 stands beside ours in the same run, with and without stems.
// With `--peers` minisearch stands there too (installed into bench/peers). Where an encoder is installed or named with
// `--encoder URL [--encoder-model NAME]`, words and vectors mixed as recall mixes them stand there too, with the time a text
// takes and the size; `--no-encoder` leaves it out.
// Without a file the sets of a folder of recall sets are read, where there is one (test/shared-data.ts).
import { existsSync, readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { miniSearch } from './recall-minisearch.ts'
import { plainRanker, type Ranker } from './recall-plain.ts'
import { readSets, type Collection, type Doc } from './recall-sets.ts'
import { FileRanker } from '../src/memory/recall/file-ranker.ts'
import { TurnRanker } from '../src/memory/recall/turn-ranker.ts'
import { httpEncoder, packagedEncoder, packagedNames } from '../src/memory/recall/encoders.ts'
import { cosine, mixed, type Embedder } from '../src/memory/recall/vectors.ts'
import { Lexicon } from '../src/memory/recall/lexicon/terms.ts'
import { defaults } from '../src/settings/defaults.ts'
import { recallFolder as shared } from '../test/shared-data.ts'

type Use = 'files' | 'turns'
const ks = [5, 10, 20] as const
const timedQueries = 40
const tries = 3

const { values: options, positionals: named } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    use: { type: 'string' },
    'no-times': { type: 'boolean', default: false },
    sizes: { type: 'string', default: '100,1000,10000,100000' },
    peers: { type: 'boolean', default: false },
    encoder: { type: 'string' },
    'encoder-model': { type: 'string', default: defaults.encoder.model },
    'no-encoder': { type: 'boolean', default: false },
  },
})
const forcedUse = options.use === undefined ? null : (options.use as Use)
const sizes = options['no-times'] ? [] : options.sizes.split(',').map(Number)
const files = named.length > 0 ? named : sharedFiles()
if (files.length === 0) {
  process.stdout.write(
    'nothing to measure: give a file of documents and queries (see the head of bench/recall.ts)\n',
  )
  process.exit(0)
}

function sharedFiles(): readonly string[] {
  if (!existsSync(shared)) return []
  return readdirSync(shared)
    .filter((name) => name.endsWith('.jsonl'))
    .sort()
    .map((name) => join(shared, name))
}

const lexicon = new Lexicon()

/** Ours, as the engine uses it. */
function ours(docs: readonly Doc[], use: Use): Ranker {
  if (use === 'files') {
    const ranker = new FileRanker(lexicon)
    const { body, tags } = defaults.ranking.fields
    for (const { id, text, tags: tagged = [] } of docs)
      ranker.set(id, {
        fields: [
          { text, weight: body },
          { text: tagged.join(' '), weight: tags },
        ],
      })
    return (query, most) => ranker.rank(query, most).map(({ id }) => id)
  }
  const ranker = new TurnRanker(lexicon)
  for (const { id, text, session = '', speaker, date } of docs)
    ranker.add({ id, text, session, speaker, date, isUser: /^(?:user|human)$/iu.test(speaker ?? '') })
  return (query, most) => ranker.rank(query, most).map(({ id }) => id)
}

type MakeRanker = (docs: readonly Doc[], use: Use) => Ranker
const rankers: Record<string, MakeRanker> = {
  'plain BM25': (docs) => plainRanker(docs, null),
  'plain BM25, stems': (docs) => plainRanker(docs, lexicon),
  palimpsest: ours,
}
if (options.peers) {
  const peer = await miniSearch(lexicon)
  if (typeof peer === 'string') process.stderr.write(`left out: ${peer}\n`)
  else rankers['minisearch'] = peer
}

const never = new AbortController().signal
/** Of each text once: sets ask the same again. */
const vectors = new Map<string, Float32Array>()
const embedding = { texts: 0, ms: 0 }

async function embedAll(encoder: Embedder, texts: readonly string[]): Promise<void> {
  const fresh = [...new Set(texts)].filter((text) => !vectors.has(text))
  const begun = performance.now()
  const made = await encoder.embed(fresh, never)
  if (!made.ok) throw new Error(made.why)
  embedding.texts += fresh.length
  embedding.ms += performance.now() - begun
  for (const [at, text] of fresh.entries()) vectors.set(text, made.vectors[at]!)
}

/** Words and vectors, mixed as recall does; of memory files alone. */
function withVectors(docs: readonly Doc[]): Ranker {
  const ranker = new FileRanker(lexicon)
  const { body, tags } = defaults.ranking.fields
  for (const { id, text, tags: tagged = [] } of docs)
    ranker.set(id, {
      fields: [
        { text, weight: body },
        { text: tagged.join(' '), weight: tags },
      ],
    })
  return (query, most) => {
    const words = new Map(ranker.rank(query, docs.length).map(({ id, score }) => [id, score]))
    const asked = vectors.get(query)!
    const isRead = encoding?.encoder.reads?.(query) !== false
    const near = new Map(isRead ? docs.map(({ id, text }) => [id, cosine(asked, vectors.get(text)!)]) : [])
    return [...mixed(words, near, defaults.ranking.fileVectors)]
      .toSorted((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
      .slice(0, most)
      .map(([id]) => id)
  }
}

async function encoderAt(): Promise<{ readonly encoder: Embedder; readonly size: string } | null> {
  if (options['no-encoder']) return null
  if (options.encoder !== undefined)
    return {
      encoder: httpEncoder({
        url: options.encoder,
        model: options['encoder-model'],
        fetch: globalThis.fetch,
      }),
      size: 'at an endpoint',
    }
  const encoder = packagedEncoder((name) => import(name))
  const made = await encoder.embed(['a first text'], never)
  if (made.ok) return { encoder, size: `${packagedMegabytes()} MB on disk` }
  process.stderr.write(`left out: ${made.why}\n`)
  return null
}

function packagedMegabytes(): string {
  const root = join(import.meta.dirname, '..', 'node_modules')
  const bytes = packagedNames
    .flatMap((name) => readdirSync(join(root, name), { recursive: true, withFileTypes: true }))
    .reduce((sum, entry) => sum + (entry.isFile() ? statSync(join(entry.parentPath, entry.name)).size : 0), 0)
  return (bytes / 1e6).toFixed(1)
}

interface Quality {
  readonly recall: readonly number[]
  readonly categories: Readonly<Record<string, readonly [queries: number, ...recall: number[]]>>
  readonly p50Ms: number
  readonly p95Ms: number
}

function measure(collections: readonly Collection[], use: Use, make: MakeRanker): Quality {
  const times: number[] = []
  const sums = new Map<string, number[]>()
  for (const { docs, queries } of collections) {
    const rank = make(docs, use)
    for (const { text, category = 'all', gold } of queries) {
      if (gold.length === 0) continue
      const begun = performance.now()
      const found = rank(text, Math.max(...ks))
      times.push(performance.now() - begun)
      const wanted = new Set(gold)
      const shares = ks.map((k) => found.slice(0, k).filter((id) => wanted.has(id)).length / wanted.size)
      for (const name of new Set(['', category])) {
        const sum = sums.get(name) ?? [0, ...ks.map(() => 0)]
        sums.set(
          name,
          [1, ...shares].map((share, at) => sum[at]! + share),
        )
      }
    }
  }
  const percent = ([count = 1, ...recall]: readonly number[]) =>
    recall.map((sum) => Number(((100 * sum) / count).toFixed(1)))
  const categories = [...sums].filter(([name]) => name !== '')
  return {
    recall: percent(sums.get('') ?? []),
    categories: Object.fromEntries(categories.map(([name, sum]) => [name, [sum[0]!, ...percent(sum)]])),
    ...spreadOf(times),
  }
}

function spreadOf(times: readonly number[]): { p50Ms: number; p95Ms: number } {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number): number => Number((sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(3))
  return { p50Ms: at(0.5), p95Ms: at(0.95) }
}

/** Documents in the words of the set, mixed anew: as hard for an index as the set's own. Always the same ones. */
function padded(docs: readonly Doc[], size: number): readonly Doc[] {
  const all = docs.slice(0, size)
  let state = 1
  const next = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return state % below
  }
  for (let at = all.length; at < size; at++) {
    const [from, other] = [docs[next(docs.length)]!, docs[next(docs.length)]!]
    const cut = next(from.text.length + 1)
    all.push({
      ...from,
      id: `padding-${at}`,
      text: `${from.text.slice(0, cut)} ${at.toString(36)} ${other.text.slice(cut)}`,
      session: `padding-${at >> 5}`,
    })
  }
  return all
}

interface Measured {
  readonly file: string
  readonly use: Use
  readonly documents: number
  readonly queries: number
  readonly rankers: readonly (Quality & { readonly name: string; readonly sizes: readonly Timing[] })[]
}

interface Timing {
  readonly documents: number
  readonly indexMs: number
  readonly p50Ms: number
  readonly p95Ms: number
}

function timings({ docs, queries }: Collection, use: Use, make: MakeRanker): readonly Timing[] {
  return sizes.map((documents) => {
    const all = padded(docs, documents)
    const begun = performance.now()
    const rank = make(all, use)
    const indexMs = Math.round(performance.now() - begun)
    // The best of a few tries: what the query costs, not what else the machine does.
    const times = queries.slice(0, timedQueries).map(({ text }) =>
      Math.min(
        ...Array.from({ length: tries }, () => {
          const asked = performance.now()
          rank(text, 10)
          return performance.now() - asked
        }),
      ),
    )
    return { documents, indexMs, ...spreadOf(times) }
  })
}

const encoding = await encoderAt()
const report: Measured[] = []
for (const file of files) {
  const collections = readSets(file)
  const use =
    forcedUse ?? (collections.some(({ docs }) => docs.some((doc) => doc.session)) ? 'turns' : 'files')
  const largest = collections.toSorted((a, b) => b.docs.length - a.docs.length)[0]!
  const rows = Object.entries(rankers).map(([name, make]) => ({
    name,
    ...measure(collections, use, make),
    sizes: timings(largest, use, make),
  }))
  if (encoding !== null && use === 'files') {
    await embedAll(
      encoding.encoder,
      collections.flatMap(({ docs, queries }) => [...docs, ...queries].map(({ text }) => text)),
    )
    rows.push({ name: 'with the encoder', ...measure(collections, use, withVectors), sizes: [] })
  }
  const measured: Measured = {
    file: basename(file),
    use,
    documents: collections.reduce((sum, { docs }) => sum + docs.length, 0),
    queries: collections.reduce((sum, { queries }) => sum + queries.length, 0),
    rankers: rows,
  }
  if (!options.json) print(measured)
  report.push(measured)
}
if (encoding !== null && !options.json)
  process.stdout.write(
    `\nencoder ${encoding.encoder.name}, ${encoding.size}: ${(embedding.ms / Math.max(1, embedding.texts)).toFixed(1)} ms a text (${embedding.texts} texts)\n`,
  )

if (options.json) process.stdout.write(`${JSON.stringify(report, null, 2)}\n`)

function print({ file, use, documents, queries, rankers: rows }: Measured): void {
  process.stdout.write(`\n${file}: ${documents} documents as ${use}, ${queries} queries\n`)
  process.stdout.write(
    `${'ranker'.padEnd(20)} ${ks.map((k) => `R@${k}`.padStart(6)).join('')}   p50 / p95 ms\n`,
  )
  for (const { name, recall, p50Ms, p95Ms, categories } of rows) {
    const figures = recall.map((value) => value.toFixed(1).padStart(6)).join('')
    process.stdout.write(`${name.padEnd(20)} ${figures}   ${p50Ms.toFixed(2)} / ${p95Ms.toFixed(2)}\n`)
    const named = Object.entries(categories)
    if (named.length < 2) continue
    for (const [category, [count, ...shares]] of named)
      process.stdout.write(
        `  ${`${category} (${count})`.padEnd(18)} ${shares.map((value) => value.toFixed(1).padStart(6)).join('')}\n`,
      )
  }
  for (const { name, sizes: measured } of rows) {
    if (measured.length === 0) continue
    const figures = measured.map(
      (one) => `${one.documents}: ${one.p50Ms.toFixed(2)} / ${one.p95Ms.toFixed(2)}`,
    )
    process.stdout.write(`${name.padEnd(20)}  ms a query at ${figures.join(', ')}\n`)
  }
}
