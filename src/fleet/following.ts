// A session for those who follow it. For people an entry is one line. For programs it is one server-sent event, its number as the
// id, so that a reader who was cut off goes on where it was. Entries are facts, so nothing is sent that could still change; what
// passes by between them is not.
import type { ServerResponse } from 'node:http'
import { encode } from '../transcript/codec.ts'
import { seq, sessionId } from '../transcript/ids.ts'
import type { Store } from '../transcript/store.ts'
import { textIn } from '../transcript/content.ts'
import { isKnown, type StoredEntry } from '../transcript/fact.ts'

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

const mostChars = 160

/** One entry in a line, for people who follow a session. */
export function describeEntry(entry: StoredEntry): string {
  if (!isKnown(entry)) return entry.unknown
  const { fact } = entry
  const words =
    'content' in fact
      ? textIn(fact.content as Parameters<typeof textIn>[0], ' ').replaceAll(/\s+/gu, ' ')
      : ''
  const calls =
    fact.type === 'assistant-message'
      ? fact.content
          .flatMap((block) => (block.type === 'tool_use' ? [block.name] : []))
          .map((name) => ` [${name}]`)
      : []
  const text =
    fact.type === 'turn-end'
      ? ` ${fact.outcome}${fact.failure === undefined ? '' : `: ${fact.failure.message}`}`
      : words === ''
        ? ''
        : ` ${words}`
  const cut = fact.type === 'assistant-message' && fact.partial === true ? ' (cut off)' : ''
  const line = `${fact.type}${cut}${calls.join('')}${text}`
  return line.length <= mostChars ? line : `${line.slice(0, mostChars).toWellFormed()}…`
}
