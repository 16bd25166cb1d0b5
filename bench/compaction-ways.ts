// Who writes the text of a compaction in `compaction.ts`: nobody, the notes, or a model; the model is the simulator's
// rule-based one, asked with the prompts of the product and without a server between.
import { keptAfter, unanswered } from '../src/compaction/kept-messages.ts'
import { rewritten, type Given, type Plan, type PlanOutcome } from '../src/compaction/ladder.ts'
import { summaryIn } from '../src/compaction/summary.ts'
import { machineFileSystem } from '../src/disk/fs.ts'
import { isDue } from '../src/forks/notes/session-notes.ts'
import {
  defaultPrompt,
  updatePrompt,
  cutToLimits,
  defaultTemplate,
  isEmpty,
  overlong,
} from '../src/forks/notes/template.ts'
import { judged, saidIn } from '../src/forks/summary/check.ts'
import { summaryPrompt } from '../src/forks/summary/prompt.ts'
import type { WireBlock, WireRequest } from '../src/model/wire.ts'
import type { Room } from '../src/projection/budget.ts'
import type { Fold } from '../src/projection/fold.ts'
import { ruleModel } from '../src/simulator/index.ts'
import { standardTools } from '../src/tools/index.ts'
import { seq, type Seq } from '../src/transcript/ids.ts'

export type Way = 'extractive' | 'notes' | 'model'

const path = '/sessions/one/session-memory/summary.md'
const tools = standardTools({ fs: machineFileSystem, environment: {}, unique: () => 'x' }).tools.map(
  (tool) => tool.spec,
)
const model = ruleModel()
const maxTokens = 32_000
const wholly = {
  variant: 'full',
  instructions: null,
  hookInstructions: null,
  pivot: null,
  words: 5000,
  thinks: false,
} as const

/** Stands beside one session that is played. */
export class Bystander {
  readonly #fold: Fold
  readonly #way: Way
  #notes = defaultTemplate
  #coversTo: Seq | undefined
  updates = 0

  constructor(fold: Fold, way: Way) {
    this.#fold = fold
    this.#way = way
  }

  /** After each answer. */
  async hears(): Promise<void> {
    if (this.#way !== 'notes' || !isDue(this.#fold, this.#coversTo)) return
    this.updates++
    const values = { currentNotes: this.#notes, notesPath: path }
    const coversTo = seq(this.#fold.numbers.upTo)
    for (const block of await this.#answer(updatePrompt(defaultPrompt, values, overlong(this.#notes)))) {
      if (block.type !== 'tool_use' || block['name'] !== 'Edit') continue
      const { old_string: old, new_string: next } = block['input'] as Record<string, string>
      this.#notes = this.#notes.replace(old!, () => next!)
    }
    this.#coversTo = coversTo
  }

  /** The text for what goes, or null where the extracted one stands. */
  async text(): Promise<Given | null> {
    const variant = 'full'
    if (this.#way === 'notes') {
      const coversTo = this.#coversTo
      if (coversTo === undefined || isEmpty(this.#notes, defaultTemplate)) return null
      return {
        summary: cutToLimits(this.#notes, path),
        by: 'notes',
        keptFrom: (scene) => keptAfter(scene, coversTo),
      }
    }
    if (this.#way !== 'model') return null
    const blocks = await this.#answer(summaryPrompt(wholly))
    const text = blocks.map((block) => (typeof block['text'] === 'string' ? block['text'] : '')).join('')
    const summary = summaryIn({ ok: true, text, stop: 'end_turn', hasCalls: false })
    if (!summary.ok) return null
    const found = judged(summary.summary, variant, saidIn([...this.#fold.parts()]))
    return found.ok ? { summary: found.summary, by: 'model', keptFrom: unanswered } : null
  }

  plan(room: Room, extracted: Plan, given: Given): PlanOutcome {
    const made = rewritten(this.#fold, room, { trigger: 'auto' }, extracted, given)
    return made.ok ? made : { ok: true, plan: extracted }
  }

  async #answer(directive: string): Promise<readonly WireBlock[]> {
    const messages = [...this.#fold.view().messages].map(({ role, content }) => ({
      role,
      content: content as readonly WireBlock[],
    }))
    const request: WireRequest = {
      model: 'rules',
      max_tokens: maxTokens,
      tools: tools as NonNullable<WireRequest['tools']>,
      messages: [...messages, { role: 'user', content: [{ type: 'text', text: directive }] }],
    }
    const answer = await model.answer({ request, headers: {}, turn: 1, now: 0 })
    return answer.content
  }
}
