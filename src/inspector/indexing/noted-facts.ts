// The rare facts, as the index lists them: where a session comes from, breaks, agents, memories.
import { dollarsOf, tokenRates } from '../../engine/limits/spend.ts'
import { lookUp, price, type Price } from '../../model/models.ts'
import type { View } from '../../projection/view.ts'
import { defaults } from '../../settings/defaults.ts'
import { textIn } from '../../transcript/content.ts'
import { type Entry, type FactOf, isEditing, isRealInput, type Usage } from '../../transcript/fact.ts'
import { seq as toPlace } from '../../transcript/ids.ts'
import { type IndexLists, type IndexParts, previousRequest } from './index-rows.ts'

export function noteFact(
  { lists, requests }: Pick<IndexParts, 'lists' | 'requests'>,
  { seq, at, fact }: Entry,
): void {
  if (isEditing(fact)) lists.pending.push({ seq, freed: Math.max(0, fact.tokensFreed) })
  if (isRealInput(fact) && lists.title === '')
    lists.title = textIn(fact.content, ' ').replace(/\s+/gu, ' ').trim().slice(0, titleChars).toWellFormed()
  switch (fact.type) {
    case 'session-start':
      lists.purpose = fact.purpose
      lists.cwd = fact.cwd ?? null
      lists.startedBy = fact.startedBy ?? null
      lists.imported = fact.imported ?? null
      lists.parent =
        fact.parent === undefined ? null : { session: fact.parent.session, upTo: fact.parent.upTo }
      break
    case 'cache-break': {
      const row = requests.length - 1
      if (row >= 0) requests.set(row, 'break', seq)
      lists.breaks.push({
        seq,
        at,
        source: fact.source,
        request: row < 0 ? null : requests.get(row, 'seq'),
        previous: previousRequest(requests, row),
        tokens: fact.tokens,
        cost: fact.cost,
        causes: fact.causes,
        diff: fact.diff ?? null,
        provider: fact.provider ?? null,
        providerTokens: fact.providerTokens ?? null,
      })
      break
    }
    case 'agent-start':
      lists.agents.push({
        ...unended,
        child: fact.child,
        label: fact.label,
        agent: fact.agent,
        mode: fact.mode,
        worktree: fact.worktree ?? null,
        started: { seq, at },
      })
      break
    case 'fork-end':
      forkEnded(lists, seq, at, fact)
      break
    case 'memory-recall':
      lists.recalls.push({ seq, at, files: fact.files })
      break
    case 'memories-extracted':
      if (fact.files.length > 0)
        lists.extracted.push({ from: toPlace(lists.extractedTo + 1), to: fact.coversTo, files: fact.files })
      lists.extractedTo = fact.coversTo
      break
    default:
      break
  }
}

const { titleChars } = defaults.inspector
const unended = {
  worktree: null,
  started: null,
  ended: null,
  outcome: null,
  report: '',
  tokens: 0,
  dollars: 0,
}

function forkEnded(lists: IndexLists, seq: number, at: number, fact: FactOf<'fork-end'>): void {
  const { tokens, dollars } = fact.spent ?? { tokens: 0, dollars: 0 }
  lists.spent.tokens += tokens
  lists.spent.dollars += dollars
  const begun = lists.agents.findLast(({ child }) => child === fact.child)
  const { child, purpose } = fact
  const row = begun ?? { ...unended, child, label: purpose, agent: purpose, mode: 'fork' }
  if (begun === undefined) lists.agents.push(row)
  row.ended = { seq, at }
  row.outcome = fact.outcome
  row.report = fact.text.slice(0, defaults.inspector.excerptChars).toWellFormed()
  row.tokens += tokens
  row.dollars += dollars
}

// What an answer says of the request before it: what the provider counted, what it cost, where the border of the cache lay, and
// what removals have saved and cost by it.
export function answered(index: IndexParts, { seq, at }: Entry, fact: FactOf<'assistant-message'>): void {
  const { lists, requests, options } = index
  const model = index.labelled('models', fact.model)
  lists.modelAnswers[model] = (lists.modelAnswers[model] ?? 0) + 1
  const { usage, timing } = fact
  const row = requests.length - 1
  const isFirst = row >= 0 && Number.isNaN(requests.get(row, 'answer'))
  if (isFirst) {
    const { firstMs = Number.NaN, ms = Number.NaN, tries = Number.NaN } = timing ?? {}
    requests.put(row, { answer: seq, firstMs, ms, tries })
  }
  if (usage === undefined) return
  const dollars = dollarsOf(options.models, fact.model, usage)
  const { totals } = lists
  totals.requests++
  totals.input += usage.input
  totals.read += usage.cacheRead
  totals.written += usage.cacheWrite
  totals.output += usage.output
  totals.dollars += dollars ?? 0
  totals.unpriced += dollars === null ? 1 : 0
  totals.estimated += usage.estimated === true ? 1 : 0
  const saving = gained(index, at, fact.model, usage)
  if (!isFirst) return
  const info = lookUp(options.models, fact.model)
  const paid = info === null ? null : price(info, usage)
  const prices = lists.unfoldedFrom === null ? promptPrices(index.state.fold.view(), usage, paid) : noPrices
  const { input, cacheRead: read, cacheWrite: written, output } = usage
  requests.put(row, { input, read, written, output, dollars: dollars ?? Number.NaN, ...prices, saving })
}

/** As `pal stats` reckons layers: what an edit made a warm cache write again; gives what a token that is gone saves here. */
function gained({ lists, options }: IndexParts, at: number, model: string, usage: Usage): number {
  const lifetime = (usage.cacheWrite1h ?? 0) > 0 ? '1h' : '5m'
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite
  const rates = tokenRates(options.models, model, lifetime, prompt)
  const isWarm =
    lists.answeredAt !== null && at - lists.answeredAt < defaults.request.cacheLifetimeMs[lifetime]
  // What nobody counted says nothing of what was read; what was removed is held against the answer after it.
  if (usage.estimated === true) return 0
  const freed = lists.pending.reduce((sum, one) => sum + one.freed, 0)
  if (rates !== null && freed > 0) {
    const again = isWarm ? Math.max(0, lists.cached - usage.cacheRead - freed) : 0
    for (const { seq, freed: own } of lists.pending)
      lists.rewritten.push([seq, (own / freed) * again * (rates.write - rates.read)])
  }
  lists.pending = []
  lists.cached = usage.cacheRead + usage.cacheWrite
  lists.answeredAt = at
  return rates === null ? 0 : isWarm ? rates.read : rates.write
}

// Where the border between read, written and plain input lay in a request, and what an estimated token on each side of it
// cost. The provider gives three sums and no places; the prompt is cached from its beginning, so the sums are the borders. What a
// piece cost is its share of the sum it lies in: the pieces of a request cost together what the request did.
interface PromptPrices {
  /** The last entry that was read from the cache, and the last that was written to it; −1 for none. */
  readonly readTo: number
  readonly writtenTo: number
  /** Dollars for one estimated token that was read, written or plain. */
  readonly perRead: number
  readonly perWritten: number
  readonly perInput: number
}

const noPrices: PromptPrices = {
  readTo: -1,
  writtenTo: -1,
  perRead: Number.NaN,
  perWritten: Number.NaN,
  perInput: Number.NaN,
}

/** `paid` null: the places are known, the prices are not. */
function promptPrices(view: View, usage: Usage, paid: Price | null): PromptPrices {
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite
  if (prompt === 0 || view.estimate === 0) return noPrices
  const scale = view.estimate / prompt
  const inputFrom = view.estimate - usage.input * scale
  const writtenFrom = usage.cacheRead * scale
  let end = view.estimate
  let [input, written] = [0, 0]
  let [readTo, writtenTo] = [-1, -1]
  // From the end: what is new is short, what was read is not looked at.
  walk: for (let index = view.messages.length - 1; index >= 0; index--) {
    const { parts } = view.messages.at(index)!
    for (let at = parts.length - 1; at >= 0; at--) {
      const part = parts[at]!
      const size = part.estimate - part.clearedEstimate
      const begin = end - size
      // A piece across a border counts where it begins.
      if (begin >= inputFrom - slack) input += size
      else {
        writtenTo = Math.max(writtenTo, part.to)
        if (begin < writtenFrom - slack) {
          readTo = part.to
          break walk
        }
        written += size
      }
      end = begin
    }
  }
  // Tools and system stand first: they go with what was read, or with what was written where nothing was.
  const rest = view.estimate - input - written
  const read = usage.cacheRead > 0 ? rest : 0
  const plain = usage.cacheRead === 0 && usage.cacheWrite === 0
  const price = (dollars: number | undefined, estimate: number): number =>
    dollars === undefined ? Number.NaN : estimate === 0 ? 0 : dollars / estimate
  return {
    readTo,
    writtenTo: Math.max(writtenTo, readTo),
    perRead: price(paid?.read, read),
    perWritten: price(paid?.write, written + (read === 0 && !plain ? rest : 0)),
    perInput: price(paid?.fresh, input + (plain ? rest : 0)),
  }
}

/** Estimates are whole numbers, borders are not. */
const slack = 0.5
