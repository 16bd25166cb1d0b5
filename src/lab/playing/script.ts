// A recording as steps: what comes in, then one answer. Ids of calls are made anew, so that they are unique and fit the
// wire; the clients' own summaries are left out, because everything they stand for is in the recording too.
//
// What a client injected travels with what it came with: before the first input it stands where instruction files do,
// with results it is part of the last result, and otherwise of the input.
import { defaults } from '../../settings/defaults.ts'
import type { AssistantBlock, ToolUseBlock, UserBlock } from '../../transcript/content.ts'
import { contentText } from '../measuring/texts.ts'
import {
  isResult,
  isTypedWhileBusy,
  isUserBlock,
  type RecordedBlock,
  type RecordedResult,
  type RecordedTurn,
  type Recording,
  isSummary,
} from '../recording.ts'

export interface ScriptResult {
  readonly id: string
  readonly content: readonly UserBlock[]
  readonly isError: boolean
}

export interface ScriptAnswer {
  readonly at: number
  readonly content: readonly AssistantBlock[]
  /** Null where the recording has no final count. */
  readonly outputTokens: number | null
  /** Who answered, as recorded. */
  readonly model: string
}

export interface Step {
  /** When everything was there and the request went out. */
  readonly at: number
  readonly results: readonly ScriptResult[]
  /** The input of this step with what was injected beside it; empty where only results came. */
  readonly input: readonly UserBlock[]
  /** The person's own words among it. */
  readonly typed: readonly string[]
  readonly answer: ScriptAnswer
}

export interface Script {
  readonly name: string
  readonly client: string
  readonly steps: readonly Step[]
  /** What was injected with the first input. */
  readonly reminder: string | null
  readonly tools: readonly string[]
  readonly system: string | null
  readonly firstRequestTokens: number | null
  /** What the first request read from a cache that earlier sessions had left warm. */
  readonly firstReadTokens: number
}

export function scriptOf(recording: Recording): Script {
  const calls = new Calls()
  const steps: Step[] = []
  const first = opening(recording)
  // Where nobody said anything, what was injected is the input.
  const isReminded = first.some((recorded) => isWords(recorded) && !isInjected(recorded))
  const reminder = isReminded ? blocksOf(first.filter(isInjected)) : []
  let now = recording.turns.find((turn) => turn.at !== null)?.at ?? 0
  let asked = now
  let pending: RecordedBlock[] = []
  for (const turn of recording.turns) {
    now = Math.max(now, turn.at ?? now + defaults.lab.stepMs)
    if (turn.role === 'user') {
      asked = now
      pending.push(...turn.content.filter((block) => !isSummary(block)))
      continue
    }
    const isOpening = steps.length === 0 && isReminded
    const came = isOpening ? pending.filter((recorded) => !isInjected(recorded)) : pending
    steps.push({ at: asked, ...incoming(came, calls), answer: answerOf(recording, turn, now, calls) })
    pending = []
    asked = now
  }
  return {
    name: recording.name,
    client: recording.client,
    steps,
    reminder: reminder.length === 0 ? null : contentText(reminder),
    tools: [...new Set([...recording.tools.map(wireName), ...calls.tools])].sort(),
    system: recording.system,
    firstRequestTokens: recording.firstRequestTokens,
    firstReadTokens: recording.turns.find(({ role }) => role === 'assistant')?.usage?.cacheRead ?? 0,
  }
}

/** The user side before the first answer. */
function opening({ turns }: Recording): readonly RecordedBlock[] {
  const end = turns.findIndex((turn) => turn.role === 'assistant')
  return turns
    .slice(0, Math.max(0, end))
    .flatMap((turn) => turn.content)
    .filter((block) => !isSummary(block))
}

function incoming(
  content: readonly RecordedBlock[],
  calls: Calls,
): Pick<Step, 'results' | 'input' | 'typed'> {
  const results = calls.answer(content.map(({ block }) => block).filter(isResult))
  const typed = content.filter((recorded) => isWords(recorded) && !isInjected(recorded))
  const injected = content.filter((recorded) => isWords(recorded) && isInjected(recorded))
  const last = results.at(-1)
  const withLast = last !== undefined && injected.length > 0
  if (withLast) results[results.length - 1] = { ...last, content: [...last.content, ...blocksOf(injected)] }
  return {
    results,
    input: filled(blocksOf(withLast ? typed : [...typed, ...injected])),
    typed: typed.flatMap(({ block }) => (block.type === 'text' && 'text' in block ? [block.text] : [])),
  }
}

function answerOf(recording: Recording, turn: RecordedTurn, at: number, calls: Calls): ScriptAnswer {
  const content = turn.content.flatMap(({ block }) => answerBlocks(block, calls))
  const isFinal = recording.outputCounts === 'final' && turn.usage !== undefined
  return {
    at,
    // Reasoning alone is no answer that could be sent back.
    content: content.some((block) => block.type !== 'thinking') ? content : [...content, nothingSaid],
    outputTokens: isFinal ? turn.usage.output : null,
    model: turn.model ?? recording.model,
  }
}

const nothingSaid: AssistantBlock = { type: 'text', text: '[nothing was recorded]' }

function answerBlocks(block: RecordedBlock['block'], calls: Calls): readonly AssistantBlock[] {
  if (block.type === 'text' && 'text' in block)
    return block.text.trim() === '' ? [] : [{ type: 'text', text: block.text }]
  if (block.type === 'tool_use' && 'input' in block) return [calls.ask(block)]
  if (block.type === 'thinking' && 'thinking' in block) {
    const sealed = 'signature_chars' in block ? Number(block.signature_chars) : block.thinking.length
    if (!(sealed > 0)) return []
    // The proof itself is not recorded, only how long it was.
    const signature = 'A'.repeat(Math.min(sealed, mostSealed))
    return [{ type: 'thinking', thinking: block.thinking, signature }]
  }
  if (block.type === 'tool_result' || block.type === 'redacted_thinking') return []
  return [{ type: 'text', text: JSON.stringify(block) }]
}

/** More than any model thinks: a file may say anything. */
const mostSealed = 10_000_000

/** Calls under new names, in the order in which they were asked, until they are answered. */
class Calls {
  readonly tools = new Set<string>()
  #count = 0
  #open: { readonly recorded: string; readonly id: string }[] = []

  ask(block: ToolUseBlock): ToolUseBlock {
    const id = `toolu_${(this.#count += 1)}`
    const name = wireName(block.name)
    this.tools.add(name)
    this.#open.push({ recorded: block.id, id })
    return { type: 'tool_use', id, name, input: block.input }
  }

  /** Every open call gets its result, or one that says it was not recorded. */
  answer(recorded: readonly RecordedResult[]): ScriptResult[] {
    const left = [...recorded]
    const results = this.#open.map((call): ScriptResult => {
      const at = left.findIndex((result) => result.tool_use_id === call.recorded)
      if (at < 0)
        return { id: call.id, content: [{ type: 'text', text: '[no result recorded]' }], isError: true }
      const [result] = left.splice(at, 1)
      return { id: call.id, content: result!.content, isError: result!.is_error }
    })
    this.#open = []
    return results
  }
}

const wireName = (name: string): string =>
  name.replaceAll(/[^\w-]/g, '_').slice(0, defaults.request.toolNameChars) || 'unknown'

const isWords = ({ block }: RecordedBlock): boolean => isUserBlock(block)

/** Not the person's: what is typed while the agent is busy comes as an attachment, but is. */
const isInjected = (recorded: RecordedBlock): boolean =>
  recorded.kind !== undefined && !isResult(recorded.block) && !isTypedWhileBusy(recorded)

const blocksOf = (content: readonly RecordedBlock[]): readonly UserBlock[] =>
  content.flatMap(({ block }): readonly UserBlock[] => {
    if (block.type === 'text' && 'text' in block) return [{ type: 'text', text: block.text }]
    return block.type === 'image' || block.type === 'document' ? [block as UserBlock] : []
  })

const filled = (blocks: readonly UserBlock[]): readonly UserBlock[] =>
  blocks.filter((block) => block.type !== 'text' || block.text.trim() !== '')
