// One recording after the other under many policies. What comes out does not depend on who plays which.
import { lookUp, modelTable, price, type ModelInfo } from '../model/models.ts'
import { defaults } from '../settings/defaults.ts'
import { findModel, simulatedModels } from '../simulator/index.ts'
import { cacheLosses, type CacheLoss } from './measuring/cache-losses.ts'
import type { Policy } from './policies/rules.ts'
import { prepareReplay, replay, type Replayed } from './replay.ts'
import { load, type Source } from './source.ts'
import { noFigures, type Figures } from './measures.ts'
import { contextOf, type Recording } from './recording.ts'

export interface BatchOptions {
  readonly policies: readonly Policy[]
  readonly window: number
  /** Whose prices and rules hold, or `recorded`. */
  readonly model: string
  /** Policies whose window is wanted request by request. */
  readonly timelines?: readonly string[] | undefined
}

/** In the place of a model: each recording has the rules and prices of its own. */
export const recordedModel = 'recorded'

/** The one a recording was made with; the default where it is not named, or is none whose rules are known. */
function ownModel(name: string): string {
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
export type Outcome = Played | AsRecorded | NotPlayed

/** `file` is the place of the source among all of them. */
export async function* playOne(source: Source, file: number, options: BatchOptions): AsyncGenerator<Outcome> {
  const imported = await load(source)
  if (!imported.ok) return yield { kind: 'failed', file, message: imported.failure.message }
  const { recording } = imported
  const { window } = options
  const model = options.model === recordedModel ? ownModel(recording.model) : options.model
  const figures = recordedFigures(recording, lookUp(modelTable(), model))
  if (figures !== null)
    yield { kind: 'recorded', file, client: recording.client, figures, losses: cacheLosses(recording) }
  const prepared = prepareReplay(recording)
  for (const policy of options.policies) {
    const timeline = options.timelines?.includes(policy.name) ?? false
    const replayed = await replay(prepared, { policy, window, model, timeline })
    yield { kind: 'played', file, policy: policy.name, replayed }
  }
}

export async function* playAll(
  sources: readonly Source[],
  options: BatchOptions & Stopping,
): AsyncGenerator<Outcome> {
  for (const [file, source] of sources.entries()) {
    if (options.isOver?.() === true) return
    yield* playOne(source, file, options)
  }
}

// What a client was charged when the session was recorded, in the words and prices of the measures. Counted by the
// provider's own tokenizer, so it stands beside a replay and is not its equal.

/** Null where the recording has no counts of reads and writes. Money is that of the model the replay is charged for. */
export function recordedFigures(recording: Recording, info: ModelInfo | null): Figures | null {
  if (recording.usageKind !== 'anthropic') return null
  let figures: Figures = { ...noFigures, sessions: 1, dollars: info === null ? null : 0 }
  for (const { usage } of recording.turns) {
    if (usage === undefined) continue
    const long = usage.cacheWrite1h ?? 0
    const paid = info === null ? null : price(info, { ...usage, output: 0 })
    figures = {
      ...figures,
      requests: figures.requests + 1,
      fresh: figures.fresh + usage.input,
      read: figures.read + usage.cacheRead,
      written5m: figures.written5m + usage.cacheWrite - long,
      written1h: figures.written1h + long,
      largest: Math.max(figures.largest, contextOf(usage)),
      dollars: paid === null || figures.dollars === null ? null : figures.dollars + paid.total,
    }
  }
  return figures.requests === 0 ? null : figures
}
