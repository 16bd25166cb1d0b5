// From a recording to a transcript that the grammar accepts. Words are never lost: a result nobody asked for becomes
// an attachment, a call without a result is closed as a crash would be. The clients' own summaries are in no view,
// because everything they stand for is in the recording too.
import { factorOf, uncalibrated } from '../projection/calibration.ts'
import { estimateBlocks } from '../projection/tokens.ts'
import { textIn, type AssistantBlock, type UserBlock } from '../transcript/content.ts'
import type { Entry, Fact, FactOf, Origin, Usage } from '../transcript/fact.ts'
import { closing, emptyTail, refusal, step, type Tail } from '../transcript/grammar.ts'
import { callId, sessionId, type Clock, type Ids } from '../transcript/ids.ts'
import {
  isResult,
  isTypedWhileBusy,
  isUserBlock,
  type RecordedBlock,
  type RecordedTurn,
  type Recording,
  summaryKind,
} from './recording.ts'

export interface EntryOptions {
  readonly ids: Ids
  /** Asked only where the recording does not know the time. */
  readonly clock: Clock
  /** The clients' own summaries stay as facts without effect, to be looked at. */
  readonly keepsSummaries?: boolean | undefined
}

export interface Entries {
  readonly entries: readonly Entry[]
  /** What had to be repaired so that the grammar holds. */
  readonly repairs: readonly string[]
}

/** A recording as entries of our own transcript. */
export function toEntries(recording: Recording, options: EntryOptions): Entries {
  const writer = new Writer(options)
  writer.write({
    type: 'session-start',
    session: sessionId(options.ids.uuid()),
    purpose: 'main',
    imported: `${recording.client}: ${recording.name}`,
  })
  if (recording.system !== null) {
    const sections = [{ name: 'system', text: recording.system, side: 'static' as const }]
    writer.write({ type: 'instructions-set', sections, tools: [] })
  }
  recording.turns.forEach((turn, index) => {
    writer.at = turn.at
    if (turn.role === 'user')
      writeUserTurn(writer, turn, options.keepsSummaries === true ? recording.client : null)
    else writer.write(writer.withFreshCalls(assistantFact(recording, turn, index)))
  })
  writer.close('the recording ends here')
  return { entries: writer.entries, repairs: writer.repairs }
}

/** Appends facts to a transcript in memory; what the grammar refuses is closed or repaired first. */
class Writer {
  readonly entries: Entry[] = []
  readonly repairs: string[] = []
  at: number | null = null
  private tail: Tail = emptyTail()
  private readonly used = new Set<string>()
  private readonly names = new Map<string, string>()
  private readonly options: EntryOptions

  constructor(options: EntryOptions) {
    this.options = options
  }

  /** A line that stands in the file twice asks twice under one id, and no API takes that: the later call is renamed. */
  withFreshCalls(fact: FactOf<'assistant-message'>): Fact {
    const before = new Set(this.used)
    const content = fact.content.map((block) => {
      if (block.type !== 'tool_use' || !('id' in block)) return block
      this.used.add(block.id)
      const id = before.has(block.id) ? `${block.id}~${this.tail.next}` : block.id
      this.names.set(block.id, id)
      if (id !== block.id)
        this.repairs.push(`at ${this.tail.next}: the call ${block.id} was asked before; it is renamed`)
      return { ...block, id }
    })
    return { ...fact, content }
  }

  /** The id that a recorded call has here. */
  nameOf(id: string): string {
    return this.names.get(id) ?? id
  }

  write(fact: Fact): void {
    const problem = refusal(this.tail, fact)
    if (problem === null) return this.append(fact)
    if (problem.code === 'calls-open') {
      this.repairs.push(`at ${this.tail.next}: ${problem.message}`)
      for (const missing of closing(this.tail, 'it was not recorded'))
        if (missing.type === 'tool-result') this.append(missing)
      return this.write(fact)
    }
    if (fact.type === 'tool-result') {
      this.repairs.push(`at ${this.tail.next}: ${problem.message}; kept as an attachment`)
      return this.append({
        type: 'attachment',
        kind: 'orphan-result',
        content: fact.content,
        source: fact.call,
      })
    }
    if (fact.type === 'assistant-message' && problem.code === 'call-duplicate') {
      this.repairs.push(`at ${this.tail.next}: ${problem.message}; the later call is renamed`)
      return this.write({ ...fact, content: withOwnIds(fact.content) })
    }
    this.repairs.push(`at ${this.tail.next}: left out, ${problem.message}`)
  }

  endTurn(): void {
    if (this.tail.inTurn) this.write({ type: 'turn-end', outcome: 'done' })
  }

  close(why: string): void {
    for (const fact of closing({ ...this.tail, inTurn: false }, why)) this.append(fact)
    this.endTurn()
  }

  private append(fact: Fact): void {
    const { ids, clock } = this.options
    const at = this.at ?? this.entries.at(-1)?.at ?? clock.now()
    const entry: Entry = { v: 1, seq: this.tail.next, uuid: ids.uuid(), parent: this.tail.lastUuid, at, fact }
    this.entries.push(entry)
    this.tail = step(this.tail, entry)
  }
}

/** `client`: whose summaries are kept; null keeps none. */
function writeUserTurn(writer: Writer, turn: RecordedTurn, client: string | null): void {
  for (const { block } of turn.content) {
    if (!isResult(block)) continue
    writer.write({
      type: 'tool-result',
      call: callId(writer.nameOf(block.tool_use_id)),
      content: block.content,
      isError: block.is_error,
    })
  }
  for (const group of groupsOf(turn.content)) {
    if (group.attachment === summaryKind) {
      if (client !== null) writer.write({ type: 'compaction-recorded', client, text: textIn(group.content) })
      continue
    }
    if (group.origin !== 'injected') writer.endTurn()
    writer.write(
      group.attachment === null
        ? { type: 'user-message', content: group.content, origin: group.origin }
        : { type: 'attachment', kind: group.attachment, content: group.content },
    )
  }
}

interface Group {
  readonly origin: Origin
  readonly attachment: string | null
  readonly content: UserBlock[]
}

// Neighbouring blocks of one origin are one message.
function groupsOf(content: readonly RecordedBlock[]): readonly Group[] {
  const groups: Group[] = []
  for (const { block, kind } of content) {
    if (isResult(block) || !isUserBlock(block)) continue
    const { origin, attachment } = originOf(block, kind)
    const last = groups.at(-1)
    if (kind !== summaryKind && last?.origin === origin && last.attachment === attachment)
      last.content.push(block)
    else groups.push({ origin, attachment, content: [block] })
  }
  return groups
}

function originOf(
  block: UserBlock,
  kind: string | undefined,
): { readonly origin: Origin; readonly attachment: string | null } {
  if (kind === undefined) return { origin: 'typed', attachment: null }
  if (kind === summaryKind) return { origin: 'injected', attachment: summaryKind }
  if (isTypedWhileBusy({ block, kind })) return { origin: 'queued', attachment: null }
  const attachment = kind.startsWith('attachment:') ? kind.slice('attachment:'.length) : null
  return { origin: 'injected', attachment }
}

function assistantFact(recording: Recording, turn: RecordedTurn, index: number): FactOf<'assistant-message'> {
  const content = turn.content.map(({ block }) => block).filter((block) => isAssistantBlock(block))
  const model = turn.model ?? recording.model
  const calls = content.some((block) => block.type === 'tool_use')
  return {
    type: 'assistant-message',
    content,
    messageId: turn.messageId ?? `${recording.name}:${index}`,
    stop: turn.stop ?? (calls ? 'tool_use' : 'end_turn'),
    model,
    usage:
      turn.usage === undefined || recording.outputCounts === 'final'
        ? turn.usage
        : completed(turn.usage, model, content),
  }
}

// An output count taken when the response began would make the size of the context too small by the whole response.
function completed(usage: Usage, model: string, content: readonly AssistantBlock[]): Usage {
  const estimated = Math.round(estimateBlocks(content) * factorOf(uncalibrated, model))
  return { ...usage, output: Math.max(usage.output, estimated) }
}

function withOwnIds(content: readonly AssistantBlock[]): readonly AssistantBlock[] {
  const seen = new Set<string>()
  return content.map((block, index) => {
    if (block.type !== 'tool_use' || !('id' in block)) return block
    const id = seen.has(block.id) ? `${block.id}~${index}` : block.id
    seen.add(id)
    return { ...block, id }
  })
}

const isAssistantBlock = (block: RecordedBlock['block']): block is AssistantBlock =>
  block.type !== 'tool_result' && block.type !== 'image' && block.type !== 'document'
