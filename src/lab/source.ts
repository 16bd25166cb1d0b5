// Where a recording comes from: a file, or one of the sessions that are made up. Plain data, so that processes can hand
// it to each other.
import { defaults } from '../settings/defaults.ts'
import { importFile } from './importers/import-file.ts'
import type { Imported } from './recording.ts'
import { sampleSession } from './sample/session.ts'

export type Source =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'sample'; readonly index: number }

export const sampleSources: readonly Source[] = defaults.lab.sample.sessions.map((_, index) => ({
  kind: 'sample',
  index,
}))

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
