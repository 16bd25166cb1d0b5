// What a command says, in bounded memory. A short output is kept as it is. A longer one goes, whole and redacted, to the
// spill while it comes in, and only both ends stay here. Where nothing can be kept elsewhere the middle is lost, and said so.
import { redactingStream } from '../../disk/redact-stream.ts'
import { defaults } from '../../settings/defaults.ts'
import { headOf, persistedOutput, tailOf } from '../outcome.ts'
import type { SpillOutcome, ToolEnv } from '../tool.ts'

export interface Output {
  readonly text: string
  readonly spill?: { readonly blob: string; readonly bytes: number; readonly sha256: string } | undefined
}

export interface OutputSink {
  /** Takes a piece; waits while the spill is slower. */
  push(bytes: Uint8Array): Promise<void>
  end(): Promise<Output>
}

export interface OutputOptions {
  readonly name: string
  readonly maxChars: number
  readonly spill: ToolEnv['spill']
  readonly report: (text: string) => void
}

export function createOutput(options: OutputOptions): OutputSink {
  const decoder = new TextDecoder()
  const redacting = redactingStream()
  const half = Math.floor(options.maxChars / 2)
  let [head, tail, chars] = ['', '', 0]
  let keeping: { readonly channel: Channel<Uint8Array>; readonly outcome: Promise<SpillOutcome> } | null =
    null

  async function take(text: string): Promise<void> {
    if (text === '') return
    options.report(text)
    chars += text.length
    if (keeping === null && chars <= options.maxChars) {
      head += text
      return
    }
    if (keeping !== null) {
      tail = tailOf(tail + text, half)
      await keeping.channel.give(Buffer.from(text))
      return
    }
    const whole = head + text
    if (tail === '') head = headOf(whole, options.maxChars)
    tail = tailOf(tail === '' ? whole : tail + text, half)
    if (options.spill === null) return
    const channel = createChannel<Uint8Array>()
    // Whoever gives up on the spill must not keep the giver waiting.
    keeping = { channel, outcome: options.spill(options.name, channel).finally(() => channel.end()) }
    await channel.give(Buffer.from(whole))
  }

  async function end(): Promise<Output> {
    await take(redacting.push(decoder.decode()) + redacting.end())
    if (chars <= options.maxChars) return { text: head }
    keeping?.channel.end()
    const kept = await keeping?.outcome
    if (kept?.ok !== true) {
      const why = kept === undefined ? 'there is nowhere to keep it' : `it could not be kept: ${kept.why}`
      return { text: bothEnds(headOf(head, half), tail, chars - 2 * half, why) }
    }
    const preview = defaults.tools.bashPreviewChars
    const text = persistedOutput(
      { ref: kept.blob, path: kept.path, bytes: kept.bytes },
      { head: headOf(head, preview), tail: tailOf(tail, preview), left: chars - 2 * preview },
    )
    return { text, spill: { blob: kept.blob, bytes: kept.bytes, sha256: kept.sha256 } }
  }

  return { push: (bytes) => take(redacting.push(decoder.decode(bytes, { stream: true }))), end }
}

const bothEnds = (head: string, tail: string, left: number, why: string) =>
  `${head}\n[… ${left} characters left out here: ${why} …]\n${tail}`

/** Hands pieces from one who has them to one who takes them, one at a time: the giver waits until the piece was taken. */
interface Channel<T> extends AsyncIterable<T> {
  /** False when nobody takes any more. */
  give(piece: T): Promise<boolean>
  end(): void
}

function createChannel<T>(): Channel<T> {
  let waiting: { readonly piece: T; readonly taken: (ok: boolean) => void } | null = null
  let wake: (() => void) | null = null
  let over = false
  const close = () => {
    over = true
    waiting?.taken(false)
    waiting = null
    wake?.()
  }
  return {
    give: (piece) =>
      new Promise((taken) => {
        if (over) return taken(false)
        waiting = { piece, taken }
        wake?.()
      }),
    end: close,
    async *[Symbol.asyncIterator]() {
      try {
        for (;;) {
          if (waiting !== null) {
            const { piece, taken } = waiting
            waiting = null
            // Said before it is handed over: a taker that stops here never comes back to say it.
            taken(true)
            yield piece
          } else if (over) return
          else await new Promise<void>((resolve) => (wake = resolve))
        }
      } finally {
        close()
      }
    },
  }
}
