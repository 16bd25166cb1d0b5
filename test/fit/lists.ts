// Conversations of a made-up agent, and the same in the words of each wire: prompts, answers with reasoning and parallel
// calls, results small, large and repeated, pictures. A list is cut anywhere where a request may be sent.
import * as fc from 'fast-check'
import type { WireName } from '../../src/model/model.ts'

export interface Call {
  readonly id: string
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
}
export type Step =
  | { readonly kind: 'prompt'; readonly text: string; readonly picture?: boolean }
  | {
      readonly kind: 'answer'
      readonly text: string
      readonly calls: readonly Call[]
      readonly reasons?: boolean
    }
  | { readonly kind: 'result'; readonly call: Call; readonly text: string }

export const wires: readonly WireName[] = ['anthropic', 'openai-chat', 'openai-responses', 'gemini']
export const models: Readonly<Record<WireName, string>> = {
  anthropic: 'claude-sonnet-5',
  'openai-chat': 'gpt-5.5',
  'openai-responses': 'gpt-5.6-sol',
  gemini: 'gemini-3.1-pro',
}

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
const signature = Buffer.from('a signature of the model that made it, long enough').toString('base64')

type Written = Readonly<Record<string, unknown>>

/** One message or item for each step; results of one answer share a message where the wire has it so. */
export function inWords(wire: WireName, steps: readonly Step[]): Written[] {
  const out: Written[] = []
  for (const step of steps) writers[wire](step, out)
  return out
}

const writers: Readonly<Record<WireName, (step: Step, out: Written[]) => void>> = {
  anthropic(step, out) {
    if (step.kind === 'prompt')
      out.push({
        role: 'user',
        content: step.picture
          ? [
              { type: 'text', text: step.text },
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
            ]
          : step.text,
      })
    else if (step.kind === 'answer')
      out.push({
        role: 'assistant',
        content: [
          ...(step.reasons ? [{ type: 'thinking', thinking: 'Let me see.', signature }] : []),
          { type: 'text', text: step.text },
          ...step.calls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input })),
        ],
      })
    else {
      const block = { type: 'tool_result', tool_use_id: step.call.id, content: step.text }
      const last = out.at(-1)
      if (last?.['role'] === 'user' && Array.isArray(last['content']))
        out[out.length - 1] = { ...last, content: [...(last['content'] as unknown[]), block] }
      else out.push({ role: 'user', content: [block] })
    }
  },
  'openai-chat'(step, out) {
    if (step.kind === 'prompt')
      out.push({
        role: 'user',
        content: step.picture
          ? [
              { type: 'text', text: step.text },
              { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
            ]
          : step.text,
      })
    else if (step.kind === 'answer')
      out.push({
        role: 'assistant',
        content: step.text,
        ...(step.calls.length === 0
          ? {}
          : {
              tool_calls: step.calls.map(({ id, name, input }) => ({
                id,
                type: 'function',
                function: { name, arguments: JSON.stringify(input) },
              })),
            }),
      })
    else out.push({ role: 'tool', tool_call_id: step.call.id, content: step.text })
  },
  'openai-responses'(step, out) {
    if (step.kind === 'prompt')
      out.push({
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: step.text },
          ...(step.picture ? [{ type: 'input_image', image_url: `data:image/png;base64,${png}` }] : []),
        ],
      })
    else if (step.kind === 'answer')
      out.push(
        ...(step.reasons ? [{ type: 'reasoning', summary: [], encrypted_content: signature }] : []),
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: step.text }] },
        ...step.calls.map(({ id, name, input }) => ({
          type: 'function_call',
          call_id: id,
          name,
          arguments: JSON.stringify(input),
        })),
      )
    else out.push({ type: 'function_call_output', call_id: step.call.id, output: step.text })
  },
  gemini(step, out) {
    if (step.kind === 'prompt')
      out.push({
        role: 'user',
        parts: [
          { text: step.text },
          ...(step.picture ? [{ inlineData: { mimeType: 'image/png', data: png } }] : []),
        ],
      })
    else if (step.kind === 'answer')
      out.push({
        role: 'model',
        parts: [
          { text: step.text },
          ...step.calls.map(({ id, name, input }, at) => ({
            functionCall: { id, name, args: input },
            ...(at === 0 ? { thoughtSignature: signature } : {}),
          })),
        ],
      })
    else {
      const part = {
        functionResponse: { id: step.call.id, name: step.call.name, response: { output: step.text } },
      }
      const last = out.at(-1)
      const parts = last?.['parts'] as readonly Written[] | undefined
      if (last?.['role'] === 'user' && parts?.some((each) => 'functionResponse' in each))
        out[out.length - 1] = { ...last, parts: [...parts, part] }
      else out.push({ role: 'user', parts: [part] })
    }
  },
}

/** Lines as files and commands have them, so many characters of them. */
export function linesOf(seed: number, chars: number): string {
  let text = ''
  for (let line = 0; text.length < chars; line++)
    text += `src/room-${(seed * 7 + line) % 97}/file-${line}.ts:${line * 3 + seed}: const value${line} = compute(${seed}, ${line})\n`
  return text.slice(0, chars)
}

export interface Shape {
  /** Characters of a result, chosen among these. */
  readonly sizes: readonly number[]
  readonly turns: number
  readonly rounds: number
}

/** A conversation that may be sent where it ends: behind a prompt, or behind all results of an answer. */
export const conversation = ({ sizes, turns, rounds }: Shape): fc.Arbitrary<readonly Step[]> =>
  fc
    .array(
      fc.record({
        picture: fc.boolean(),
        prompt: fc.integer({ min: 1, max: 400 }),
        rounds: fc.array(
          fc.record({
            reasons: fc.boolean(),
            results: fc.array(
              fc.record({ size: fc.constantFrom(...sizes), seed: fc.integer({ min: 0, max: 3 }) }),
              {
                minLength: 1,
                maxLength: 3,
              },
            ),
          }),
          { maxLength: rounds },
        ),
      }),
      { minLength: 1, maxLength: turns },
    )
    .map((drawn) => {
      let calls = 0
      return drawn.flatMap((turn, at): readonly Step[] => [
        { kind: 'prompt', text: `Task ${at}: ${linesOf(at, turn.prompt)}`, picture: turn.picture },
        ...turn.rounds.flatMap((round): readonly Step[] => {
          const made = round.results.map(({ seed }): Call => ({
            id: `call_${calls++}`,
            name: 'read',
            input: { path: `file-${seed}` },
          }))
          return [
            { kind: 'answer', text: `Looking at ${made.length}.`, calls: made, reasons: round.reasons },
            ...made.map((call, nth): Step => ({
              kind: 'result',
              call,
              text: linesOf(round.results[nth]!.seed, round.results[nth]!.size),
            })),
          ]
        }),
        { kind: 'answer', text: `Task ${at} is done.`, calls: [] },
      ])
    })

/** Every length at which the list may be sent. */
export function sendable(steps: readonly Step[]): readonly number[] {
  return steps.flatMap((step, at) => {
    if (step.kind === 'answer') return []
    const next = steps[at + 1]
    return step.kind === 'prompt' || next?.kind !== 'result' ? [at + 1] : []
  })
}
