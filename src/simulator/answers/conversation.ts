// Owns the reading of a wire request as a conversation: what was said to the model, what it called, what came back.
// Pure. On the wire an injected text looks like the user's; what can be told apart is told apart here.
import type { WireBlock, WireMessage } from '../../model/wire.ts'
import { plainText } from '../answer.ts'
import { messageBlocks, stringOf } from '../rules/blocks.ts'
import { isRecord } from '../rules/shape.ts'

export interface Said {
  /** Index of the message. */
  readonly at: number
  readonly text: string
  /** A reminder or attachment rather than the person's words. */
  readonly injected: boolean
  /** Travels in a message that also carries tool results. */
  readonly withResults: boolean
}

export interface Called {
  readonly at: number
  readonly id: string
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
  /** What the model wrote in the same message. */
  readonly note: string
  readonly result: { readonly text: string; readonly isError: boolean } | null
}

export interface Replied {
  readonly at: number
  readonly text: string
}

export interface Conversation {
  readonly said: readonly Said[]
  readonly called: readonly Called[]
  readonly replied: readonly Replied[]
}

export function readConversation(messages: readonly WireMessage[]): Conversation {
  const results = resultsById(messages)
  const said: Said[] = []
  const called: Called[] = []
  const replied: Replied[] = []
  messages.forEach((message, at) => {
    const blocks = messageBlocks(message)
    if (message.role === 'assistant') {
      const note = plainText(blocks.filter((block) => block.type === 'text'))
      if (note.trim() !== '') replied.push({ at, text: note })
      for (const block of blocks)
        if (block.type === 'tool_use') called.push(readCall(block, at, note, results))
      return
    }
    const withResults = blocks.some((block) => block.type === 'tool_result')
    for (const block of blocks) {
      const words = block.type === 'text' ? withoutTag(stringOf(block['text'])) : ''
      if (words.trim() === '') continue
      said.push({ at, text: words, injected: message.role === 'system' || isWrapped(words), withResults })
    }
  })
  return { said, called, replied }
}

/** The conversation as it stood before message `at`. */
export const before = (conversation: Conversation, at: number): Conversation => ({
  said: conversation.said.filter((item) => item.at < at),
  called: conversation.called.filter((item) => item.at < at),
  replied: conversation.replied.filter((item) => item.at < at),
})

/** Results by call id; a call without one is still open or was interrupted. */
function resultsById(messages: readonly WireMessage[]): Map<string, Called['result']> {
  const results = new Map<string, Called['result']>()
  for (const message of messages) {
    if (message.role !== 'user') continue
    for (const block of messageBlocks(message)) {
      if (block.type !== 'tool_result') continue
      const result = { text: plainText(block['content']), isError: block['is_error'] === true }
      results.set(stringOf(block['tool_use_id']), result)
    }
  }
  return results
}

function readCall(
  block: WireBlock,
  at: number,
  note: string,
  results: ReadonlyMap<string, Called['result']>,
): Called {
  const id = stringOf(block['id'])
  const input = isRecord(block['input']) ? block['input'] : {}
  return { at, id, name: stringOf(block['name']), input, note, result: results.get(id) ?? null }
}

/** Short ids that an engine may append to a user's message are not words of the user. */
function withoutTag(value: string): string {
  // Looked for from its end: a pattern that may begin with blanks would try every blank of a long text.
  const at = value.lastIndexOf('[id:')
  return at >= 0 && /^\[id:[\w-]+\]\s*$/u.test(value.slice(at)) ? value.slice(0, at).trimEnd() : value
}

/** Wrapped whole in one element, as reminders and attachments are; a task script is the user's own, and what says so. */
function isWrapped(value: string): boolean {
  const match = /^\s*<([a-z][\w-]*)([^>]*)>[\s\S]*<\/\1>\s*$/iu.exec(value)
  const isOwn = match?.[1]?.toLowerCase() === 'task' || / from="user"/u.test(match?.[2] ?? '')
  return (match !== null && !isOwn) || isQuoted(value)
}

/** An element that says whose words it holds, and they are not the user's. */
const isQuoted = (value: string): boolean =>
  /^\s*<([a-z][\w-]*)\s[^>]*\bfrom="(?!user")[^"]*"[^>]*>[\s\S]*<\/\1\b[^>]*>\s*$/iu.test(value)

const continuation = { headChars: 600, leastChars: 240 }

/** The message that opens a compacted session: it carries what came before instead of asking for something. */
export function isContinuation(value: string): boolean {
  // A person may ask to go on with earlier work, in a line; only an account of that work is long.
  if (value.length < continuation.leastChars || !value.includes('\n')) return false
  const head = value.slice(0, continuation.headChars)
  return (
    /\b(session|conversation|work|chat|exchange)\b[^.\n]{0,80}\b(continu|resum|carr(?:y|ies) on|picks? up|goes on)/iu.test(
      head,
    ) ||
    /\b(continu|resum)\w*\b[^.\n]{0,80}\b(session|conversation|earlier|previous|before)\b/iu.test(head) ||
    /\b(summary|record|notes|account) of\b[^.\n]{0,60}\b(earlier|previous|so far|before|until now)\b/iu.test(
      head,
    )
  )
}

/** The same, told from its first sentence: it states that work goes on, where a question would begin with its wish. */
export const isOpening = (value: string): boolean =>
  isContinuation(value) &&
  /^\s*(?:this|the) (?:session|conversation|work|chat|exchange) (?:continues|resumes|goes on|carries on|picks up|is (?:being )?(?:continued|resumed))\b/iu.test(
    value,
  )

/** The person's own words: neither injected nor the opening of a compacted session. */
export const ownWords = (conversation: Conversation): readonly Said[] =>
  conversation.said.filter((item) => !item.injected && !isContinuation(item.text))
