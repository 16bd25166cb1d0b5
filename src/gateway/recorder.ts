// Writes what passes into ordinary sessions. It works behind the requests and never holds one up: a session that cannot be
// written is said once and the traffic goes on. What is kept has its secrets taken out; what is forwarded has not.
import { errorText } from '../disk/failure.ts'
import { redact } from '../disk/redact.ts'
import type { ModelMessage } from '../model/model.ts'
import { isKnown, type Fact } from '../transcript/fact.ts'
import { emptyTail, step, type Tail } from '../transcript/grammar.ts'
import { seq, sessionId, type Clock, type Ids } from '../transcript/ids.ts'
import type { Store } from '../transcript/store.ts'
import { Transcript } from '../transcript/transcript.ts'
import type { ForeignBreak } from './breaks.ts'
import type { Plan, ShownEdit } from './plan-types.ts'
import { factsOf, instructionsOf, saidIn } from '../fit/facts.ts'
import type { ForeignRequest } from '../fit/layouts.ts'

export interface RecorderPorts {
  readonly store: Store
  readonly clock: Clock
  readonly ids: Ids
  /** A session that cannot be written is said here. */
  readonly tell: (line: string) => void
}

/** A request that left, and from which of its units on it is new to its session. */
export interface Passed {
  readonly session: string
  readonly request: ForeignRequest
  readonly client: string
  readonly from: number
  /** The client has put something else in place of everything before. */
  readonly restarts: boolean
  readonly hash: string
  readonly edits: readonly ShownEdit[]
  /** Takes the credential of the request out of a text. */
  readonly hide: (text: string) => string
}
/** What was heard of an answer. */
export interface Answered extends ModelMessage {
  readonly isPartial: boolean
}

interface Open {
  readonly transcript: Transcript
  readonly tail: () => Tail
  /** The last request's answer stands in the transcript: the client sends it back with the next. */
  isAnswered: boolean
  /** Where the answer stands that was heard last. */
  answerAt: number
  hide: (text: string) => string
  /** The entry that a unit became, for those that begin an answer or what was said behind one. */
  readonly places: Map<number, number>
}

export class Recorder {
  readonly #ports: RecorderPorts
  readonly #open = new Map<string, Promise<Open | null>>()
  readonly #queues = new Map<string, Promise<unknown>>()

  constructor(ports: RecorderPorts) {
    this.#ports = ports
  }

  /** Facts for the new units of a request, and that it was sent. */
  sent(passed: Passed): void {
    this.#enqueue(passed.session, async () => {
      const open = await this.#session(passed)
      if (open === null) return
      const { request } = passed
      open.hide = passed.hide
      if (passed.restarts) await this.#write(passed.session, open, restart(open.tail()))
      const units = request.units.slice(passed.from)
      // What we heard as an answer comes back as the first units behind the last request.
      const known = open.isAnswered
        ? units.findIndex(({ role }) => role !== 'assistant' && role !== 'model')
        : 0
      const added = known < 0 ? [] : units.slice(known)
      if (known > 0) open.places.set(passed.from, open.answerAt)
      const facts = factsOf(
        saidIn(request, added),
        open.tail().open.map(({ id }) => id),
        {
          model: request.model ?? 'unknown',
          messageId: (index) => `foreign-${passed.hash}-${index}`,
        },
      )
      const before = open.tail().next
      open.places.set(passed.from + Math.max(0, known), before)
      await this.#write(
        passed.session,
        open,
        facts.map((fact) => redacted(fact, passed.hide)),
      )
      await this.#write(passed.session, open, shownEdits(passed.edits, facts, before))
      const rest = closed(open.tail())
      const upTo = open.tail().next - 1
      await this.#write(passed.session, open, [
        ...rest,
        {
          type: 'request-sent',
          source: 'main',
          model: request.model ?? 'unknown',
          upTo: seq(upTo + rest.length),
          hash: passed.hash,
          tokens: Math.round(request.bytes.length / bytesPerToken),
          marks: [],
        },
      ])
      open.isAnswered = false
    })
  }

  answered(session: string, answer: Answered): void {
    this.#inOpen(session, async (open) => {
      const { content, messageId, model, stop, usage, isPartial } = answer
      const fact: Fact = {
        type: 'assistant-message',
        content,
        messageId,
        model,
        stop,
        usage,
        ...(isPartial ? { partial: true } : {}),
      }
      open.answerAt = open.tail().next
      await this.#write(session, open, [redacted(fact, open.hide)])
      open.isAnswered = true
    })
  }

  /** A text of ours took the place of these units. */
  compacted(session: string, { boundary, from, end }: NonNullable<Plan['boundary']>): void {
    this.#inOpen(session, async (open) => {
      const [first, next] = [open.places.get(from), open.places.get(end)]
      // What an earlier run has recorded has no known places: the whole is in the file.
      if (first === undefined || next === undefined) return
      const { text, kept, savedChars } = boundary
      await this.#write(session, open, [
        {
          type: 'view-edit',
          layer: 'gateway-compact',
          asked: 'automatic',
          edits: [{ kind: 'summary', from: seq(first), to: seq(next - 1), text, ref: kept, keep: [] }],
          why: 'the older part was compacted before it was sent',
          tokensFreed: Math.round(savedChars / bytesPerToken),
        },
      ])
    })
  }

  /** The cache lost what it had. */
  broke(session: string, { causes, tokens, cost }: ForeignBreak): void {
    const fact: Fact = { type: 'cache-break', source: 'main', causes, tokens, cost }
    this.#inOpen(session, (open) => this.#write(session, open, [fact]))
  }

  /** From here on nothing further is changed. */
  frozen(session: string, why: string): void {
    const fact: Fact = { type: 'compaction-failed', source: 'gateway', why }
    this.#inOpen(session, (open) => this.#write(session, open, [fact]))
  }

  /** Where a session is open, behind what is being written. */
  #inOpen(session: string, job: (open: Open) => Promise<void>): void {
    this.#enqueue(session, async () => {
      const open = await this.#open.get(session)
      if (open !== null && open !== undefined) await job(open)
    })
  }

  /** Everything is written and every session is let go. */
  async close(): Promise<void> {
    await Promise.all(this.#queues.values())
    for (const promised of this.#open.values()) {
      const open = await promised
      if (open === null) continue
      await open.transcript.close('the gateway was stopped')
      await open.transcript.release()
    }
    this.#open.clear()
  }

  #enqueue(session: string, job: () => Promise<void>): void {
    const before = this.#queues.get(session) ?? Promise.resolve()
    const done: Promise<void> = before
      .then(job)
      .catch((error: unknown) => {
        this.#ports.tell(`session ${session} is not recorded any further: ${errorText(error)}`)
        this.#open.set(session, Promise.resolve(null))
      })
      .then(() => {
        // Not while something waits behind it: that would no longer be waited for.
        if (this.#queues.get(session) === done) this.#queues.delete(session)
      })
    this.#queues.set(session, done)
  }

  #session(passed: Passed): Promise<Open | null> {
    const found = this.#open.get(passed.session)
    if (found !== undefined) {
      this.#open.delete(passed.session)
      this.#open.set(passed.session, found)
      return found
    }
    const opened = this.#opened(passed)
    this.#open.set(passed.session, opened)
    const [oldest] = this.#open.keys()
    if (this.#open.size > mostOpen && oldest !== undefined) this.#letGo(oldest)
    return opened
  }

  /** A session that has not gone on for longest: opened again when it does. */
  #letGo(session: string): void {
    this.#enqueue(session, async () => {
      const open = await this.#open.get(session)
      this.#open.delete(session)
      await open?.transcript.close('the gateway let it go')
      await open?.transcript.release()
    })
  }

  async #opened({ session, request, client, hide }: Passed): Promise<Open | null> {
    const { store, clock, ids } = this.#ports
    const id = sessionId(session)
    const lease = await store.lease(id)
    if (!lease.ok) {
      const why = lease.why === 'taken' ? `it is open in ${lease.owner.who}` : lease.failure.message
      this.#ports.tell(`session ${session} is not recorded: ${why}`)
      return null
    }
    let tail = emptyTail()
    let isAnswered = false
    if (lease.next !== null)
      for await (const item of store.read(id)) {
        if (item.kind !== 'entry') continue
        tail = step(tail, item.entry)
        const type = isKnown(item.entry) ? item.entry.fact.type : null
        if (type === 'request-sent') isAnswered = false
        if (type === 'assistant-message') isAnswered = true
      }
    const transcript = new Transcript({ store, clock, ids }, lease.lease, {
      tail: () => tail,
      prepare: async () => null,
      refuse: () => null,
      take: (entry) => {
        tail = step(tail, entry)
      },
    })
    const places = new Map<number, number>()
    const open: Open = { transcript, tail: () => tail, isAnswered, answerAt: -1, places, hide }
    if (!tail.started)
      await this.#write(session, open, [
        { type: 'session-start', session: id, purpose: 'main', imported: `gateway:${client}` },
        redacted(instructionsOf(request), hide),
      ])
    return open
  }

  async #write(session: string, { transcript }: Open, facts: readonly Fact[]): Promise<void> {
    if (facts.length === 0) return
    const written = await transcript.append(facts)
    if (!written.ok)
      this.#ports.tell(
        `session ${session}: ${facts.length} entries are not recorded: ${written.failure.message}`,
      )
  }
}

const bytesPerToken = 4
/** Sessions that are open for writing at once. */
const mostOpen = 64
/** Behind the start and the instructions. */
const firstSaid = 2

const closed = (tail: Tail): readonly Fact[] =>
  tail.open.map(({ id }) => ({
    type: 'tool-result',
    call: id,
    content: [{ type: 'text', text: '[the client sent no result for this call]' }],
    isError: true,
  }))

/** What stood before is out of the client's own context. */
function restart(tail: Tail): readonly Fact[] {
  const to = tail.next - 1
  if (to < firstSaid) return closed(tail)
  return [
    ...closed(tail),
    {
      type: 'view-edit',
      layer: 'client',
      asked: 'automatic',
      edits: [{ kind: 'drop', from: seq(firstSaid), to: seq(to) }],
      why: 'the client compacted or cleared its conversation',
      tokensFreed: 0,
    },
  ]
}

/** The results that were sent shorter, as edits of the facts that hold them whole. */
function shownEdits(shown: readonly ShownEdit[], facts: readonly Fact[], first: number): readonly Fact[] {
  const edits = shown.flatMap(({ call, text, ref }) => {
    const at = facts.findIndex((fact) => fact.type === 'tool-result' && fact.call === call)
    return at < 0 ? [] : [{ kind: 'stub' as const, at: { seq: seq(first + at), block: 0 }, text, ref }]
  })
  if (edits.length === 0) return []
  const saved = shown.reduce((sum, edit) => sum + edit.saved, 0)
  return [
    {
      type: 'view-edit',
      layer: 'gateway-trim',
      asked: 'automatic',
      edits,
      why: 'shortened before it was first sent',
      tokensFreed: Math.round(saved / bytesPerToken),
    },
  ]
}

function redacted<T extends Fact>(fact: T, hide: (text: string) => string): T {
  return JSON.parse(JSON.stringify(fact), (_, value: unknown) =>
    typeof value === 'string' ? redact(hide(value)).text : value,
  ) as T
}
