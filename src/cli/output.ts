// What `pal -p` writes to standard output, in one of three forms:
//
//   text         the last answer, made safe for a terminal
//   json         one object at the end: PromptResult
//   stream-json  a line for each live event as it comes, the first {"type":"session",…}, the last {"type":"result",…}
//
// Everything that is said on the way goes to the error stream, so that a pipe holds the answer and nothing else.
import type { Failure } from '../transcript/store.ts'
import type { LiveEvent } from '../engine/live.ts'
import { failureText, memoryLine, progressLine } from './terminal/event-text.ts'
import type { Io } from './terminal/io.ts'
import { safeJson, safeLine, safeText } from './terminal/safe-text.ts'

export const formats = ['text', 'json', 'stream-json'] as const
export type Format = (typeof formats)[number]

export interface PromptResult {
  readonly session: string
  readonly outcome: 'done' | 'aborted' | 'failed'
  /** What was said last. */
  readonly text: string
  readonly failure: Failure | null
  readonly model: string
  /** The answers come from a script, not from a model. */
  readonly scripted: boolean
  /** Of this run. */
  readonly requests: number
  readonly usage: {
    readonly input: number
    readonly cacheRead: number
    readonly cacheWrite: number
    readonly output: number
  }
  /** Requests whose server did not say what they took: counted by size, as plain input. */
  readonly estimated: number
  /** Null when the price of the model is not known; a script costs nothing. */
  readonly dollars: number | null
  /** Memories of this run, by name: put before the model, kept for later sessions, waiting for the user. */
  readonly memory: {
    readonly recalled: readonly string[]
    readonly saved: readonly string[]
    readonly held: readonly string[]
  }
  /** Why the session could not be closed after the turn; left out where it was. */
  readonly unclosed?: Failure
  /** What of the folder did not act, since nobody approved its content. */
  readonly leftOut?: readonly {
    readonly kind: string
    readonly path: string
    readonly why: string
  }[]
}

export interface Reporter {
  event(event: LiveEvent): void
  result(): PromptResult
}

export interface ReportOptions {
  readonly io: Io
  readonly format: Format
  readonly isVerbose: boolean
  readonly session: string
  readonly model: string
  readonly scripted: boolean
}

export function createReporter(options: ReportOptions): Reporter {
  const { io, format, session, model, scripted } = options
  const line = (value: object): void => {
    if (format === 'stream-json') io.out(`${safeJson(value)}\n`)
  }
  let text = ''
  let isNewAnswer = true
  let end: (LiveEvent & { type: 'turn-end' }) | null = null
  let requests = 0
  let estimated = 0
  let usage = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 }
  let dollars: number | null = 0
  let memory: PromptResult['memory'] = { recalled: [], saved: [], held: [] }
  line({ type: 'session', session, model, scripted })

  const take = (event: LiveEvent): void => {
    if (event.type === 'request-start') isNewAnswer = true
    if (event.type === 'text-delta') {
      text = (isNewAnswer ? '' : text) + event.text
      isNewAnswer = false
    }
    if (event.type === 'answer-end') {
      requests++
      if (event.usage.estimated === true) estimated++
      dollars = dollars === null || event.dollars === null ? null : dollars + event.dollars
      const { input, cacheRead, cacheWrite, output } = event.usage
      usage = {
        input: usage.input + input,
        cacheRead: usage.cacheRead + cacheRead,
        cacheWrite: usage.cacheWrite + cacheWrite,
        output: usage.output + output,
      }
    }
    if (event.type === 'memory')
      memory = { ...memory, [event.did]: [...new Set([...memory[event.did], ...event.files])] }
    if (event.type === 'turn-end') end = event
  }
  return {
    event: (event) => {
      take(event)
      line(event)
      // The scripted model begins each run with an empty cache, and nothing is paid for.
      const isOwnBreak = scripted && event.type === 'notice' && event.code === 'cache-break'
      if (event.type === 'notice' && !isOwnBreak) io.err(`pal: ${safeLine(event.message)}\n`)
      if (event.type === 'memory') io.err(`pal: ${memoryLine(event)}\n`)
      const progress = options.isVerbose ? progressLine(event) : null
      if (progress !== null) io.err(`${progress}\n`)
    },
    result: () => {
      const { outcome, failure } = end ?? { outcome: 'failed' as const, failure: noEnd }
      return {
        session,
        outcome,
        text,
        failure,
        model,
        scripted,
        requests,
        usage,
        estimated,
        dollars: scripted ? 0 : dollars,
        memory,
      }
    },
  }
}

const noEnd: Failure = { code: 'no-end', message: 'the turn ended without an outcome' }

export function writeResult(io: Io, format: Format, result: PromptResult): void {
  if (format === 'json') io.out(`${safeJson(result)}\n`)
  if (format === 'stream-json') io.out(`${safeJson({ type: 'result', ...result })}\n`)
  if (format === 'text' && result.text !== '') {
    const text = safeText(result.text, { colours: io.outColours })
    io.out(text.endsWith('\n') ? text : `${text}\n`)
  }
  if (result.failure !== null) io.err(`pal: ${failureText(result.failure)}\n`)
}
