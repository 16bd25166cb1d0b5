// The list of messages as it is sent, made from a view. Most of a list is the same as in the request before, so it is
// compared by identity first and only what is new is looked at.
import type { Range } from '../transcript/fact.ts'
import type { Message, Part, View } from '../projection/view.ts'
import {
  createSerializer,
  continueMessage,
  ownMessage,
  type SentMessage,
  type SerializerOptions,
} from './serialize.ts'

/** Which reasoning goes along. */
export interface ReasoningChoice {
  readonly model: string
  /** Reasoning is bound to the exact prefix it was made under. */
  readonly bindsPrefix: boolean
  /** The provider refused earlier reasoning: what was made before this place is left out. */
  readonly reasoningFrom?: number | undefined
}

/** Ours included; empty when the view shows nothing. */
export type Lister = (view: View, choice: ReasoningChoice) => SentMessage[]

// Stands first where the view begins with an answer: the wire wants a user message there.
const beginning = ownMessage('[The session goes on from here.]')

/** The messages of the view in the last request, what was sent for them, and where that ended for each. */
interface Last {
  readonly choice: string
  readonly messages: readonly Message[]
  readonly list: readonly SentMessage[]
  readonly ends: readonly number[]
}

export function createLister(options: SerializerOptions): Lister {
  const serializer = createSerializer(options)
  const reminder = createReminder()
  let last: Last = { choice: '', messages: [], list: [], ends: [] }
  return (view, { model, bindsPrefix, reasoningFrom = 0 }) => {
    const stale: readonly Range[] = bindsPrefix ? view.staleReasoning : []
    const leavesOut = (part: Part): boolean =>
      part.from < reasoningFrom || part.model !== model || holds(stale, part.from)
    const choice = JSON.stringify([model, reasoningFrom, stale])
    const same = last.choice === choice ? sameMessages(last.messages, view) : 0
    const messages = last.messages.slice(0, same)
    const ends = last.ends.slice(0, same)
    const list = last.list.slice(0, ends.at(-1) ?? 0)
    for (const message of view.messages.slice(same)) {
      list.push(...serializer.messages(message, leavesOut))
      messages.push(message)
      ends.push(list.length)
    }
    last = { choice, messages, list, ends }
    return withOurs([...list], view.reminder === null ? null : reminder(view.reminder))
  }
}

function sameMessages(before: readonly Message[], { messages }: View): number {
  const most = Math.min(before.length, messages.length)
  let count = 0
  while (count < most && before[count] === messages.at(count)) count++
  return count
}

function withOurs(list: SentMessage[], reminder: SentMessage | null): SentMessage[] {
  if (list.length === 0) return list
  if (reminder !== null) list.unshift(reminder)
  else if (list[0]!.role === 'assistant') list.unshift(beginning)
  if (list.at(-1)!.role === 'assistant') list.push(continueMessage)
  return list
}

function createReminder(): (text: string) => SentMessage {
  let last: { readonly text: string; readonly message: SentMessage } | null = null
  return (text) => {
    if (last?.text !== text) last = { text, message: ownMessage(text) }
    return last.message
  }
}

// Ranges of places that are in order and apart from each other.

/** Whether one of the ranges holds this place. */
function holds(ranges: readonly Range[], place: number): boolean {
  let low = 0
  let high = ranges.length - 1
  while (low <= high) {
    const middle = (low + high) >>> 1
    const range = ranges[middle]!
    if (place < range.from) high = middle - 1
    else if (place > range.to) low = middle + 1
    else return true
  }
  return false
}
