// Who writes where a policy has texts written by a model: the simulator's rule-based one, asked through the engine's own
// forks and direct calls, so that every request is composed, judged and charged as it would be. It writes by rules: what
// it costs to be asked is measured, how well a real model would write is not.
import type { JobContext, NoteKeeper, ReadNotes } from '../../engine/ports.ts'
import { machineFileSystem } from '../../disk/fs.ts'
import type { EngineOptions } from '../../engine/options.ts'
import { isDue, notesPurpose } from '../../forks/notes/session-notes.ts'
import {
  defaultPrompt,
  updatePrompt,
  cutToLimits,
  defaultTemplate,
  isEmpty,
  overlong,
} from '../../forks/notes/template.ts'
import { modelSummary } from '../../forks/summary/model-summary.ts'
import type { Model, ModelEvent, ModelRequest } from '../../model/model.ts'
import { usageOf } from '../../wires/usage.ts'
import type { WireBlock, WireRequest } from '../../model/wire.ts'
import { defaults } from '../../settings/defaults.ts'
import { ruleModel, type CacheUsage } from '../../simulator/index.ts'
import { standardTools } from '../../tools/index.ts'
import type { AssistantBlock } from '../../transcript/content.ts'
import { seq, type Seq } from '../../transcript/ids.ts'
import type { StandardSettings } from '../policies/rules.ts'

/** Reads a body as it is sent, and charges a request with its answer. */
export interface Till {
  read(body: string): WireRequest
  charge(request: WireRequest, answer: readonly WireBlock[]): CacheUsage & { readonly output_tokens: number }
}

const notesPath = '/session-memory/summary.md'
const rules = ruleModel()
const editTools = standardTools({ fs: machineFileSystem, environment: {}, unique: () => 'x' })
  .tools.map((tool) => tool.spec)
  .filter(({ name }) => name === 'Edit') as NonNullable<WireRequest['tools']>

export class Writer implements Model, NoteKeeper {
  readonly #till: Till
  #answers = 0
  #notes = defaultTemplate
  #coversTo: Seq | undefined
  /** Lines that notes have ever had. */
  readonly #written = new Set(defaultTemplate.split('\n'))
  #running: Promise<unknown> = Promise.resolve()

  constructor(till: Till) {
    this.#till = till
  }

  async *stream({ body, source, model }: ModelRequest): AsyncIterable<ModelEvent> {
    const request = this.#till.read(body)
    const blocks = source === notesPurpose ? await this.#noted(request) : await answerTo(request)
    const usage = usageOf(this.#till.charge(request, blocks))
    const messageId = `written_${this.#answers++}`
    const stop = blocks.some((block) => block.type === 'tool_use') ? 'tool_use' : 'end_turn'
    const content = blocks as readonly WireBlock[] as readonly AssistantBlock[]
    yield { type: 'start', messageId, model, usage }
    yield {
      type: 'end',
      message: {
        messageId,
        model,
        content,
        stop,
        usage,
        appliedEdits: [],
        inputTransformations: [],
        diagnostics: null,
      },
    }
  }

  // ---- notes: kept in memory, by the product's own rules of when, of what is asked and of what stays ----

  heard(context: JobContext): void {
    if (!isDue(context.fold, this.#coversTo)) return
    const values = { currentNotes: this.#notes, notesPath }
    const directive = updatePrompt(defaultPrompt, values, overlong(this.#notes))
    this.#coversTo = seq(context.fold.numbers.upTo)
    const spec = { purpose: notesPurpose, directive, maxRounds: defaults.notes.rounds }
    this.#running = context.fork(spec, context.ending)
  }

  /** Ends when the update under way has. */
  async idle(): Promise<void> {
    await this.#running
  }

  read(): Promise<ReadNotes | null> {
    const coversTo = this.#coversTo
    const isNothing = coversTo === undefined || isEmpty(this.#notes, defaultTemplate)
    return Promise.resolve(isNothing ? null : { text: cutToLimits(this.#notes, notesPath), coversTo })
  }

  /** Recorded tools need no Edit, so the edits are carried out here; the round that follows them is asked for all the same. */
  async #noted(request: WireRequest): Promise<readonly WireBlock[]> {
    const last = request.messages.at(-1)!.content
    const isFollowUp = typeof last !== 'string' && last.every((block) => block.type === 'tool_result')
    if (isFollowUp) return [{ type: 'text', text: 'The notes are up to date.' }]
    const blocks = await answerTo({ ...request, tools: editTools })
    for (const block of blocks) {
      if (block.type !== 'tool_use') continue
      const { old_string: old, new_string: next } = block['input'] as Readonly<Record<string, string>>
      this.#notes = this.#notes.replace(old!, () => next!)
    }
    return blocks.map((block) => this.#narrowed(block))
  }

  /** The rules write whole sections, and old lines again and again; whoever pays for words writes what is new, below its heading. */
  #narrowed(block: WireBlock): WireBlock {
    if (block.type !== 'tool_use') return block
    const { old_string: old, new_string: next, ...rest } = block['input'] as Readonly<Record<string, string>>
    const heading = old!.split('\n', 1)[0]!
    const fresh = next!.split('\n').filter((line) => !this.#written.has(line))
    for (const line of fresh) this.#written.add(line)
    return { ...block, input: { ...rest, old_string: heading, new_string: [heading, ...fresh].join('\n') } }
  }
}

/** Its jobs are the engine's own; nothing is prepared ahead, so that every text that is paid for is used. */
export function writingOf(writer: Writer | null, text: StandardSettings['text']): Partial<EngineOptions> {
  if (writer === null) return {}
  const notes = text === 'notes' ? { notes: writer } : {}
  return { model: writer, summariser: modelSummary(), prepare: false, ...notes }
}

const answerTo = async (request: WireRequest): Promise<readonly WireBlock[]> =>
  (await rules.answer({ request, headers: {}, turn: 1, now: 0 })).content
