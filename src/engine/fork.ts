// A fork: a child session on this one's prefix (SPEC 13.1, 13.2). It inherits what makes the cache key as rendered
// and renders nothing again, so its requests begin with its parent's bytes; it copies what can change; it is aborted
// with its parent but never aborts it; its tools stay in the list and are refused when called. It cannot fork again.
import type { Tool } from '../tools/tool.ts'
import type { ToolUseBlock } from '../transcript/content.ts'
import type { Fact, Outcome, Usage } from '../transcript/fact.ts'
import { emptyTail } from '../transcript/grammar.ts'
import type { MarkPlace } from '../request/compose.ts'
import { after, seq, sessionId, type Seq, type SessionId } from '../transcript/ids.ts'
import { Core } from './core.ts'
import type { Emit, TurnFailure } from './live.ts'
import { totalOf, type Caps, type Spent } from './limits/spend.ts'
import { runTurn } from './turn.ts'

export interface ForkSpec {
  /** What it is for: summary, notes, a sub-agent … It names the source in logs and figures. */
  readonly purpose: string
  /** What it is told, after the parent's conversation. */
  readonly directive: string
  /** Why a call may not run, or null. Without it every tool is refused. */
  readonly refuse?: ((call: ToolUseBlock, tool: Tool) => string | null) | undefined
  /** Whether its own messages may be written to the cache; a fork of one request has no use for that. */
  readonly writesCache?: boolean | undefined
  readonly maxOutputTokens?: number | undefined
  readonly caps?: Caps | undefined
  readonly emit?: Emit | undefined
}

export interface ForkOutcome {
  readonly outcome: Outcome
  readonly session: SessionId | null
  /** What it said last. */
  readonly text: string
  readonly spent: Spent | null
  readonly usage: Usage | null
  readonly failure: TurnFailure | null
}

const placeholder = '[this call is being handled by the parent session]'

export async function fork(parent: Core, spec: ForkSpec, signal: AbortSignal): Promise<ForkOutcome> {
  if (parent.parent !== null)
    return refused({ code: 'no-recursion', message: 'a fork cannot fork again; do the work in place' })
  if (parent.ending.signal.aborted)
    return refused({ code: 'closed', message: 'the session was closed; open it again to fork from it' })
  // Taken before the first await: what the parent writes meanwhile is not this fork's to see.
  const fold = parent.fold.copy()
  const { open, lastUuid } = parent.transcript.tail
  const { lastHash, composer, options, latest, turnSignal } = parent
  const markAt = spec.writesCache === true ? undefined : lastMarkOf(parent)
  const readFiles = parent.readFiles.copy()
  const upTo = seq(fold.numbers.upTo)
  const session = sessionId(options.ids.uuid())
  const leased = await options.store.lease(session)
  if (!leased.ok)
    return refused(
      leased.why === 'held' ? { code: 'held', message: 'the session of the fork is taken' } : leased.failure,
    )
  const child = new Core({
    options: {
      ...options,
      layers: [],
      hooks: undefined,
      caps: spec.caps ?? {},
      mayRun: refusing(spec),
      maxOutputTokens: spec.maxOutputTokens ?? options.maxOutputTokens,
    },
    session,
    source: spec.purpose,
    lease: leased.lease,
    tail: { ...emptyTail(after(upTo)), open, lastUuid },
    fold,
    links: [
      ...parent.links.slice(0, -1),
      { ...parent.links.at(-1)!, to: upTo },
      { session, from: after(upTo), to: seq(Number.MAX_SAFE_INTEGER) },
    ],
    latest,
    composer,
    readFiles,
    markAt,
    parent,
  })
  child.reasoningFrom = parent.reasoningFrom
  const begun = await child.append([
    {
      type: 'session-start',
      session,
      purpose: spec.purpose,
      parent: { session: parent.session, upTo, ...(lastHash === null ? {} : { requestHash: lastHash }) },
    },
    ...open.map((call): Fact => ({
      type: 'tool-result',
      call: call.id,
      content: [{ type: 'text', text: placeholder }],
      isError: false,
    })),
    { type: 'user-message', content: [{ type: 'text', text: spec.directive }], origin: 'program' },
  ])
  if (!begun.ok) {
    const released = await child.transcript.release()
    return refused(released.ok ? begun.failure : released.failure)
  }
  // Aborted with its parent; its own signal is never the parent's.
  const linked = AbortSignal.any([signal, parent.ending.signal, ...(turnSignal === null ? [] : [turnSignal])])
  const work = run(child, spec, linked).then((ended) => finish(parent, child, spec, ended))
  parent.forks.set(child, work)
  try {
    return await work
  } finally {
    parent.forks.delete(child)
  }
}

/** Where the parent's last request was marked. After a resume only how far that request went is known. */
function lastMarkOf({ lastMark, fold }: Core): MarkPlace | { readonly seq: Seq } | undefined {
  const { lastRequest } = fold.numbers
  return lastMark ?? (lastRequest === null ? undefined : { seq: lastRequest })
}

async function run(
  child: Core,
  spec: ForkSpec,
  signal: AbortSignal,
): Promise<{ outcome: Outcome; failure: TurnFailure | null }> {
  let ended: { outcome: Outcome; failure: TurnFailure | null } = { outcome: 'failed', failure: null }
  await runTurn(child, signal, (event) => {
    if (event.type === 'turn-end') ended = event
    spec.emit?.(event)
  })
  return ended
}

async function finish(
  parent: Core,
  child: Core,
  spec: ForkSpec,
  ended: { outcome: Outcome; failure: TurnFailure | null },
): Promise<ForkOutcome> {
  const { session } = child
  const text = lastWords(child)
  const released = await child.transcript.release()
  const noted = await parent.append([
    {
      type: 'fork-end',
      child: session,
      purpose: spec.purpose,
      outcome: ended.outcome,
      text,
      spent: totalOf(child.spent),
    },
  ])
  const failure = ended.failure ?? (released.ok ? (noted.ok ? null : noted.failure) : released.failure)
  return { outcome: ended.outcome, session, text, spent: child.spent, usage: child.view().lastUsage, failure }
}

function lastWords(child: Core): string {
  const last = child.view().messages.last()
  if (last?.role !== 'assistant') return ''
  return last.content.flatMap((block) => ('text' in block ? [block.text] : [])).join('')
}

const refusing = (spec: ForkSpec) => (call: ToolUseBlock, tool: Tool) => {
  const why =
    spec.refuse === undefined
      ? `${call.name} cannot be used here; answer with text only`
      : spec.refuse(call, tool)
  return Promise.resolve(why === null ? { ok: true as const } : { ok: false as const, why })
}

const refused = (failure: TurnFailure): ForkOutcome => ({
  outcome: 'failed',
  session: null,
  text: '',
  spent: null,
  usage: null,
  failure,
})
