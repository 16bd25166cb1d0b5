// The bound that no policy reaches: each block is carried only while something later needs it, leaves without breaking
// the cache, and is written only if it is read again. The user's words and the round at work are always carried.
//
// Of several blocks that hold what is needed the newest is carried. A larger old one that is carried anyway could
// sometimes do, so this is the bound of a plain rule and not of every rule.
import type { ModelInfo } from '../../model/models.ts'
import type { WireBlock } from '../../model/wire.ts'
import { defaults } from '../../settings/defaults.ts'
import type { Counter, SimulatedModel } from '../../simulator/index.ts'
import { Meter, type Charge, type Figures } from '../measures.ts'
import { atomsOf } from '../measuring/atoms.ts'
import type { Lifetime } from '../measuring/ledger.ts'
import type { Needs } from '../measuring/needs.ts'
import { linesOf, textOf, withoutLineNumbers } from '../measuring/texts.ts'
import { begunWarm, fixedPart } from './setup.ts'
import type { Script } from './script.ts'
import type { PlainBlock } from './wire-blocks.ts'

/** What stays or goes as one: a call with its result, a text, an input. */
interface Unit {
  readonly blocks: PlainBlock[]
  readonly from: number
  tokens: number
  /** The last step whose request carries it. */
  until: number
}

export interface HindsightOptions {
  readonly counter: Counter
  readonly model: SimulatedModel
  readonly lifetimes: readonly Lifetime[]
  readonly pricesOf: (model: string) => ModelInfo | null
  readonly copies: ReadonlySet<number>
}

/** The figures for each lifetime. */
export function hindsight(script: Script, needs: Needs, options: HindsightOptions): readonly Figures[] {
  const { counter, model, lifetimes, pricesOf, copies } = options
  const weigh = (block: WireBlock): number => counter.block(block, model)
  const units = unitsOf(script, needs, weigh)
  const fixed = fixedTokens(script, counter, model)
  const meter = new Meter(needs, { lifetimes, weigh })
  const said: string[] = []
  for (const [step, { typed, answer }] of script.steps.entries()) {
    said.push(...typed)
    const carried = units.filter((unit) => unit.from <= step && unit.until >= step)
    const pauses = { before: gap(script, step), after: gap(script, step + 1) }
    const warm = step === 0 ? script.firstReadTokens : 0
    const charges = lifetimes.map((lifetime) => {
      const charged = charge(lifetime, carried, fixed, step, pauses)
      return { ...charged, usage: begunWarm(charged.usage, warm) }
    })
    const blocks = carried.flatMap((unit) => unit.blocks)
    const { outputTokens: output } = answer
    const info = pricesOf(answer.model)
    const sent = { step, isCopy: copies.has(step), blocks, said, output, info, charges }
    meter.request({ ...sent, isRejected: null, freed: 0, isSummary: false })
  }
  return meter.figures()
}

/** Time from the request before this one, or without end where there is none. */
function gap({ steps }: Script, step: number): number {
  const [before, now] = [steps[step - 1], steps[step]]
  return before === undefined || now === undefined ? Infinity : now.at - before.at
}

function charge(
  lifetime: Lifetime,
  carried: readonly Unit[],
  fixed: number,
  step: number,
  pauses: { readonly before: number; readonly after: number },
): Charge {
  const lives = defaults.request.cacheLifetimeMs[lifetime]
  const isWarm = pauses.before < lives
  const isReadAgain = pauses.after < lives
  let [fresh, read, written] = [0, isWarm ? fixed : 0, isWarm ? 0 : fixed]
  for (const { tokens, from, until } of carried) {
    if (isWarm && from < step) read += tokens
    else if (isReadAgain && until > step) written += tokens
    else fresh += tokens
  }
  const isShort = lifetime === '5m'
  return {
    isCold: !isWarm,
    usage: {
      input_tokens: fresh,
      cache_read_input_tokens: read,
      cache_creation_input_tokens: written,
      cache_creation: {
        ephemeral_5m_input_tokens: isShort ? written : 0,
        ephemeral_1h_input_tokens: isShort ? 0 : written,
      },
    },
  }
}

function unitsOf(script: Script, needs: Needs, weigh: (block: WireBlock) => number): readonly Unit[] {
  const units: Unit[] = []
  const calls = new Map<string, Unit>()
  const holders = new Map<string, Unit>()
  const add = (unit: Unit, role: PlainBlock['role'], block: WireBlock): void => {
    unit.blocks.push({ role, block })
    unit.tokens += weigh(block)
    for (const line of linesOf(textOf(block)))
      for (const atom of atomsOf(line)) if (needs.wanted.has(atom)) holders.set(atom, unit)
  }
  const open = (from: number, until: number): Unit => {
    const unit: Unit = { blocks: [], from, tokens: 0, until }
    units.push(unit)
    return unit
  }
  const last = script.steps.length - 1
  if (script.reminder !== null) add(open(0, last), 'user', { type: 'text', text: script.reminder })
  for (const [step, { results, input, answer }] of script.steps.entries()) {
    for (const { id, content, isError } of results)
      add(calls.get(id) ?? open(step, step), 'user', {
        type: 'tool_result',
        tool_use_id: id,
        content,
        is_error: isError,
      })
    for (const block of input) add(open(step, last), 'user', { ...block })
    const { atoms = [], replaced = [] } = needs.steps[step] ?? {}
    const wanted = [
      ...atoms.map((atom) => holders.get(atom)),
      ...replaced.map((text) => holding(units, text)),
    ]
    for (const unit of wanted) if (unit !== undefined) unit.until = Math.max(unit.until, step)
    for (const block of answer.content) {
      const unit = open(step + 1, step + 1)
      add(unit, 'assistant', { ...block })
      if (block.type === 'tool_use' && 'id' in block) calls.set(block.id, unit)
    }
  }
  return units
}

const holding = (units: readonly Unit[], text: string): Unit | undefined =>
  units.findLast(({ blocks }) => blocks.some(({ block }) => withoutLineNumbers(textOf(block)).includes(text)))

function fixedTokens(script: Script, counter: Counter, model: SimulatedModel): number {
  const { system, tools } = fixedPart(script, false, counter, model)
  const specs = tools.reduce((sum, { spec }) => sum + counter.tool(spec, model), 0)
  return counter.block({ type: 'text', text: system }, model) + specs + counter.overhead(model)
}
