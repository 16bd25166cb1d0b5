// The index: `MEMORY.md`, one line a memory, by topic. It is derived from the ledger and can be made again at any time.
// Law: it never grows past what is loaded, so nothing is ever cut when it is read; what has no room is left out when it
// is made, the oldest and the superseded first, and that is said to whoever wrote.
//
// Format. No frontmatter.
//
//   ## feedback
//   - [Title](file.md) — hook
//
//   (12 older memories are not listed; search this folder for them.)
import { defaults } from '../../settings/defaults.ts'
import { memoryTypes, type MemoryHead, type MemoryType } from '../memory.ts'

export interface IndexEntry {
  readonly file: string
  readonly head: MemoryHead
  /** When it was written; the newest stay longest. */
  readonly at: number
}

export interface Index {
  readonly text: string
  /** What found no room, newest first. */
  readonly dropped: readonly string[]
}

export interface IndexCaps {
  readonly lines: number
  readonly bytes: number
}
const standardCaps: IndexCaps = { lines: defaults.memory.indexLines, bytes: defaults.memory.indexBytes }

export function indexOf(
  entries: readonly IndexEntry[],
  today: string,
  caps: IndexCaps = standardCaps,
): Index {
  const valid = entries.filter(({ head }) => head.expires === null || head.expires > today)
  const superseded = new Set(valid.flatMap(({ head }) => head.supersedes))
  const ranked = [...valid].sort(
    (a, b) =>
      Number(superseded.has(a.file)) - Number(superseded.has(b.file)) ||
      b.at - a.at ||
      (a.file < b.file ? -1 : 1),
  )
  const topics = new Set<MemoryType | null>()
  const kept: IndexEntry[] = []
  // Room for the last line, which is needed as soon as one does not fit.
  let lines = 2
  let bytes = Buffer.byteLength(leftOut(ranked.length)) + 2
  for (const entry of ranked) {
    const isNew = !topics.has(entry.head.type)
    const more = Buffer.byteLength(lineOf(entry)) + 1 + (isNew ? headingOf(entry.head.type).length + 1 : 0)
    if (lines + (isNew ? 2 : 1) > caps.lines || bytes + more > caps.bytes) break
    lines += isNew ? 2 : 1
    bytes += more
    topics.add(entry.head.type)
    kept.push(entry)
  }
  const dropped = ranked.slice(kept.length).map(({ file }) => file)
  const parts = [...memoryTypes, null].flatMap((type) => {
    // By name, so that a memory that is only written again moves nothing.
    const own = kept.filter(({ head }) => head.type === type).sort((a, b) => (a.file < b.file ? -1 : 1))
    return own.length === 0 ? [] : [headingOf(type), ...own.map(lineOf)]
  })
  const all = dropped.length === 0 ? parts : [...parts, '', leftOut(dropped.length)]
  return { text: all.length === 0 ? '' : `${all.join('\n')}\n`, dropped }
}

const headingOf = (type: MemoryType | null): string => `## ${type ?? 'other'}`
const leftOut = (count: number): string =>
  `(${count} older memories are not listed; search this folder for them.)`

/** One line, at most so long; what is cut off stands in the file itself. */
function lineOf({ file, head }: IndexEntry): string {
  const title = shortened(
    plain(head.name === '' ? file : head.name),
    Math.floor(defaults.memory.indexLineChars / 3),
  )
  const start = `- [${title}](${encodeURI(file).replace(/[()]/g, encodeURIComponent)})`
  const hook = shortened(
    plain(head.description),
    Math.max(0, defaults.memory.indexLineChars - start.length - 3),
  )
  const since = /^since (\d{4}-\d{2}-\d{2}):/u.exec(head.doubtful ?? '')?.[1]
  const doubt = since === undefined ? '' : ` (doubtful since ${since})`
  return hook === '' ? `${start}${doubt}` : `${start} — ${hook}${doubt}`
}

const plain = (text: string): string =>
  text
    .replace(/[[\]<>]/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()

function shortened(text: string, chars: number): string {
  if (text.length <= chars) return text
  return chars < 2 ? '' : `${text.slice(0, chars - 1).trimEnd()}…`.toWellFormed()
}
