// What a change removes from a file and what it puts in. What was removed is in no file any more, so no later edit quotes it,
// and what such a call leaves as it was stands in what it puts in.
import { isFile, isWord, leavesOf } from './call-shape.ts'
import { patchMark } from './command-line.ts'

/** A text that a call replaces, and what it puts there. */
export interface Sides {
  readonly old: string
  readonly fresh: string
}

// What tools mostly call them says it of short texts too; others are known by their number and order.
const oldKey = /^old_?(?:string|str|text)$/i
const freshKey = /^new_?(?:string|str|text)$/i

export function sidesOf(input: object): readonly Sides[] {
  const named = namedSides(input, 0)
  if (named.length > 0) return named
  const texts = Object.values(input).filter((value): value is string => typeof value === 'string')
  const [old, fresh, ...more] = texts.filter((text) => !isFile(text) && !isWord(text))
  const isChange = fresh !== undefined && more.length === 0 && texts.some(isFile)
  return isChange && !patchMark.test(old!) ? [{ old: old!, fresh }] : []
}

const mostDepth = 8

function namedSides(value: object, depth: number): readonly Sides[] {
  const entries = Object.entries(value) as [string, unknown][]
  const under = (name: RegExp): unknown => entries.find(([key]) => name.test(key))?.[1]
  const [old, fresh] = [under(oldKey), under(freshKey)]
  if (typeof old === 'string' && typeof fresh === 'string') return [{ old, fresh }]
  if (depth >= mostDepth) return []
  return entries.flatMap(([, inner]) =>
    typeof inner === 'object' && inner !== null ? namedSides(inner, depth + 1) : [],
  )
}

/** Lines without white space at their ends; those that say next to nothing stand everywhere. */
export interface ChangedLines {
  /** Removed, and not put in again by the same call. */
  readonly out: ReadonlySet<string>
  readonly into: ReadonlySet<string>
}

export function changedLines(input: Readonly<Record<string, unknown>>): ChangedLines {
  const out = new Set<string>()
  const into = new Set<string>()
  const note = (text: string, lines: Set<string>): void => {
    for (const line of text.split('\n')) if (line.trim().length >= leastLine) lines.add(line.trim())
  }
  const patch = leavesOf(input).find((text) => patchMark.test(text))
  if (patch === undefined)
    for (const { old, fresh } of sidesOf(input)) {
      note(old, out)
      note(fresh, into)
    }
  else
    for (const line of patch.split('\n')) {
      if (/^-(?!--)/.test(line)) note(line.slice(1), out)
      if (/^\+(?!\+\+)/.test(line)) note(line.slice(1), into)
    }
  for (const line of into) out.delete(line)
  return { out, into }
}

const leastLine = 4
