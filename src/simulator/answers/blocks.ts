import { isRecord } from '../rules/shape.ts'
// Owns the blocks of an answer: how they are made, how they are read back, and how ids are derived. An id is a
// function of what was asked, so that the same request always gets the same answer.
import { createHash } from 'node:crypto'
import type { WireBlock, WireMessage } from '../../model/wire.ts'
import type { Answer } from '../answer.ts'

const idChars = 24

/** A block of text. */
export const text = (value: string): WireBlock => ({ type: 'text', text: value })

/** The server signs it; an answerer gives the words only. */
export const thinking = (value: string): WireBlock => ({ type: 'thinking', thinking: value })

/** A tool call. Without an id it gets one when the answer is finished. */
export const call = (name: string, input: Readonly<Record<string, unknown>>, id?: string): WireBlock =>
  id === undefined ? { type: 'tool_use', name, input } : { type: 'tool_use', id, name, input }

/** Blocks as an answer: open ids are filled from `seed`, the stop reason follows from the calls. */
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

export const blocksOf = (content: string | readonly WireBlock[]): readonly WireBlock[] =>
  typeof content === 'string' ? [text(content)] : content

export function fieldText(block: WireBlock, key: string): string {
  const value = block[key]
  return typeof value === 'string' ? value : ''
}

/** The text in a string, a block or a list of blocks; everything else counts as none. */
export function plainText(content: unknown): string {
  if (typeof content === 'string') return content
  if (Array.isArray(content)) return content.map(plainText).filter(Boolean).join('\n')
  return isRecord(content) && typeof content['text'] === 'string' ? content['text'] : ''
}
