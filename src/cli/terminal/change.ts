// What Edit or Write does to a file, as the lines of a diff with the line numbers of the file. Pure; the text is made safe
// by whoever shows it.
import { structuredPatch } from 'diff'
import { defaults } from '../../settings/defaults.ts'
import type { FileChange } from '../../tools/files/file-change.ts'
import { fieldsOf } from '../../transcript/json.ts'
import { overwritten } from '../../tools/permission/question.ts'

export interface ChangeLine {
  readonly kind: 'added' | 'removed' | 'same' | 'place'
  readonly text: string
}

export interface Change {
  /** The file, what becomes of it, and how many lines come and go. */
  readonly title: string
  readonly lines: readonly ChangeLine[]
}

export const signs: Readonly<Record<ChangeLine['kind'], string>> = {
  added: '+',
  removed: '-',
  same: ' ',
  place: '',
}

export function diffOf(change: FileChange): Change {
  const { file, kind, linesBefore } = change
  const lines = diffLines(change)
  const isSame = lines.length === 0
  const fate = {
    new: isSame ? ' new file, empty' : ' new file',
    overwrite: isSame ? ` overwrites ${linesBefore} lines with the same text` : ` ${overwritten(change)}`,
    edit: '',
  }[kind]
  return { title: `${file}${fate} ${counts(lines)}`, lines }
}

/** What is known of a change that was made earlier: the words of its call, without the file around them. */
export function changeInCall(name: string, input: unknown): Change | null {
  const fields = fieldsOf(input)
  const text = (key: string): string => (typeof fields[key] === 'string' ? fields[key] : '')
  const file = text('file_path')
  if (file === '' || (name !== 'Edit' && name !== 'Write')) return null
  const [before, after] = name === 'Edit' ? [text('old_string'), text('new_string')] : ['', text('content')]
  const lines = diffLines({ from: 1, before, after, kind: 'new' }).filter(({ kind }) => kind !== 'place')
  return { title: `${file} ${counts(lines)}`, lines }
}

/** The whole change as text, for a question in plain lines. */
export const changeText = ({ title, lines }: Change): string =>
  [title, ...lines.map(({ kind, text }) => `${signs[kind]}${text}`)].join('\n')

function counts(lines: readonly ChangeLine[]): string {
  const count = (kind: ChangeLine['kind']): number => lines.filter((line) => line.kind === kind).length
  return `+${count('added')} −${count('removed')}`
}

function diffLines({ from, before, after, kind }: Pick<FileChange, 'from' | 'before' | 'after' | 'kind'>) {
  // Returns that every line has on both sides are the way of the file and no part of the change.
  const [old, next] =
    isReturned(before) && isReturned(after)
      ? [before.replaceAll('\r\n', '\n'), after.replaceAll('\r\n', '\n')]
      : [before, after]
  const patch = structuredPatch('', '', old, next, undefined, undefined, {
    context: defaults.tools.contextLines,
    timeout: defaults.screen.diffMs,
  })
  // Too different to be compared in time: all of the old goes, all of the new comes.
  if (patch === undefined) return whole(old, next)
  return patch.hunks.flatMap((hunk) => hunkLines(hunk, from - 1, kind === 'new'))
}

const isReturned = (text: string): boolean => !/(^|[^\r])\n/.test(text)

interface Hunk {
  readonly oldStart: number
  readonly oldLines: number
  readonly newStart: number
  readonly newLines: number
  readonly lines: readonly string[]
}

function hunkLines({ oldStart, oldLines, newStart, newLines, lines }: Hunk, skipped: number, isNew: boolean) {
  const kinds: Readonly<Record<string, ChangeLine['kind']>> = { '+': 'added', '-': 'removed', ' ': 'same' }
  const place = `@@ -${oldStart + skipped},${oldLines} +${newStart + skipped},${newLines} @@`
  const shown = lines
    // That a new file has no line end after its last line is no news.
    .filter((line) => !(isNew && line.startsWith('\\')))
    .map((line): ChangeLine => {
      const kind = kinds[line.charAt(0)]
      return kind === undefined ? { kind: 'place', text: line } : { kind, text: line.slice(1) }
    })
  return [{ kind: 'place' as const, text: place }, ...shown]
}

const whole = (before: string, after: string): ChangeLine[] => [
  ...before.split('\n').map((text): ChangeLine => ({ kind: 'removed', text })),
  ...after.split('\n').map((text): ChangeLine => ({ kind: 'added', text })),
]
