// One open session: its head, index, requests, edits and breaks as signals, loaded newest first and kept current while the
// session grows. Lines and costs of rows are asked for when the rows are in sight.
import { batch, signal } from '@preact/signals'
import { decodeChunk } from '../../columns.ts'
import type {
  BreakRow,
  Breaks,
  Carried,
  EditSummary,
  Lines,
  LiveEvent,
  RequestChunk,
  SessionHead,
  SessionRow,
} from '../../protocol.ts'
import { Entries } from './entries.ts'
import { previewOf } from './preview.ts'
import { joined, rowsOf, type RequestRow } from './requests.ts'
import type { Answer, Source } from './source.ts'

/** The first piece is what one sees at once; later ones are larger and come when the page is idle. */
const firstEntries = 4000
const moreEntries = 50_000
const firstRequests = 1500
const moreRequests = 10_000
/** A line above this is read only when its entry is opened. */
const mostLineBytes = 65_536
/** Previews kept for rows; the ones asked for first go first. */
const mostPreviews = 3000
/** Requests whose answer may have come since they were read. */
const lateAnswers = 20
/** Rows loaded around those in sight. */
const aheadRows = 40

export interface EntryCost {
  readonly requests: number
  readonly dollars: number
}

export class OpenSession {
  readonly id: string
  readonly path: string
  readonly head = signal<SessionHead | null>(null)
  readonly entries = new Entries()
  /** Counts up whenever the entries hold something else. */
  readonly version = signal(0)
  readonly requests = signal<readonly RequestRow[]>([])
  readonly edits = signal<readonly EditSummary[]>([])
  readonly breaks = signal<readonly BreakRow[]>([])
  /** What rows show of their entries' text, as far as it was asked for. */
  readonly previews = signal<ReadonlyMap<number, string>>(new Map())
  readonly costs = signal<ReadonlyMap<number, EntryCost>>(new Map())
  readonly problem = signal<string | null>(null)
  readonly isFollowed = signal(false)
  readonly #source: Source
  #stop: (() => void) | null = null
  readonly #replaced: () => void
  #isClosed = false
  #catching: Promise<void> | null = null
  #again = false

  /** `replaced`: the session is no longer the one that was opened. */
  constructor(source: Source, id: string, replaced: () => void = () => undefined) {
    this.#source = source
    this.#replaced = replaced
    this.id = id
    this.path = `/s/${encodeURIComponent(id)}`
  }

  async open(): Promise<void> {
    if (!(await this.#readHead())) return
    this.#stop = this.#source.follow(
      this.id,
      (event) => this.#heard(event),
      (on) => {
        this.isFollowed.value = on
        if (on) this.#catchUp()
      },
    )
    const { head } = this.head.value!
    if (head === null) return
    const before = head + 1
    const [entries, requests] = await Promise.all([
      this.#readIndex(before, firstEntries),
      this.#readRequests(before, firstRequests),
      this.#readEdits(),
      this.#readBreaks(),
    ])
    await Promise.all([
      this.#rest(entries, (before) => this.#readIndex(before, moreEntries)),
      this.#rest(requests, (before) => this.#readRequests(before, moreRequests)),
    ])
  }

  /** The list of sessions says how large it is: growth that no event told is found by that, and that it is gone. */
  compare(row: Pick<SessionRow, 'bytes'> | undefined): void {
    if (this.head.value !== null && row?.bytes !== this.head.value.bytes) this.#catchUp()
  }

  close(): void {
    this.#isClosed = true
    this.#stop?.()
  }

  async #readHead(): Promise<boolean> {
    const came = this.#taken(await this.#source.json<SessionHead>(this.path))
    if (came === null) return false
    batch(() => {
      this.problem.value = null
      this.head.value = came
      const { first, head } = came
      if (first !== null && head !== null) this.entries.span(first, head)
      this.version.value++
    })
    return true
  }

  /** What was answered; null where nobody waits for it any more, or where it is a problem, which is shown. */
  #taken<T>(answer: Answer<T>): T | null {
    if (this.#isClosed) return null
    if (!answer.ok) this.problem.value = answer.problem
    return answer.ok ? answer.value : null
  }

  /** Reads one piece of the index; says where the next older one ends. */
  async #readIndex(before: number, count: number): Promise<number | null> {
    const bytes = this.#taken(await this.#source.bytes(`${this.path}/index?before=${before}&count=${count}`))
    if (bytes === null) return null
    const chunk = decodeChunk(bytes)
    if (chunk === null) {
      this.problem.value =
        'The index of this session came in a form that this page does not read. Reload the page.'
      return null
    }
    this.entries.put(chunk)
    this.version.value++
    return chunk.before
  }

  /** Chunk by chunk back to the beginning, while nothing else is to be done. */
  async #rest(from: number | null, read: (before: number) => Promise<number | null>): Promise<void> {
    for (let before = from; before !== null && !this.#isClosed;) {
      await idle()
      const next = await read(before)
      if (next !== null && next >= before) return
      before = next
    }
  }

  async #readRequests(before: number, count: number): Promise<number | null> {
    const path = `${this.path}/requests?before=${before}&count=${count}`
    const chunk = this.#taken(await this.#source.json<RequestChunk>(path))
    if (chunk === null) return null
    this.requests.value = joined(this.requests.value, rowsOf(chunk))
    return chunk.before
  }

  async #readEdits(): Promise<void> {
    const answer = await this.#source.json<{ edits: readonly EditSummary[] }>(`${this.path}/edits`)
    if (answer.ok && !this.#isClosed) this.edits.value = answer.value.edits
  }

  async #readBreaks(): Promise<void> {
    const answer = await this.#source.json<Breaks>(`${this.path}/breaks`)
    if (answer.ok && !this.#isClosed) this.breaks.value = answer.value.breaks
  }

  #heard(event: LiveEvent): void {
    if (event.type === 'owner' && this.head.value !== null)
      this.head.value = { ...this.head.value, owner: event.owner }
    if (event.type === 'replaced') this.#replaced()
    if (event.type !== 'grew') return
    this.#catchUp(event.stale, event.head)
  }

  /** Reads what is new; growth heard meanwhile is read in one further pass. */
  #catchUp(stale: Span | null = null, head = 0): void {
    if (stale !== null) this.#stale = span(this.#stale, stale)
    this.#heardHead = Math.max(this.#heardHead, head)
    if (this.#catching !== null) {
      this.#again = true
      return
    }
    this.#catching = this.#readTail().finally(() => {
      this.#catching = null
      if (!this.#again || this.#isClosed) return
      this.#again = false
      this.#catchUp()
    })
  }
  #stale: Span | null = null
  #heardHead = 0

  async #readTail(): Promise<void> {
    const known = this.head.value
    const from = known?.head ?? -1
    const stale = this.#stale
    this.#stale = null
    const low = Math.min(from + 1, stale?.from ?? from + 1)
    const heard = this.#heardHead
    // Rows are read at once with the head that was heard: who waits sees them one answer earlier.
    const isHeard = known !== null && heard > from
    const [isThere] = await Promise.all([this.#readHead(), isHeard ? this.#readRange(low, heard) : undefined])
    const now = this.head.value
    if (isThere && (now?.head ?? -1) < from) return this.#replaced()
    if (!isThere || now === null || now.head === null || (now.head === from && stale === null)) return
    // A further request makes everything it carried cost more.
    this.costs.value = new Map()
    await Promise.all([
      isHeard && heard >= now.head ? undefined : this.#readRange(isHeard ? heard + 1 : low, now.head),
      // An answer is known after its request: the last ones are read again.
      this.#readRequests(
        now.head + 1,
        Math.min(moreRequests, now.requests - (known?.requests ?? 0) + lateAnswers),
      ),
      now.edits !== known?.edits || stale !== null ? this.#readEdits() : undefined,
      now.breaks !== known?.breaks ? this.#readBreaks() : undefined,
    ])
  }

  async #readRange(from: number, to: number): Promise<void> {
    for (let before: number | null = to + 1; before !== null && before > from;) {
      const next = await this.#readIndex(before, Math.min(moreEntries, before - from))
      before = next !== null && next < before ? next : null
    }
  }

  /** Loads what rows in sight show beside the index, and shows it at once. */
  async wantRows(from: number, to: number): Promise<void> {
    const low = Math.max(this.entries.first, from - aheadRows)
    const high = Math.min(this.entries.last, to + aheadRows)
    const [previews, costs] = await Promise.all([this.#newPreviews(low, high), this.#newCosts(from, to)])
    if (this.#isClosed) return
    batch(() => {
      if (previews.length > 0) this.previews.value = newest(this.previews.value, previews)
      if (costs.length > 0) this.costs.value = newest(this.costs.value, costs)
    })
  }

  async #newPreviews(from: number, to: number): Promise<readonly (readonly [number, string])[]> {
    const known = this.previews.value
    const isWanted = (seq: number): boolean =>
      seq <= to && !known.has(seq) && this.entries.row(seq).bytes <= mostLineBytes
    const found: (readonly [number, string])[] = []
    for (let seq = from; seq <= to; seq++) {
      if (!isWanted(seq)) continue
      const start = seq
      while (isWanted(seq + 1)) seq++
      const lines = await this.readLines(start, seq)
      for (const one of lines?.lines ?? []) found.push([one.seq, previewOf(one.line)])
    }
    return found
  }

  async readLines(from: number, to: number): Promise<Lines | null> {
    const answer = await this.#source.json<Lines>(`${this.path}/lines?from=${from}&to=${to}`)
    return answer.ok ? answer.value : null
  }

  async #newCosts(from: number, to: number): Promise<readonly (readonly [number, EntryCost])[]> {
    const known = this.costs.value
    let [low, high] = [from, to]
    while (low <= high && known.has(low)) low++
    while (high > low && known.has(high)) high--
    if (low > high) return []
    const answer = await this.#source.json<Carried>(`${this.path}/carried?from=${low}&to=${high}`)
    if (!answer.ok) return []
    const { from: first, requests, dollars } = answer.value
    return requests.map((count, at) => [first + at, { requests: count, dollars: dollars[at] ?? 0 }] as const)
  }
}

/** What was known with what came; of too many the ones that came first go. */
function newest<T>(
  known: ReadonlyMap<number, T>,
  came: readonly (readonly [number, T])[],
): ReadonlyMap<number, T> {
  const all = new Map([...known, ...came])
  for (const seq of all.keys()) {
    if (all.size <= mostPreviews) break
    all.delete(seq)
  }
  return all
}

interface Span {
  readonly from: number
  readonly to: number
}

const span = (a: Span | null, b: Span): Span =>
  a === null ? b : { from: Math.min(a.from, b.from), to: Math.max(a.to, b.to) }

/** Lets the page draw and answer before the next piece. */
const idle = (): Promise<void> =>
  new Promise((done) => {
    if ('requestIdleCallback' in globalThis) requestIdleCallback(() => done(), { timeout: 200 })
    else setTimeout(done, 0)
  })
