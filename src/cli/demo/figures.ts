// What the session cost, and what it would have cost to send everything every time. The baseline is not a guess: for each
// request that was sent, the whole conversation up to it, without any edit and with every result in full, is composed and
// put through the same judge, once as it is and once without its cache.
import { lookUp, price, type ModelTable } from '../../model/models.ts'
import { usageOf } from '../../wires/usage.ts'
import { Fold } from '../../projection/fold.ts'
import { createComposer } from '../../wires/anthropic/compose.ts'
import { createExchange, scripted } from '../../simulator/index.ts'
import { isEditing, isKnown, type Entry, type StoredEntry, type Usage } from '../../transcript/fact.ts'
import type { SessionId } from '../../transcript/ids.ts'
import type { Store } from '../../transcript/store.ts'
import { bar, dollars, percent, table, whole, right, wraps, left } from '../terminal/tables.ts'

export interface Sum {
  readonly requests: number
  readonly fresh: number
  readonly read: number
  readonly written: number
  readonly output: number
  readonly dollars: number
  /** The longest prompt. */
  readonly longest: number
}

export interface LayerFigures {
  readonly layer: string
  readonly edits: number
  readonly replaced: number
  readonly tokensFreed: number
}

export interface Figures {
  readonly sent: Sum
  /** Everything, every time, read from the cache where it can be. */
  readonly everythingCached: Sum
  readonly everythingUncached: Sum
  readonly layers: readonly LayerFigures[]
  /** Results that went beside the session when they were produced. */
  readonly kept: { readonly results: number; readonly bytes: number }
}

const nothing: Sum = { requests: 0, fresh: 0, read: 0, written: 0, output: 0, dollars: 0, longest: 0 }

export async function figuresOf(
  store: Store,
  session: SessionId,
  models: ModelTable,
  modelId: string,
): Promise<Figures> {
  const entries = await entriesOf(store, session)
  const add = (sum: Sum, usage: Usage): Sum => added(sum, usage, models, modelId)
  const usages = entries.flatMap(({ fact }) =>
    fact.type === 'assistant-message' && fact.usage !== undefined ? [fact.usage] : [],
  )
  const everything = await sentWhole(store, session, entries, modelId, usages)
  const uncached = everything.map((usage): Usage => ({
    ...usage,
    input: usage.input + usage.cacheRead + usage.cacheWrite,
    cacheRead: 0,
    cacheWrite: 0,
    cacheWrite1h: 0,
  }))
  const spills = entries.flatMap(({ fact }) =>
    fact.type === 'tool-result' && fact.spill !== undefined ? [fact.spill] : [],
  )
  return {
    sent: usages.reduce(add, nothing),
    everythingCached: everything.reduce(add, nothing),
    everythingUncached: uncached.reduce(add, nothing),
    layers: layersOf(entries),
    kept: { results: spills.length, bytes: spills.reduce((sum, { bytes }) => sum + bytes, 0) },
  }
}

function added(sum: Sum, usage: Usage, models: ModelTable, modelId: string): Sum {
  const info = lookUp(models, modelId)
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite
  return {
    requests: sum.requests + 1,
    fresh: sum.fresh + usage.input,
    read: sum.read + usage.cacheRead,
    written: sum.written + usage.cacheWrite,
    output: sum.output + usage.output,
    dollars: sum.dollars + ((info === null ? null : price(info, usage)?.total) ?? 0),
    longest: Math.max(sum.longest, prompt),
  }
}

async function entriesOf(store: Store, session: SessionId): Promise<readonly Entry[]> {
  const entries: Entry[] = []
  for await (const item of store.read(session)) {
    if (item.kind === 'entry' && isKnown(item.entry)) entries.push(item.entry)
  }
  return entries
}

/** The usage of each request as it would have been; what was answered stays the same. */
async function sentWhole(
  store: Store,
  session: SessionId,
  entries: readonly Entry[],
  modelId: string,
  answered: readonly Usage[],
): Promise<readonly Usage[]> {
  let now = 0
  const exchange = createExchange({ answerer: scripted(answered.map(() => 'ok')), clock: { now: () => now } })
  const fold = new Fold()
  const composer = createComposer()
  const usages: Usage[] = []
  for (const entry of entries) {
    if (entry.fact.type === 'request-sent') {
      now = entry.at
      const composed = composer.compose(fold.view(), {
        model: modelId,
        maxTokens: 1,
        bindsPrefix: false,
        lifetime: '5m',
      })
      const outcome = composed.ok ? await exchange.create(JSON.parse(composed.composed.body), headers) : null
      if (outcome?.ok === true) {
        outcome.reply.begin()
        usages.push({
          ...usageOf(outcome.reply.response.usage),
          output: answered[usages.length]?.output ?? 0,
        })
      }
    }
    const whole = isEditing(entry.fact) ? null : await unspilled(store, session, entry)
    if (whole !== null) fold.push(whole)
  }
  return usages
}
const headers = { 'anthropic-version': '2023-06-01', 'content-type': 'application/json' }

/** A result as it was before it went beside the session. */
async function unspilled(store: Store, session: SessionId, entry: Entry): Promise<StoredEntry> {
  const { fact } = entry
  if (fact.type !== 'tool-result' || fact.spill === undefined) return entry
  const blob = await store.getBlob(session, fact.spill.blob)
  if (!blob.ok) return entry
  return {
    ...entry,
    fact: { ...fact, content: [{ type: 'text', text: new TextDecoder().decode(blob.bytes) }] },
  }
}

function layersOf(entries: readonly Entry[]): readonly LayerFigures[] {
  const layers = new Map<string, LayerFigures>()
  for (const { fact } of entries) {
    if (!isEditing(fact)) continue
    const { layer } = fact
    const before = layers.get(layer) ?? { layer, edits: 0, replaced: 0, tokensFreed: 0 }
    layers.set(layer, {
      layer,
      edits: before.edits + 1,
      replaced: before.replaced + fact.edits.length,
      tokensFreed: before.tokensFreed + fact.tokensFreed,
    })
  }
  return [...layers.values()]
}

// ---- as text ----

const barWidth = 30

/** The end of the demo: what each layer did, and what it came to. */
export function reportOf(figures: Figures, windowTokens: number, room: number): string {
  const { sent, everythingCached, everythingUncached, layers, kept } = figures
  const prompt = sent.fresh + sent.read + sent.written
  const rows = [
    ...(kept.results === 0
      ? []
      : [
          [
            'result gate',
            String(kept.results),
            '–',
            `large results kept outside the context (${whole(kept.bytes)} bytes), a preview in the context`,
          ],
        ]),
    ...layers.map(({ layer, edits, replaced, tokensFreed }) => [
      layer,
      String(edits),
      whole(tokensFreed),
      (deeds[layer] ?? ((count) => `${count} edits of the view`))(replaced),
    ]),
  ]
  const done =
    rows.length === 0
      ? 'No layer had to act.\n'
      : table(['layer', right('times'), right('tokens freed'), wraps('what it did')], rows, room)
  const most = Math.max(sent.dollars, everythingCached.dollars, everythingUncached.dollars)
  const costs: readonly (readonly [string, Sum])[] = [
    ['this session', sent],
    ['everything, cached', everythingCached],
    ['everything, uncached', everythingUncached],
  ]
  const cost = table(
    [
      wraps(''),
      right('requests', 2),
      right('prompt tokens'),
      right('from cache'),
      right('longest', 3),
      right('cost'),
      left('', 4),
    ],
    costs.map(([name, sum]) => [
      name,
      String(sum.requests),
      whole(promptOf(sum)),
      percent(promptOf(sum) === 0 ? 0 : sum.read / promptOf(sum)),
      whole(sum.longest),
      dollars(sum.dollars),
      bar(most === 0 ? 0 : sum.dollars / most, barWidth),
    ]),
    room,
  )
  const saved = everythingUncached.dollars === 0 ? 0 : 1 - sent.dollars / everythingUncached.dollars
  const fits =
    everythingUncached.longest > windowTokens
      ? ` Sent whole, it would have passed the window of ${whole(windowTokens)} tokens.`
      : ''
  return `${done}
${cost}
${percent(sent.read / Math.max(1, prompt))} of the prompt came from the cache; ${percent(saved)} less than sending everything uncached.${fits}
The tokens are the simulator's own count, the prices those of the model it plays. The model is scripted: this shows the
mechanics, not how well a real model works.
`
}

/** What a layer did; Expand restores what it removed. */
const deeds: Readonly<Record<string, (count: number) => string>> = {
  'tool-result-budget': (count) => `${count} results that came together kept outside the context`,
  snip: () => 'finished turns removed when the model asked for it',
  microcompact: (count) => `${count} old results replaced by a line that says what they were`,
  autocompact: () => 'older messages replaced by a summary, your own kept verbatim',
}

const promptOf = (sum: Sum): number => sum.fresh + sum.read + sum.written
