// Owns the traces a task leaves in a conversation: the label of a step, how it went, and what a text says of it. Steps
// are labelled `[name 3/12]` in the model's own words, so that they can be found again in whatever quotes them. Pure.
import { isContinuation, type Conversation } from './conversation.ts'
import { sectionsIn } from './sections.ts'
import { withoutTasks, type Step, type Task } from './task.ts'
import type { Intent, Verb } from './toolbox.ts'

export type StepOutcome = 'failed' | 'passed'

export const labelOf = (task: Task, step: Step): string =>
  `[${task.name} ${step.number}/${task.steps.length}]`

export const gerunds: Readonly<Record<Verb, string>> = {
  read: 'Reading',
  write: 'Writing',
  edit: 'Editing',
  run: 'Running',
  search: 'Searching for',
  list: 'Listing',
}

/** What a step is known by in prose. */
export const objectOf = (intent: Intent): string => intent.command ?? intent.pattern ?? intent.path ?? ''

/** The steps of a task that a text labels, line by line: one line speaks of one step. */
export function labelled(
  task: Task,
  reply: string,
): readonly { readonly step: Step; readonly line: string }[] {
  return reply.split('\n').flatMap((line) => {
    const step = task.steps.find((candidate) => line.includes(labelOf(task, candidate)))
    return step === undefined ? [] : [{ step, line }]
  })
}

/** An exit code decides where one is told; then the error flag; then what test runners print. */
export function outcomeOf(result: { readonly text: string; readonly isError: boolean }): StepOutcome {
  const exit = /\bexit(?:ed)?(?: with)?(?: code| status)\s*[:=]?\s*(\d+)/iu.exec(result.text)
  if (exit !== null) return Number(exit[1]) === 0 ? 'passed' : 'failed'
  if (result.isError) return 'failed'
  return /\bfail(?:ed|ures?|ing)?:?\s+[1-9]|\b[1-9]\d*\s+(?:tests? )?(?:failed|failing|failures?)\b/iu.test(
    result.text,
  )
    ? 'failed'
    : 'passed'
}

/** Every labelled line in sight with how it went, oldest first; summaries carry them on. */
export function labelledLines(conversation: Conversation): readonly string[] {
  const label = /\[[\w-]+ \d+\/\d+\]/u
  const earlier = conversation.said.flatMap((item) =>
    item.text.split('\n').filter((line) => label.test(line) && !isOpenLabel(line)),
  )
  const seen = conversation.replied.flatMap(({ at, text: reply }) => {
    const calls = conversation.called.filter((called) => called.at === at)
    const lines = reply.split('\n').filter((line) => label.test(line))
    return lines.map((line, index) => {
      const result = calls[index - (lines.length - calls.length)]?.result ?? null
      return result === null ? line : `${line} → ${outcomeOf(result)}`
    })
  })
  return [...new Set([...earlier.map((line) => line.replace(/^[\s>*-]+/u, '')), ...seen])]
}

export interface ReportedSteps {
  readonly done: ReadonlySet<number>
  readonly outcomes: ReadonlyMap<number, StepOutcome>
}

/** What the texts given to the model say was done: by label, or, where there are no labels, by verb and object. */
export function reportedSteps(task: Task, conversation: Conversation): ReportedSteps {
  const texts = conversation.said.map((item) => withoutTasks(item.text))
  const outcomes = new Map<number, StepOutcome>()
  let reached = 0
  for (const { step, line } of texts.flatMap((part) => labelled(task, part))) {
    if (isOpenLabel(line)) continue
    reached = Math.max(reached, step.number)
    const outcome = /→ (failed|passed)/u.exec(line)?.[1]
    if (outcome === 'failed' || outcome === 'passed') outcomes.set(step.number, outcome)
  }
  if (reached === 0) return reportedInProse(task, texts.filter(isContinuation))
  return {
    done: new Set(task.steps.map((step) => step.number).filter((number) => number <= reached)),
    outcomes,
  }
}

const isOpen = (line: string): boolean =>
  /\b(pending|to do|todo|next|not yet|remain\w*|still open|not done)\b/iu.test(line)

/** Only what stands before a label can say that it is still open; behind it are the step's own words. */
const isOpenLabel = (line: string): boolean => isOpen(line.slice(0, line.indexOf('[')))

const pastForms: Readonly<Record<Verb, RegExp>> = {
  read: /\b(read|viewed|opened|inspected|looked at)\b/iu,
  write: /\b(wrote|written|created|added)\b/iu,
  edit: /\b(edited|changed|updated|modified|replaced|fixed)\b/iu,
  run: /\b(ran|run|executed|commands?)\b/iu,
  search: /\b(searched|grepped|looked for)\b/iu,
  list: /\b(listed|globbed|found)\b/iu,
}

/** The kth step of a kind on one object is done when some section tells of it k times. */
function reportedInProse(task: Task, texts: readonly string[]): ReportedSteps {
  const sections = texts.flatMap((value) => sectionsIn(value)).filter(({ title }) => !isOpen(title))
  const done = new Set<number>()
  const outcomes = new Map<number, StepOutcome>()
  const times = new Map<string, number>()
  for (const { act, number } of task.steps) {
    if (act.kind !== 'use') continue
    const { verb } = act.intent
    const object = objectOf(act.intent)
    const ordinal = (times.get(`${verb} ${object}`) ?? 0) + 1
    times.set(`${verb} ${object}`, ordinal)
    const reported = sections.map(({ title, body }) =>
      body
        .split('\n')
        .filter(
          (line) => line.includes(object) && !isOpen(line) && pastForms[verb].test(`${title}: ${line}`),
        ),
    )
    const line = reported.find((lines) => lines.length >= ordinal)?.[ordinal - 1]
    if (line === undefined) continue
    done.add(number)
    if (/\bfail/iu.test(line)) outcomes.set(number, 'failed')
    else if (/\b(?:pass|succe|green|worked|fine)/iu.test(line)) outcomes.set(number, 'passed')
  }
  return { done, outcomes }
}
