// Recorded sessions as requests of a loop, sent in three ways and billed as a provider with a cache would: untouched, by plain
// truncation (the newest messages that fit, cut anew at every request, as loops without a memory of what they sent do it), and
// through `fit`.
import { fit, type FitOutcome, type FitState, type Usage } from '../src/fit/index.ts'
import { atomsOf } from '../src/lab/measuring/atoms.ts'
import { needsOf } from '../src/lab/measuring/needs.ts'
import { contentText } from '../src/lab/measuring/texts.ts'
import { stringsIn } from '../src/projection/folding/render.ts'
import { scriptOf, type Script } from '../src/lab/playing/script.ts'
import { load } from '../src/lab/source.ts'
import { sharedStart } from '../src/fit/chain.ts'
import { writeRate } from '../src/fit/pace.ts'
import type { WireName } from '../src/model/model.ts'
import { lookUp, modelTable, ratesOf, type Rates } from '../src/model/models.ts'
import { estimateText } from '../src/projection/tokens.ts'
import { inWords, models, type Step } from '../test/fit/lists.ts'
import { refusal, unitsOf } from '../test/fit/units.ts'

const lifetimeMs = 5 * 60_000
/** What plain truncation fills of the window. */
const truncatedShare = 0.8
/** Where a recording does not say what system prompt and tools took. */
const usualFixedTokens = 15_000

type Message = Readonly<Record<string, unknown>>
interface Request {
  readonly list: readonly Message[]
  readonly at: number
  readonly needs: readonly string[]
}

/** Every request of a recording in the words of a wire; messages are the same objects from one to the next. */
function requestsOf(wire: WireName, script: Script): readonly Request[] {
  const { steps: needs } = needsOf(script)
  const steps: Step[] = []
  const ends: number[] = []
  for (const { results, input, answer } of script.steps) {
    for (const { id, content } of results)
      steps.push({ kind: 'result', call: { id, name: 'tool', input: {} }, text: contentText(content) || '-' })
    if (input.length > 0 || results.length === 0)
      steps.push({ kind: 'prompt', text: contentText(input) || '-' })
    ends.push(steps.length)
    const text = answer.content.flatMap((block) =>
      block.type === 'text' && 'text' in block ? [block.text] : [],
    )
    steps.push({
      kind: 'answer',
      text: text.join('\n') || '-',
      calls: answer.content.flatMap((block) =>
        block.type === 'tool_use' && 'id' in block
          ? [{ id: block.id, name: 'tool', input: block.input }]
          : [],
      ),
    })
  }
  const whole = inWords(wire, steps)
  return script.steps.map(({ at }, index) => ({
    list: whole.slice(0, inWords(wire, steps.slice(0, ends[index])).length),
    at,
    needs: needs[index]!.atoms,
  }))
}

interface Known {
  readonly units: readonly string[]
  readonly tokens: readonly number[]
  readonly atoms: ReadonlySet<string>
}
/** What a message is, counted once. */
function createKnown(wire: WireName): (message: Message) => Known {
  const known = new WeakMap<Message, Known>()
  return (message) => {
    const before = known.get(message)
    if (before !== undefined) return before
    const units = unitsOf(wire, [message])
    const made = {
      units,
      tokens: units.map(estimateText),
      atoms: new Set(
        stringsIn(message).flatMap((text) => text.split('\n').flatMap((line) => [...atomsOf(line)])),
      ),
    }
    known.set(message, made)
    return made
  }
}

export interface Bill {
  requests: number
  refused: number
  tooLarge: number
  read: number
  written: number
  cost: number
  needed: number
  inSight: number
  compactions: number
}
const newBill = (): Bill => ({
  requests: 0,
  refused: 0,
  tooLarge: 0,
  read: 0,
  written: 0,
  cost: 0,
  needed: 0,
  inSight: 0,
  compactions: 0,
})

/** One way of sending: bills every request as a provider with a cache would. */
class Sender {
  #before: readonly string[] = []
  #at = -Infinity
  readonly #bill: Bill
  readonly #known: (message: Message) => Known
  readonly #fixed: number
  readonly window: number
  readonly #rates: Rates

  constructor(
    bill: Bill,
    known: (message: Message) => Known,
    { fixed, window }: { readonly fixed: number; readonly window: number },
    rates: Rates,
  ) {
    this.#bill = bill
    this.#known = known
    this.#fixed = fixed
    this.window = window
    this.#rates = rates
  }

  /** What the messages take, with system and tools. */
  tokensOf(list: readonly Message[]): number {
    return list.reduce(
      (sum, message) => sum + this.#known(message).tokens.reduce((a, b) => a + b, 0),
      this.#fixed,
    )
  }

  send({ at, needs }: Request, list: readonly Message[]): Usage {
    const known = list.map(this.#known)
    const units = known.flatMap((each) => each.units)
    const tokens = known.flatMap((each) => each.tokens)
    const isWarm = at - this.#at < lifetimeMs
    const same = isWarm ? sharedStart(this.#before, units) : 0
    const cacheRead = isWarm ? tokens.slice(0, same).reduce((a, b) => a + b, this.#fixed) : 0
    const cacheWrite = tokens.slice(same).reduce((a, b) => a + b, isWarm ? 0 : this.#fixed)
    this.#before = units
    this.#at = at
    const bill = this.#bill
    bill.requests++
    bill.read += cacheRead
    bill.written += cacheWrite
    bill.cost += (cacheRead * this.#rates.read + cacheWrite * writeRate(this.#rates)) / 1e6
    if (cacheRead + cacheWrite > this.window) bill.tooLarge++
    bill.needed += needs.length
    bill.inSight += needs.filter((atom) => known.some(({ atoms }) => atoms.has(atom))).length
    return { input: 0, cacheRead, cacheWrite, output: 0 }
  }
}

/** The first message and the newest that fit, beginning with an answer. */
function truncated(sender: Sender, list: readonly Message[]): readonly Message[] {
  let left = sender.tokensOf(list) - sender.window * truncatedShare
  if (left <= 0) return list
  let at = 1
  const isAnswer = ({ role, type }: Message): boolean =>
    role === 'assistant' || role === 'model' || type === 'reasoning'
  while (at < list.length - 1 && (left > 0 || !isAnswer(list[at]!)))
    left -= sender.tokensOf([list[at++]!]) - sender.tokensOf([])
  return [list[0]!, ...list.slice(at)]
}

export const ways = ['untouched', 'truncated', 'fit'] as const
export type Way = (typeof ways)[number]

export interface PlayOptions {
  readonly window: number
  /** What system prompt and tools take; what the recording says where nothing is given. */
  readonly fixed?: number | undefined
  readonly onSession?: (() => void) | undefined
}

/** The bills of all recordings on one wire. */
export async function played(
  wire: WireName,
  files: readonly string[],
  options: PlayOptions,
): Promise<Record<Way, Bill>> {
  const { window } = options
  const bills = { untouched: newBill(), truncated: newBill(), fit: newBill() }
  const rates = ratesOf(lookUp(modelTable(), models[wire])!, 0)!
  for (const file of files) {
    const imported = await load({ kind: 'file', path: file })
    if (!imported.ok) continue
    const script = scriptOf(imported.recording)
    const known = createKnown(wire)
    const fixed = options.fixed ?? script.firstRequestTokens ?? usualFixedTokens
    const senders = Object.fromEntries(
      ways.map((way) => [way, new Sender(bills[way], known, { fixed, window }, rates)]),
    ) as Record<Way, Sender>
    let state: FitState | null = null
    let usage: Usage | null = null
    for (const request of requestsOf(wire, script)) {
      const { list, at } = request
      senders.untouched.send(request, list)
      const cut = truncated(senders.truncated, list)
      senders.truncated.send(request, cut)
      if (refusal(wire, cut) !== null) bills.truncated.refused++
      const made: FitOutcome<Message> = fit(list, {
        wire,
        model: models[wire],
        window: window - fixed,
        state,
        usage,
        now: at,
        lifetimeMs,
        store: false,
      })
      if (!made.ok) {
        bills.fit.tooLarge++
        senders.fit.send(request, list)
        continue
      }
      if (refusal(wire, made.messages) !== null) bills.fit.refused++
      if (made.report.boundary?.isNew === true) bills.fit.compactions++
      state = made.state
      usage = { ...senders.fit.send(request, made.messages) }
      usage = { ...usage, cacheRead: Math.max(0, usage.cacheRead - fixed) }
    }
    options.onSession?.()
  }
  return bills
}
