// `pal cost`: what each turn of a session cost and why, from what the provider reported. Forks are added where they ended.
import { lookUp, price, type ModelTable } from '../../model/models.ts'
import { tableOf } from '../../preset.ts'
import { describeCause, type BreakCause } from '../../request/break-report.ts'
import { providersWord } from '../../request/diagnosis.ts'
import { textIn } from '../../transcript/content.ts'
import {
  isEditing,
  isKnown,
  isRealInput,
  isSimulated,
  type Entry,
  type Fact,
  type Usage,
} from '../../transcript/fact.ts'
import type { SessionId } from '../../transcript/ids.ts'
import type { Store } from '../../transcript/store.ts'
import { print, type Exit } from '../exit-codes.ts'
import { showSession } from '../session-lookup.ts'
import type { Io } from '../terminal/io.ts'
import { countedByUs, dollars, percent, prose, table, whole, right, wraps } from '../terminal/tables.ts'
import type { ProjectFlags, Workplace } from '../workplace/workplace.ts'
import { added } from '../../lab/stats/gains.ts'

interface TurnCost {
  readonly turn: number
  readonly words: string
  requests: number
  input: number
  cacheRead: number
  cacheWrite: number
  output: number
  dollars: number
  /** Answers of models without a known price. */
  unpriced: number
  /** Answers whose server did not say what it took: counted by us. */
  estimated: number
  /** Answers of the offline model or a simulator: nothing was paid for them, the dollars are what they would cost. */
  simulated: number
  /** What made the cache miss or the prompt change. */
  readonly why: string[]
}

export const cost = (io: Io, id: string | undefined, flags: ProjectFlags): Promise<Exit> =>
  showSession(io, id, flags, showCost)

export async function showCost(
  { io, settings }: Workplace,
  store: Store,
  session: SessionId,
  json: boolean,
): Promise<Exit> {
  const turns = await turnsOf(store, session, tableOf(settings))
  return print(io, json, { session, turns, total: totalOf(turns) }, () =>
    prose(asTable(session, turns, io.columns), io.columns),
  )
}

async function turnsOf(store: Store, session: SessionId, models: ModelTable): Promise<readonly TurnCost[]> {
  const turns: TurnCost[] = []
  const open = (words: string): TurnCost => {
    const turn = { turn: turns.length + 1, words, ...nothing, why: [] }
    turns.push(turn)
    return turn
  }
  for await (const item of store.read(session)) {
    if (item.kind !== 'entry' || !isKnown(item.entry)) continue
    const { fact } = item.entry
    if (isRealInput(fact)) open(wordsOf(item.entry))
    // A branch may be billed before its first words: what its parent left open is answered there.
    else if (costs(fact)) note(turns.at(-1) ?? open(''), item.entry, models)
  }
  return turns
}

const costs = (fact: Fact): boolean =>
  isEditing(fact) || ['assistant-message', 'cache-break', 'model-set', 'fork-end'].includes(fact.type)

const nothing = {
  requests: 0,
  input: 0,
  cacheRead: 0,
  cacheWrite: 0,
  output: 0,
  dollars: 0,
  unpriced: 0,
  estimated: 0,
  simulated: 0,
}

function note(turn: TurnCost, { fact }: Entry, models: ModelTable): void {
  if (fact.type === 'assistant-message' && fact.usage !== undefined) {
    spend(turn, fact.usage, fact.model, models)
    turn.simulated += isSimulated(fact.messageId) ? 1 : 0
  }
  if (fact.type === 'cache-break')
    turn.why.push(
      `${whole(fact.tokens)} cached tokens sent again: ${fact.causes.map((one) => describeCause(one as BreakCause)).join('; ')}${providersWord(fact.causes, fact.provider, fact.providerTokens)}`,
    )
  if (isEditing(fact)) turn.why.push(`${fact.layer} freed ${whole(fact.tokensFreed)} tokens: ${fact.why}`)
  if (fact.type === 'model-set') turn.why.push(`the model was set to ${fact.model}`)
  if (fact.type === 'fork-end') {
    turn.dollars += fact.spent?.dollars ?? 0
    turn.why.push(
      `${fact.purpose} in the background took ${whole(fact.spent?.tokens ?? 0)} tokens (${dollars(fact.spent?.dollars ?? null)})`,
    )
  }
}

function spend(turn: TurnCost, usage: Usage, model: string, models: ModelTable): void {
  const info = lookUp(models, model)
  const paid = info === null ? null : (price(info, usage)?.total ?? null)
  turn.requests += 1
  turn.input += usage.input
  turn.cacheRead += usage.cacheRead
  turn.cacheWrite += usage.cacheWrite
  turn.output += usage.output
  turn.dollars += paid ?? 0
  turn.unpriced += paid === null ? 1 : 0
  turn.estimated += usage.estimated === true ? 1 : 0
}

function wordsOf({ fact }: Entry): string {
  if (fact.type !== 'user-message') return ''
  const text = textIn(fact.content, ' ')
  return text.replace(/\s+/g, ' ').trim().slice(0, wordsChars).toWellFormed()
}
const wordsChars = 40

const totalOf = (turns: readonly TurnCost[]) =>
  turns.reduce((sum, turn) => added<typeof nothing>(sum, turn), nothing)

function asTable(session: string, turns: readonly TurnCost[], room: number): string {
  const total = totalOf(turns)
  const row = (name: string, words: string, sum: typeof total): readonly string[] => [
    name,
    words,
    String(sum.requests),
    whole(sum.input),
    whole(sum.cacheRead),
    whole(sum.cacheWrite),
    whole(sum.output),
    sum.unpriced > 0 ? `${dollars(sum.dollars)} + ${sum.unpriced} unpriced` : dollars(sum.dollars),
  ]

  const rows = [...turns.map((turn) => row(String(turn.turn), turn.words, turn)), row('', 'all', total)]
  const why = turns.flatMap((turn) => turn.why.map((line) => [String(turn.turn), line]))
  const prompt = total.input + total.cacheRead + total.cacheWrite
  const columns = [
    right('turn'),
    wraps('prompt'),
    right('requests', 1),
    right('input', 4),
    right('cache read', 2),
    right('cache write', 5),
    right('output', 3),
    right('cost'),
  ]
  return `session ${session}
${table(columns, rows, room)}
${percent(prompt === 0 ? 0 : total.cacheRead / prompt)} of the prompt tokens were read from the cache.
${total.estimated === 0 ? '' : countedByUs(total.estimated, total.requests)}${total.simulated === 0 ? '' : nothingPaid(total.simulated, total.requests)}${why.length === 0 ? '' : `\n${table([right('turn'), wraps('why')], why, room)}`}`
}

const nothingPaid = (simulated: number, requests: number): string =>
  `${simulated === requests ? 'Every answer is' : `${whole(simulated)} of ${whole(requests)} answers are`} simulated: nothing was paid, the cost is what the model would have charged.\n`
