// Damage at random: sessions as the engine writes them, one of their transcripts hit, and what is left of them then. A case is
// good when the session opens, every entry on a line that was not hit is there, every loss is said, and the next request is
// accepted. Counted, so that a test and a benchmark can say how many cases there really were.
import { cp, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEngine, type Engine } from '../../src/engine/engine.ts'
import { anthropicModel } from '../../src/wires/anthropic/adapter.ts'
import { call, createSimulator, text, type Answerer, type Simulator } from '../../src/simulator/index.ts'
import { fileStore } from '../../src/stores/index.ts'
import type { Tool } from '../../src/tools/tool.ts'
import { encode } from '../../src/transcript/codec.ts'
import type { Entry, Range } from '../../src/transcript/fact.ts'
import { seq, sessionId, systemClock, type SessionId } from '../../src/transcript/ids.ts'
import { lineageOf, readLine } from '../../src/transcript/lineage.ts'
import type { Store } from '../../src/transcript/store.ts'

export const damageKinds = ['flip', 'cut', 'double', 'swap', 'delete'] as const
export type DamageKind = (typeof damageKinds)[number]

export interface DamageRow {
  readonly kind: DamageKind
  cases: number
  opened: number
  /** Entries that stood on a line that was hit and are gone. */
  lost: number
  /** Entries that are gone although their line was not hit. */
  lostBesides: number
  /** Of those, behind a checkpoint: opening does without them, and a look through the whole file, as doctor's, names them. */
  behindCheckpoint: number
  /** Losses that nobody told of. */
  unsaid: number
  /** Next requests that the simulator refused, or turns that failed. */
  refused: number
}

export interface DamageReport {
  readonly rows: readonly DamageRow[]
  /** The first cases that were not good, by how to make them again. */
  readonly failures: readonly string[]
}

/** A session with all it stands on, as files. */
interface Sample {
  readonly name: string
  readonly folder: string
  readonly session: SessionId
  readonly entries: ReadonlyMap<number, string>
}

export async function damageAtRandom(
  cases: number,
  seed: number,
  progress: (done: number) => void = () => undefined,
): Promise<DamageReport> {
  const base = await mkdtemp(join(tmpdir(), 'pal-damage-'))
  const api = await startApi()
  try {
    const samples = await makeSamples(base, api)
    const rows = damageKinds.map((kind): DamageRow => ({
      kind,
      cases: 0,
      opened: 0,
      lost: 0,
      lostBesides: 0,
      behindCheckpoint: 0,
      unsaid: 0,
      refused: 0,
    }))
    const failures: string[] = []
    for (let number = 0; number < cases; number++) {
      const random = randomOf(seed + number)
      const row = rows[number % rows.length]!
      const sample = samples[Math.floor(number / rows.length) % samples.length]!
      const wrong = await oneCase(join(base, 'case'), sample, row, random, api)
      if (wrong !== null && failures.length < 20)
        failures.push(`seed ${seed + number}, ${row.kind} in ${sample.name}: ${wrong}`)
      if (number % 250 === 249) progress(number + 1)
    }
    return { rows, failures }
  } finally {
    await api.simulator.stop()
    await rm(base, { recursive: true, force: true })
  }
}

async function oneCase(
  folder: string,
  sample: Sample,
  row: DamageRow,
  random: Random,
  api: Api,
): Promise<string | null> {
  await rm(folder, { recursive: true, force: true })
  await cp(sample.folder, folder, { recursive: true, preserveTimestamps: true })
  const ids = await readdir(folder)
  const hitId = ids[random(ids.length)]!
  const file = join(folder, hitId, 'transcript.jsonl')
  const { bytes, hit, what } = damaged(await readFile(file), row.kind, random)
  await writeFile(file, bytes)
  row.cases++
  const refusedBefore = refusals(api)
  const lookedThrough = await lossesIn(fileStore({ root: folder, fsync: 'none' }), sessionId(hitId))
  try {
    const engine = engineAt(folder, api)
    const { session, damage } = await engine.openWith(sample.session)
    row.opened++
    let outcome = ''
    for await (const event of session.send('and on')) if (event.type === 'turn-end') ({ outcome } = event)
    await session.close()
    const isRefused = outcome !== 'done' || refusals(api) > refusedBefore
    if (isRefused) row.refused++
    const left = await entriesOf(fileStore({ root: folder, fsync: 'none' }), sample.session)
    const gone = [...sample.entries]
      .filter(([place, line]) => left.get(place) !== line)
      .map(([place]) => place)
    const hitPlaces = new Set(hit.flatMap((line) => placeIn(line) ?? []))
    const besides = gone.filter((place) => !hitPlaces.has(place))
    const said = damage.flatMap((one) => (one.lost === undefined ? [] : [one.lost]))
    const hidden = gone.filter((place) => !said.some((range) => isIn(place, range)))
    const unsaid = hidden.filter((place) => !lookedThrough.some((range) => isIn(place, range)))
    row.behindCheckpoint += hidden.length - unsaid.length
    row.lost += gone.length - besides.length
    row.lostBesides += besides.length
    row.unsaid += unsaid.length
    const wrong = [
      ...(isRefused ? [`the turn ended ${outcome}`] : []),
      ...(besides.length > 0 ? [`lost besides: ${besides.join(', ')}`] : []),
      ...(unsaid.length > 0 ? [`not said: ${unsaid.join(', ')}`] : []),
    ]
    return wrong.length === 0 ? null : `${what} of ${hitId}: ${wrong.join('; ')}`
  } catch (error) {
    return `${what} of ${hitId}: ${String(error)}`
  }
}

const isIn = (place: number, { from, to }: Range): boolean => place >= from && place <= to

/** The place on a line, as it was before it was hit. */
function placeIn(line: string): readonly number[] {
  const [, place] = /"seq":(\d+)/.exec(line) ?? []
  return place === undefined ? [] : [Number(place)]
}

interface Hit {
  readonly bytes: Buffer
  /** The lines that were hit, as they were. */
  readonly hit: readonly string[]
  readonly what: string
}

function damaged(whole: Buffer, kind: DamageKind, random: Random): Hit {
  const lines = whole.toString('utf8').split('\n').slice(0, -1)
  const joined = (of: readonly string[]): Buffer => Buffer.from(of.map((line) => `${line}\n`).join(''))
  const at = random(lines.length)
  switch (kind) {
    case 'flip': {
      const offset = random(whole.byteLength)
      const bytes = Buffer.from(whole)
      bytes[offset]! ^= 1 << random(8)
      const line = whole.subarray(0, offset).toString('latin1').split('\n').length - 1
      // The end of a line belongs to the next one too.
      const hit = lines.slice(line, whole[offset] === 0x0a ? line + 2 : line + 1)
      return { bytes, hit, what: `a bit at ${offset} in line ${line + 1}` }
    }
    case 'cut': {
      const offset = random(whole.byteLength)
      const line = whole.subarray(0, offset).toString('latin1').split('\n').length - 1
      return { bytes: whole.subarray(0, offset), hit: lines.slice(line), what: `all from ${offset} on` }
    }
    case 'double': {
      const to = random(2) === 0 ? at + 1 : random(lines.length + 1)
      const bytes = joined(lines.toSpliced(to, 0, lines[at]!))
      return { bytes, hit: [], what: `line ${at + 1} once more before line ${to + 1}` }
    }
    case 'swap': {
      const other = random(lines.length)
      const swapped = [...lines]
      ;[swapped[at], swapped[other]] = [lines[other]!, lines[at]!]
      return {
        bytes: joined(swapped),
        hit: [lines[at]!, lines[other]!],
        what: `lines ${at + 1} and ${other + 1}`,
      }
    }
    case 'delete':
      return { bytes: joined(lines.toSpliced(at, 1)), hit: [lines[at]!], what: `line ${at + 1}` }
  }
}

async function lossesIn(store: Store, session: SessionId): Promise<readonly Range[]> {
  const losses: Range[] = []
  for await (const item of store.read(session))
    if (item.kind === 'damage' && item.damage.lost !== undefined) losses.push(item.damage.lost)
  return losses
}

async function entriesOf(store: Store, session: SessionId): Promise<ReadonlyMap<number, string>> {
  const found = new Map<number, string>()
  const line = await lineageOf(store, session)
  if (!line.ok) throw new Error(line.failure.message)
  for await (const item of readLine(store, line.links)) {
    if (item.kind === 'failed') throw new Error(item.failure.message)
    if (item.kind === 'entry') found.set(item.entry.seq, encode(item.entry as Entry))
  }
  return found
}

// ---- the samples ----

interface Api {
  readonly simulator: Simulator
  readonly url: string
}

const refusals = ({ simulator }: Api): number =>
  simulator.log.requests.filter(({ error }) => error !== null).length

/** Two rounds of calls for each input that asks for them, then an answer. */
const answerer: Answerer = {
  answer: ({ request, turn }) => {
    const last = JSON.stringify(request.messages.at(-1))
    if (!last.includes('look') || last.includes('seen twice'))
      return { content: [text(`answer ${turn}`)], stop_reason: 'end_turn' }
    const calls = ['a', 'b'].map((name) => call('look', { name }, `toolu_${turn}_${name}`))
    return { content: [text('I look.'), ...calls], stop_reason: 'tool_use' }
  },
}

async function startApi(): Promise<Api> {
  const simulator = createSimulator({ answerer })
  const { url } = await simulator.start()
  return { simulator, url }
}

const lookTool: Tool = {
  spec: { name: 'look', description: 'looks', input_schema: { type: 'object', properties: {} } },
  policy: { readOnly: true, results: 'keep', maxResultChars: null },
  parse: (input) => ({ ok: true, input }),
  run: () =>
    Promise.resolve({
      content: [{ type: 'text', text: `seen twice ${'日本語 and words '.repeat(20)}` }],
      isError: false,
    }),
}

const engineAt = (root: string, { url }: Api): Engine =>
  createEngine({
    store: fileStore({ root, fsync: 'none' }),
    modelId: 'claude-sonnet-4-6',
    model: anthropicModel({
      apiKey: 'test',
      baseUrl: url,
      clock: systemClock,
      random: () => 0,
      settings: { retryBaseMs: 1, retryMaxMs: 2, maxRetries: 0 },
    }),
    tools: [lookTool],
    system: 'You look at things.',
  })

async function makeSamples(base: string, api: Api): Promise<readonly Sample[]> {
  const samples: Sample[] = []
  const sample = async (name: string, make: (engine: Engine) => Promise<SessionId>): Promise<void> => {
    const folder = join(base, name)
    await mkdir(folder)
    const session = await make(engineAt(folder, api))
    const entries = await entriesOf(fileStore({ root: folder, fsync: 'none' }), session)
    samples.push({ name, folder, session, entries })
  }
  const say = async (
    session: { send(input: string): AsyncIterable<unknown> },
    input: string,
  ): Promise<void> => {
    for await (const _ of session.send(input)) continue
  }
  await sample('turns', async (engine) => {
    const session = await engine.open()
    for (const input of ['please look', 'and then?', 'look again', 'thanks']) await say(session, input)
    await session.close()
    return session.id
  })
  await sample('compacted', async (engine) => {
    const session = await engine.open()
    for (let turn = 0; turn < 5; turn++)
      await say(session, `please look ${turn} ${'so many words '.repeat(80)}`)
    await session.compact()
    await say(session, 'look once more')
    await session.close()
    return session.id
  })
  await sample('undone', async (engine) => {
    const session = await engine.open()
    for (let turn = 0; turn < 5; turn++)
      await say(session, `please look ${turn} ${'so many words '.repeat(80)}`)
    await session.compact()
    await say(session, 'and on')
    const [edit] = await session.edits()
    if (edit !== undefined) await session.undo(edit.seq)
    await say(session, 'look at it')
    const inputs = [...session.view().messages].flatMap(({ parts }) =>
      parts.filter(({ kind }) => kind === 'input'),
    )
    await session.rewind(seq(inputs.at(-1)!.from - 1))
    await say(session, 'anew')
    await session.close()
    return session.id
  })
  await sample('forked', async (engine) => {
    let session = await engine.open()
    for (let fork = 0; fork < 3; fork++) {
      await say(session, `please look ${fork}`)
      await session.close()
      session = await engine.branch(session.id)
    }
    await say(session, 'look for yourself')
    await session.close()
    return sessionId(session.id)
  })
  return samples
}

// ---- chance ----

type Random = (below: number) => number

function randomOf(seed: number): Random {
  let state = (seed * 0x9e3779b9 + 0x7f4a7c15) >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}
