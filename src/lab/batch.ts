// Many recordings under many policies, one after the other; a part of them where several processes share the work.
// What comes out does not depend on how it was shared.
import type { Figures } from './measures.ts'
import { recordedFigures } from './measuring/recorded.ts'
import { importFile } from './importers/import-file.ts'
import type { Policy } from './policy.ts'
import { prepareReplay, replay, type Replayed } from './replay.ts'

export interface BatchOptions {
  readonly files: readonly string[]
  readonly policies: readonly Policy[]
  readonly window: number
  readonly model: string
  /** Of several processes this is number `index` of `of`. */
  readonly part?: { readonly index: number; readonly of: number } | undefined
}

/** One recording under one policy. */
export interface Played {
  readonly kind: 'played'
  readonly file: number
  readonly policy: string
  readonly replayed: Replayed
}
/** What the client itself paid, where its counts are recorded. */
export interface AsRecorded {
  readonly kind: 'recorded'
  readonly file: number
  readonly client: string
  readonly figures: Figures
}
export interface NotPlayed {
  readonly kind: 'failed'
  readonly file: number
  readonly message: string
}
export type Outcome = Played | AsRecorded | NotPlayed

export async function* playAll(options: BatchOptions): AsyncGenerator<Outcome> {
  const { index, of } = options.part ?? { index: 0, of: 1 }
  for (const [file, path] of options.files.entries()) {
    if (file % of !== index) continue
    const imported = await importFile(path)
    if (!imported.ok) {
      yield { kind: 'failed', file, message: imported.failure.message }
      continue
    }
    const { recording } = imported
    const figures = recordedFigures(recording)
    if (figures !== null) yield { kind: 'recorded', file, client: recording.client, figures }
    const prepared = prepareReplay(recording)
    for (const policy of options.policies) {
      const { window, model } = options
      const replayed = await replay(prepared, { policy, window, model })
      yield { kind: 'played', file, policy: policy.name, replayed }
    }
  }
}
