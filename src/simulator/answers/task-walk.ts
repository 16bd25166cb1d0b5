// Owns the decision what comes next in a task. The model keeps no state: what is done is what the visible
// conversation shows. Law: a step counts as done only by a label beside a finished call, or by the word of a summary;
// so work that a summary forgets is done again, and that can be counted. Steps are labelled `[name 3/12]` in the model's own words,
// so that they can be found again in whatever quotes them.
import type { WireBlock } from '../../model/wire.ts'
import { call, text } from '../answer.ts'
import { isContinuation, type Called, type Conversation } from './conversation.ts'
import { sectionsIn } from './sections.ts'
import { tasksIn, withoutTasks, type Act, type Condition, type Step, type Task } from './task.ts'
import type { Intent, Toolbox, Verb } from './toolbox.ts'

const mostAttempts = 3
const quotedChars = 60

/** The calls made for one step, in order. */
interface Attempts {
  readonly calls: readonly Called[]
  readonly last: Called
}
/** Everything the conversation shows of a task. `done` grows while one response is put together. */
interface Evidence {
  readonly done: Set<number>
  readonly attempts: ReadonlyMap<number, Attempts>
  readonly outcomes: ReadonlyMap<number, StepOutcome>
}

/** The task at hand: the last one in sight, else the one the caller gave. */
export function currentTask(conversation: Conversation, given: Task | null): Task | null {
  const visible = conversation.said
    .filter((item) => !item.injected || isContinuation(item.text))
    .flatMap((item) => tasksIn(item.text))
  return visible.at(-1) ?? given
}

/** The next response: what is said, and the calls that belong to it. Null when everything is done. */
export function nextResponse(
  task: Task,
  conversation: Conversation,
  toolbox: Toolbox,
): readonly WireBlock[] | null {
  if (task.faults.length > 0)
    return [text(`Task ${task.name} cannot be followed; unreadable: ${task.faults.join(' | ')}`)]
  const evidence = gather(task, conversation, toolbox)
  const lines: string[] = []
  const calls: WireBlock[] = []
  let previous = 0
  for (;;) {
    const step = nextStep(task, evidence)
    if (step === null || (calls.length > 0 && !(step.also && step.number === previous + 1))) break
    const again = calls.length === 0 ? readAgain(task, step, evidence, conversation, toolbox) : null
    if (again !== null) return again
    const block = blockFor(step.act, toolbox)
    lines.push(`${labelOf(task, step)} ${sentence(step.act, block)}`)
    if (block !== null) calls.push(block)
    evidence.done.add(step.number)
    previous = step.number
    if (step.act.kind === 'stop') break
  }
  return lines.length === 0 ? null : [text(lines.join('\n')), ...calls]
}

/** What is left, in words; for summaries and notes. */
export function remainingSteps(task: Task, conversation: Conversation, toolbox: Toolbox): readonly string[] {
  const { done } = gather(task, conversation, toolbox)
  const furthest = Math.max(0, ...done)
  const open = task.steps.filter(
    (step) => !done.has(step.number) && !(isOptional(step) && step.number < furthest),
  )
  return open.map(
    (step) => `${describe(step.act)}${step.condition === null ? '' : ' (only in a certain case)'}`,
  )
}

const isTool = (act: Act): boolean => act.kind === 'use' || act.kind === 'call'
const isOptional = (step: Step): boolean => step.condition !== null || !isTool(step.act)

function nextStep(task: Task, evidence: Evidence): Step | null {
  const furthest = Math.max(0, ...evidence.done)
  for (const step of task.steps) {
    if (evidence.done.has(step.number) || (isOptional(step) && step.number < furthest)) continue
    if (step.condition === null) return step
    const anchor = anchorOf(task, step)
    if (anchor === null) continue
    const holds = isMet(step.condition, anchor, evidence)
    // Nobody remembers how it went: the only honest way to know is to do it again.
    if (holds === null) return anchor
    if (holds) return step
  }
  return null
}

/** A condition speaks of the last step without one that used a tool. */
const anchorOf = (task: Task, step: Step): Step | null =>
  task.steps.findLast(
    (other) => other.number < step.number && other.condition === null && isTool(other.act),
  ) ?? null

function isMet(condition: Condition, anchor: Step, evidence: Evidence): boolean | null {
  const result = evidence.attempts.get(anchor.number)?.last.result ?? null
  if (condition.when === 'shows') return result === null ? null : result.text.includes(condition.text)
  const outcome = result === null ? evidence.outcomes.get(anchor.number) : outcomeOf(result)
  return outcome === undefined ? null : outcome === condition.when
}

/** A label beside a finished call, or the word of a summary; nothing else makes a step done. */
function gather(task: Task, conversation: Conversation, toolbox: Toolbox): Evidence {
  const attempts = new Map<number, Attempts>()
  const done = new Set<number>()
  for (const { at, text: reply } of conversation.replied) {
    const calls = conversation.called.filter((called) => called.at === at)
    let used = 0
    for (const { step, line } of labelled(task, reply)) {
      if (!isTool(step.act) || line.includes('] skipped:')) {
        done.add(step.number)
        continue
      }
      const called = calls[used]
      used += 1
      if (called === undefined) continue
      const all = [...(attempts.get(step.number)?.calls ?? []), called]
      attempts.set(step.number, { calls: all, last: called })
      if (isSettled(called, toolbox) || all.length >= mostAttempts) done.add(step.number)
    }
  }
  const reported = reportedSteps(task, conversation)
  for (const number of reported.done) done.add(number)
  return { done, attempts, outcomes: reported.outcomes }
}

/** Answered, and not with "it may not have run" or "read it first". */
const isSettled = (called: Called, toolbox: Toolbox): boolean =>
  called.result !== null &&
  !(
    called.result.isError &&
    (/no result|interrupted|aborted|not run|cut off/iu.test(called.result.text) || wantsRead(called, toolbox))
  )

function wantsRead(called: Called, toolbox: Toolbox): boolean {
  const verb = toolbox.intentOf(called)?.verb
  return (
    (verb === 'edit' || verb === 'write') &&
    called.result?.isError === true &&
    /\bread\b/iu.test(called.result.text)
  )
}

function readAgain(
  task: Task,
  step: Step,
  evidence: Evidence,
  conversation: Conversation,
  toolbox: Toolbox,
): readonly WireBlock[] | null {
  const last = evidence.attempts.get(step.number)?.last
  if (last === undefined || !wantsRead(last, toolbox)) return null
  const path = toolbox.intentOf(last)?.path
  const wasRead = conversation.called.some((called) => {
    const intent = called.at > last.at ? toolbox.intentOf(called) : null
    return intent?.verb === 'read' && intent.path === path
  })
  const block = wasRead || path === undefined ? null : toolbox.callFor({ verb: 'read', path })
  if (block === null) return null
  return [
    text(`[${task.name} ${step.number}/${task.steps.length} again] reading ${path} first, as the tool asks.`),
    block,
  ]
}

function blockFor(act: Act, toolbox: Toolbox): WireBlock | null {
  if (act.kind === 'use') return toolbox.callFor(act.intent)
  return act.kind === 'call' ? call(act.tool, act.input) : null
}

function sentence(act: Act, block: WireBlock | null): string {
  if (act.kind === 'say' || act.kind === 'stop') return act.text
  return block === null ? `skipped: no offered tool can do this (${describe(act)})` : `${describe(act)}.`
}

function describe(act: Act): string {
  if (act.kind === 'say' || act.kind === 'stop') return `Saying "${act.text.slice(0, quotedChars)}"`
  return act.kind === 'call' ? `Calling ${act.tool}` : `${gerunds[act.intent.verb]} ${objectOf(act.intent)}`
}

type StepOutcome = 'failed' | 'passed'

const labelOf = (task: Task, step: Step): string => `[${task.name} ${step.number}/${task.steps.length}]`

export const gerunds: Readonly<Record<Verb, string>> = {
  read: 'Reading',
  write: 'Writing',
  edit: 'Editing',
  run: 'Running',
  search: 'Searching for',
  list: 'Listing',
}

/** What a step is known by in prose. */
const objectOf = (intent: Intent): string => intent.command ?? intent.pattern ?? intent.path ?? ''

/** The steps of a task that a text labels, line by line: one line speaks of one step. */
function labelled(task: Task, reply: string): readonly { readonly step: Step; readonly line: string }[] {
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

interface ReportedSteps {
  readonly done: ReadonlySet<number>
  readonly outcomes: ReadonlyMap<number, StepOutcome>
}

/** What the texts given to the model say was done: by label, or, where there are no labels, by verb and object. */
function reportedSteps(task: Task, conversation: Conversation): ReportedSteps {
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
