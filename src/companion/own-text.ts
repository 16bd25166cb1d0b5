// What the companion itself once said: each block has an id that is the same whenever it is asked for again, and is known
// by it wherever a client hands it back.
import { createHash } from 'node:crypto'

export type BlockKind = 'block' | 'remainder'

const idChars = 12

/** The id of what is said at one boundary of a session. */
export const blockId = (session: string, boundary: string, kind: BlockKind): string =>
  createHash('sha256')
    .update(JSON.stringify([session, boundary, kind]))
    .digest('hex')
    .slice(0, idChars)

const opening = /<companion id="[0-9a-f]{12}"[^>\n]*>/
const closing = '</companion>'

/** A text without what the companion said; one that was cut off ends there. Never read back as the user's. */
export function withoutOwnText(text: string): string {
  const parts: string[] = []
  let from = 0
  for (const { index } of text.matchAll(new RegExp(opening, 'g'))) {
    if (index < from) continue
    parts.push(text.slice(from, index))
    const end = text.indexOf(closing, index)
    from = end < 0 ? text.length : end + closing.length
  }
  return parts.length === 0 ? text : [...parts, text.slice(from)].join('').trim()
}
