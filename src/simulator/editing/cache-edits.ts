// What the model sees once cache edits have been carried out. The bytes of the request, and so the keys of
// the cache, stay as they are: tokens and readable entries are worked out in `cache/prompt.ts` and `cache.ts`. An edit
// acts on the prompt it travels with, warm or cold; one that is not sent again has never been.
import type { WireBlock, WireRequest } from '../../model/wire.ts'

const DELETED = '[deleted from the cached prompt]'

export function withoutDeleted(request: WireRequest): WireRequest {
  const deleted = new Set(request.cache_edits?.map((edit) => edit.cache_reference))
  if (deleted.size === 0) return request
  const visible = (block: WireBlock): WireBlock => {
    const reference = block['cache_reference']
    return typeof reference === 'string' && deleted.has(reference) ? { ...block, content: DELETED } : block
  }
  const messages = request.messages.map((message) =>
    typeof message.content === 'string' ? message : { ...message, content: message.content.map(visible) },
  )
  return { ...request, messages }
}
