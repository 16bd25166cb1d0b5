// What the ways into frameworks share: one conversation after another, each with its state, and what happens when it fails. A
// mistake in the set-up is thrown, so that it is seen; a list that cannot be made to fit goes out as it is, and that is told.
import { lookUp, modelTable } from '../../model/models.ts'
import { systemClock } from '../../transcript/ids.ts'
import type { Usage } from '../../transcript/fact.ts'
import type { FitFailure, FitOptions, FitReport, KeptOriginal } from '../contract.ts'
import type { FitState } from '../state.ts'
import { fitIn, type Dialect } from './dialect.ts'

/** Where states are kept, by the name of their conversation. A Map does. */
export interface FitStates {
  get(conversation: string): FitState | undefined | Promise<FitState | undefined>
  set(conversation: string, state: FitState): unknown
}

export interface FrameworkOptions extends Omit<
  FitOptions,
  'wire' | 'state' | 'usage' | 'now' | 'model' | 'store'
> {
  readonly model: string
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
}

export interface FittingAsk {
  readonly conversation?: string | undefined
  readonly usage?: Usage | null | undefined
  readonly system?: unknown
  readonly tools?: readonly unknown[] | undefined
}

/** Conversations that are remembered where the caller keeps none. */
const mostStates = 200

export function createFitting<Message>(
  dialect: Dialect<Message>,
  options: FrameworkOptions,
): Fitting<Message> {
  const { states = remembered(), onFit, keep, clock = systemClock, ...plain } = options
  // Reasoning that is bound to the bytes before it stands inside messages whose words are not ours: it cannot be left out here.
  const isBound = lookUp(modelTable(plain.models), plain.model)?.capabilities.bindsPrefix === true
  return {
    async fitted(messages, { conversation = '', usage, system, tools }) {
      const made = fitIn(dialect, messages, {
        ...plain,
        compaction: isBound ? false : plain.compaction,
        state: await states.get(conversation),
        usage,
        now: clock.now(),
        system: plain.system ?? system,
        tools: plain.tools ?? tools,
      })
      if (!made.ok) {
        if (isMistake(made)) throw new Error(made.message)
        onFit?.(made)
        return messages
      }
      for (const original of made.kept) await keep?.(original)
      await states.set(conversation, made.state)
      onFit?.(made.report)
      return made.messages
    },
  }
}

const isMistake = ({ code }: FitFailure): boolean =>
  code === 'bad-option' ||
  code === 'unknown-model' ||
  code === 'bad-state' ||
  code === 'newer-state' ||
  code === 'no-room'

function remembered(): FitStates {
  const states = new Map<string, FitState>()
  return {
    get: (conversation) => states.get(conversation),
    set: (conversation, state) => {
      states.delete(conversation)
      states.set(conversation, state)
      const [oldest] = states.keys()
      if (states.size > mostStates && oldest !== undefined) states.delete(oldest)
    },
  }
}
