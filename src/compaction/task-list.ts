// The tasks as calls have left them, from the shapes of calls and results alone: a list that is given whole, or tasks that are
// made and moved one by one, each with a number that the result names. One walk over the calls, however many tasks there are.
import { redact } from '../disk/redact.ts'
import { callShape, namedLeavesOf, stateOf, tasksIn } from './call-shape.ts'
import type { Call } from './span-reading.ts'

/** A call and what came of it. */
type Done = Pick<Call, 'name' | 'input' | 'outcome'>

interface Task {
  /** What later calls name it by; null of a list that is given whole. */
  readonly id: string | null
  readonly mark: string
  readonly text: string
}

/** Each under its number, in their order. */
interface Tasks {
  readonly all: Map<string, Task>
  readonly open: Set<string>
}

const taskLine = /^(\[[ >x~]\]) (?:#([\w-]+) )?(.*)$/su

function tasksFrom(lines: readonly string[]): Tasks {
  const tasks: Tasks = { all: new Map(), open: new Set() }
  for (const [index, line] of lines.entries()) {
    const [, mark, id = null, text] = taskLine.exec(line) ?? []
    // Without a number of its own no call can name it.
    const key = id === null || tasks.all.has(id) ? `line ${index}` : id
    if (mark !== undefined) put(tasks, key, { id, mark, text: text! })
  }
  return tasks
}

function put({ all, open }: Tasks, key: string, task: Task | null): void {
  if (task === null) all.delete(key)
  else all.set(key, task)
  if (task === null || task.mark === doneMark) open.delete(key)
  else open.add(key)
}

const lineOf = ({ id, mark, text }: Task): string => `${mark} ${id === null ? '' : `#${id} `}${text}`

/** What a line says of its task, without state and number. */
export const taskText = (line: string): string => taskLine.exec(line)?.[3] ?? line

export const isDone = (line: string): boolean => line.startsWith(doneMark)
const [newMark, doneMark] = ['[ ]', '[x]']

/** The newest list, each task with its state; `earlier` is how it stood before. Null where no call says anything of tasks. */
export function tasksOf(calls: readonly Done[], earlier: readonly string[] = []): readonly string[] | null {
  const { tasks, on } = walked(calls, earlier)
  return on.size === 0 ? null : [...tasks.all.values()].map(lineOf)
}

/** The calls that say something of tasks: they look nothing up and run nothing. */
export const callsOnTasks = (calls: readonly Done[], earlier: readonly string[] = []): ReadonlySet<Done> =>
  walked(calls, earlier).on

function walked(
  calls: readonly Done[],
  earlier: readonly string[],
): { readonly tasks: Tasks; readonly on: ReadonlySet<Done> } {
  const mentions = calls.flatMap((call) => mentionIn(call) ?? [])
  let tasks = tasksFrom(earlier)
  const makers = makersIn(mentions, tasks)
  const on = new Set<Done>()
  for (const one of mentions) {
    if (one.whole !== null) tasks = tasksFrom(one.whole)
    if (
      one.whole !== null ||
      isListed(tasks, one) ||
      isMade(tasks, one, makers) ||
      isMoved(tasks, one, makers)
    )
      on.add(one.call)
  }
  return { tasks, on }
}

/** What a call and its result say of tasks. */
interface Mention {
  readonly call: Done
  /** A list that was given whole. */
  readonly whole: readonly string[] | null
  /** What the result lists, a task to a line. */
  readonly listed: readonly Task[]
  /** The number that the result names and the call did not: of what it made. */
  readonly fresh: string | null
  /** In a sentence, as `#1`. */
  readonly isSaid: boolean
  /** What the result repeats of what the call was given, and the field it stood in. */
  readonly text: string | null
  readonly field: string | null
  /** The number that both name. */
  readonly known: string | null
  /** The state that the call gives; null where the task is gone, undefined where it says none. */
  readonly state: string | null | undefined
  /** Texts by their fields. */
  readonly given: ReadonlyMap<string, string>
}

const resultChars = 700
const mostText = 400
const mostFields = 12
/** A number as a sentence names it, or as JSON does. */
const numbers = /(?<![\w&])#([A-Za-z]*-?\d{1,6})\b|"\w*id"\s*:\s*"?([A-Za-z]*-?\d{1,6})\b/gi

const numbersIn = (text: string): readonly { readonly id: string; readonly isSaid: boolean }[] =>
  [...text.matchAll(numbers)].map(([, said, inJson]) => ({ id: said ?? inJson!, isSaid: said !== undefined }))

const nothing = {
  whole: null,
  listed: [],
  fresh: null,
  isSaid: false,
  text: null,
  field: null,
  known: null,
  state: undefined,
  given: new Map<string, string>(),
}

function mentionIn(call: Done): Mention | null {
  const { input, outcome } = call
  if (outcome === null || outcome.isError) return null
  if (callShape({ input }).isTasks) return { ...nothing, call, whole: tasksIn(input) }
  const listed = listedIn(outcome.text)
  // Most results are long or name none: what those calls were given is not looked at.
  if (outcome.text.length > resultChars || numbersIn(outcome.text).length === 0)
    return listed.length === 0 ? null : { ...nothing, call, listed }
  // What a call was given is read without its secrets.
  const result = redact(outcome.text).text
  const fields = namedLeavesOf(input)
  const [field, text] = repeatedIn(result, fields) ?? [null, null]
  // A text may name numbers of others.
  const named = numbersIn(text === null ? result : result.replace(text, () => ' '))
  const given = new Set(fields.map(([, value]) => value.replace(/^#/, '')))
  const fresh = named.find(({ id }) => !given.has(id))
  const isShort = fields.length <= mostFields
  return {
    whole: null,
    call,
    listed,
    fresh: fresh?.id ?? null,
    isSaid: fresh?.isSaid === true,
    text: text === null ? null : onOneLine(text),
    field,
    known: isShort ? (named.find(({ id }) => given.has(id))?.id ?? null) : null,
    state: isShort
      ? fields.map(([, value]) => stateOf(value)).find((state) => state !== undefined)
      : undefined,
    given: new Map(fields),
  }
}

const onOneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()

const leastText = 2

/** The longest text that the result repeats: several words, or what it ends with. */
function repeatedIn(
  result: string,
  fields: readonly (readonly [string, string])[],
): readonly [string, string] | null {
  const end = result.trimEnd()
  const repeated = fields.filter(
    ([, text]) =>
      text.length >= leastText &&
      text.length <= mostText &&
      !/^#?\d+$/.test(text) &&
      (/\S\s+\S/.test(text) ? result.includes(text) : end.endsWith(text)),
  )
  return repeated.toSorted(([, a], [, b]) => b.length - a.length)[0] ?? null
}

const listedLine = /^\W*#([A-Za-z]*-?\d{1,6})\b\W+([A-Za-z]+(?:[_-][A-Za-z]+)*)\b\W+(\S.*)$/
/** What a listing says of a task behind its text: whose it is, what it waits for. */
const listedEnd = /(?: \([\w-]+\))?(?: \[[^\]#]*#[^\]]*\])?$/

/** The tasks that a result lists: a number, a state and a text in each of its lines. */
function listedIn(result: string): readonly Task[] {
  if (!/^\W*#/.test(result)) return []
  const tasks: Task[] = []
  for (const line of result.trim().split('\n')) {
    const [, id, word, text] = listedLine.exec(line) ?? []
    const mark = stateOf(word ?? '')
    if (id === undefined || mark === undefined || mark === null) return []
    const own = text!.slice(0, 2 * mostText).replace(listedEnd, '')
    tasks.push({ id, mark, text: onOneLine(redact(own).text) })
  }
  return tasks
}

/** It lists tasks with their states, which hold no longer than until the next call. */
export const listsTasks = (result: string): boolean => listedIn(result).length > 0

/**
 * The tools that make tasks, each with the field of their texts. Others name in their result what they made, too (an issue, a
 * request to merge): the state of a task is changed by its number. Where none is changed yet a task's number counts on from
 * those that stood, from 1 at first.
 */
function makersIn(mentions: readonly Mention[], earlier: Tasks): ReadonlyMap<string, string> {
  const stood = [...earlier.all.values()].map(({ id }) => Number(id ?? 0)).filter(Number.isFinite)
  const next = String(stood.reduce((most, id) => Math.max(most, id), 0) + 1)
  const madeBy = new Map<string, readonly [string, string]>()
  const [counting, moved] = [new Map<string, string>(), new Map<string, string>()]
  for (const { call, fresh, isSaid, text, field, known, state } of mentions) {
    const maker = madeBy.get(known ?? '')
    if (fresh !== null && text !== null) {
      madeBy.set(fresh, [call.name, field!])
      if (isSaid && fresh === next) counting.set(call.name, field!)
    } else if (state !== undefined && maker !== undefined) moved.set(...maker)
  }
  return moved.size > 0 ? moved : counting
}

function isMade(tasks: Tasks, { call, fresh, text }: Mention, makers: ReadonlyMap<string, string>): boolean {
  if (fresh === null || text === null || !makers.has(call.name)) return false
  // New work begins: what is done is no part of it.
  if (tasks.open.size === 0) tasks.all.clear()
  put(tasks, fresh, null)
  put(tasks, fresh, { id: fresh, mark: newMark, text })
  return true
}

/** Another state, or other words in the field where they stood when the task was made. */
function isMoved(
  tasks: Tasks,
  { known, state, given }: Mention,
  makers: ReadonlyMap<string, string>,
): boolean {
  const task = known === null ? undefined : tasks.all.get(known)
  if (task === undefined) return false
  const field = [...makers.values()].find((one) => given.has(one))
  const text = field === undefined ? task.text : onOneLine(given.get(field)!)
  if (state === undefined && text === task.text) return false
  put(tasks, known!, state === null ? null : { ...task, mark: state ?? task.mark, text })
  return true
}

/** A list of somebody else's has numbers and states too: one of its tasks must be known. */
function isListed(tasks: Tasks, { listed }: Mention): boolean {
  const isKnown = ({ id, text }: Task): boolean => tasks.all.get(id!)?.text === text
  if (!listed.some(isKnown)) return false
  for (const task of listed) put(tasks, task.id!, task)
  return true
}
