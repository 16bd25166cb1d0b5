// What the ways into frameworks share: one conversation after another, each with its state, and what happens when it fails. A
// mistake in the set-up is thrown, so that it is seen; a list that cannot be made to fit goes out as it is, and that is told.
import { lookUp, modelTable } from '../../model/models.ts'
import { overflowOf } from '../../model/overflow.ts'
import { isRecord } from '../../transcript/content.ts'
import { systemClock } from '../../transcript/ids.ts'
import type { Usage } from '../../transcript/fact.ts'
import type { FitFailure, FitReport, KeptOriginal, SummarisingOptions } from '../contract.ts'
import type { FitState } from '../state.ts'
import { fitIn, type Dialect } from './dialect.ts'

/** Where states are kept, by the name of their conversation. A Map does. */
export interface FitStates {
  get(conversation: string): FitState | undefined | Promise<FitState | undefined>
  set(conversation: string, state: FitState): unknown
}

/** The messages that `pins` and `summarise` see are the framework's own. */
export interface FrameworkOptions<Message = never> extends Omit<
  SummarisingOptions<Message>,
  'wire' | 'state' | 'usage' | 'now' | 'model' | 'store' | 'summarise'
> {
  readonly model: string
  readonly summarise?: SummarisingOptions<Message>['summarise'] | undefined
  /** Kept in memory where nothing is given; then a restart of the program begins anew. */
  readonly states?: FitStates | undefined
  /** Told after each call what was done, or why nothing was. */
  readonly onFit?: ((outcome: FitReport | FitFailure) => void) | undefined
  /** Given the whole of what was taken out, before the shorter text is sent. */
  readonly keep?: ((original: KeptOriginal) => unknown) | undefined
  readonly clock?: { now(): number } | undefined
}

export interface Fitting<Message> {
  fitted(messages: readonly Message[], ask: FittingAsk): Promise<readonly Message[]>
  /** What was refused for its length, smaller; null where the error speaks of something else or nothing can be left out. */
  smaller(messages: readonly Message[], error: unknown, ask: FittingAsk): Promise<readonly Message[] | null>
}

export interface FittingAsk {
  readonly conversation?: string | undefined
  readonly usage?: Usage | null | undefined
  readonly system?: unknown
  readonly tools?: readonly unknown[] | undefined
  /** The result is gone on with for many calls, as a run of the Agents SDK does with what its session gave. */
  readonly isView?: boolean | undefined
}

/** Conversations that are remembered where the caller keeps none. */
const mostStates = 200
/** Of what was refused without a number: what may be sent in its place. */
const refusedShare = 0.7

interface Pair<Message> {
  readonly given: readonly Message[]
  readonly returned: readonly Message[]
}

/** What one conversation was last given and returned, and what its provider was found to take. */
interface Last<Message> extends Pair<Message> {
  /** What was returned to be gone on with for many calls. */
  readonly view?: Pair<Message> | undefined
  readonly tokens: number
  readonly window?: number | undefined
}

export function createFitting<Message>(
  dialect: Dialect<Message>,
  options: FrameworkOptions<Message>,
): Fitting<Message> {
  // What programs without types leave out is said here, not by the first call that then breaks.
  if (typeof (options as Partial<typeof options> | undefined)?.model !== 'string')
    throw new TypeError(
      "`model` is missing: the model's name as its API knows it, as in { model: 'claude-sonnet-5' }",
    )
  const { states = bounded<FitState>(), onFit, keep, clock = systemClock, ...plain } = options
  const lasts = bounded<Last<Message>>()
  // Reasoning that is bound to the bytes before it stands inside messages whose words are not ours: it cannot be left out here.
  const isBound = lookUp(modelTable(plain.models), plain.model)?.capabilities.bindsPrefix === true
  const isSame = (one: Message, other: Message | undefined): boolean =>
    one === other ||
    (other !== undefined && JSON.stringify(dialect.write(one)) === JSON.stringify(dialect.write(other)))

  /** A framework may hand what was returned on to the next call: then the originals are put back. */
  function originals(messages: readonly Message[], last: Last<Message> | undefined): readonly Message[] {
    const pair = [last, last?.view].find(
      (each) =>
        each !== undefined &&
        each.returned !== each.given &&
        each.returned.length <= messages.length &&
        each.returned.every((message, at) => isSame(message, messages[at])),
    )
    return pair === undefined ? messages : [...pair.given, ...messages.slice(pair.returned.length)]
  }

  async function made(messages: readonly Message[], ask: FittingAsk, window: number | undefined) {
    const { conversation = '', usage, system, tools } = ask
    const last = lasts.get(conversation)
    const given = originals(messages, last)
    const outcome = await fitIn(dialect, given, {
      ...plain,
      window: window ?? plain.window,
      compaction: isBound ? false : plain.compaction,
      state: await states.get(conversation),
      usage,
      now: clock.now(),
      system: plain.system ?? system,
      tools: plain.tools ?? tools,
    })
    if (!outcome.ok) return outcome
    for (const original of outcome.kept) await keep?.(original)
    await states.set(conversation, outcome.state)
    const { messages: returned, report } = outcome
    const view = ask.isView === true ? { given, returned } : last?.view
    lasts.set(conversation, { given, returned, view, tokens: report.tokensAfter, window })
    return outcome
  }

  return {
    async fitted(messages, ask) {
      const outcome = await made(messages, ask, lasts.get(ask.conversation ?? '')?.window)
      if (!outcome.ok && isMistake(outcome)) throw new Error(outcome.message)
      onFit?.(outcome.ok ? outcome.report : outcome)
      return outcome.ok ? outcome.messages : messages
    },
    async smaller(messages, error, ask) {
      const overflow = overflowIn(error)
      const last = lasts.get(ask.conversation ?? '')
      if (overflow === null || last === undefined) return null
      const { limitTokens } = overflow
      const isBelow = limitTokens !== null && limitTokens < last.tokens
      const outcome = await made(
        messages,
        ask,
        isBelow ? limitTokens : Math.floor(last.tokens * refusedShare),
      )
      if (!outcome.ok) return null
      onFit?.(outcome.report)
      return outcome.report.boundary?.isNew === true ? outcome.messages : null
    },
  }
}

const isMistake = ({ code }: FitFailure): boolean =>
  code === 'bad-option' ||
  code === 'unknown-model' ||
  code === 'bad-state' ||
  code === 'newer-state' ||
  code === 'no-room'

/** What an error of a framework says of a length; a limit for each minute is no length. */
function overflowIn(error: unknown): { readonly limitTokens: number | null } | null {
  if (!isRecord(error) && !(error instanceof Error)) return null
  const fields = error as Readonly<Record<string, unknown>>
  const status = fields['statusCode'] ?? fields['status']
  const text = [fields['message'], fields['responseBody']]
    .filter((each) => typeof each === 'string')
    .join('\n')
  const found = overflowOf({ status: typeof status === 'number' ? status : null, text })
  return found === null || found.perMinute ? null : found
}

function bounded<T>(): { get(name: string): T | undefined; set(name: string, value: T): void } {
  const values = new Map<string, T>()
  return {
    get: (name) => values.get(name),
    set: (name, value) => {
      values.delete(name)
      values.set(name, value)
      const [oldest] = values.keys()
      if (values.size > mostStates && oldest !== undefined) values.delete(oldest)
    },
  }
}
