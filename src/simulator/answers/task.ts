// Owns the task script: the small form in which a person tells the rule-based model what to do.
//
//   <task name="cart">
//   1. read src/cart.js                        look at a file
//   2. also search "round\(" in src            in the same response as the step before
//   3. list **/*.js
//   4. run node --test
//   5. if failed: edit src/cart.js "a" -> "b"  if passed / if shows "text": on the last step without a condition
//   6. edit src/cart.js                        longer texts stand between the marks
//   <<<
//   old
//   ===
//   new
//   >>>
//   7. write notes.txt                         <<< content >>>, likewise
//   8. call Snip {"ids":["a"]}                 any tool by name
//   9. stop Shall I go on?                     says it and waits for the user
//   10. say Done.
//   </task>
//
// The numbers are for the reader; steps count in order. A name stands for one task: what is done under a name stays done.
import { jsonIn } from '../rules/shape.ts'
import { digest } from '../answer.ts'
import { isRecord } from '../rules/shape.ts'
import type { Intent } from './toolbox.ts'

export type Act =
  | { readonly kind: 'use'; readonly intent: Intent }
  | { readonly kind: 'call'; readonly tool: string; readonly input: Readonly<Record<string, unknown>> }
  | { readonly kind: 'say'; readonly text: string }
  | { readonly kind: 'stop'; readonly text: string }

export type Condition =
  | { readonly when: 'failed' | 'passed' }
  | { readonly when: 'shows'; readonly text: string }

export interface Step {
  /** From 1. */
  readonly number: number
  readonly act: Act
  readonly condition: Condition | null
  readonly also: boolean
}

export interface Task {
  readonly name: string
  readonly steps: readonly Step[]
  /** Lines that could not be read; a task with faults is not followed. */
  readonly faults: readonly string[]
}

// An element never reaches over the beginning of another: a copy that was cut short does not swallow the next one.
const element = /<task(?:\s+name="([^"]*)")?\s*>((?:(?!<task\b)[\s\S])*?)<\/task>/giu
const nameChars = 8

/** Every task in a text, in order. */
export function tasksIn(text: string): readonly Task[] {
  return [...text.matchAll(element)].map((match) => parseTask(match[1] ?? '', match[2] ?? ''))
}

/** The text without the tasks it quotes: what remains can be read as a statement. */
export const withoutTasks = (text: string): string =>
  text
    .replace(element, ' ')
    .replace(
      /^\W*\d+\.\s+(?:if .*: )?(?:also )?(?:read|search|list|run|edit|write|call|say|stop) .*$/gmu,
      ' ',
    )

/** Reads a task that a prompt carries for the rule model. */
export function parseTask(name: string, body: string): Task {
  const lines = unquoted(body.split('\n'))
  const steps: Step[] = []
  const faults: string[] = []
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at]?.trim() ?? ''
    if (line === '') continue
    const long = lines[at + 1]?.trim() === '<<<' ? longTexts(lines, at + 2) : null
    const step = parseStep(line, long?.texts ?? [], steps.length + 1)
    if (step === null) faults.push(line)
    else steps.push(step)
    if (long !== null) at = long.end
  }
  const label = name.trim().replace(/[^\w-]+/gu, '-')
  return { name: label === '' ? `task-${digest(body.trim()).slice(0, nameChars)}` : label, steps, faults }
}

/** A task quoted in a summary may carry a margin; it is taken off so that long texts are exact again. */
function unquoted(lines: readonly string[]): readonly string[] {
  const filled = lines.filter((line) => line.trim() !== '')
  const margins = filled.map((line) => /^(?:[ \t]*> ?|[ \t]+)/u.exec(line)?.[0] ?? '')
  const shortest = margins.reduce(
    (least, margin) => (margin.length < least.length ? margin : least),
    margins[0] ?? '',
  )
  return lines.map((line) => (line.startsWith(shortest) ? line.slice(shortest.length) : line))
}

function longTexts(
  lines: readonly string[],
  from: number,
): { readonly texts: readonly string[]; readonly end: number } {
  const texts: string[][] = [[]]
  for (let at = from; at < lines.length; at += 1) {
    const mark = lines[at]?.trim()
    if (mark === '>>>') return { texts: texts.map((part) => part.join('\n')), end: at }
    if (mark === '===') texts.push([])
    else texts.at(-1)?.push(lines[at] ?? '')
  }
  return { texts: texts.map((part) => part.join('\n')), end: lines.length }
}

function parseStep(line: string, long: readonly string[], number: number): Step | null {
  const bare = line.replace(/^(?:\d+[.)]|[-*])\s+/u, '')
  const conditional = /^if (failed|passed|shows ("(?:[^"\\]|\\.)*")): *(.*)$/iu.exec(bare)
  const rest = conditional?.[3] ?? bare
  const also = /^also /iu.test(rest)
  const words = /^(\w+)(?:\s+(.*))?$/u.exec(rest.replace(/^also /iu, ''))
  const act = words === null ? null : parseAct((words[1] ?? '').toLowerCase(), words[2] ?? '', long)
  return act === null ? null : { number, act, condition: parseCondition(conditional), also }
}

function parseCondition(match: RegExpExecArray | null): Condition | null {
  if (match === null) return null
  if (match[2] !== undefined) return { when: 'shows', text: fromQuotes(match[2]) }
  return { when: match[1]?.toLowerCase() === 'failed' ? 'failed' : 'passed' }
}

function parseAct(verb: string, rest: string, long: readonly string[]): Act | null {
  if (verb === 'say' || verb === 'stop') return { kind: verb, text: rest }
  if (rest === '') return null
  switch (verb) {
    case 'read':
      return { kind: 'use', intent: { verb, path: rest } }
    case 'list':
      return { kind: 'use', intent: { verb, pattern: rest } }
    case 'run':
      return { kind: 'use', intent: { verb, command: rest } }
    case 'search':
      return parseSearch(rest)
    case 'edit':
      return parseEdit(rest, long)
    case 'write':
      return long.length === 0
        ? null
        : { kind: 'use', intent: { verb, path: rest, content: `${long.join('\n===\n')}\n` } }
    case 'call':
      return parseCall(rest)
    default:
      return null
  }
}

function parseSearch(rest: string): Act {
  const match = /^("(?:[^"\\]|\\.)*"|\S+)(?: in (.+))?$/u.exec(rest)
  const pattern = match?.[1] ?? rest
  // A pattern is taken as written: its backslashes belong to the regular expression.
  const bare = pattern.startsWith('"') ? pattern.slice(1, -1).replaceAll('\\"', '"') : pattern
  return { kind: 'use', intent: { verb: 'search', pattern: bare, path: match?.[2] } }
}

function parseEdit(rest: string, long: readonly string[]): Act | null {
  const inline = /^(\S+)\s+("(?:[^"\\]|\\.)*")\s*(?:->|→)\s*("(?:[^"\\]|\\.)*")$/u.exec(rest)
  const [from, to] = inline === null ? long : [fromQuotes(inline[2] ?? ''), fromQuotes(inline[3] ?? '')]
  if (from === undefined || to === undefined) return null
  return { kind: 'use', intent: { verb: 'edit', path: inline?.[1] ?? rest, old: from, new: to } }
}

function parseCall(rest: string): Act | null {
  const match = /^(\S+)\s*(\{.*\})?$/u.exec(rest)
  if (match === null) return null
  const input = jsonIn(match[2] ?? '{}')
  return isRecord(input) ? { kind: 'call', tool: match[1] ?? '', input } : null
}

function fromQuotes(quoted: string): string {
  const value = jsonIn(quoted)
  return typeof value === 'string' ? value : quoted.slice(1, -1)
}
