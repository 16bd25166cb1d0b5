// What a call changes in a file, for the person who is asked about it or reads the log: the lines that differ with a few
// around them, and where in the file they stand.
import { defaults } from '../../settings/defaults.ts'

export interface FileChange {
  /** As the call names it. */
  readonly file: string
  readonly kind: 'new' | 'overwrite' | 'edit'
  /** Lines of the file before. */
  readonly linesBefore: number
  /** The line, from 1, at which `before` and `after` begin. */
  readonly from: number
  /** The part of the file that differs, with some lines around it. */
  readonly before: string
  readonly after: string
}

export function fileChange(
  file: string,
  kind: FileChange['kind'],
  before: string | null,
  after: string,
): FileChange {
  const [old, next] = [linesOf(before ?? ''), linesOf(after)]
  let head = 0
  while (head < old.length && head < next.length && old[head] === next[head]) head++
  let tail = 0
  while (
    tail < old.length - head &&
    tail < next.length - head &&
    old[old.length - 1 - tail] === next[next.length - 1 - tail]
  )
    tail++
  const { contextLines } = defaults.tools
  const from = Math.max(0, head - contextLines)
  const rest = Math.max(0, tail - contextLines)
  return {
    file,
    kind,
    linesBefore: old.length,
    from: from + 1,
    before: old.slice(from, old.length - rest).join(''),
    after: next.slice(from, next.length - rest).join(''),
  }
}

/** Each with its end. */
const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? []
