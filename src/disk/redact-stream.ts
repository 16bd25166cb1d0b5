// Redacts text that comes in pieces. It holds back as much as a secret could still reach into, so that the pieces together
// read as if the whole had been redacted at once. Only two things are cut without looking back: a private key longer
// than any real one, and an unbroken word longer than what is held.
import { redact, type FoundSecret } from './redact.ts'

export interface RedactingStream {
  /** What can be given away after this piece. */
  push(piece: string): string
  /** The whole lines among what is held, unless a private key has begun in them: for those who look while it comes in. */
  flushLines(): string
  /** The rest. */
  end(): string
  readonly found: readonly FoundSecret[]
}

const pendingChars = 16_384
const keyChars = 2 * pendingChars

export function redactingStream(): RedactingStream {
  const found: FoundSecret[] = []
  let pending = ''
  const give = (length: number): string => {
    const done = redact(pending.slice(0, length))
    pending = pending.slice(length)
    found.push(...done.found)
    return done.text
  }
  return {
    found,
    push(piece) {
      pending += piece
      return pending.length < pendingChars ? '' : give(safeCut(pending))
    },
    flushLines: () => (pending.includes('\n') ? give(safeCut(pending)) : ''),
    end: () => give(pending.length),
  }
}

/** A place that no secret crosses: behind a line, and before a private key that has not ended yet. */
function safeCut(text: string): number {
  const lines = text.lastIndexOf('Private-Lines:')
  if (lines >= 0 && text.length - lines < keyChars && !text.includes('Private-MAC:', lines)) return lines
  const key = text.lastIndexOf('-----BEGIN ')
  const keyEnd = key >= 0 && text.length - key < keyChars ? endOfKey(text, key) : 0
  if (keyEnd === null) return key
  const line = text.lastIndexOf('\n') + 1
  if (line < keyEnd) return keyEnd
  // A login and its password may stand on two lines (netrc).
  const pair = text.lastIndexOf('login', line)
  if (line > 0) return pair > 0 && line - pair < 200 ? text.lastIndexOf('\n', pair) + 1 || line : line
  if (text.length < 2 * pendingChars) return 0
  const gap = Math.max(
    text.lastIndexOf(' '),
    text.lastIndexOf(','),
    text.lastIndexOf('"'),
    text.lastIndexOf("'"),
  )
  return gap > 0 ? gap : text.length
}

/** Behind its last line, if that is there whole. */
function endOfKey(text: string, key: number): number | null {
  const foot = text.indexOf('-----END ', key)
  const end = foot < 0 ? -1 : text.indexOf('-----', foot + '-----END '.length)
  return end < 0 ? null : end + '-----'.length
}
