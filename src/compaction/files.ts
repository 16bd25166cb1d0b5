// The files a span worked on, each with its last state, and what went wrong in it.
import { callShape, leavesOf, type CallInput, type Deed } from './call-shape.ts'
import { countLines, type Call, type Outcome, type Reading } from './span-reading.ts'
import { about, unique } from './sections.ts'
import { errorOf, lineOf, sentencesOf } from './phrases.ts'

/** The file that a call names for itself; files inside a command are the command's. */
export function fileOf(call: CallInput): string | null {
  const { files, command } = callShape(call)
  return command === null ? (files[0] ?? null) : null
}

/** What a call does to the file it names. */
export function deedOf(call: CallInput): Deed | null {
  const { deed, command } = callShape(call)
  return command === null ? deed : null
}

export const isFileCall = (call: CallInput): boolean => {
  const { files, deed } = callShape(call)
  return files.length > 0 && deed !== null
}

interface State {
  readonly reads: number
  readonly changes: number
  readonly last: string
}

export function filesOf(calls: readonly Call[]): string[] {
  const files = new Map<string, State>()
  for (const call of calls) {
    const { files: paths, deed } = callShape(call)
    if (deed === null || call.outcome === null) continue
    for (const path of paths) {
      const before = files.get(path) ?? { reads: 0, changes: 0, last: '' }
      files.delete(path)
      files.set(path, after(before, call, deed))
    }
  }
  return [...files].map(([path, { reads, changes, last }]) => {
    const counts = [reads > 1 ? `read ${reads} times` : '', changes > 1 ? `changed ${changes} times` : '']
    return `${path}${about}${[last, ...counts].filter((text) => text !== '').join(', ')}`
  })
}

function after(before: State, call: Call, deed: Deed): State {
  const { at, isError, lines } = call.outcome!
  // A failed attempt leaves the file as it was; that it failed stands among the errors.
  if (isError) return before.last === '' ? { ...before, last: `${attempt[deed]} failed [${at}]` } : before
  if (deed === 'read')
    // Reading does not change what was last done to it.
    return {
      ...before,
      reads: before.reads + 1,
      last: before.changes > 0 ? before.last : `read, ${counted(lines)} [${at}]`,
    }
  return { ...before, changes: before.changes + 1, last: `${deed}, ${sizeOf(call)} [${at}]` }
}

function sizeOf({ input }: Call): string {
  const whole = input['content'] ?? input['file_text']
  if (typeof whole === 'string') return counted(countLines(whole))
  const { old_string: out, new_string: into } = input
  if (typeof out !== 'string' || typeof into !== 'string') return 'several places'
  return `${counted(countLines(out))} became ${countLines(into)}`
}

const counted = (lines: number): string => `${lines} line${lines === 1 ? '' : 's'}`
const attempt = { read: 'a read', written: 'a write', edited: 'an edit' } as const

// What went wrong in a span, and what followed: the next words of the model and whether the same was done again.

export function errorsOf({ calls, answers }: Reading): string[] {
  const lines: string[] = []
  const later = new Map<string, Outcome>()
  let said = answers.length
  // From the end, so that what followed is known when its cause is met.
  for (const call of calls.toReversed()) {
    const { outcome } = call
    if (outcome === null) continue
    while (said > 0 && answers[said - 1]!.at > outcome.at) said--
    const target = targetOf(call)
    const same = `${call.name} ${target}`
    if (outcome.isError) {
      const next = answers[said]
      const then = next === undefined ? '' : `; then: ${lineOf(sentencesOf(next.text)[0] ?? '', followChars)}`
      lines.push(`${same}: ${errorOf(outcome.text)} [${outcome.at}]${then}${again(later.get(same))}`)
    }
    later.set(same, outcome)
  }
  return unique(lines.reverse())
}

const followChars = 160

const targetOf = (call: Call): string => {
  const { command, files } = callShape(call)
  // Calls of other tools are the same only with the same input.
  return lineOf(command ?? files[0] ?? leavesOf(call.input).join(' '), followChars)
}

function again(next: Outcome | undefined): string {
  if (next === undefined) return ''
  return next.isError ? `; failed again [${next.at}]` : `; later it worked [${next.at}]`
}
