// What a call is, seen from the shape of what it was given and never from the name of its tool or of its fields: which
// files it works on and how, which command it runs, which tasks it lists. Arguments may be wrapped in objects or in JSON.
import { jsonIn } from '../transcript/json.ts'
import { isRecord } from '../transcript/content.ts'
import { defaults } from '../settings/defaults.ts'
import { isShell, looksRun, patchMark, startsProgram } from './command-line.ts'
import { lineOf } from './phrases.ts'
import { toolCodeIn, type ToolCode } from './tool-code.ts'

export type Deed = 'read' | 'written' | 'edited'

export interface CallShape {
  /** As they were given; those inside a command or a patch included. */
  readonly files: readonly string[]
  readonly deed: Deed | null
  readonly command: string | null
  /** It lists tasks, and is nothing else. */
  readonly isTasks: boolean
}

export interface CallInput {
  readonly name?: string | undefined
  readonly input: Readonly<Record<string, unknown>>
}

/** Arguments are wrapped a few times; what nests deeper, as values or as JSON in texts, is somebody's trick and says nothing. */
const mostDepth = 32

/** Every text and number in what a call was given, JSON inside texts and code that calls tools opened; without what stands under some keys. */
export function leavesOf(input: object, without?: RegExp): readonly string[] {
  const leaves = leavesAt(input, without, 0)
  return withCodeOpened(leaves, (inputs) => leavesAt(inputs, without, 0))
}

/** A number that a call is given is a setting of that call, or was seen elsewhere: it shows nothing. */
export const isNumber = (leaf: string): boolean => /^-?\d+(?:\.\d+)?$/.test(leaf.trim())

/** The texts that a call was given, with what code among them gives to tools in place of that code. */
export function withCodeOpened(
  texts: readonly string[],
  textsIn: (inputs: ToolCode['inputs']) => readonly string[],
): readonly string[] {
  const code = codeAmong(texts)
  if (code === null) return texts
  const given = [...textsIn(code.inputs), ...code.texts]
  return texts.flatMap((text) => (text === code.text ? given : [text]))
}

/** The one text that is code which calls tools; what stands beside the name of a file goes into that file, whatever it looks like. */
function codeAmong(texts: readonly string[]): (ToolCode & { readonly text: string }) | null {
  if (texts.some(isFile)) return null
  for (const text of texts) {
    const code = isWord(text) ? null : toolCodeIn(text)
    if (code !== null) return { text, ...code }
  }
  return null
}

function leavesAt(value: unknown, without: RegExp | undefined, depth: number): string[] {
  if (depth > mostDepth) return []
  if (typeof value === 'string') {
    const inner = opened(value)
    return inner === null ? [value] : leavesAt(inner, without, depth + 1)
  }
  if (typeof value === 'number') return [String(value)]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    without?.test(key) === true ? [] : leavesAt(inner, without, depth + 1),
  )
}

/** Every text and number in what a call was given, with the name it stands under, JSON and code that calls tools opened. */
export function namedLeavesOf(value: unknown, name = '', depth = 0): readonly (readonly [string, string])[] {
  if (depth > mostDepth || value === null) return []
  if (typeof value === 'number') return [[name, String(value)]]
  if (typeof value === 'string') {
    const inner = opened(value) ?? toolCodeIn(value)?.inputs
    return inner === undefined ? [[name, value]] : namedLeavesOf(inner, name, depth + 1)
  }
  if (typeof value !== 'object') return []
  return Object.entries(value).flatMap(([key, inner]) => namedLeavesOf(inner, key, depth + 1))
}

/** A text that is JSON of an object or a list, as that. */
function opened(text: string): unknown {
  if (!/^\s*[{[]/.test(text) || !/[}\]]\s*$/.test(text)) return null
  const value = jsonIn(text)
  return typeof value === 'object' ? value : null
}

const mostScanned = 4000
const mostFiles = 8
const fileEnding = /[^/]\.[A-Za-z][A-Za-z0-9]{0,5}$/
const plainNames =
  /(?:^|\/)(?:Makefile|Dockerfile|Gemfile|Rakefile|Procfile|LICENSE|README|CODEOWNERS|\.[a-z]+(?:rc|ignore))$/
const pathShape = /^(?:[A-Za-z]:)?[\p{L}\p{N}_@~.+()[\]$-]*(?:[/\\][\p{L}\p{N}_@~.+()[\]$ -]*)*$/u
export const isFile = (text: string): boolean =>
  text.length < 400 &&
  !text.includes('\n') &&
  pathShape.test(text) &&
  (fileEnding.test(text) || plainNames.test(text)) &&
  !/^[\d.]+$/.test(text)
export const isWord = (text: string): boolean => /^[\w.-]{0,24}$/.test(text)

/** A list of words that starts a shell, or any program. */
function listCommand(value: unknown, depth = 0): string | null {
  if (depth > mostDepth) return null
  if (Array.isArray(value) && value.length > 1 && value.every((one) => typeof one === 'string')) {
    const words = value as readonly string[]
    if (isShell(words[0]!)) return words.find((one, at) => at > 0 && !one.startsWith('-')) ?? null
    return startsProgram(words[0]!) ? words.join(' ') : null
  }
  if (typeof value !== 'object' || value === null) return null
  for (const inner of Object.values(value)) {
    const found = listCommand(typeof inner === 'string' ? opened(inner) : inner, depth + 1)
    if (found !== null) return found
  }
  return null
}

const patchedFile = /^(?:\*\*\* (?:Update|Add|Delete) File: |\+\+\+ (?:b\/)?)(\S[^\n]*)$/gm
const shownFile = /^\s*(?:cd\s+\S+\s*(?:&&|;)\s*)?(?:cat|sed\s+-n|nl|head|tail|bat|less)\s(?!.*(?:<<|[^2]>))/
const writtenFile = /(?:^|\s)(?:cat\s*<<|tee\s|sed\s+-i|perl\s+-[a-z]*i)|[^2&]>>?\s*[\w./~-]+\.\w+/
const pathWord = /(?:[\w@~.-]*\/)*[\w@~.-]*\w\.[A-Za-z][A-Za-z0-9]{0,5}\b(?!\/)/g

// What tools mostly call what they are given says the same as its shape, and says it of short texts too.
const replacedKey =
  /^(?:old_string|old_str|oldText|old_text|oldString|new_string|new_str|newText|new_text|newString|edits)$/
const contentKey = /^(?:content|file_text|contents)$/
// `items.length` in a text that is replaced looks like a name of a file and is none.
const textKey =
  /^(?:content|file_text|contents|old_string|old_str|oldText|old_text|oldString|new_string|new_str|newText|new_text|newString)$/

/** A word beside the name of a file says what is done to that file, unless it is a program that runs, with its words or alone. */
function namedCommand(input: Readonly<Record<string, unknown>>, files: readonly string[]): string | null {
  const named = [input['command'], input['cmd']].find((value) => typeof value === 'string') ?? null
  if (named === null || files.length === 0 || !isWord(named)) return named
  const words = Object.values(input).find(isWordList) ?? []
  if (!startsProgram(named) || (words.length === 0 && showing.test(`${named} `))) return null
  return [named, ...words].join(' ')
}

const isWordList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string')

function namedDeed(input: Readonly<Record<string, unknown>>): Deed | null {
  const keys = Object.keys(input)
  if (keys.some((key) => replacedKey.test(key))) return 'edited'
  return keys.some((key) => contentKey.test(key) && typeof input[key] === 'string') ? 'written' : null
}

const showing = /(?:^|[;&|('"\s])(?:cat|sed|nl|head|tail|bat|less)\s/
const headChars = 400

/** Its result shows the text of a file, among other things perhaps. */
export const showsFile = ({ deed, command }: CallShape): boolean =>
  deed === 'read' || (command !== null && showing.test(command.slice(0, headChars)))

const shapes = new WeakMap<CallInput['input'], CallShape>()

/** A call never changes and is asked about in many places: what it was given is looked at once, as long as it lives. */
export function callShape({ input }: CallInput): CallShape {
  const known = shapes.get(input) ?? newShape(input)
  shapes.set(input, known)
  return known
}

function newShape(input: CallInput['input']): CallShape {
  // "find the fault" is a task and no command.
  const isTasks = tasksIn(input) !== null
  if (isTasks) return { files: [], deed: null, command: null, isTasks }
  // What a file is to hold runs nothing, whatever the file is called.
  const code = codeAmong(leavesAt(input, textKey, 0))
  return { ...(code === null ? shapeOf(input) : codeShape(code)), isTasks }
}

type Shape = Omit<CallShape, 'isTasks'>

/** All that code does with tools, as of one call: a change before all else. */
function codeShape({ inputs, texts, commands }: ToolCode): Shape {
  const shapes = [
    ...inputs.map(shapeOf),
    ...commands.map((command) => ({ ...commandShape(command), command })),
  ]
  // A patch may stand apart from the call that it is given to.
  const patched = patchShape(texts)
  const all = patched === null ? shapes : [patched, ...shapes]
  const change = all.find(isChange)
  const run = all.flatMap(({ command }) => command ?? [])
  const isRead = all.length > 0 && all.every(({ deed }) => deed === 'read')
  const isPatched = change !== undefined && change.command === null
  return {
    files: unique((change === undefined ? all : all.filter(isChange)).flatMap(({ files }) => files)),
    deed: change?.deed ?? (isRead ? 'read' : null),
    command: isPatched || run.length === 0 ? null : run.join('; '),
  }
}

function patchShape(texts: readonly string[]): Shape | null {
  const patch = texts.find((text) => patchMark.test(text))
  const files = patch === undefined ? [] : [...patch.matchAll(patchedFile)].map((match) => match[1]!.trim())
  return files.length === 0 ? null : { files: unique(files), deed: 'edited', command: null }
}

function shapeOf(input: CallInput['input']): Shape {
  const leaves = leavesAt(input, undefined, 0)
  const patched = patchShape(leaves)
  if (patched !== null) return patched
  const files = leavesAt(input, textKey, 0).filter(isFile)
  const texts = leaves.filter((text) => !files.includes(text) && !/^[-\d.]+$/.test(text))
  const command =
    namedCommand(input, files) ??
    listCommand(input) ??
    (files.length === 0 ? texts.find(looksRun) : undefined) ??
    null
  if (command !== null) return { ...commandShape(command), command }
  return {
    files: unique(files),
    deed:
      files.length === 0
        ? null
        : (namedDeed(input) ?? deedOn(texts.filter((text) => text !== input['command']))),
    command: null,
  }
}

function commandShape(command: string): Pick<CallShape, 'files' | 'deed'> {
  const head = command.slice(0, mostScanned)
  const files = unique([...head.matchAll(pathWord)].map(([path]) => path))
  if (files.length === 0) return { files, deed: null }
  if (shownFile.test(head)) return { files, deed: 'read' }
  return { files, deed: writtenFile.test(head) ? 'edited' : null }
}

/** What a call is about, in a few words. */
export function titleOf(
  { name, input }: { readonly name: string; readonly input: Readonly<Record<string, unknown>> },
  shape: CallShape,
): string {
  const { titleChars } = defaults.score
  // Without their states, which hold no more.
  const tasks = shape.isTasks ? tasksIn(input)!.map((task) => task.slice(markChars)) : null
  if (tasks !== null) return lineOf(`${name} ${tasks.join(', ')}`, titleChars)
  if (shape.deed !== null && shape.files.length > 0)
    return lineOf(shape.files.slice(0, 3).join(', '), titleChars)
  if (shape.command !== null) return `\`${lineOf(shape.command, titleChars)}\``
  return lineOf(`${name} ${leavesOf(input).join(' ')}`, titleChars)
}

/** It changes the files it names. */
export const isChange = ({ deed }: Pick<CallShape, 'deed'>): boolean =>
  deed === 'edited' || deed === 'written'

/** What is done to a file that is named beside these texts: nothing else shows it, one long text is it, two change it. */
function deedOn(texts: readonly string[]): Deed | null {
  const said = texts.filter((text) => !isWord(text) && !text.includes('*'))
  if (said.length === 0) return texts.length === 0 ? 'read' : null
  if (said.length >= 2 || texts.includes('')) return 'edited'
  return said[0]!.includes('\n') || said[0]!.length > shortText ? 'written' : null
}
const shortText = 120

const unique = (paths: readonly string[]): readonly string[] => [...new Set(paths)].slice(0, mostFiles)

// ---- tasks ----

/** The mark of a task by the word for its state; null where there is none any more. */
export const stateOf = (word: string): '[x]' | '[>]' | '[ ]' | null | undefined =>
  /^(?:deleted|removed)$/i.test(word) ? null : states.get(word.toLowerCase())

const states: ReadonlyMap<string, '[x]' | '[>]' | '[ ]'> = new Map([
  ...(['done', 'completed', 'complete', 'finished', 'cancelled', 'canceled', 'skipped'] as const).map(
    (state) => [state, '[x]'] as const,
  ),
  ...(['active', 'in_progress', 'in-progress', 'doing', 'started', 'running'] as const).map(
    (state) => [state, '[>]'] as const,
  ),
  ...(['pending', 'todo', 'to_do', 'open', 'not_started', 'not-started', 'planned', 'blocked'] as const).map(
    (state) => [state, '[ ]'] as const,
  ),
])

/**
 * The tasks that what a call was given lists, with their states: a list of things that each have a text and a state. Null
 * where it is no such list; one that was emptied is a list of nothing. What stands beside the name of a file goes into that
 * file, whatever it looks like.
 */
export const tasksIn = (value: unknown): readonly string[] | null => tasksAt(value, 0, true)

function tasksAt(value: unknown, depth: number, isAlone: boolean): readonly string[] | null {
  if (depth > mostDepth) return null
  if (typeof value === 'string') {
    const list = opened(value) ?? toolCodeIn(value)?.inputs
    return list === undefined ? null : tasksAt(list, depth + 1, isAlone)
  }
  if (typeof value !== 'object' || value === null) return null
  const inner: readonly unknown[] = Object.values(value)
  if (inner.some((one) => typeof one === 'string' && isFile(one))) return null
  const staysAlone = isAlone && inner.length === 1 && !Array.isArray(value)
  if (staysAlone && Array.isArray(inner[0]) && inner[0].length === 0) return []
  if (Array.isArray(value) && value.length > 0 && value.every(isRecord)) {
    const tasks = value.map((item) => taskOf(item as Readonly<Record<string, unknown>>))
    if (tasks.every((task) => task !== null)) return tasks
  }
  for (const [key, one] of Object.entries(value)) {
    const found = textKey.test(key) && typeof one === 'string' ? null : tasksAt(one, depth + 1, staysAlone)
    if (found !== null) return found
  }
  return null
}

/** One small word, or a name that ends with a number. */
const isLabel = /^(?:[a-z\d_-]+|[A-Za-z]+[-_]?\d+)$/

/** What stands before a task: its state. */
const markChars = '[ ] '.length

function taskOf(item: Readonly<Record<string, unknown>>): string | null {
  const texts = Object.values(item).filter((value) => typeof value === 'string')
  const state = texts.map((text) => states.get(text.toLowerCase())).find((sign) => sign !== undefined)
  const said = texts.filter((one) => !states.has(one.toLowerCase()) && /\S/.test(one) && !/^\d+$/.test(one))
  // A number of its own or how much it matters may stand before what is to be done.
  const text = said.find((one) => !isLabel.test(one)) ?? said[0]
  return state === undefined || text === undefined ? null : `${state} ${text.replaceAll(/\s+/g, ' ').trim()}`
}
