// What the model probably meant when the text it wants to replace is not in the file: the same lines with other white
// space, or else the line most like the longest line it gave.
import { headOf } from '../outcome.ts'

const limits = { lines: 20_000, lineChars: 400, shownLines: 8, likeness: 0.5 }

/** A sentence for the error message, or an empty one when nothing is near. */
export function closestTo(wanted: string, text: string): string {
  const lines = text.split(/\r?\n/).slice(0, limits.lines)
  const asked = wanted.split(/\r?\n/)
  const loose = sameButSpace(asked, lines)
  if (loose !== null) {
    const found = lines.slice(loose, loose + asked.length)
    return `Lines ${loose + 1} to ${loose + asked.length} differ from it in white space only. They are:\n${shown(found)}`
  }
  const longest = asked.reduce((best, line) => (line.trim().length > best.trim().length ? line : best), '')
  const near = mostAlike(longest, lines)
  if (near === null) return ''
  const from = Math.max(0, near - asked.indexOf(longest))
  return `The nearest is at line ${near + 1}:\n${shown(lines.slice(from, from + Math.max(3, asked.length)))}`
}

const squeeze = (line: string) => line.replace(/\s+/g, ' ').trim()
const shown = (lines: readonly string[]) =>
  lines
    .slice(0, limits.shownLines)
    .map((line) => headOf(line, limits.lineChars))
    .join('\n')

function sameButSpace(asked: readonly string[], lines: readonly string[]): number | null {
  const wanted = asked.map(squeeze)
  if (wanted.every((line) => line === '')) return null
  const squeezed = lines.map(squeeze)
  for (let at = 0; at + wanted.length <= squeezed.length; at++) {
    if (wanted.every((line, step) => squeezed[at + step] === line)) return at
  }
  return null
}

function mostAlike(wanted: string, lines: readonly string[]): number | null {
  const asked = pairsOf(wanted)
  if (asked.size === 0) return null
  let [best, bestLine]: [number, number | null] = [limits.likeness, null]
  for (const [at, line] of lines.entries()) {
    const pairs = pairsOf(line)
    if (pairs.size === 0) continue
    let shared = 0
    for (const pair of pairs) if (asked.has(pair)) shared++
    const likeness = (2 * shared) / (asked.size + pairs.size)
    if (likeness > best) [best, bestLine] = [likeness, at]
  }
  return bestLine
}

function pairsOf(line: string): Set<string> {
  const plain = squeeze(line).slice(0, limits.lineChars).toLowerCase()
  const pairs = new Set<string>()
  for (let at = 0; at + 1 < plain.length; at++) pairs.add(plain.slice(at, at + 2))
  return pairs
}
