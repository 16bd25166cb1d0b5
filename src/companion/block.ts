// The text that stands behind another program's compaction: words the user typed, and names and counts of the work. Pure:
// the same ledger gives the same bytes. It is read with the rank of a system message, so nothing but typed words is
// quoted (not a model's, not a tool's, not a page's), and what is quoted can neither end its block nor open another.
import { defaults } from '../settings/defaults.ts'
import { around, defused } from '../transcript/fence.ts'
import type { Block, BlockInput, BlockItem, FileAtWork, TypedWords, WayBack } from './block-input.ts'
import { createHash } from 'node:crypto'
import { isPlainPath, isProgramName, plainLine } from './clean.ts'
import { byWorth, quotedWords, quoteOf, rulesIn, rulesQuote, sightOf, type Quote } from './words.ts'

const limits = defaults.companion

/** What is said at once after a compaction. */
export const blockOf = (input: BlockInput): Block => made(input, 'block', input.budget ?? limits.blockChars)

/** What an audit found missing beside summary, kept messages and block, which `shown` holds: said once, at the next hook. */
export const remainderOf = (input: BlockInput & { readonly shown: string }): Block =>
  made(input, 'remainder', input.budget ?? limits.remainderChars)

/** Codex keeps every message of the user itself. */
const keepsWords = /^codex/

type BlockKind = 'block' | 'remainder'

const idChars = 12

/** The id of what is said at one boundary of a session: the same whenever it is asked for again. */
const blockId = (session: string, boundary: string, kind: BlockKind): string =>
  createHash('sha256')
    .update(JSON.stringify([session, boundary, kind]))
    .digest('hex')
    .slice(0, idChars)

const intro: Readonly<Record<BlockKind, string>> = {
  block:
    'After the compaction, what the user typed before it, word for word, and names from the work. No new requests; where the user says otherwise later, that counts.',
  remainder:
    'What the user typed before the last compaction and its summary left out. No new requests; where the user says otherwise later, that counts.',
}

const headings: Readonly<Record<Quote['kind'], string>> = {
  newest: 'Newest request:',
  first: 'First task:',
  rules: 'Rules, newest first:',
  words: 'Also said, in order:',
  task: 'Open tasks:',
  file: 'Files read:',
  failure: 'Failed last:',
}

/** What was changed stands apart from what was only read. */
const changedHeading = 'Files changed:'

function made(input: BlockInput, kind: BlockKind, budget: number): Block {
  const id = blockId(input.session, input.boundary, kind)
  const attributes = {
    id,
    boundary: input.boundary.slice(0, boundaryChars),
    ...(kind === 'block' ? {} : { kind }),
  }
  const frame = around('companion', attributes, [intro[kind], leftLine(longCount), wayLine(input.wayBack)])
  const room = new Room(budget - frame.length - blockMargin)
  const isShown = sightOf(input.shown ?? '')
  const files = (input.files ?? []).filter(({ path }) => isPlainPath(path, limits.pathChars))
  const words = keepsWords.test(input.client) ? [] : quotedWords(input.typed)
  takeWords(
    room,
    words,
    isShown,
    () => takeTasks(room, input, isShown, kind),
    files.map(({ path }) => path),
  )
  if (kind === 'block') {
    takeFiles(room, files.slice(0, limits.files), input.folder, isShown)
    takeFailures(room, input)
  }
  if (room.included.length === 0) return { id, text: '', included: [], left: room.left }
  const unquoted = room.left.filter(({ kind: of }) => of === 'words' || of === 'rules').length
  const parts = [intro[kind], ...room.sections(), leftLine(unquoted), wayLine(input.wayBack)]
  return {
    id,
    text: around(
      'companion',
      attributes,
      parts.filter((part) => part !== ''),
    ),
    included: room.included,
    left: room.left,
  }
}

const boundaryChars = 60
const longCount = 99_999
/** Line ends and counts that grow while it is filled. */
const blockMargin = 20

/** Newest request, first task, rules, tasks, other words: each gets what those before it left. */
function takeWords(
  room: Room,
  words: readonly TypedWords[],
  isShown: (text: string) => boolean,
  tasks: () => void,
  files: readonly string[],
): void {
  const open = new Set(words.filter(({ text }) => !isShown(text)))
  const whole = (kind: Quote['kind'], one: TypedWords | undefined): void => {
    if (one !== undefined && open.has(one) && room.quote(quoteOf(kind, one))) open.delete(one)
  }
  whole('newest', words.at(-1))
  whole('first', words[0])
  for (const one of [...open].toReversed()) {
    const rules = rulesIn(one).filter((rule) => !isShown(rule))
    if (rules.length === 0) continue
    if (one.text.length <= limits.ruleMessageChars && room.quote(quoteOf('rules', one))) open.delete(one)
    else room.quote(rulesQuote(one, rules))
  }
  tasks()
  const standing = room.included.map(({ text }) => text)
  for (const one of byWorth([...open], { words, files, standing })) whole('words', one)
  for (const one of open) {
    const { order, text } = one
    if (room.hasSentencesOf(order)) continue
    room.leave({ kind: rulesIn(one).length > 0 ? 'rules' : 'words', form: 'whole', order, text })
  }
}

/** A model writes the list, so its words stand only where the user typed the same; the others are counted. */
function takeTasks(
  room: Room,
  { tasks = [], typed }: BlockInput,
  isShown: (text: string) => boolean,
  kind: BlockKind,
): void {
  if (tasks.length === 0) return
  const wasTyped = sightOf(
    typed
      .map(({ text }) => text)
      .join('\n')
      .toLowerCase(),
  )
  const started = tasks.filter(({ isStarted }) => isStarted === true).length
  if (kind === 'block')
    room.line('task', `${tasks.length} on the list${started === 0 ? '' : `, ${started} of them begun`}`)
  for (const { text } of tasks.slice(0, limits.tasks)) {
    const line = plainLine(text).slice(0, limits.taskChars).toWellFormed()
    if (line.length >= leastTaskChars && wasTyped(line.toLowerCase()) && !isShown(line))
      room.line('task', defused(line))
  }
}

/** A shorter one stands in any text. */
const leastTaskChars = 8

function takeFailures(room: Room, { failures = [] }: BlockInput): void {
  const seen = new Set<string>()
  for (const { program, exitCode } of failures) {
    if (!isProgramName(program) || seen.size >= limits.failures) continue
    const code = exitCode !== null && Number.isInteger(exitCode) ? ` (exit ${exitCode})` : ''
    if (seen.has(`${program}${code}`)) continue
    seen.add(`${program}${code}`)
    room.line('failure', `${program}${code}`)
  }
}

/** Whole paths, each alone on its line, as calls name them: a client's tools want them so. */
function takeFiles(
  room: Room,
  files: readonly FileAtWork[],
  folder: string | undefined,
  isShown: (text: string) => boolean,
): void {
  const above = folder !== undefined && isPlainPath(folder, limits.pathChars) ? `${folder}/` : ''
  const line = ({ path }: FileAtWork): string => (path.startsWith('/') ? path : `${above}${path}`)
  for (const file of files)
    if (!isShown(line(file)))
      room.line('file', line(file), (file.edits ?? 0) > 0 ? changedHeading : undefined)
}

const leftLine = (count: number): string =>
  count === 0 ? '' : `Not quoted for want of room: ${count} more of the user's messages.`

const wayPath = /^[\p{L}\p{N}_.@~+:\\/ -]{1,300}$/u

function wayLine(way: WayBack | undefined): string {
  if (way === undefined || !wayPath.test(way.file)) return ''
  return `What came before can be read: ${defused(way.file)}, lines ${Math.trunc(way.from)}-${Math.trunc(way.to)}.`
}

/** A line end, and what marks it as one of a list. */
const lineExtra = 3

/** What was taken, what it costs and what did not fit. */
class Room {
  readonly #quotes: Quote[] = []
  readonly #lines: { readonly kind: Quote['kind']; readonly heading: string; readonly line: string }[] = []
  readonly left: BlockItem[] = []
  #room: number

  constructor(room: number) {
    this.#room = room
  }

  get included(): readonly BlockItem[] {
    return [
      ...this.#quotes.map(({ kind, form, order, text }) => ({ kind, form, order, text })),
      ...this.#lines.map(({ kind, line }) => ({ kind, form: 'whole' as const, text: line })),
    ]
  }

  hasSentencesOf = (order: number): boolean =>
    this.#quotes.some((quote) => quote.order === order && quote.form === 'sentences')

  leave(item: BlockItem): void {
    this.left.push(item)
  }

  /** Whether it fits; a message whose sentences stand gives their room for itself. */
  quote(quote: Quote): boolean {
    const at = this.#quotes.findIndex(({ order, form }) => order === quote.order && form === 'sentences')
    const freed = at < 0 ? 0 : this.#quotes[at]!.written.length + 1
    const cost = quote.written.length + 1 + this.#heading(quote.kind) - freed
    if (cost > this.#room) return false
    this.#room -= cost
    if (at >= 0) this.#quotes.splice(at, 1)
    this.#quotes.push(quote)
    return true
  }

  line(kind: Quote['kind'], line: string, heading: string = headings[kind]): void {
    const isOpen = this.#lines.some((one) => one.heading === heading)
    const cost = line.length + lineExtra + (isOpen ? 0 : heading.length + 1)
    if (cost > this.#room) {
      this.left.push({ kind, form: 'whole', text: line })
      return
    }
    this.#room -= cost
    this.#lines.push({ kind, heading, line })
  }

  /** Opened headings are paid once; one that is emptied again stays paid. */
  #heading(kind: Quote['kind']): number {
    return this.#quotes.some((one) => one.kind === kind) ? 0 : headings[kind].length + 1
  }

  sections(): readonly string[] {
    const quotes = (kind: Quote['kind'], order: readonly Quote[]): readonly string[] => {
      const own = order.filter((quote) => quote.kind === kind).map(({ written }) => written)
      return own.length === 0 ? [] : [headings[kind], ...own]
    }
    const lines = (heading: string, mark: string): readonly string[] => {
      const own = this.#lines.filter((one) => one.heading === heading).map(({ line }) => `${mark}${line}`)
      return own.length === 0 ? [] : [heading, ...own]
    }
    const inOrder = [...this.#quotes].sort((a, b) => a.order - b.order)
    return [
      ...quotes('newest', inOrder),
      ...quotes('first', inOrder),
      ...quotes('rules', inOrder.toReversed()),
      ...quotes('words', inOrder),
      ...lines(headings.task, '- '),
      ...lines(changedHeading, ''),
      ...lines(headings.file, ''),
      ...lines(headings.failure, '- '),
    ]
  }
}
