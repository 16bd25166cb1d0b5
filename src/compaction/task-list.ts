// The tasks as calls have left them, from the shapes of calls and results alone: a list that is given whole, or tasks that are
// made and moved one by one, each with a number that the result names.
import { callShape, leavesOf, stateOf, tasksIn } from './call-shape.ts'
import type { Call } from './span-reading.ts'

/** A call and what came of it. */
type Done = Pick<Call, 'name' | 'input' | 'outcome'>

interface Task {
  /** What later calls name it by; null of a list that is given whole. */
  readonly id: string | null
  readonly mark: string
  readonly text: string
}

const taskLine = /^(\[[ >x~]\]) (?:#([\w-]+) )?(.*)$/su

const tasksFrom = (lines: readonly string[]): readonly Task[] =>
  lines.flatMap((line) => {
    const [, mark, id = null, text] = taskLine.exec(line) ?? []
    return mark === undefined ? [] : [{ id, mark, text: text! }]
  })

const lineOf = ({ id, mark, text }: Task): string => `${mark} ${id === null ? '' : `#${id} `}${text}`

/** What a line says of its task, without state and number. */
export const taskText = (line: string): string => taskLine.exec(line)?.[3] ?? line

export const isDone = (line: string): boolean => line.startsWith(doneMark)
const doneMark = '[x]'

/** The newest list, each task with its state; `earlier` is how it stood before. Null where no call says anything of tasks. */
export function tasksOf(calls: readonly Done[], earlier: readonly string[] = []): readonly string[] | null {
  let tasks = tasksFrom(earlier)
  let isNew = false
  const makers = makersIn(calls, tasks)
  for (const call of calls) {
    if (call.outcome === null || call.outcome.isError) continue
    const now = callShape(call).isTasks ? tasksFrom(tasksIn(call.input)!) : afterOne(tasks, call, makers)
    isNew ||= now !== tasks
    tasks = now
  }
  return isNew ? tasks.map(lineOf) : null
}

function afterOne(tasks: readonly Task[], call: Done, makers: ReadonlySet<string>): readonly Task[] {
  const made = makers.has(call.name) ? madeBy(call) : null
  if (made !== null) {
    // New work begins: what is done is no part of it.
    const left = tasks.every(({ mark }) => mark === doneMark) ? [] : tasks
    return [...left.filter(({ id }) => id !== made.id), made]
  }
  const moved = moveBy(call, tasks)
  if (moved === null) return tasks
  return tasks.flatMap((task) => {
    if (task.id !== moved.id) return [task]
    return moved.mark === null ? [] : [{ ...task, mark: moved.mark }]
  })
}

/**
 * The tools that make tasks. Others name in their result what they made, too (an issue, a request to merge): a task's number is
 * one of this session's own, counted from 1, and its state is changed by its number.
 */
function makersIn(calls: readonly Done[], earlier: readonly Task[]): ReadonlySet<string> {
  const made = new Map<string, Task>()
  const makers = new Set<string>()
  const isNumbered = earlier.some(({ id }) => id !== null)
  for (const call of calls) {
    const one = madeBy(call)
    if (one !== null) {
      made.set(call.name, one)
      if (isNumbered || one.id === firstId) makers.add(call.name)
    } else for (const [name, task] of made) if (moveBy(call, [task]) !== null) makers.add(name)
  }
  return makers
}

const firstId = '1'
const resultChars = 400
const [leastText, mostText] = [3, 300]
const idIn = /(?:^|[\s(])#([A-Za-z]*-?\d{1,6})\b/

/** A short result that names a number and repeats one of the texts that the call was given. */
function madeBy({ input, outcome }: Done): Task | null {
  if (outcome === null || outcome.isError || outcome.text.length > resultChars) return null
  const id = idIn.exec(outcome.text)?.[1]
  if (id === undefined) return null
  const texts = leavesOf(input).filter(
    (text) =>
      text.length >= leastText &&
      text.length <= mostText &&
      text.includes(' ') &&
      outcome.text.includes(text),
  )
  const [first] = texts.toSorted((a, b) => b.length - a.length)
  return first === undefined ? null : { id, mark: '[ ]', text: first.replaceAll(/\s+/g, ' ').trim() }
}

const mostLeaves = 12

/** A state and the number of a task among few values; the state is null where the task is gone. */
function moveBy(
  { input }: Done,
  tasks: readonly Task[],
): { readonly id: string; readonly mark: string | null } | null {
  if (tasks.every(({ id }) => id === null)) return null
  const leaves = leavesOf(input)
  if (leaves.length > mostLeaves) return null
  const state = leaves.map(stateOf).find((found) => found !== undefined)
  const id = leaves
    .map((text) => text.replace(/^#/, ''))
    .find((text) => tasks.some((task) => task.id === text))
  return state === undefined || id === undefined ? null : { id, mark: state }
}
