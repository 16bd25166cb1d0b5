// The body of a request: whole where it is small enough to be read, else what has come and the rest as it comes.
import type { IncomingMessage } from 'node:http'

export type Body =
  | { readonly isWhole: true; readonly bytes: Uint8Array }
  | { readonly isWhole: false; readonly rest: AsyncIterable<Uint8Array> }

/** All of a body, or what has come and the rest of it where that is more than is read. */
export async function bodyOf(incoming: IncomingMessage, most: number): Promise<Body> {
  const pieces: Buffer[] = []
  let length = 0
  const iterator = incoming[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  for (;;) {
    const next = await iterator.next()
    if (next.done === true) return { isWhole: true, bytes: Buffer.concat(pieces) }
    pieces.push(next.value)
    length += next.value.length
    if (length > most) return { isWhole: false, rest: both(pieces, iterator) }
  }
}

async function* both(first: readonly Buffer[], rest: AsyncIterator<Buffer>): AsyncGenerator<Uint8Array> {
  yield* first
  for (;;) {
    const next = await rest.next()
    if (next.done === true) return
    yield next.value
  }
}
