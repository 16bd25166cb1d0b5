// A recording played to a real program: each of its answers is given out with the recorded calls as commands of the program's
// own shell tool, which print what was recorded. What the program asks besides (titles, summaries, notes) the rule-based model
// answers. Every request of the conversation is looked at by the lab's measures as it arrives.
import { writeFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Meter, type Figures } from '../src/lab/measures.ts'
import { needsOf } from '../src/lab/measuring/needs.ts'
import { contentText, textOf } from '../src/lab/measuring/texts.ts'
import type { Script, Step } from '../src/lab/playing/script.ts'
import type { PlainBlock } from '../src/lab/playing/wire-blocks.ts'
import type { WireBlock, WireRequest } from '../src/model/wire.ts'
import { answerOf, requestSeed, text, thinking } from '../src/simulator/answer.ts'
import { messageBlocks, stringOf } from '../src/simulator/rules/blocks.ts'
import { toolboxOf } from '../src/simulator/answers/toolbox.ts'
import { jobOf, ruleModel, type Answer, type Answerer, type Clock } from '../src/simulator/index.ts'

/** What the shell takes in one argument, with room for what a tool puts around it. */
const mostCommandChars = 100_000

export interface Player extends Answerer {
  readonly clock: Clock
  /** How many answers were given out. */
  readonly position: number
  /** Requests that were not the conversation's, and requests that came when nothing was left to answer. */
  readonly background: number
  readonly astray: number
  /** What the person says next; null where the conversation has ended. */
  prompt(): string | null
  figures(): Figures
}

/**
 * The results lie in the project, where every sandbox can read. A program that cannot go on with an earlier conversation gets
 * the person's further words as results of a command that waits for them.
 */
export function createPlayer(script: Script, project: string, isInOneRun = false): Player {
  const { steps } = script
  const results = join(project, '.recorded')
  mkdirSync(results, { recursive: true })
  writeFileSync(join(project, 'recorded'), '#!/bin/sh\ncat "$(dirname "$0")/.recorded/$1"\n', { mode: 0o755 })
  const fallback = ruleModel()
  const sight = new RecordedSight(script)
  const said: string[] = []
  const prompts: string[] = []
  let [position, background, astray, now] = [0, 0, 0, steps[0]?.at ?? 0]
  /** Whether the person has said what the next answer is for. */
  let isAsked = false
  let last: { readonly seed: string; readonly answer: Answer } | null = null
  const answered = (request: WireRequest, seed: string): Answer => {
    const step = steps[position]
    // A program that asks on by itself must not use up the recording.
    if (step === undefined || !isAsked) {
      astray += 1
      return answerOf([text('Done.')], seed)
    }
    said.push(...step.typed)
    sight.request(request, position, said)
    const content = spoken(step, steps[position + 1], request)
    position += 1
    isAsked = content.some(({ type }) => type === 'tool_use')
    // What a program does in the background at the end of a turn comes before the person's pause.
    now = Math.max(now, isAsked ? (steps[position]?.at ?? now) : step.answer.at)
    return answerOf(content, seed)
  }
  /** What was thought is not recorded for every session: whoever asks for thoughts gets a word. */
  const spoken = (step: Step, next: Step | undefined, request: WireRequest): readonly WireBlock[] => {
    const toolbox = toolboxOf(request)
    const content = step.answer.content.flatMap((block): readonly WireBlock[] => {
      if (block.type === 'text' && 'text' in block) return [text(block.text)]
      if (block.type !== 'tool_use' || !('input' in block)) return []
      const number = sight.issue(block)
      const isLast = step.answer.content.findLast(({ type }) => type === 'tool_use') === block
      writeFileSync(join(results, String(number)), resultOf(block.id, next, isLast))
      const called = toolbox.callFor({ verb: 'run', command: commandFor(number, textOf({ ...block })) })
      return called === null ? [] : [called]
    })
    if (isInOneRun && next !== undefined && !content.some(({ type }) => type === 'tool_use')) {
      const number = sight.issue({ type: 'tool_use', name: 'wait', input: {} })
      writeFileSync(join(results, String(number)), contentText(next.input) || 'Continue.')
      const waiting = toolbox.callFor({ verb: 'run', command: commandFor(number, 'wait') })
      if (waiting !== null) content.push(waiting)
    }
    return [
      ...(request.thinking?.type === 'enabled' ? [thinking('Going on.')] : []),
      ...(content.length === 0 ? [text('(nothing was recorded here)')] : content),
    ]
  }
  return {
    clock: { now: () => now },
    get position() {
      return position
    },
    get background() {
      return background
    },
    get astray() {
      return astray
    },
    prompt: () => {
      const step = steps[position]
      if (step === undefined) return null
      isAsked = true
      now = Math.max(now, step.at)
      const reminder = position === 0 ? script.reminder : null
      const words = contentText(step.input).trim()
      const all = [words === '' ? 'Continue.' : words, ...(reminder === null ? [] : [reminder])].join('\n\n')
      // What begins like a command of a program is none.
      const prompt = /^[/!@#-]/u.test(all) ? `The next step: ${all}` : all
      prompts.push(prompt)
      return prompt
    },
    answer: (context) => {
      const { request } = context
      if (!toolboxOf(request).offers('run') || jobOf(withoutPrompts(request, prompts)) !== null) {
        background += 1
        return fallback.answer(context)
      }
      const seed = requestSeed(request.messages)
      // The same request again is a retry of one whose answer was lost on the way.
      if (last?.seed === seed) return last.answer
      const answer = answered(request, seed)
      last = { seed, answer }
      return answer
    },
    figures: () => sight.figures(),
  }
}

/** What a program may put around a prompt. */
const aroundChars = 400

/** A person may speak of summaries; only what the program itself adds can ask for one. */
function withoutPrompts(request: WireRequest, prompts: readonly string[]): WireRequest {
  const isPrompt = (words: string): boolean =>
    prompts.some((prompt) => words.length <= prompt.length + aroundChars && words.includes(prompt))
  return {
    ...request,
    messages: request.messages.map(({ role, content }) => ({
      role,
      content: messageBlocks({ role, content }).map((block) =>
        role === 'user' && block.type === 'text' && isPrompt(stringOf(block['text']))
          ? text('Go on.')
          : block,
      ),
    })),
  }
}

function resultOf(id: string, next: Step | undefined, isLast: boolean): string {
  const result = next?.results.find((one) => one.id === id)
  const words = result === undefined ? '[no result recorded]' : contentText(result.content)
  const typed = isLast && next !== undefined && next.results.length > 0 ? contentText(next.input) : ''
  return typed === '' ? words : `${words}\n\n[the user wrote meanwhile]\n${typed}`
}

/** The recorded call as it was, given to a program that prints what came back. */
function commandFor(number: number, recorded: string): string {
  const body = recorded.slice(0, mostCommandChars)
  let end = 'RECORDED'
  while (body.includes(end)) end += '_'
  return `./recorded ${number} <<'${end}'\n${body}\n${end}`
}

const issuedNumber = /\.\/recorded (\d+)/u
/** A call that a program shows shorter than this share of it is no longer the call. */
const wholeShare = 0.95

/** What stands in a request, each block one object for as long as it is sent, and the recorded call in place of ours. */
class RecordedSight {
  readonly #meter: Meter
  readonly #issued: WireBlock[] = []
  readonly #known = new Map<string, PlainBlock>()
  #before: ReadonlySet<PlainBlock> = new Set()

  constructor(script: Script) {
    this.#meter = new Meter(needsOf(script), { lifetimes: ['5m'], weigh: () => 0 })
  }

  issue(block: object): number {
    return this.#issued.push({ ...block, type: 'tool_use' }) - 1
  }

  request(request: WireRequest, step: number, said: readonly string[]): void {
    const blocks = request.messages.flatMap(({ role, content }) =>
      messageBlocks({ role, content }).map((block) => this.#plain(role, block)),
    )
    const now = new Set(blocks)
    const isLess = [...this.#before].some((block) => !now.has(block))
    this.#before = now
    this.#meter.request({
      step,
      isCopy: false,
      blocks,
      isRejected: null,
      said,
      freed: isLess ? 1 : 0,
      isSummary: false,
      output: null,
      info: null,
      charges: [{ usage: nothingUsed, isCold: false }],
    })
  }

  figures(): Figures {
    return this.#meter.figures()[0]!
  }

  #plain(role: PlainBlock['role'], { cache_control: _mark, ...rest }: WireBlock): PlainBlock {
    const key = `${role} ${JSON.stringify(rest)}`
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const plain: PlainBlock = { role, block: this.#recorded({ ...rest, type: rest.type }) }
    this.#known.set(key, plain)
    return plain
  }

  #recorded(block: WireBlock): WireBlock {
    if (block.type !== 'tool_use') return block
    const shown = JSON.stringify(block['input'])
    const recorded = this.#issued[Number(issuedNumber.exec(shown)?.[1] ?? -1)]
    if (recorded === undefined) return block
    return shown.length >= textOf(recorded).length * wholeShare ? recorded : block
  }
}

const nothingUsed = {
  input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
}
