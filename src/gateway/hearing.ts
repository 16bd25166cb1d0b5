// Hears an answer on its way to the client and gives it as a message: streamed or whole, encoded or not. An answer that cannot
// be read gives null, and the session says that it was not recorded.
import type { IncomingMessage } from 'node:http'
import { MessageReader } from '../model/anthropic-stream.ts'
import { isRecord } from '../transcript/content.ts'
import type { ForeignWire } from './layouts.ts'
import type { Answered } from './recorder.ts'
import { EventText, tapFor } from './tee.ts'

export interface HeardAnswer {
  write(bytes: Uint8Array): void
  /** What came, once nothing more can; null where it was no answer or could not be read. */
  end(): Promise<Answered | null>
  /** What tells a client of this wire that the stream still lives. */
  readonly ping: string
}

const pings: Readonly<Record<ForeignWire, string>> = {
  anthropic: 'event: ping\ndata: {"type":"ping"}\n\n',
  'openai-chat': ': ping\n\n',
  'openai-responses': ': ping\n\n',
  gemini: ': ping\n\n',
}

export function hearAnswer(wire: ForeignWire, { statusCode, headers }: IncomingMessage): HeardAnswer | null {
  if (statusCode !== 200 || wire !== 'anthropic') return null
  const reader = new MessageReader()
  const isStream = (headers['content-type'] ?? '').includes('text/event-stream')
  const events = new EventText((event) => void reader.feed(event))
  const whole: string[] = []
  const tap = tapFor(headers['content-encoding'], (piece) =>
    isStream ? events.push(piece) : whole.push(piece),
  )
  if (tap === null) return null
  return {
    ping: pings[wire],
    write: (bytes) => tap.write(bytes),
    async end() {
      await tap.end()
      if (isStream) events.end()
      else feedWhole(reader, whole.join(''))
      const message = reader.message()
      if (message === null) return null
      const { content, messageId, model, stop, usage } = message
      return { content, messageId, model, stop, usage, isPartial: !reader.complete }
    },
  }
}

/** A whole answer is the events of its parts. */
function feedWhole(reader: MessageReader, text: string): void {
  const message = parsed(text)
  if (message === null) return
  const { content, stop_reason, usage } = message
  reader.feed({ type: 'message_start', message })
  for (const [index, block] of (Array.isArray(content) ? content : []).entries()) {
    reader.feed({ type: 'content_block_start', index, content_block: block as unknown })
    reader.feed({ type: 'content_block_stop', index })
  }
  reader.feed({ type: 'message_delta', delta: { stop_reason }, usage })
  reader.feed({ type: 'message_stop' })
}

function parsed(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : null
  } catch {
    return null
  }
}
