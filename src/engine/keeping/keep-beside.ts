// Puts a text beside the session under the id of its call. Ids come from a model, so one may come twice: then the place
// of the result makes the name its own, and neither text is lost.
import type { BlobInfo, Result } from '../../transcript/store.ts'
import type { Slice } from '../core.ts'

export async function keepBeside(
  core: Slice<'options' | 'transcript'>,
  id: string,
  place: number,
  text: string,
): Promise<Result<BlobInfo>> {
  const { store } = core.options
  const { lease } = core.transcript
  const bytes = new TextEncoder().encode(text)
  const kept = await store.putBlob(lease, id, bytes)
  return kept.ok || kept.failure.code !== 'exists' ? kept : store.putBlob(lease, `${id}-${place}`, bytes)
}
