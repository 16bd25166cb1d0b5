// Telemetry of sessions and of what they started: entries go in, spans and metrics come out at the port. Pure but for the
// port: the same entries give the same spans with the same ids, whoever reads them and whenever. Each session is a fold, stepped
// one entry at a time, which holds little beside what is open. A turn is `invoke_agent`; in it `chat` from a request to its answer
// and `execute_tool` from a call to its result. Times are those of the entries.
import {
  type Entry,
  type Fact,
  type FactOf,
  isKnown,
  isRealInput,
  type StoredEntry,
} from '../transcript/fact.ts'
import type { Seq } from '../transcript/ids.ts'
import { Boundaries, breakCause, editMetrics, tellCompaction, tellFork, tellMemory } from './background.ts'
import { Calls } from './calls.ts'
import { Chats } from './chats.ts'
import { names, operations } from './conventions.ts'
import type { Attributes, SpanContext } from './port.ts'
import { failedWith, messageJson, newTrace, type ReaderOptions, short, spanAt, Teller } from './teller.ts'

export interface TelemetryOptions extends ReaderOptions {
  /** Sessions that will be read too, by their ids: what they took is counted there, not at their end in a parent. */
  readonly read?: ReadonlySet<string> | undefined
}

export interface Telemetry {
  /** One more entry of a session, in the order of its places. */
  take(session: string, entry: StoredEntry): void
  /** Whether it is being read. */
  knows(session: string): boolean
  /** Lets go of what is known of a session; that it was read stays known. */
  forget(session: string): void
}

/** A reader of facts for any number of sessions. A parent is read before what it started. */
export function createTelemetry(options: TelemetryOptions): Telemetry {
  const readers = new Map<string, SessionReader>()
  const read = new Set<string>(options.read)
  const agents = new Map<string, Agent>()
  const family: Family = {
    turnOf: (session, at) => readers.get(session)?.turnAt(at) ?? null,
    agentOf: (child) => agents.get(child) ?? null,
    isRead: (child) => read.has(child),
    noteAgent: (child, agent) => void agents.set(child, agent),
  }
  return {
    take: (session, entry) => {
      const reader = readers.get(session) ?? new SessionReader(session, options, family)
      readers.set(session, reader)
      read.add(session)
      if (isKnown(entry)) reader.take(entry)
    },
    knows: (session) => readers.has(session),
    forget: (session) => void readers.delete(session),
  }
}

/** What a session has to be told about the others. */
interface Family {
  /** The turn of a session in which a place lies, or its latest; null where that session is not known. */
  turnOf(session: string, at: Seq | null): SpanContext | null
  /** What the one that started an agent calls it, and the turn in which it did. */
  agentOf(child: string): Agent | null
  /** Whether its own entries are read too: then what it took is counted there. */
  isRead(child: string): boolean
  noteAgent(child: string, agent: Agent): void
}

interface Agent {
  readonly name: string
  readonly turn: SpanContext | null
}

interface OpenTurn {
  readonly context: SpanContext
  readonly at: number
  breaks: number
}

class SessionReader {
  readonly #options: ReaderOptions
  readonly #family: Family
  readonly #teller: Teller
  readonly #boundaries = new Boundaries()
  readonly #chats: Chats
  readonly #calls: Calls
  readonly #turns: { readonly seq: Seq; readonly context: SpanContext }[] = []
  #start: FactOf<'session-start'> | null = null
  #turn: OpenTurn | null = null
  #lastAt: number | null = null

  constructor(session: string, options: ReaderOptions, family: Family) {
    this.#options = options
    this.#family = family
    this.#teller = new Teller(session, options.port)
    this.#chats = new Chats(this.#teller, options, this.#boundaries)
    this.#calls = new Calls(this.#teller, options)
  }

  /** The turn in which a place lies, or the latest. */
  turnAt(at: Seq | null): SpanContext | null {
    const turn = at === null ? this.#turns.at(-1) : this.#turns.findLast(({ seq }) => seq <= at)
    return turn?.context ?? null
  }

  take(entry: Entry): void {
    if (isRealInput(entry.fact) && this.#turn === null) this.#openTurn(entry)
    this.#step(entry)
    this.#lastAt = entry.at
  }

  #step(entry: Entry): void {
    const { fact, at } = entry
    const before = this.#lastAt ?? at
    switch (fact.type) {
      case 'session-start':
        this.#start = fact
        this.#teller.purpose = fact.purpose
        if (fact.imported !== undefined) this.#chats.isImport()
        return
      case 'instructions-set':
        this.#calls.offer(fact.tools)
        return this.#chats.instruct(fact)
      case 'request-sent':
        return this.#chats.ask(entry, fact, this.#inTurn(entry))
      case 'assistant-message':
        this.#chats.answer(entry, fact, before, this.#inTurn(entry))
        return this.#calls.open(entry, fact, this.#inTurn(entry))
      case 'tool-result':
        return this.#calls.result(entry, fact)
      case 'turn-end':
        return this.#endTurn(entry, fact)
      case 'view-edit':
        return editMetrics(this.#options.port, fact, at)
      case 'boundary':
      case 'compaction-failed':
        if (fact.type === 'boundary' && fact.trigger === 'reactive') this.#chats.end(at, {}, 'overflow')
        tellCompaction(this.#teller, entry, fact, before, this.#current())
        return this.#boundaries.take(entry)
      case 'undo':
      case 'rewind':
        return this.#boundaries.take(entry)
      default:
        return this.#stepBackground(entry)
    }
  }

  #stepBackground(entry: Entry): void {
    const { fact, at } = entry
    switch (fact.type) {
      case 'feature-refused':
      case 'reasoning-refused':
      case 'media-learned':
        // Each is written because a request was refused.
        return this.#chats.end(at, {}, fact.type)
      case 'window-learned':
        return this.#chats.end(at, {}, 'overflow')
      case 'cache-break':
        return this.#broke(fact, at)
      case 'memory-recall':
        return tellMemory(this.#teller, entry, operations.searchMemory, fact.files.length, this.#current())
      case 'memories-extracted':
        if (fact.files.length > 0)
          tellMemory(this.#teller, entry, operations.upsertMemory, fact.files.length, this.#current())
        return
      case 'agent-start':
        return this.#family.noteAgent(fact.child, { name: fact.agent, turn: this.#current() })
      case 'fork-end':
        if (this.#family.isRead(fact.child)) return
        return tellFork(this.#teller, entry, fact, this.#family.agentOf(fact.child), this.#current())
      default:
        return
    }
  }

  #current(): SpanContext | null {
    return this.#turn?.context ?? this.turnAt(null)
  }

  #inTurn(entry: Entry): SpanContext {
    return (this.#turn ?? this.#openTurn(entry)).context
  }

  #openTurn({ seq, at, fact }: Entry): OpenTurn {
    const { parent, links } = this.#origin()
    const { session, purpose } = this.#teller
    const traceId = parent?.traceId ?? newTrace(session, seq)
    const context = spanAt(traceId, session, seq, operations.agent)
    const name = short(this.#family.agentOf(session)?.name ?? purpose)
    this.#turns.push({ seq, context })
    const turn = { context, at, breaks: 0 }
    this.#turn = turn
    this.#teller.begin(context, {
      name: `${operations.agent} ${name}`,
      kind: 'internal',
      parent,
      links,
      at,
      attributes: {
        [names.operation]: operations.agent,
        [names.agentName]: name,
        [names.agentId]: session,
        [names.purpose]: short(purpose),
        [names.place]: seq,
        ...this.#said(fact),
      },
    })
    return turn
  }

  /** What a turn belongs to: that of the session which started it. A branch is a conversation of its own, with a link. */
  #origin(): { readonly parent: SpanContext | null; readonly links: readonly SpanContext[] } {
    const { parent, startedBy, purpose } = this.#start ?? {}
    const above =
      this.#family.agentOf(this.#teller.session)?.turn ??
      (parent !== undefined
        ? this.#family.turnOf(parent.session, parent.upTo)
        : startedBy !== undefined
          ? this.#family.turnOf(startedBy, null)
          : null)
    if (above === null) return { parent: null, links: [] }
    // Only its first turn is part of what started it; an agent that is written to later begins a trace of its own.
    const isInside = purpose !== 'main' && this.#turns.length === 0
    return isInside ? { parent: above, links: [] } : { parent: null, links: [above] }
  }

  #said(fact: Fact): Attributes {
    if (this.#options.content !== true || fact.type !== 'user-message') return {}
    return { [names.inputMessages]: messageJson('user', fact.content) }
  }

  #endTurn(entry: Entry, { outcome, failure }: FactOf<'turn-end'>): void {
    const { at } = entry
    const error = outcome === 'failed' ? (failure?.code ?? outcome) : null
    this.#chats.end(at, {}, error ?? outcome)
    this.#calls.endAll(at)
    if (failure?.code === 'cap')
      this.#options.port.count('palimpsest.budget.refused', 1, this.#teller.own(), at)
    const turn = this.#turn
    this.#turn = null
    if (turn === null) return
    const breaks: Attributes = turn.breaks === 0 ? {} : { [names.breaks]: turn.breaks }
    const attributes = { [names.outcome]: outcome, ...breaks }
    this.#teller.end(turn, { end: at, attributes, error })
    this.#teller.duration('gen_ai.invoke_agent.duration', turn.at, at, {
      [names.operation]: operations.agent,
      ...this.#teller.own(),
      ...failedWith(error),
    })
  }

  #broke({ causes, tokens }: FactOf<'cache-break'>, at: number): void {
    if (this.#turn !== null) this.#turn.breaks++
    const by = { [names.cause]: breakCause(causes) }
    this.#options.port.count('palimpsest.cache.breaks', 1, by, at)
    this.#options.port.count('palimpsest.cache.lost_tokens', tokens, by, at)
  }
}
