// What went wrong in a span, and what followed: the next words of the model and whether the same was done again.
import { fileOf } from './files.ts'
import type { Call, Outcome, Reading } from './reading.ts'
import { unique } from './sections.ts'
import { errorLine, lineOf, sentencesOf } from './words.ts'

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

/** The line of a text that tells what went wrong. */
export function errorOf(text: string): string {
  const lines = text.split('\n')
  return lineOf(lines.find((line) => errorLine.test(line)) ?? lines.find((line) => line.trim() !== '') ?? '')
}

const targetOf = (call: Call): string => {
  const { command } = call.input
  return lineOf(fileOf(call) ?? (typeof command === 'string' ? command : ''), followChars)
}

function again(next: Outcome | undefined): string {
  if (next === undefined) return ''
  return next.isError ? `; failed again [${next.at}]` : `; later it worked [${next.at}]`
}
