// One recording after the other under many policies. What comes out does not depend on who plays which.
import { lookUp, modelTable } from '../model/models.ts'
import { defaults } from '../settings/defaults.ts'
import { findModel, simulatedModels } from '../simulator/index.ts'
import { cacheLosses, recordedContexts, recordedFigures, type CacheLoss } from './measuring/paid.ts'
import type { Policy } from './policies/rules.ts'
import { prepareReplay, replay, type Replayed } from './replay.ts'
import { load, type Source } from './source.ts'
import type { Figures } from './measures.ts'
import type { Recording } from './recording.ts'

export interface BatchOptions {
  readonly policies: readonly Policy[]
  /** Null for the window of each model. */
  readonly window: number | null
  /** Whose prices and rules hold, or `recorded`. */
  readonly model: string
  /** Policies whose window is wanted request by request. */
  readonly timelines?: readonly string[] | undefined
}

/** In the place of a model: each recording has the rules, the sizes and the prices of its own. */
export const recordedModel = 'recorded'

/** By whose rules a recording is played: its own model's; the default's where that is none whose rules are known. */
export function rulesFor(name: string): string {
  return findModel(simulatedModels, name)?.id ?? defaults.preset.model
}

/** Asked before each recording; from then on the rest is left out. */
export interface Stopping {
  readonly isOver?: (() => boolean) | undefined
}

/** One recording under one policy. */
export interface Played {
  readonly kind: 'played'
  readonly file: number
  readonly policy: string
  readonly replayed: Replayed
}
/** Who made a recording, and what is needed to say how far our sizes are from the provider's. */
export interface About {
  readonly kind: 'about'
  readonly file: number
  readonly model: string
  /** Answers by models without a known price: in no sum of money. */
  readonly unpriced: Readonly<Record<string, number>>
  /** Tokens of each request as the provider counted them, up to the client's first reduction; null where it did not. */
  readonly contexts: readonly (number | null)[]
}
/** What the client itself paid, and where its cache was lost, where its counts are recorded. */
export interface AsRecorded {
  readonly kind: 'recorded'
  readonly file: number
  readonly client: string
  readonly figures: Figures
  readonly losses: readonly CacheLoss[]
}
export interface NotPlayed {
  readonly kind: 'failed'
  readonly file: number
  readonly message: string
}
export type Outcome = Played | About | AsRecorded | NotPlayed

/** `file` is the place of the source among all of them. */
export async function* playOne(source: Source, file: number, options: BatchOptions): AsyncGenerator<Outcome> {
  const imported = await load(source)
  if (!imported.ok) return yield { kind: 'failed', file, message: imported.failure.message }
  const { recording } = imported
  const own = options.model === recordedModel ? recording.model : undefined
  const model = own === undefined ? options.model : rulesFor(own)
  const copies = new Set(source.kind === 'file' ? (source.copies ?? []) : [])
  const answers = recording.turns.filter(({ role }) => role === 'assistant').length
  if (answers > 0 && copies.size === answers) {
    const message = `${recording.name}: every answer of it is in another file too; counted there`
    return yield { kind: 'failed', file, message }
  }
  const priced = (turnModel: string): string => (own === undefined ? model : turnModel)
  const unpriced = unpricedIn(recording, priced, copies)
  yield { kind: 'about', file, model: own ?? model, unpriced, contexts: recordedContexts(recording) }
  const figures = recordedFigures(recording, priced, copies)
  if (figures !== null)
    yield { kind: 'recorded', file, client: recording.client, figures, losses: cacheLosses(recording) }
  const prepared = prepareReplay(recording)
  const window = options.window ?? lookUp(modelTable(), own ?? model)?.window ?? windowOf(model)
  for (const policy of options.policies) {
    const timeline = options.timelines?.includes(policy.name) ?? false
    const replayed = await replay(prepared, { policy, window, model, own, timeline, copies })
    yield { kind: 'played', file, policy: policy.name, replayed }
  }
}

export const windowOf = (model: string): number =>
  findModel(simulatedModels, model)?.window ?? defaults.counting.unknownWindowTokens

function unpricedIn(
  { turns, model: main }: Recording,
  priced: (model: string) => string,
  copies: ReadonlySet<number>,
): Readonly<Record<string, number>> {
  const table = modelTable()
  const unpriced = new Map<string, number>()
  const answers = turns.filter(({ role }) => role === 'assistant')
  for (const [index, turn] of answers.entries()) {
    const name = priced(turn.model ?? main)
    if (copies.has(index) || (lookUp(table, name)?.prices ?? null) !== null) continue
    unpriced.set(name, (unpriced.get(name) ?? 0) + 1)
  }
  return Object.fromEntries(unpriced)
}

/** Plays recordings under policies. */
export async function* playAll(
  sources: readonly Source[],
  options: BatchOptions & Stopping,
): AsyncGenerator<Outcome> {
  for (const [file, source] of sources.entries()) {
    if (options.isOver?.() === true) return
    yield* playOne(source, file, options)
  }
}
