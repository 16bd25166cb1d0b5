// A session that talks to the simulator in process, with its break detector: what a test changes between two requests
// is what the report must name.
import { ratesOf, lookUp, modelTable } from '../src/model/models.ts'
import { usageOf } from '../src/wires/usage.ts'
import type { TokenRates } from '../src/projection/economy.ts'
import { Fold } from '../src/projection/fold.ts'
import { createComposer } from '../src/wires/anthropic/compose.ts'
import type { Composed, ComposeParameters } from '../src/request/compose.ts'
import { createBreakDetector, type CacheBreak } from '../src/request/break-detector.ts'
import { createExchange, createManualClock } from '../src/simulator/exchange.ts'
import { answered, call, Pen, result, said, start } from '../src/testing/builders.ts'
import type { Fact, Section, ToolSpec, Usage } from '../src/transcript/fact.ts'
import type { Seq } from '../src/transcript/ids.ts'

export const model = 'claude-sonnet-4-6'
const million = 1_000_000

/** About so many tokens of words, the same for the same name. */
export const words = (name: string, tokens: number): string =>
  `${name} says more. `.repeat(Math.ceil((tokens * 4) / (name.length + 12)))

export const section = (side: 'static' | 'dynamic', text: string): Section => ({
  name: side === 'static' ? 'identity' : 'environment',
  side,
  text,
})
export const tool = (name: string, description: string): ToolSpec => ({
  name,
  description,
  input_schema: { type: 'object' },
})
export const instructions = {
  sections: [section('static', words('rules', 3000)), section('dynamic', words('place', 3000))],
  tools: [tool('Read', words('reading', 1500)), tool('Bash', words('running', 1500))],
}

export interface Sent {
  readonly found: CacheBreak | null
  readonly usage: Usage
  readonly composed: Composed
}

export function createRequests(options: { cacheEdits?: boolean } = {}) {
  const clock = createManualClock(million)
  const newServer = () =>
    createExchange({
      clock,
      answerer: { answer: () => ({ content: [{ type: 'text', text: 'fine' }], stop_reason: 'end_turn' }) },
      capabilities: { cacheEdits: options.cacheEdits ?? false },
    })
  let server = newServer()
  const composer = createComposer({ references: options.cacheEdits })
  const detector = createBreakDetector()
  const fold = new Fold()
  const pen = new Pen()
  const write = (fact: Fact): Seq => {
    const entry = pen.write(fact)
    fold.push(entry)
    return entry.seq
  }
  let rounds = 0
  /** A call and its result, of about so many tokens; gives the place of the result. */
  const round = (tokens: number): Seq => {
    rounds++
    const id = `call_${rounds}`
    write(answered([call(id)], { id: `msg_${rounds}`, stop: 'tool_use' }))
    return write(result(id, words(id, tokens)))
  }
  const send = async (more: Partial<ComposeParameters> = {}, source = 'main'): Promise<Sent> => {
    clock.advance(1000)
    const parameters: ComposeParameters = {
      model,
      maxTokens: 1000,
      bindsPrefix: false,
      lifetime: '5m',
      ...more,
    }
    const outcome = composer.compose(fold.view(), parameters)
    if (!outcome.ok) throw new Error(outcome.why)
    const { composed } = outcome
    const pending = detector.before(source, composed, clock.now())
    const reply = await server.create(JSON.parse(composed.body), {})
    if (!reply.ok) throw new Error(reply.error.error.message)
    reply.reply.begin()
    const report = reply.reply.response.usage
    const usage = usageOf(report)
    const deletedTokens = report.cache_deleted_input_tokens
    return {
      found: detector.after(pending, { usage, deletedTokens, rates: rates(parameters.model) }),
      usage,
      composed,
    }
  }
  write(start())
  write({ type: 'instructions-set', ...instructions })
  write(said(words('the task', 2000)))
  return {
    clock,
    detector,
    fold,
    write,
    round,
    send,
    /** The server forgets everything it had cached. */
    forget: () => {
      server = newServer()
    },
  }
}

export function rates(id: string): TokenRates {
  const table = ratesOf(lookUp(modelTable(), id)!, 1)!
  return {
    read: table.read / million,
    write: table.write5m / million,
    fresh: table.input / million,
    output: table.output / million,
  }
}
