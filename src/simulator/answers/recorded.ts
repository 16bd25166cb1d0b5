// Owns the recorded answerer: the assistant turns of a recorded session, given out one per request of the main thread,
// as real tool calls with fresh ids. Law: its place is what it has given out, or what the request shows of that;
// never a count of turns, which a compaction falsifies. Other requests (summaries, notes …) go to another answerer.
//
// A recording is an array of turns `{ role, content }` in the Messages shape; a corpus header as first item is taken
// for its facts. Blocks whose `meta.kind` is set are not the person's words.
import type { WireBlock, WireMessage, WireRequest } from '../../model/wire.ts'
import {
  answerOf,
  call,
  digest,
  plainText,
  requestSeed,
  text,
  thinking,
  type Answer,
  type AnswerContext,
  type Answerer,
} from '../answer.ts'
import { messageBlocks, stringOf } from '../rules/blocks.ts'
import { isRecord } from '../rules/shape.ts'
import { jobOf, ruleModel } from './rule-model.ts'

export interface RecordedOptions {
  /** Answers what is not the main thread's; the rule-based model unless another is given. */
  readonly fallback?: Answerer | undefined
  /** Decides what is the main thread's, where tools and wording do not (sub-agents with the same tools). */
  readonly isMain?: ((context: AnswerContext) => boolean) | undefined
}

export interface RecordedResult {
  readonly content: unknown
  readonly isError: boolean
}

export interface RecordedAnswerer extends Answerer {
  /** Turns given out, and how many there are. */
  readonly position: number
  readonly total: number
  /** What the person says before the assistant turn of each index; null where a turn only carries tool results. */
  readonly inputs: readonly (string | null)[]
  /** The recorded id behind a fresh one. */
  readonly recordedId: (freshId: string) => string | undefined
  /** What the tool answered when it was recorded, for tools that play along. */
  readonly resultOf: (freshId: string) => RecordedResult | undefined
}

interface Turn {
  readonly content: readonly WireBlock[]
  readonly outputTokens: number | null
  readonly input: string | null
}

/** Answers with what a recording holds. */
export function recorded(recording: readonly unknown[], options: RecordedOptions = {}): RecordedAnswerer {
  const { turns, results, salt } = readRecording(recording)
  const fallback = options.fallback ?? ruleModel()
  const toolNames = new Set(
    turns.flatMap((turn) => callsIn(turn.content).map((block) => stringOf(block['name']).toLowerCase())),
  )
  const issued = freshIds(turns, salt)
  let position = 0
  let last: { readonly seed: string; readonly answer: Answer } | null = null
  const isMain = options.isMain ?? ((context: AnswerContext) => isMainThread(context.request, toolNames))
  return {
    get position() {
      return position
    },
    total: turns.length,
    inputs: turns.map((turn) => turn.input),
    recordedId: (freshId) => issued.get(freshId)?.recorded,
    resultOf: (freshId) => results.get(issued.get(freshId)?.recorded ?? ''),
    answer(context) {
      if (!isMain(context)) return fallback.answer(context)
      const seed = requestSeed(context.request.messages)
      // The same request again is a retry of one whose answer was lost on the way.
      if (last?.seed === seed) return last.answer
      position = Math.max(position, shownPosition(context.request.messages, issued))
      const turn = turns[position]
      if (turn === undefined)
        return answerOf([text(`[recording ended] all ${turns.length} turns were played.`)], seed)
      const answer = played(turn, position, salt, context.request)
      position += 1
      last = { seed, answer }
      return answer
    },
  }
}

function isMainThread(request: WireRequest, recordedTools: ReadonlySet<string>): boolean {
  const offered = request.tools ?? []
  const fits = recordedTools.size === 0 || offered.some((tool) => recordedTools.has(tool.name.toLowerCase()))
  return fits && jobOf(request) === null
}

/** One past the newest of our turns in sight: a resumed session goes on where it was. */
function shownPosition(messages: readonly WireMessage[], issued: ReadonlyMap<string, Issued>): number {
  const shown = messages.flatMap((message) =>
    callsIn(messageBlocks(message)).map((block) => issued.get(stringOf(block['id']))?.turn ?? -1),
  )
  return shown.reduce((most, turn) => Math.max(most, turn), -1) + 1
}

function played(turn: Turn, position: number, salt: string, request: WireRequest): Answer {
  const reasons = request.thinking !== undefined && request.thinking.type !== 'disabled'
  let used = 0
  const content = turn.content.flatMap((block) => {
    // An empty text or a thought nobody recorded would be refused when it is sent back.
    if (block.type === 'text')
      return stringOf(block['text']).trim() === '' ? [] : [text(stringOf(block['text']))]
    if (block.type === 'thinking')
      return reasons && stringOf(block['thinking']).trim() !== ''
        ? [thinking(stringOf(block['thinking']))]
        : []
    if (block.type !== 'tool_use') return []
    used += 1
    return [
      call(
        stringOf(block['name']),
        isRecord(block['input']) ? block['input'] : {},
        freshId(salt, position, used),
      ),
    ]
  })
  const said = content.some((block) => block.type !== 'thinking')
    ? content
    : [...content, text('(nothing was recorded here)')]
  const answer = answerOf(said, salt)
  return turn.outputTokens === null ? answer : { ...answer, output_tokens: turn.outputTokens }
}

/** Where a fresh id comes from. */
interface Issued {
  readonly recorded: string
  readonly turn: number
}

const idChars = 16
const freshId = (salt: string, turn: number, number: number): string =>
  `toolu_${digest(`${salt}:${turn}:${number}`).slice(0, idChars)}_${turn}_${number}`

const callsIn = (content: readonly WireBlock[]): readonly WireBlock[] =>
  content.filter((block) => block.type === 'tool_use')

function freshIds(turns: readonly Turn[], salt: string): ReadonlyMap<string, Issued> {
  const pairs = turns.flatMap((turn, index) =>
    callsIn(turn.content).map((block, at): [string, Issued] => [
      freshId(salt, index, at + 1),
      { recorded: stringOf(block['id']), turn: index },
    ]),
  )
  return new Map(pairs)
}

interface Recording {
  readonly turns: readonly Turn[]
  readonly results: ReadonlyMap<string, RecordedResult>
  /** Tells the ids of one recording from those of another. */
  readonly salt: string
}

/** One pass: what the person says is kept for the assistant turn it leads to. */
function readRecording(recording: readonly unknown[]): Recording {
  const header = isRecord(recording[0]) && recording[0]['role'] === undefined ? recording[0] : {}
  const turns: Turn[] = []
  const results = new Map<string, RecordedResult>()
  let input: string | null = null
  for (const item of recording) {
    if (!isRecord(item)) continue
    const content = readBlocks(item['content'])
    if (item['role'] === 'assistant') {
      turns.push({
        content,
        input,
        outputTokens: header['output_tokens'] === 'final' ? outputTokens(item['usage']) : null,
      })
      input = null
    }
    if (item['role'] !== 'user') continue
    for (const block of content) {
      if (block.type === 'tool_result')
        results.set(stringOf(block['tool_use_id']), {
          content: block['content'],
          isError: block['is_error'] === true,
        })
    }
    const words = plainText(content.filter((block) => block.type === 'text' && block['meta'] === undefined))
    input = words.trim() === '' ? input : words
  }
  return {
    turns,
    results,
    salt: typeof header['session'] === 'string' ? header['session'] : digest(JSON.stringify(turns)),
  }
}

function readBlocks(content: unknown): readonly WireBlock[] {
  if (typeof content === 'string') return [text(content)]
  return Array.isArray(content)
    ? content.filter((block): block is WireBlock => isRecord(block) && typeof block['type'] === 'string')
    : []
}

function outputTokens(usage: unknown): number | null {
  const tokens = isRecord(usage) ? usage['output_tokens'] : undefined
  return typeof tokens === 'number' ? tokens : null
}
