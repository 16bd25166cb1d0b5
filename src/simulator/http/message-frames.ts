// A finished answer of the Messages API as server-sent events: text, reasoning and call inputs in several pieces, signatures at
// the end of their block, a ping after the start, cumulative usage in the last delta.
import type { WireBlock } from '../../model/wire.ts'
import { piecesOf, type EmittedBlock } from '../emission.ts'
import type { Reply } from '../exchange.ts'
import { stringOf } from '../rules/blocks.ts'
import { problem } from '../rules/problem.ts'
import type { Fault } from './faults.ts'
import type { Sendable } from './sending.ts'

/** A reply as it is put on the wire. */
export function sendableMessage(reply: Reply): Sendable {
  return {
    whole: () => reply.response,
    frames: () => frames(reply),
    begin: () => reply.begin(),
    failed: (fault) => ({ status: 529, body: streamError(fault), frame: frame('error', streamError(fault)) }),
    malformed: MALFORMED_FRAME,
  }
}

const MALFORMED_FRAME =
  'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{\n\n'

function streamError(fault: Extract<Fault, { kind: 'stream-error' }>): Readonly<Record<string, unknown>> {
  return { ...problem(fault.type ?? 'overloaded_error', fault.message ?? 'Overloaded') }
}

const INPUT_PIECES = { least: 2 }
/** What `message_start` reports before anything has been said. */
const FIRST_OUTPUT_TOKENS = 1

function frame(name: string, data: Readonly<Record<string, unknown>>): string {
  return `event: ${name}\ndata: ${JSON.stringify({ type: name, ...data })}\n\n`
}

function* frames({ response, emission }: Reply): Generator<string> {
  const { context_management, input_transformations, usage, ...start } = response
  const message = {
    ...start,
    content: [],
    stop_reason: null,
    usage: { ...usage, output_tokens: FIRST_OUTPUT_TOKENS },
  }
  yield frame('message_start', { message })
  yield frame('ping', {})
  for (const [index, emitted] of emission.blocks.entries()) {
    yield frame('content_block_start', { index, content_block: opening(emitted.block) })
    for (const delta of deltas(emitted)) yield frame('content_block_delta', { index, delta })
    yield frame('content_block_stop', { index })
  }
  yield frame('message_delta', {
    delta: { stop_reason: response.stop_reason, stop_sequence: response.stop_sequence },
    usage,
    ...(context_management === undefined ? {} : { context_management }),
    ...(input_transformations === undefined ? {} : { input_transformations }),
  })
  yield frame('message_stop', {})
}

function opening(block: WireBlock): WireBlock {
  if (block.type === 'text') return { ...block, text: '' }
  if (block.type === 'thinking') return { ...block, thinking: '', signature: '' }
  return block.type === 'tool_use' ? { ...block, input: {} } : block
}

function* deltas({ block, inputJson }: EmittedBlock): Generator<Readonly<Record<string, unknown>>> {
  if (block.type === 'text') {
    for (const text of piecesOf(stringOf(block['text']))) yield { type: 'text_delta', text }
  } else if (block.type === 'thinking') {
    for (const thinking of piecesOf(stringOf(block['thinking']))) yield { type: 'thinking_delta', thinking }
    yield { type: 'signature_delta', signature: block['signature'] }
  } else if (inputJson !== null) {
    yield { type: 'input_json_delta', partial_json: '' }
    for (const json of piecesOf(inputJson, INPUT_PIECES))
      yield { type: 'input_json_delta', partial_json: json }
  }
}
