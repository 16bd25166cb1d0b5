// A summary with no model: lines taken from the structure of a span. Deterministic; every line is a quote or
// a count with its place, and nothing is put into anybody's mouth. The user's own words are not repeated here: they are
// kept verbatim beside the text (`keeping`).
import type { Part } from '../projection/view.ts'
import { defaults } from '../settings/defaults.ts'
import { readSpan, type Answer, type Call, type Reading, type Said } from './span-reading.ts'
import { callShape, leavesOf } from './call-shape.ts'
import { callsOnTasks, tasksOf } from './task-list.ts'
import { errorsOf } from './files.ts'
import { filesOf, isFileCall } from './files.ts'
import {
  about,
  isTask,
  mergeSections,
  newest,
  noSections,
  parseSections,
  unique,
  type Sections,
} from './sections.ts'
import { partsOf } from './summary.ts'
import { decisionWord, errorLine, isQuestion, lineOf, nextWord, sentencesOf } from './phrases.ts'

export interface ExtractOptions {
  /** Later messages stay as they are, so that what is open is said there. */
  readonly isFollowed: boolean
  /** The newest list where the span does not tell it alone; null where nothing was said of tasks. */
  readonly tasks?: readonly string[] | null | undefined
}

/** What a span leaves to be done, what earlier summaries carried along included. */
export function pendingOf(reading: Reading): readonly string[] {
  const tasks = listIn(reading)
  return [
    ...(tasks ?? reading.earlier.flatMap(earlierTasks)),
    ...openOf(reading, tasks, { isFollowed: true }),
  ]
}

/** The newest list of tasks; null where nothing was said of them since an earlier summary. */
export const listIn = (reading: Reading): readonly string[] | null =>
  tasksOf(reading.calls, tasksBefore(reading))

/** The tasks at the end of a span, said in it or before. */
export const tasksAfter = (reading: Reading): readonly string[] => listIn(reading) ?? tasksBefore(reading)

const tasksBefore = ({ earlier, tasks = [] }: Reading): readonly string[] =>
  earlier.map(earlierTasks).findLast((said) => said.length > 0) ?? tasks

const earlierTasks = ({ text }: Said): readonly string[] =>
  (parseSections(partsOf(text).rest)?.open ?? []).filter(isTask)

/** Everything worth a line, oldest first, what earlier summaries said included. `fitSections` makes it small. */
export const extract = (parts: readonly Part[], options: ExtractOptions): Sections =>
  sectionsOf(readSpan(parts), options)

/** The same of a span that was read before. */
export function sectionsOf(reading: Reading, options: ExtractOptions): Sections {
  let sections = noSections
  for (const { text } of reading.earlier) sections = mergeSections(sections, earlierOf(text))
  const onTasks = callsOnTasks(reading.calls, tasksBefore(reading))
  const others = reading.calls.filter((call) => !onTasks.has(call))
  const tasks = options.tasks === undefined ? listIn(reading) : options.tasks
  if (tasks !== null) sections = { ...sections, open: sections.open.filter((line) => !isTask(line)) }
  return mergeSections(sections, {
    ...noSections,
    outcomes: outcomesOf(reading),
    steps: stepsOf(reading),
    files: filesOf(reading.calls),
    commands: commandsOf(others),
    lookups: lookupsOf(others),
    errors: errorsOf(reading),
    open: [...(tasks ?? []).map((task) => lineOf(task)), ...openOf(reading, tasks, options)],
    standing: options.isFollowed ? [] : standingOf(reading),
  })
}

/** A text that others wrote is carried along as it is. */
function earlierOf(text: string): Sections {
  const { summary, rest } = partsOf(text)
  const ours = parseSections(rest)
  if (ours === null) return { ...noSections, earlier: [summary ?? text.trim()] }
  return summary === null ? ours : { ...ours, earlier: [...ours.earlier, summary] }
}

/** Sentences that state a decision, a reason or an outcome, and how each answer that ended a turn began. */
function outcomesOf({ answers }: Reading): string[] {
  const lines: string[] = []
  for (const answer of answers) {
    const sentences = sentencesOf(answer.text)
    const announced = new Set(announcedIn(answer, sentences))
    const decided = sentences.filter(
      (sentence) => decisionWord.test(sentence) && !isQuestion(sentence) && !announced.has(sentence),
    )
    // The first sentence of an end of a turn says what came out of it, in whatever language; a mere "Done." does not.
    const first = answer.isFinal
      ? sentences.slice(0, 1).filter((sentence) => !saysNothing.test(sentence) && !leadsOn(sentence))
      : []
    for (const sentence of unique([...first, ...decided])) lines.push(`${lineOf(sentence)} [${answer.at}]`)
  }
  return newest(lines)
}

/** A word or two in plain letters; in other scripts as many say something. */
const saysNothing = /^[^\w\P{ASCII}]*(?:\w+[^\w\P{ASCII}]*){0,2}$/u

/** A sentence for each call, as far as there are any that say something and decide nothing. */
function announcedIn({ calls }: Answer, sentences: readonly string[]): readonly string[] {
  const announced: string[] = []
  for (const sentence of sentences) {
    if (announced.length === calls) break
    if (!saysNothing.test(sentence) && !decisionWord.test(sentence)) announced.push(sentence)
  }
  return announced
}

/** What it leads to stands behind it, and not here. */
const leadsOn = (sentence: string): boolean => /[:：]$/u.test(sentence)

/** What the model said it was about to do, one sentence a call, and how that went: so that it is not done again. */
function stepsOf({ answers, calls }: Reading): string[] {
  const lines: string[] = []
  for (const answer of answers) {
    if (answer.calls === 0) continue
    const made = calls.slice(answer.after, answer.after + answer.calls)
    for (const [index, sentence] of announcedIn(answer, sentencesOf(answer.text)).entries())
      lines.push(`${lineOf(sentence)}${about}${failedAt(made[index]!) ? 'failed' : 'worked'} [${answer.at}]`)
  }
  return newest(lines)
}

/** Each command with its newest outcome and the last thing it said. */
function commandsOf(calls: readonly Call[]): string[] {
  const newestOf = new Map<string, { readonly call: Call; readonly count: number }>()
  for (const call of calls) {
    const { command, deed } = callShape(call)
    // One that only shows a file, or patches it, stands with the files.
    if (command === null || deed !== null || call.outcome === null) continue
    const count = (newestOf.get(command)?.count ?? 0) + 1
    newestOf.delete(command)
    newestOf.set(command, { call, count })
  }
  return [...newestOf].map(([command, { call, count }]) => {
    const { at, text } = call.outcome!
    const verdict = failedAt(call) ? 'failed' : 'worked'
    const often = count > 1 ? `, run ${count} times` : ''
    const last = lastLine(text)
    return `\`${lineOf(command, commandChars)}\`${about}${verdict} [${at}]${often}${last === '' ? '' : `: ${last}`}`
  })
}

const commandChars = 160

/** A shell that gives its exit code as text says so in the last lines. */
const failedAt = ({ outcome }: Call): boolean =>
  outcome !== null &&
  (outcome.isError || /\bexit(?:ed)?(?: with)?(?: code| status)?:? [1-9]/i.test(outcome.text.slice(-200)))

function lastLine(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const telling = lines.findLast((line) => errorLine.test(line) || /\d/.test(line)) ?? lines.at(-1) ?? ''
  return lineOf(telling, commandChars)
}

/** Searches, pages and calls of other tools, without their answers. */
function lookupsOf(calls: readonly Call[]): string[] {
  const lines: string[] = []
  for (const call of calls) {
    const { command, isTasks } = callShape(call)
    if (isFileCall(call) || command !== null || isTasks) continue
    lines.push(`${call.name} ${lineOf(leavesOf(call.input).join(' '), commandChars)} [${call.at}]`)
  }
  return newest(lines)
}

/** What a plan or the last answer leaves open. */
function openOf(
  { calls, answers, injected }: Reading,
  tasks: readonly string[] | null,
  { isFollowed }: ExtractOptions,
): string[] {
  const lines: string[] = []
  const isListed = tasks !== null && tasks.length > 0
  const plan = injected.findLast(({ text }) => /^\s*- \[ \] /m.test(text))
  if (!isListed && plan !== undefined) lines.push(...boxesOf(plan.text))
  const last = answers.at(-1)
  if (last === undefined || isFollowed) return lines
  // What was announced with a call was done by it; only an answer that came to an end leaves something open.
  if (!last.isFinal || last.after < calls.length) return lines
  if (!isListed && lines.length === 0) lines.push(...boxesOf(last.text))
  for (const sentence of sentencesOf(last.text))
    if (nextWord.test(sentence) || isQuestion(sentence)) lines.push(`${lineOf(sentence)} [${last.at}]`)
  return unique(lines)
}

const boxesOf = (text: string): string[] =>
  [...text.matchAll(/^\s*[-*] (\[[ x]\] .+)$/gim)].map((match) => lineOf(match[1]!))

/** The last words of the model and the calls that came after them. */
function standingOf({ answers, calls }: Reading): string[] {
  const last = answers.at(-1)
  const lines = last === undefined ? [] : [`said [${last.at}]: ${lastWords(last)}`]
  for (const call of calls.slice(Math.max(last?.after ?? 0, calls.length - lastCalls))) {
    const end = call.outcome === null ? 'no result' : failedAt(call) ? 'failed' : 'worked'
    lines.push(
      `called [${call.at}]: ${call.name} ${lineOf(leavesOf(call.input).join(' '), commandChars)} (${end})`,
    )
  }
  return lines
}

const lastCalls = 4

function lastWords({ text }: Answer): string {
  const most = defaults.compaction.standingChars
  const whole = text.trim().replaceAll(/\n{2,}/g, '\n')
  return (
    whole.length <= most ? whole : `${whole.slice(0, most / 2)}…\n…${whole.slice(-most / 2)}`
  ).toWellFormed()
}
