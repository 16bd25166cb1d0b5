// Sessions of tool calls and budgets to judge them by, for tests of layers alone.
import { Fold } from '../../src/projection/fold.ts'
import type { Budget, Layer, Proposal } from '../../src/projection/layer.ts'
import type { View } from '../../src/projection/view.ts'
import { viewRefusal } from '../../src/projection/refusal.ts'
import { answered, call, Pen, result, said, start } from '../../src/testing/builders.ts'
import { fixedClock } from '../../src/testing/builders.ts'
import type { UserBlock } from '../../src/transcript/content.ts'
import type { Fact } from '../../src/transcript/fact.ts'
import { seq, type Seq } from '../../src/transcript/ids.ts'

export const minute = 60_000

/** Room to spare, a warm cache, and prices at the usual ratio. */
export const budget = (over: Partial<Budget> = {}): Budget => ({
  window: 200_000,
  reserve: 20_000,
  effective: 180_000,
  threshold: 167_000,
  fixed: 2000,
  room: 165_000,
  target: 68_000,
  now: Date.UTC(2026, 0, 1),
  isWarm: true,
  rates: { fresh: 3e-6, read: 0.3e-6, write: 3.75e-6, output: 15e-6 },
  expectedRequests: 10,
  isMain: true,
  cacheLost: false,
  capabilities: { cacheEdits: false, contextEditing: false, bindsPrefix: false },
  ...over,
})

export interface Call {
  readonly id: string
  readonly tool?: string
  readonly input?: Record<string, unknown>
  readonly output?: string | readonly UserBlock[]
  readonly isError?: boolean
}

/** A desk at which a session is written fact by fact, as the engine would. */
export class Scribe {
  readonly fold = new Fold()
  readonly #pen = new Pen({ clock: fixedClock(Date.UTC(2026, 0, 1)) })
  #answers = 0

  constructor() {
    this.write(start())
  }

  write(fact: Fact): Seq {
    const refused = viewRefusal(this.fold, fact)
    if (refused !== null) throw new Error(`${fact.type}: ${refused.message}`)
    const entry = this.#pen.write(fact)
    this.fold.push(entry)
    return entry.seq
  }

  say(text = 'go on'): Seq {
    return this.write(said(text))
  }

  /** One answer with its calls and their results; gives the places of the results. */
  work(...calls: readonly Call[]): Seq[] {
    this.write(
      answered(
        calls.map(({ id, tool = 'Bash', input = {} }) => call(id, tool, input)),
        { id: `msg_${++this.#answers}`, stop: 'tool_use' },
      ),
    )
    return calls.map(({ id, output = lines(200), isError = false }) =>
      this.write(result(id, output, isError)),
    )
  }

  /** As many rounds of one call each, named c1, c2 and so on. */
  rounds(count: number, each: Omit<Call, 'id'> = {}): Seq[] {
    return Array.from({ length: count }, (_, index) => this.work({ id: `c${index + 1}`, ...each })).flat()
  }

  sent(): Seq {
    const upTo = seq(this.fold.numbers.upTo)
    return this.write({
      type: 'request-sent',
      source: 'main',
      model: 'm',
      upTo,
      hash: '',
      tokens: 0,
      marks: [],
    })
  }

  answer(text = 'done'): Seq {
    return this.write(answered(text, { id: `msg_${++this.#answers}` }))
  }

  view(): View {
    return this.fold.view()
  }

  now(): number {
    return this.#pen.clock.now()
  }

  /** Lets a layer speak, and writes what it wants. A spill is written as the engine would, with another text. */
  settle(layer: Layer, by: Budget): Proposal | null {
    const proposal = layer.decide(this.view(), by)
    if (proposal !== null) for (const fact of factsOf(layer.name, proposal)) this.write(fact)
    return proposal
  }
}

export function factsOf(layer: string, proposal: Proposal): readonly Fact[] {
  if (proposal.kind === 'ask') return []
  const edits =
    proposal.kind === 'edit'
      ? proposal.edits
      : proposal.at.map((at) => ({ kind: 'stub', at, text: '[written out]', ref: `${at.seq}` }) as const)
  const tokensFreed = proposal.kind === 'edit' ? proposal.tokensFreed : 0
  const price = proposal.kind === 'edit' ? { price: proposal.price } : {}
  return [{ type: 'view-edit', layer, asked: 'automatic', edits, why: proposal.why, tokensFreed, ...price }]
}

export const lines = (count: number, line = 'one line of plain output'): string =>
  Array.from({ length: count }, (_, index) => `${line} ${index}`).join('\n')

/** The places a proposal stubs, and those it has the server delete. */
export const stubbed = (proposal: Proposal | null): Seq[] =>
  proposal?.kind === 'edit'
    ? proposal.edits.flatMap((edit) => (edit.kind === 'stub' ? [edit.at.seq] : []))
    : []
export const deleted = (proposal: Proposal | null): Seq[] =>
  proposal?.kind === 'edit'
    ? proposal.edits.flatMap((edit) => (edit.kind === 'remote' ? edit.at.map(({ seq: place }) => place) : []))
    : []
