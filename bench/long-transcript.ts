// Long transcripts in the file store's own format, made without an engine: turns of real shape (input, request, answer
// with a call, result of some kilobytes), and boundaries as autocompact would leave them, each over the one before.
import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { once } from 'node:events'
import { join } from 'node:path'
import { frames } from '../src/stores/files/writer.ts'
import { transcriptName } from '../src/stores/files/layout.ts'
import { Pen } from '../src/testing/builders.ts'
import type { Entry, Fact, Kept } from '../src/transcript/fact.ts'
import { callId, seq, type SessionId } from '../src/transcript/ids.ts'

export interface Shape {
  readonly bytes: number
  /** A boundary after so many bytes; none where null. */
  readonly boundaryBytes: number | null
  /** What follows the last boundary. */
  readonly tailBytes: number
  readonly hasPin: boolean
  /** Lines of each result; some kilobytes of them by itself. */
  readonly resultLines?: number | undefined
}

const MB = 1024 * 1024
const usualLines = 160
const keptInputs = 10

/** Writes one and gives the number of its entries. */
export async function writeTranscript(root: string, session: SessionId, shape: Shape): Promise<number> {
  const folder = join(root, session)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const out = createWriteStream(join(folder, transcriptName), { mode: 0o600, highWaterMark: 4 * MB })
  let bytes = 0
  let place = 0
  const pen = new Pen()
  const write = async (fact: Fact): Promise<Entry> => {
    const entry = pen.write(fact)
    const framed = frames([entry], seq(place++))
    if (!framed.ok) throw new Error(framed.failure.message)
    bytes += framed.bytes.byteLength
    if (!out.write(framed.bytes)) await once(out, 'drain')
    return entry
  }
  await write({ type: 'session-start', session, purpose: 'main' })
  await write({
    type: 'instructions-set',
    sections: [{ name: 's', text: 'Be brief.', side: 'static' }],
    tools: [],
  })
  const inputs: Kept[] = []
  let next = shape.boundaryBytes ?? Infinity
  for (let turn = 0; bytes < shape.bytes; turn++) {
    inputs.push(await writeTurn(write, turn, shape.resultLines ?? usualLines))
    if (turn === 0 && shape.hasPin) await write({ type: 'pin', at: inputs[0]!.at })
    const isLast = bytes >= shape.bytes - shape.tailBytes && next < Infinity
    if (bytes < next && !isLast) continue
    next = isLast ? Infinity : bytes + shape.boundaryBytes!
    await write(
      boundary(place - 1, inputs.splice(0, inputs.length, ...inputs.slice(-keptInputs)).slice(-keptInputs)),
    )
  }
  out.end()
  await once(out, 'finish')
  return place
}

async function writeTurn(
  write: (fact: Fact) => Promise<Entry>,
  turn: number,
  resultLines: number,
): Promise<Kept> {
  const said = await write({
    type: 'user-message',
    content: [{ type: 'text', text: `Please look at module ${turn} and say what is wrong with it.` }],
    origin: 'typed',
  })
  const call = callId(`toolu_${turn}`)
  await ask(write, said, turn, [
    { type: 'tool_use', id: call, name: 'Read', input: { path: `src/m${turn}.ts` } },
  ])
  const line = (at: number) => `${at}\texport const value${at} = compute(${turn * at}, 'module ${turn}')\n`
  const text = Array.from({ length: resultLines }, (_, at) => line(at)).join('')
  const result = await write({ type: 'tool-result', call, content: [{ type: 'text', text }], isError: false })
  await ask(write, result, turn, [{ type: 'text', text: `Module ${turn} computes its values twice.` }])
  await write({ type: 'turn-end', outcome: 'done' })
  return { at: { seq: said.seq, block: 0 } }
}

async function ask(
  write: (fact: Fact) => Promise<Entry>,
  after: Entry,
  turn: number,
  content: Extract<Fact, { type: 'assistant-message' }>['content'],
): Promise<void> {
  const model = 'claude-sonnet-4-6'
  const marks = ['messages']
  await write({ type: 'request-sent', source: 'main', model, upTo: after.seq, hash: 'h', tokens: 1, marks })
  const usage = { input: 10, cacheRead: 50_000, cacheWrite: 3000, output: 100 }
  const stop = content[0]?.type === 'text' ? 'end_turn' : 'tool_use'
  await write({ type: 'assistant-message', content, messageId: `msg_${turn}_${stop}`, stop, model, usage })
}

const boundary = (to: number, keep: readonly Kept[]): Fact => ({
  type: 'boundary',
  layer: 'autocompact',
  asked: 'automatic',
  edits: [
    { kind: 'summary', from: seq(2), to: seq(to), text: 'What was done. '.repeat(300), ref: `2-${to}`, keep },
  ],
  why: 'the window was full',
  tokensFreed: 100_000,
  trigger: 'auto',
  source: 'extractive',
  tokensBefore: 160_000,
  tokensAfter: 20_000,
  messagesSummarised: 100,
})
