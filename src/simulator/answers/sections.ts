// Owns the reading of headed text: the sections a prompt asks for, and the sections a summary or a notes file has.
// Pure. A heading is recognised by its form (`# Title`, `1. Title:`, `**Title**`), never by its wording.

export interface Section {
  readonly title: string
  /** The heading line as it stands. */
  readonly heading: string
  /** Everything below the heading, up to the next one, as it stands. */
  readonly body: string
}

const titleChars = 80
const leastAsked = 3

/** The sections of a text that has them; what stands before the first heading belongs to none. */
export function sectionsIn(text: string, forms: 'any' | 'hash' = 'any'): readonly Section[] {
  const sections: { title: string; heading: string; lines: string[] }[] = []
  let fence: string | null = null
  let number = 0
  for (const line of text.split('\n')) {
    const mark = /^\s*("""|```)/u.exec(line)?.[1]
    if (mark !== undefined && (fence === null || fence === mark)) fence = fence === null ? mark : null
    const plain = fence !== null || mark !== undefined || (forms === 'hash' && !line.startsWith('#'))
    const heading = plain ? null : readHeading(line, number + 1)
    if (heading === null) {
      sections.at(-1)?.lines.push(line)
      continue
    }
    if (heading.number !== null) number = heading.number
    sections.push({ title: heading.title, heading: line, lines: [] })
  }
  return sections.map(({ title, heading, lines }) => ({ title, heading, body: lines.join('\n') }))
}

/** A numbered line is a heading only as the next of its row, so that lists inside a section stay inside. */
function readHeading(
  line: string,
  expected: number,
): { readonly title: string; readonly number: number | null } | null {
  const hashes = /^#{1,6}\s+(.+)$/u.exec(line)
  if (hashes !== null)
    return { title: shortTitle((hashes[1] ?? '').replace(/^\d+[.)]\s*/u, '')), number: null }
  const bold = /^\*\*([^*]+)\*\*:?\s*$/u.exec(line)
  if (bold !== null) return { title: shortTitle((bold[1] ?? '').replace(/^\d+[.)]\s*/u, '')), number: null }
  const numbered = /^(\d+)[.)]\s+(.+)$/u.exec(line)
  if (numbered === null || Number(numbered[1]) !== expected) return null
  return { title: shortTitle(numbered[2] ?? ''), number: expected }
}

/** The titles a prompt asks for, in its order and wording: the longest list of short titles it holds. */
export function askedSections(text: string): readonly string[] {
  const rows = [numberedRow(text), headingRow(text), bulletRow(text), inlineRow(text)]
  const longest = rows.reduce((best, row) => (row.length > best.length ? row : best), [])
  return longest.length >= leastAsked ? longest : []
}

function numberedRow(text: string): readonly string[] {
  let best: string[] = []
  let row: string[] = []
  for (const match of text.matchAll(/^[ \t]*(\d+)[.)][ \t]+(.+)$/gmu)) {
    const number = Number(match[1])
    if (number === 1) row = []
    else if (number !== row.length + 1) continue
    row.push(shortTitle(match[2] ?? ''))
    if (row.length > best.length) best = row
  }
  return best
}

const headingRow = (text: string): readonly string[] =>
  [...text.matchAll(/^[ \t]*#{1,6}[ \t]+(.+)$/gmu)].map((match) => shortTitle(match[1] ?? ''))

const bulletRow = (text: string): readonly string[] =>
  [...text.matchAll(/^[ \t]*[-*•][ \t]+(?:\*\*([^*\n]+)\*\*|([^:\n]{3,60}):)/gmu)].map((match) =>
    shortTitle(match[1] ?? match[2] ?? ''),
  )

/** "Sections: a; b; c" in running text. */
function inlineRow(text: string): readonly string[] {
  const match = /\b(?:sections?|headings?|parts|headers)\b[^:\n]{0,60}:\s*([^\n]+)/iu.exec(text)
  if (match === null) return []
  const list = match[1] ?? ''
  const pieces = list.split(list.includes(';') ? ';' : ',')
  return pieces.map((piece) => shortTitle(piece.replace(/^\s*and\s+/iu, ''))).filter((piece) => piece !== '')
}

/** A title ends where its explanation begins. */
function shortTitle(line: string): string {
  const plain = line.replaceAll('**', '').replaceAll('`', '').trim()
  const cut = plain.split(/:(?:\s|$)|\s[-–—]\s|\s\(|\.(?:\s|$)/u)[0] ?? plain
  return cut.trim().slice(0, titleChars)
}
