// The frontmatter of a memory. Format:
//
//   ---
//   name: short title
//   description: one specific line
//   type: user | feedback | project | reference
//   triggers: [words a user would type, …]        optional, as are the next two
//   supersedes: [older.md]
//   expires: 2026-03-01
//   doubtful: "since 2026-03-01: why"             set by consolidation
//   ---
//   text
//
// Keys and comments we do not know are kept byte for byte: a change touches the lines of the keys it changes. What is
// no YAML because a model forgot quotes ("description: use when: …") is still read, line by line.
import { isMap, isScalar, parseDocument, stringify, type Document, type Scalar } from 'yaml'
import { memoryTypes, noHead, type MemoryHead, type MemoryType } from '../memory.ts'

export interface MemoryText {
  readonly head: MemoryHead
  readonly body: string
  /** The lines between the fences, or null where there are none. */
  readonly front: string | null
  /** What a reader should know: no frontmatter, no YAML, an unknown type. */
  readonly problems: readonly string[]
}

const fence = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)(?:^|\r?\n|(?<=\n))(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/

export function readMemoryText(text: string): MemoryText {
  const match = fence.exec(text)
  if (match === null)
    return {
      head: noHead,
      body: text,
      front: null,
      problems: ['it has no frontmatter (name, description, type)'],
    }
  const front = match[1]!
  const { values, problem } = valuesIn(front)
  const type = textOf(values['type']).trim().toLowerCase()
  const doubt = oneLine(values['doubtful'])
  const head: MemoryHead = {
    name: oneLine(values['name']),
    description: oneLine(values['description']),
    type: isType(type) ? type : null,
    triggers: listOf(values['triggers']),
    supersedes: listOf(values['supersedes']),
    expires: dayIn(values['expires']),
    ...(doubt === '' ? {} : { doubtful: doubt }),
  }
  const problems = [
    ...(problem === null ? [] : [problem]),
    ...(type !== '' && head.type === null ? [`${JSON.stringify(type)} is not a memory type`] : []),
  ]
  return { head, body: text.slice(match[0].length), front, problems }
}

const isType = (text: string): text is MemoryType => memoryTypes.some((type) => type === text)

/** The same text with these keys set; everything else stays as it was, byte for byte. */
export function withFields(
  text: string,
  fields: Readonly<Record<string, string | readonly string[]>>,
): string {
  const match = fence.exec(text)
  const end = text.includes('\r\n') ? '\r\n' : '\n'
  if (match === null) {
    const lines = Object.entries(fields).map(([key, value]) => lineOf(key, value))
    return ['---', ...lines, '---', text].join(end)
  }
  let front = match[1]!
  for (const [key, value] of Object.entries(fields)) front = withField(front, key, value, end)
  const at = match[0].indexOf(match[1]!, match[0].indexOf('---') + 3)
  return text.slice(0, at) + front + text.slice(at + match[1]!.length)
}

/** The same text without a key. */
export function withoutField(text: string, key: string): string {
  const match = fence.exec(text)
  if (match === null) return text
  const at = match[0].indexOf(match[1]!, match[0].indexOf('---') + 3)
  const front = match[1]!.replace(new RegExp(`(?:^|\\r?\\n)${reachOf(key)}`), '')
  return text.slice(0, at) + front.replace(/^\r?\n/, '') + text.slice(at + match[1]!.length)
}

/** A key begins at the start of a line and reaches to the next line that is not indented; its comment lines stay. */
function withField(front: string, key: string, value: string | readonly string[], end: string): string {
  const line = new RegExp(`(?<=^|\\n)${reachOf(key)}`)
  if (line.test(front)) return front.replace(line, () => lineOf(key, value))
  const gap = front === '' || front.endsWith('\n') ? '' : end
  return `${front}${gap}${lineOf(key, value)}`
}

// Lines end at a line feed alone: YAML has the separators of Unicode inside a value, where a dot and `^` would stop.
const reachOf = (key: string): string =>
  `${key}[ \\t]*:[^\\r\\n]*(?:\\r?\\n(?:[ \\t]+[^\\r\\n]*|-[ \\t][^\\r\\n]*))*`

const lineOf = (key: string, value: string | readonly string[]): string =>
  stringify(
    { [key]: value },
    { lineWidth: 0, collectionStyle: typeof value === 'string' ? 'any' : 'flow' },
  ).trimEnd()

interface Values {
  readonly values: Readonly<Record<string, unknown>>
  readonly problem: string | null
}

function valuesIn(front: string): Values {
  const document = parseDocument(front, { uniqueKeys: false, logLevel: 'silent' })
  const values = document.errors.length === 0 ? fromDocument(document, front) : null
  return values === null
    ? { values: fromLines(front), problem: 'its frontmatter is not clean YAML and was read line by line' }
    : { values, problem: null }
}

function fromDocument(document: Document, front: string): Record<string, unknown> | null {
  const { contents } = document
  if (contents === null) return {}
  if (!isMap(contents)) return null
  const values = record()
  for (const { key, value } of contents.items) {
    if (!isScalar(key) || typeof key.value !== 'string') continue
    values[key.value] = isScalar(value)
      ? scalarText(writtenIn(value), value.type, value.range, front)
      : (removedSecret(value, front) ?? plainOf(value, document))
  }
  return values
}

/** A number as it was written: 3.10 is a version, and 007 a name. */
const writtenIn = ({ value, source }: Scalar): unknown =>
  typeof value === 'number' || typeof value === 'boolean' ? (source ?? value) : value

/** `#12` behind a plain text is the text's, not a comment: a comment has a blank behind its sign. */
function scalarText(
  value: unknown,
  type: string | undefined,
  range: readonly number[] | null | undefined,
  front: string,
): unknown {
  if (type !== 'PLAIN' || range === null || range === undefined) return value
  const rest = front.slice(range[0]!, endOfLine(front, range[0]!))
  const comment = /[ \t]#[ \t]/.exec(rest)
  const whole = (comment === null ? rest : rest.slice(0, comment.index)).trim()
  return whole.startsWith(textOf(value)) &&
    whole !== textOf(value) &&
    !front.slice(range[0]!, range[1]!).includes('\n')
    ? whole
    : value
}

const endOfLine = (text: string, from: number): number => {
  const at = text.indexOf('\n', from)
  return at === -1 ? text.length : at
}

/** What stands in place of a secret looks like a list to YAML, and is a text. */
function removedSecret(value: unknown, front: string): string | null {
  const range = (value as { readonly range?: readonly number[] | null } | null)?.range
  const source = range === null || range === undefined ? '' : front.slice(range[0]!, range[1]!)
  return /^\[secret:[\w-]+:\d+\]$/.test(source) ? source : null
}

/** Lists of plain texts; what is deeper, or grows by aliases, is none of ours. */
function plainOf(value: unknown, document: Document): unknown {
  const items = (value as { readonly items?: readonly unknown[] } | null)?.items
  if (items === undefined || document.errors.length > 0) return undefined
  return items.flatMap((item) => (isScalar(item) && item.value !== null ? [textOf(writtenIn(item))] : []))
}

function fromLines(front: string): Record<string, unknown> {
  const values = record()
  for (const line of front.split(/\r?\n/)) {
    const match = /^([A-Za-z][\w-]*)[ \t]*:[ \t]*(.*)$/.exec(line)
    if (match === null) continue
    const value = match[2]!.trim()
    const isList = value.startsWith('[') && value.endsWith(']')
    values[match[1]!] = isList ? value.slice(1, -1).split(',').map(unquoted) : unquoted(value)
  }
  return values
}

const record = (): Record<string, unknown> => Object.create(null) as Record<string, unknown>
const unquoted = (text: string): string => text.trim().replace(/^(["'])([\s\S]*)\1$/, '$2')
const textOf = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : typeof value === 'number' || typeof value === 'boolean'
      ? String(value)
      : ''
const oneLine = (value: unknown): string => textOf(value).replace(/\s+/g, ' ').trim()
const listOf = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : value === undefined || value === null || value === '' ? [] : [value])
    .map(oneLine)
    .filter((text) => text !== '')

function dayIn(value: unknown): string | null {
  const text = value instanceof Date ? value.toISOString() : oneLine(value)
  return /^\d{4}-\d{2}-\d{2}/.exec(text)?.[0] ?? null
}
