// A session as server-sent events: one event for each entry, its number as the id, so that a reader who was cut off goes on where it
// was. Entries are facts, so nothing is sent that could still change; what passes by between them is not.
import type { ServerResponse } from 'node:http'
import { encode } from '../transcript/codec.ts'
import { seq, sessionId } from '../transcript/ids.ts'
import type { Store } from '../transcript/store.ts'

const pollMs = 300
const beatMs = 15_000

/** Ends when the reader goes away or the server stops. */
export async function follow(
  store: Pick<Store, 'read'>,
  session: string,
  after: number,
  response: ServerResponse,
  ending: AbortSignal,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
  response.flushHeaders()
  const isOpen = (): boolean => !response.closed && !response.destroyed
  let last = after
  let beat = performance.now()
  while (isOpen() && !ending.aborted) {
    for await (const item of store.read(sessionId(session), { from: seq(last + 1) })) {
      if (!isOpen()) return
      // A session that holds nothing yet may begin at any time.
      if (item.kind === 'failed' && item.failure.code !== 'no-such-session') {
        await written(response, `event: problem\ndata: ${JSON.stringify(item.failure)}\n\n`)
        response.end()
        return
      }
      if (item.kind !== 'entry') continue
      last = item.entry.seq
      await written(response, `id: ${last}\nevent: entry\ndata: ${encode(item.entry)}\n\n`)
    }
    if (performance.now() - beat > beatMs) {
      beat = performance.now()
      await written(response, ': still here\n\n')
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
  response.end()
}

/** No more is read from the store than the reader takes. */
async function written(response: ServerResponse, text: string): Promise<void> {
  if (response.write(text) || response.closed) return
  await new Promise<void>((resolve) => {
    response.once('drain', resolve)
    response.once('close', resolve)
  })
}
