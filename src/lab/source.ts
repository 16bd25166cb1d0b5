// Where a recording comes from: a file, or one of the sessions that are made up. Plain data, so that processes can hand
// it to each other.
import { defaults } from '../settings/defaults.ts'
import { importFile } from './importers/import-file.ts'
import { answerKey, answersOf } from './measuring/paid.ts'
import type { Imported } from './recording.ts'
import { sampleSession } from './sample.ts'

export type Source =
  | {
      readonly kind: 'file'
      readonly path: string
      /** Its answers, counted from 0, that another file has too and that are counted there. */
      readonly copies?: readonly number[] | undefined
    }
  | { readonly kind: 'sample'; readonly index: number }

/** The made-up sessions that are always there. */
export const sampleSources: readonly Source[] = defaults.lab.sample.sessions.map((_, index) => ({
  kind: 'sample',
  index,
}))

/** Reads one source: a file, or a made-up session. */
export async function load(source: Source): Promise<Imported> {
  if (source.kind === 'file') return importFile(source.path)
  const size = defaults.lab.sample.sessions[source.index]
  if (size === undefined)
    return {
      ok: false,
      failure: { code: 'no-such-sample', message: `there is no sample ${source.index + 1}` },
    }
  const recording = sampleSession(source.index, size)
  return { ok: true, recording, report: { format: 'sample', skipped: [] } }
}

/** The same sources, each answer that stands in several files counted in the first of them alone. */
export async function withoutCopies(sources: readonly Source[]): Promise<readonly Source[]> {
  const seen = new Set<string>()
  const marked: Source[] = []
  for (const source of sources) {
    const imported = sources.length > 1 ? await load(source) : null
    if (source.kind !== 'file' || imported?.ok !== true) {
      marked.push(source)
      continue
    }
    const keys = answersOf(imported.recording).map(answerKey)
    const copies = keys.flatMap((key, index) => (key !== null && seen.has(key) ? [index] : []))
    for (const key of keys) if (key !== null) seen.add(key)
    marked.push(copies.length === 0 ? source : { ...source, copies })
  }
  return marked
}
