// A span read once: who said what, which call had which outcome, in order. Large results are looked at from both ends
// only; everything keeps its place, so that each line of a summary can name where it comes from.
import { defaults } from '../settings/defaults.ts'
import type { UserBlock } from '../transcript/content.ts'
import type { Seq } from '../transcript/ids.ts'
import type { Part, ToolResultBlock } from '../projection/view.ts'
import { stringsIn } from '../projection/folding/render.ts'
import { endsOf } from './phrases.ts'
import { plainCall } from './plain-call.ts'

export interface Outcome {
  readonly at: Seq
  /** The ends of it, where it is long. */
  readonly text: string
  readonly lines: number
  readonly isError: boolean
}

export interface Call {
  readonly at: Seq
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
  readonly outcome: Outcome | null
}

export interface Said {
  readonly at: Seq
  readonly text: string
}

export interface Answer extends Said {
  /** It made no call: the model had come to an end. */
  readonly isFinal: boolean
  readonly calls: number
  /** How many calls had been made before it. */
  readonly after: number
}

export interface Reading {
  readonly inputs: readonly Said[]
  readonly answers: readonly Answer[]
  readonly calls: readonly Call[]
  /** Texts that stand for spans before this one. */
  readonly earlier: readonly Said[]
  /** What we or other programs put in: attachments, reminders, notes. */
  readonly injected: readonly Said[]
  /** How they stood before, where calls make and move tasks. */
  readonly tasks?: readonly string[] | undefined
}

export function readSpan(parts: readonly Part[]): Reading {
  const outcomes = outcomesIn(parts)
  const reading = {
    inputs: [] as Said[],
    answers: [] as Answer[],
    calls: [] as Call[],
    earlier: [] as Said[],
    injected: [] as Said[],
  }
  for (const part of parts) {
    const at = part.from
    if (part.kind === 'answer') readAnswer(part, outcomes, reading)
    else if (part.kind === 'edit') reading.earlier.push({ at, text: firstText(part) })
    else if (part.kind !== 'result')
      reading[part.kind === 'input' ? 'inputs' : 'injected'].push({ at, text: textOf(part) })
  }
  return reading
}

/** Several spans read as one. */
export const joined = (readings: readonly Reading[]): Reading => ({
  inputs: readings.flatMap(({ inputs }) => inputs),
  answers: readings.flatMap(({ answers }) => answers),
  calls: readings.flatMap(({ calls }) => calls),
  earlier: readings.flatMap(({ earlier }) => earlier),
  injected: readings.flatMap(({ injected }) => injected),
})

function readAnswer(
  part: Part,
  outcomes: ReadonlyMap<string, Outcome>,
  into: { answers: Answer[]; calls: Call[] },
): void {
  const after = into.calls.length
  for (const block of part.blocks) {
    if (block.type !== 'tool_use' || !('name' in block)) continue
    const { id, name, input } = plainCall(block)
    into.calls.push({ at: part.from, name, input, outcome: outcomes.get(id) ?? null })
  }
  const text = textOf(part)
  const calls = into.calls.length - after
  if (text.trim() !== '') into.answers.push({ at: part.from, text, isFinal: calls === 0, calls, after })
}

function outcomesIn(parts: readonly Part[]): ReadonlyMap<string, Outcome> {
  const outcomes = new Map<string, Outcome>()
  for (const part of parts) {
    if (part.kind !== 'result') continue
    for (const block of part.blocks)
      if (block.type === 'tool_result' && 'is_error' in block)
        outcomes.set(block.tool_use_id, outcomeOf(part.from, block))
  }
  return outcomes
}

function outcomeOf(at: Seq, block: ToolResultBlock): Outcome {
  let lines = 0
  const texts: string[] = []
  for (const inner of block.content) {
    if (inner.type !== 'text') continue
    lines += countLines(inner.text)
    texts.push(endsOf(inner.text))
  }
  return { at, text: texts.join('\n'), lines, isError: block.is_error }
}

export function countLines(text: string): number {
  if (text === '') return 0
  let lines = 1
  for (let at = text.indexOf('\n'); at >= 0 && at < text.length - 1; at = text.indexOf('\n', at + 1)) lines++
  return lines
}

/** The text of a part as it was said, its long pieces by their ends. */
function textOf(part: Part): string {
  const chars = part.kind === 'input' ? defaults.view.userWordsEndChars * 8 : defaults.compaction.scanChars
  return part.blocks
    .flatMap((block) => (block.type === 'text' && 'text' in block ? [endsOf(block.text, chars)] : []))
    .join('\n')
}

function firstText(part: Part): string {
  const first = part.blocks[0]
  return first?.type === 'text' && 'text' in first ? first.text : ''
}

/** All that a part shows, as one text: what an audit looks through. */
export function shownText(part: Part): string {
  return part.blocks
    .map((block) => {
      if ('text' in block && typeof block.text === 'string') return block.text
      if (block.type === 'tool_use' && 'name' in block) return stringsIn(block.input).join('\n')
      if (block.type === 'tool_result' && 'is_error' in block) return block.content.map(plain).join('\n')
      return ''
    })
    .join('\n')
}

const plain = (block: UserBlock): string => (block.type === 'text' ? block.text : `[${block.type}]`)
