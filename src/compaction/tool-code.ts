// Code that a tool runs and that calls tools in its turn, in JavaScript or Python: what those are given stands in it, as
// objects and as string literals. Nothing is run; what is no plain value counts as none. All other code is a text like any other.
import { isRecord } from '../transcript/json.ts'
import { hasOperator, patchMark, startsProgram } from './command-line.ts'

type Fields = Readonly<Record<string, unknown>>

export interface ToolCode {
  /** What its calls are given, as objects. */
  readonly inputs: readonly Fields[]
  /** Its other string literals, as what they mean. */
  readonly texts: readonly string[]
  /** Those of them that are commands. */
  readonly commands: readonly string[]
}

/** Null where a text is no such code. */
export function toolCodeIn(text: string): ToolCode | null {
  if (text.length > mostChars || !beginsAsCode.test(text)) return null
  const { inputs, literals } = valuesIn(text)
  const commands = literals.filter(isCommand).map((one) => one.text)
  if (inputs.length + commands.length === 0 && !literals.some((one) => patchMark.test(one.text))) return null
  return { inputs, texts: literals.map((one) => one.text), commands }
}

const mostChars = 200_000

/** A declaration, an assignment, an import, an awaited call or a plain one, behind comments; a function of a shell is none. */
const beginsAsCode =
  /^(?:\s|\/\/[^\n]*\n|#[^\n]*\n)*(?:(?:const|let|var)\s+[\w$[{]|(?:await|return|void|async)\s+[\w$([]|(?:from\s+\S+\s+)?import\s+[\w*{"']|try\s*[{:]|for\s*\((?:const|let|var)\s|[\w$]+ = |[\w$]+(?:\.[\w$]+)*\((?!\)\s*\{))/

interface Literal {
  readonly text: string
  /** What stands before it. */
  readonly before: string
}

/** A call that is waited for, or one of a member that is no part of the language, before the object it is given. */
const callsWith = /(?:\bawait\s+[\w$.]+|(?<!\b(?:Array|JSON|Math|Object|Reflect|console))\.[\w$]+)\(\s*$/
const isAwaited = /\bawait\s+[\w$.]+\(\s*$/
const namesFile = /\s(?:[\w@~.-]*\/)+[\w@~.-]|\s[\w@~-]+\.[A-Za-z]\w{0,5}(?:\s|$)/

/** What an awaited call is given first, or what has an option, an operator or a path. */
const isCommand = ({ text, before }: Literal): boolean =>
  startsProgram(text) && (isAwaited.test(before) || namesFile.test(text) || hasOperator(text))

const beforeChars = 60

/** Objects that calls are given, and the string literals outside of them, keys apart. */
function valuesIn(code: string): {
  readonly inputs: readonly Fields[]
  readonly literals: readonly Literal[]
} {
  const inputs: Fields[] = []
  const literals: Literal[] = []
  // Where nothing is waited for an object is given to a library.
  const isCall = /\bawait\b/.test(code) ? callsWith : isAwaited
  const open: Open = new Map()
  for (let at = 0; at < code.length;) {
    const sign = code[at]!
    const before = (): string => code.slice(Math.max(0, at - beforeChars), at)
    const behind = pastComment(code, at)
    if (behind !== at) at = behind
    else if (sign === '{' && isCall.test(before())) {
      const { value, next } = valueAt(code, open, at, 0)
      if (isRecord(value)) inputs.push(value)
      at = next
    } else if (isQuote(sign)) {
      const found = literalAt(code, open, at)
      if (found !== null && !isKey(code, before(), found.next))
        literals.push({ text: found.text, before: before() })
      at = found?.next ?? at + 1
    } else at++
  }
  return { inputs, literals }
}

const isKey = (code: string, before: string, next: number): boolean =>
  /[{,]\s*$/.test(before) && /^\s*:/.test(code.slice(next, next + beforeChars))

const isQuote = (sign: string | undefined): boolean => sign === '"' || sign === "'" || sign === '`'

/** Behind a comment that begins here; here where none does. */
function pastComment(code: string, at: number): number {
  const end = (mark: string): number => {
    const found = code.indexOf(mark, at + 1)
    return found < 0 ? code.length : found + mark.length
  }
  if (code.startsWith('/*', at)) return end('*/')
  if (code.startsWith('//', at) && code[at - 1] !== ':') return end('\n')
  return code[at] === '#' && /^\s?$/.test(code[at - 1] ?? '') ? end('\n') : at
}

/** How far no literal ends, by what would end it: one that begins before is not looked for again, and all is read in one walk. */
type Open = Map<string, number>

interface Value {
  readonly value: unknown
  readonly next: number
}

const mostDepth = 16

/** An object, a list, a text, a number or a word that stands for a value; anything else up to what ends it is null. */
function valueAt(code: string, open: Open, from: number, depth: number): Value {
  const at = pastBlanks(code, from)
  const sign = code[at]
  if (depth < mostDepth && (sign === '{' || sign === '[')) return listAt(code, open, at, depth)
  const literal = isQuote(sign) ? literalAt(code, open, at) : null
  const next = pastExpression(code, open, literal?.next ?? at)
  if (literal !== null) return { value: literal.text, next }
  const word = code.slice(at, next).trim()
  return { value: number.test(word) ? Number(word) : (words.get(word) ?? null), next }
}

const number = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const words = new Map<string, boolean>([
  ['true', true],
  ['True', true],
  ['false', false],
  ['False', false],
])

/** An object or a list; what it was left off in the middle of ends where the code does. */
function listAt(code: string, open: Open, from: number, depth: number): Value {
  const closing = code[from] === '{' ? '}' : ']'
  const entries: [string, unknown][] = []
  let at = pastBlanks(code, from + 1)
  while (at < code.length && code[at] !== closing) {
    const key = closing === '}' ? keyAt(code, open, at) : { name: String(entries.length), next: at }
    const { value, next } =
      key === null
        ? { value: null, next: pastExpression(code, open, at) }
        : valueAt(code, open, key.next, depth + 1)
    if (key !== null) entries.push([key.name, value])
    // A sign that nothing here knows how to read is passed over.
    at = pastBlanks(
      code,
      code[next] === ',' ? next + 1 : Math.max(next, at + (code[next] === closing ? 0 : 1)),
    )
  }
  const fields = Object.fromEntries(entries)
  return { value: closing === '}' ? fields : Object.values(fields), next: at + 1 }
}

/** The name that a value stands under; null for what is spread or computed. */
function keyAt(
  code: string,
  open: Open,
  at: number,
): { readonly name: string; readonly next: number } | null {
  const literal = isQuote(code[at]) ? literalAt(code, open, at) : null
  const bare = literal === null ? /^[\w$]+/.exec(code.slice(at, at + beforeChars))?.[0] : undefined
  const end = literal?.next ?? at + (bare?.length ?? 0)
  const colon = pastBlanks(code, end)
  const name = literal?.text ?? bare
  return name === undefined || code[colon] !== ':' ? null : { name, next: colon + 1 }
}

function pastBlanks(code: string, from: number): number {
  for (let at = from; ;) {
    const next = /\s/.test(code[at] ?? '') ? at + 1 : at < code.length ? pastComment(code, at) : at
    if (next === at) return at
    at = next
  }
}

/** What follows up to a comma or to what closes around it. */
function pastExpression(code: string, open: Open, from: number): number {
  let depth = 0
  for (let at = from; at < code.length;) {
    const sign = code[at]!
    if (depth === 0 && (sign === ',' || sign === ';')) return at
    if (sign === '(' || sign === '[' || sign === '{') depth++
    else if ((sign === ')' || sign === ']' || sign === '}') && depth-- === 0) return at
    at =
      (isQuote(sign) ? literalAt(code, open, at)?.next : undefined) ?? Math.max(pastComment(code, at), at + 1)
  }
  return code.length
}

/** The string literal that begins here, as what it means; null where it ends nowhere. */
function literalAt(
  code: string,
  open: Open,
  at: number,
): { readonly text: string; readonly next: number } | null {
  const sign = code[at]!
  const isTriple = sign !== '`' && code.startsWith(sign.repeat(3), at)
  const closing = isTriple ? sign.repeat(3) : sign
  if (at < (open.get(closing) ?? 0)) return null
  const from = at + closing.length
  let to = from
  for (; to < code.length; to++) {
    if (code[to] === '\\') to++
    else if (code.startsWith(closing, to)) {
      const inner = code.slice(from, to)
      const isRaw = /(?:\b[rR]|String\.raw)$/.test(code.slice(Math.max(0, at - beforeChars), at))
      return { text: isRaw ? inner : decoded(inner), next: to + closing.length }
    } else if (code[to] === '\n' && sign !== '`' && !isTriple) break
  }
  open.set(closing, to)
  return null
}

const escapes: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  v: '\v',
  0: '\0',
}

const decoded = (inner: string): string =>
  inner
    .replaceAll(
      /\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(\r?\n)|([^]))/g,
      (_, braced?: string, four?: string, two?: string, line?: string, sign?: string) => {
        const hex = braced ?? four ?? two
        if (hex !== undefined) return pointOf(Number.parseInt(hex, 16))
        return line === undefined ? (escapes[sign!] ?? sign!) : ''
      },
    )
    .toWellFormed()

const pointOf = (code: number): string => (code <= 0x10ffff ? String.fromCodePoint(code) : '')
