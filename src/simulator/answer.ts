// Who answers inside the simulator: the seam between the judge (rules, cache, stream) and what the model would say.
// An answerer sees only the wire request; it is deterministic and never touches the network. Ids, signatures,
// usage and the cutting at `max_tokens` are the simulator's work, so an answer carries none of them. Below: the blocks an answer is
// made of, and the plainest answerer, a script.
import { createHash } from 'node:crypto'
import type { WireBlock, WireMessage, WireRequest } from '../model/wire.ts'
import { isRecord } from './rules/shape.ts'

export interface AnswerContext {
  readonly request: WireRequest
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  /** This is the nth accepted request, from 1. */
  readonly turn: number
  readonly now: number
}

export interface Answer {
  readonly content: readonly WireBlock[]
  readonly stop_reason: string
  /** What the usage reports; counted from the content where absent. */
  readonly output_tokens?: number
}

export interface Answerer {
  answer(context: AnswerContext): Answer | Promise<Answer>
}

const idChars = 24

/** A block of text. */
export const text = (value: string): WireBlock => ({ type: 'text', text: value })

/** The server signs it; an answerer gives the words only. */
export const thinking = (value: string): WireBlock => ({ type: 'thinking', thinking: value })

/** A tool call. Without an id it gets one when the answer is finished. */
export const call = (name: string, input: Readonly<Record<string, unknown>>, id?: string): WireBlock =>
  id === undefined ? { type: 'tool_use', name, input } : { type: 'tool_use', id, name, input }

/**
 * Blocks as an answer: open ids are filled from `seed`, the stop reason follows from the calls. An id is a function of what was
 * asked, so that the same request always gets the same answer.
 */
export function answerOf(content: readonly WireBlock[], seed: string): Answer {
  const finished = content.map((block, index) =>
    block.type === 'tool_use' && block['id'] === undefined ? { ...block, id: callId(seed, index) } : block,
  )
  const calls = finished.some((block) => block.type === 'tool_use')
  return { content: finished, stop_reason: calls ? 'tool_use' : 'end_turn' }
}

const callId = (seed: string, index: number): string =>
  `toolu_${digest(`${seed}:${index}`).slice(0, idChars)}`

export const digest = (value: string): string => createHash('sha256').update(value).digest('hex')

/** What identifies a request to an answerer: its messages, whatever breakpoints they carry. */
export const requestSeed = (messages: readonly WireMessage[]): string =>
  digest(JSON.stringify(messages, (key, value: unknown) => (key === 'cache_control' ? undefined : value)))

/** The text in a string, a block or a list of blocks; everything else counts as none. */
export function plainText(content: unknown): string {
  if (typeof content === 'string') return content
  if (Array.isArray(content)) return content.map(plainText).filter(Boolean).join('\n')
  return isRecord(content) && typeof content['text'] === 'string' ? content['text'] : ''
}

/** A text, blocks (see blocks.ts for the makers), or a finished answer. */
export type ScriptAnswer = string | readonly WireBlock[] | Answer
export type ScriptStep = ScriptAnswer | ((request: WireRequest, context: AnswerContext) => ScriptAnswer)

export interface ScriptedAnswerer extends Answerer {
  /** Steps given out so far. */
  readonly position: number
}

/**
 * Answers with a list of steps, one after the other. Nothing but the position decides which step is next, so a client that repeats
 * a request consumes a step.
 */
export function scripted(steps: readonly ScriptStep[]): ScriptedAnswerer {
  let position = 0
  return {
    get position() {
      return position
    },
    answer(context) {
      const step = steps[position]
      if (step === undefined) return answerOf([text(ranOut(position + 1, steps.length))], '')
      position += 1
      return toAnswer(typeof step === 'function' ? step(context.request, context) : step, position)
    },
  }
}

const ranOut = (asked: number, steps: number): string =>
  `[script ended] request ${asked} has no answer: the script holds ${steps} step${steps === 1 ? '' : 's'}.`

function toAnswer(step: ScriptAnswer, position: number): Answer {
  const seed = `script:${position}`
  if (typeof step === 'string') return answerOf([text(step)], seed)
  if ('stop_reason' in step) return { ...step, content: answerOf(step.content, seed).content }
  return answerOf(step, seed)
}
