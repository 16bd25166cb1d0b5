// What a call of Edit or Write would change, as the lines of a diff. Pure; the text is made safe by whoever shows it.
import { structuredPatch } from 'diff'
import { defaults } from '../../settings/defaults.ts'

export interface ChangeLine {
  readonly kind: 'added' | 'removed' | 'same' | 'place'
  readonly text: string
}

export interface Change {
  readonly file: string
  readonly added: number
  readonly removed: number
  readonly lines: readonly ChangeLine[]
}

/** The change a call asks for, or null where it asks for none. */
export function changeOf(name: string, input: unknown): Change | null {
  const fields = typeof input === 'object' && input !== null ? (input as Record<string, unknown>) : {}
  const file = fields['file_path']
  if (typeof file !== 'string') return null
  if (name === 'Edit') return between(file, textIn(fields, 'old_string'), textIn(fields, 'new_string'))
  if (name === 'Write') return between(file, '', textIn(fields, 'content'))
  return null
}

const textIn = (fields: Readonly<Record<string, unknown>>, key: string): string =>
  typeof fields[key] === 'string' ? fields[key] : ''

export function between(file: string, before: string, after: string): Change | null {
  const { diffMs, contextLines } = defaults.screen
  const patch = structuredPatch(file, file, before, after, undefined, undefined, {
    context: contextLines,
    timeout: diffMs,
  })
  // Too different to be compared in time: all of the old goes, all of the new comes.
  const lines = patch === undefined ? whole(before, after) : patch.hunks.flatMap(linesOf)
  if (lines.length === 0) return null
  const count = (kind: ChangeLine['kind']): number => lines.filter((line) => line.kind === kind).length
  return { file, added: count('added'), removed: count('removed'), lines }
}

function linesOf(hunk: {
  readonly oldStart: number
  readonly newStart: number
  readonly lines: readonly string[]
}): ChangeLine[] {
  const kinds: Readonly<Record<string, ChangeLine['kind']>> = { '+': 'added', '-': 'removed' }
  return [
    { kind: 'place', text: `@@ ${hunk.oldStart} → ${hunk.newStart} @@` },
    ...hunk.lines
      .filter((line) => !line.startsWith('\\'))
      .map((line): ChangeLine => ({ kind: kinds[line.charAt(0)] ?? 'same', text: line.slice(1) })),
  ]
}

const whole = (before: string, after: string): ChangeLine[] => [
  ...before.split('\n').map((text): ChangeLine => ({ kind: 'removed', text })),
  ...after.split('\n').map((text): ChangeLine => ({ kind: 'added', text })),
]
