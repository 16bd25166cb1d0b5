// Hears an answer on its way to the client and gives it as a message: streamed or whole, encoded or not. An answer that cannot
// be read gives null, and the session says that it was not recorded.
import { jsonIn } from '../transcript/json.ts'
import type { IncomingMessage } from 'node:http'
import type { ServerRefusal } from '../model/failure.ts'
import type { ModelMessage, WireName } from '../model/model.ts'
import type { Answered } from './recorder.ts'
import { EventText, tapFor } from './tee.ts'
import { wireOf } from './wires.ts'

export interface HeardAnswer {
  write(bytes: Uint8Array): void
  /** What came, once nothing more can; null where it was no answer or could not be read. */
  end(): Promise<Answered | null>
  /** Something was said already. */
  hasContent(): boolean
  /** An error inside the stream, or null. */
  refusal(): ServerRefusal | null
  /** What tells a client of this wire that the stream still lives. */
  readonly ping: string
}

const pings: Readonly<Record<WireName, string>> = {
  anthropic: 'event: ping\ndata: {"type":"ping"}\n\n',
  'openai-chat': ': ping\n\n',
  'openai-responses': ': ping\n\n',
  gemini: ': ping\n\n',
}
/** `asked` is the model of the request; of an answer that takes more than `most` bytes nothing is made. */
export function hearAnswer(
  name: WireName,
  { statusCode, headers }: IncomingMessage,
  asked: string,
  most: number,
): HeardAnswer | null {
  const wire = wireOf(name)
  if (statusCode !== 200) return null
  const reader = wire.createReader(asked)
  const isStream = (headers['content-type'] ?? '').includes('text/event-stream')
  const events = new EventText((event) => void reader.feed(event))
  const whole: string[] = []
  const tap = tapFor(headers['content-encoding'], most, (piece) =>
    isStream ? events.push(piece) : whole.push(piece),
  )
  if (tap === null) return null
  return {
    ping: pings[name],
    hasContent: () => reader.hasContent,
    refusal: () => reader.refusal ?? null,
    write: (bytes) => tap.write(bytes),
    async end() {
      if (!(await tap.end())) return null
      if (isStream) events.end()
      const message = isStream ? reader.message() : wire.parse(jsonIn(whole.join('')), asked)
      return message === null ? null : answered(message, isStream && !reader.complete)
    },
  }
}

const answered = (
  { content, messageId, model, stop, usage }: ModelMessage,
  isPartial: boolean,
): Answered => ({
  content,
  messageId,
  model,
  stop,
  usage,
  isPartial,
})
