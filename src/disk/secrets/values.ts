// Values behind a telling name: `name = "value"`, `"name": "value"`, `NAME=value`, `<name>value</name>`, and the headers
// that carry a session or a login.
import { passwordName, secretName } from '../secret-shapes.ts'
import {
  isCode,
  isDefault,
  isPath,
  isPlaceholder,
  looksChosen,
  looksLikePhrase,
  looksMixed,
  looksNoisy,
  looksRandom,
} from './noise.ts'

export interface Value {
  readonly kind: string
  readonly from: number
  readonly length: number
}

const limits = {
  nameChars: 64,
  /** Between a name and its `=` or `:`. */
  nameGapChars: 6,
  /** Shortest value behind a telling name: of those people choose, of quoted ones, of bare ones. */
  passwordChars: 6,
  quotedChars: 12,
  bareChars: 16,
  /** Of a variable of the environment, where nothing but a value can stand. */
  variableChars: 8,
  cookieChars: 8,
  valueChars: 512,
}

const opening = /[:=]{1,2}[ \t]{0,4}(\\{0,3}["'`])/y
const bareValue = /[:=][ \t]{0,4}(?<value>[^\s"'`,;(){}<>[\]\\$]{1,512})(?=[\s"'`,;&<]|\\[nrt]|$)/y
/** A variable may hold any sign up to the end of its word. */
const variableValue = /=(?<value>[^\s"'`;()<>\\$&|]{1,512})(?=[\s"'`;&|)]|\\[nrt]|$)/y

/** The value behind the `=` or `:` at a place. */
export function namedValue(text: string, at: number): Value | null {
  const name = nameBefore(text, at)
  if (name === null) return null
  const word = name.text
  const last = word.charCodeAt(word.length - 1) | lower
  if (last === lastOf.cookie && word.length >= 6 && /cookie$/i.test(word))
    return cookieValue(text, at, /^set-?cookie$/i.test(word))
  if (last === lastOf.authorization && word.length >= 13 && /authorization$/i.test(word))
    return authorization(text, at)
  if (!secretName.test(word) || folderName.test(word)) return null
  const isVariable = text.charCodeAt(at) === equals && at === name.to && isVariableName(text, name)
  opening.lastIndex = at
  const open = opening.exec(text)
  return open === null
    ? bare(text, at, word, isVariable)
    : quoted(text, { from: at + open[0].length, mark: open[1]! }, word, isVariable)
}
const lower = 32
/** Where a shell stands. */
const folderName = /^(?:OLD)?PWD$/
const lastOf = { cookie: 'e'.charCodeAt(0), authorization: 'n'.charCodeAt(0) }
const equals = 61

function quoted(
  text: string,
  { from, mark }: { readonly from: number; readonly mark: string },
  name: string,
  isVariable: boolean,
): Value | null {
  const room = text.slice(from, from + limits.valueChars + mark.length)
  const end = room.indexOf(mark)
  const value = room.slice(0, Math.max(0, end))
  const byPerson = passwordName.test(name)
  const shortest = byPerson ? limits.passwordChars : isVariable ? limits.variableChars : limits.quotedChars
  if (value.length < shortest || /[\r\n]/.test(value) || isPlaceholder(value) || isPath(value)) return null
  const found = valueOf(name, from, value)
  if (isVariable && isVariableValue(value, byPerson)) return found
  if (!byPerson && value.length < limits.quotedChars) return null
  if (/\s/.test(value)) return byPerson && looksLikePhrase(value) ? found : null
  // What stands between two strings of a line is code.
  if (/["'`]/.test(value) && /["'`][,;:)\]}+]|[([{,:+]["'`]/.test(value)) return null
  return (byPerson ? looksChosen(value) : looksRandom(value)) && !isTemplate(value) ? found : null
}
/** Code that puts something in. */
const isTemplate = (value: string): boolean => /\$\{|\{\{|\{[A-Za-z_]\w*\}/.test(value)

function bare(text: string, at: number, name: string, isVariable: boolean): Value | null {
  const byPerson = passwordName.test(name)
  if (isVariable) {
    variableValue.lastIndex = at
    const value = variableValue.exec(text)?.groups?.['value']
    if (value !== undefined && !isPlaceholder(value) && !isCode(value) && isVariableValue(value, byPerson))
      return valueOf(name, at + 1, value)
    if (value !== undefined && byPerson && isPlainWord(value)) return valueOf(name, at + 1, value)
  }
  bareValue.lastIndex = at
  const match = bareValue.exec(text)
  const value = match?.groups?.['value']
  if (match === null || value === undefined) return null
  if (value.length < (byPerson ? limits.passwordChars : limits.bareChars)) return null
  if (isCode(value) || isPlaceholder(value)) return null
  if (!(byPerson ? looksChosen(value) && looksMixed(value) : looksRandom(value))) return null
  return valueOf(name, at + match[0].length - value.length, value)
}

const isVariableValue = (value: string, byPerson: boolean): boolean =>
  !isDefault(value) &&
  !isTemplate(value) &&
  (byPerson
    ? value.length >= limits.passwordChars
    : value.length >= limits.variableChars && (looksRandom(value) || looksNoisy(value)))

/** A password of letters alone, in a variable. */
const isPlainWord = (value: string): boolean =>
  /^[A-Za-z_]+[0-9]?$/.test(value) &&
  value.length >= limits.variableChars &&
  !isDefault(value) &&
  !isPlaceholder(value)

const valueOf = (name: string, from: number, value: string): Value => {
  const kind = passwordName.test(name)
    ? 'password'
    : /token$/i.test(name)
      ? 'token'
      : /key(?:[_-]?data)?$/i.test(name)
        ? 'key'
        : 'secret'
  return { kind, from, length: value.length }
}

// ---- names ----

const LESS = 128
const isIn = (table: Uint8Array, char: number) => char < LESS && table[char] === 1
const tableOf = (chars: string): Uint8Array => {
  const table = new Uint8Array(LESS)
  for (const char of chars) table[char.charCodeAt(0)] = 1
  return table
}
const word = tableOf('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-')
const lastOfName = tableOf('dDtTnNyYeEsSlL')
/** The last two letters of every telling name: nearly all others are passed over by them. */
const lastTwo = new Set(
  ['rd', 'wd', 'se', 'et', 'en', 'al', 'ls', 'ey', 'ie', 'on'].map(
    (two) => (two.charCodeAt(0) << 8) | two.charCodeAt(1),
  ),
)
const endsLikeName = (text: string, to: number): boolean => {
  const last = text.charCodeAt(to - 1)
  return isIn(lastOfName, last) && lastTwo.has(((text.charCodeAt(to - 2) | lower) << 8) | last | lower)
}
const between = tableOf(' \t"\'`\\:]?')

interface Name {
  readonly text: string
  readonly from: number
  /** Behind its last letter. */
  readonly to: number
}

function nameBefore(text: string, at: number): Name | null {
  let to = at
  while (to > 0 && to > at - limits.nameGapChars && isIn(between, text.charCodeAt(to - 1))) to--
  if (!endsLikeName(text, to)) return null
  let from = to
  while (from > 0 && to - from < limits.nameChars && isIn(word, text.charCodeAt(from - 1))) from--
  return to - from < 3 ? null : { text: text.slice(from, to), from, to }
}

/** In capitals, where a line or a word of a command begins. */
const isVariableName = (text: string, { text: name, from }: Name): boolean =>
  /^[A-Z][A-Z0-9_]*$/.test(name) && beginsVariable(text, from)

/** Behind a line's beginning, `export`, `env`, `-e`, a quote or the numbers of a listing; not behind `const`. */
const beginsVariable = (text: string, at: number): boolean => {
  const before = text.slice(Math.max(0, at - 12), at)
  return (
    at === 0 ||
    /(?:[\n\r"';|&(]|\\[nrt]|(?:^|\s)(?:export|env|set|setx|ENV|ARG|-e|--env|--build-arg|-)[ =]|[0-9][:\t-]|=|[a-z0-9/]:)[ \t]{0,8}$/.test(
      before,
    ) ||
    /^[ \t]{1,8}$/.test(before) ||
    // Several before one command: `A=1 B=2 run`.
    /[A-Z_]=\S* $/.test(before)
  )
}

// ---- headers and elements ----

const cookiePairs =
  /:[ \t]{0,4}(?:\[[ \t\r\n]{0,8})?(?:\\{0,3}["'`])?(?<value>[\w.!#$%&*+^|~-]{1,80}=[^\r\n"'`\\]{1,4096})/y
const cookieOption = /[:=][ \t]{0,4}(?:\\{0,3}["'`])?(?<value>[\w.!#$%&*+^|~-]{1,80}=[^\r\n"'`\\]{1,4096})/y

/** Of `Set-Cookie` the value of the first pair, of `Cookie` all pairs, where one of them is no plain word. */
function cookieValue(text: string, at: number, isSet: boolean): Value | null {
  const pattern = text.charCodeAt(at) === equals ? cookieOption : cookiePairs
  pattern.lastIndex = at
  const match = pattern.exec(text)
  const line = match?.groups?.['value']
  if (match === null || line === undefined) return null
  const begin = at + match[0].length - line.length
  const pairs = isSet ? line.split(';').slice(0, 1) : line.split(/;[ ]?/)
  if (!pairs.some((pair) => isSession(pair.slice(pair.indexOf('=') + 1).trim()))) return null
  const first = line.indexOf('=') + 1
  const end = isSet ? (line + ';').indexOf(';') : line.trimEnd().length
  return { kind: 'cookie', from: begin + first, length: end - first }
}

const isSession = (value: string): boolean =>
  value.length >= limits.cookieChars &&
  !isPlaceholder(value) &&
  !isTemplate(value) &&
  (/[0-9]/.test(value) || looksNoisy(value))

const credentials =
  /[:=][ \t]{0,4}(?:\\{0,3}["'`])?(?:(?<scheme>[A-Za-z][A-Za-z0-9-]{2,20})[ ]{1,4}(?:[A-Za-z]{3,12}=["']?)?)?(?<value>[A-Za-z0-9+/=_.~:-]{16,4000})/y

function authorization(text: string, at: number): Value | null {
  credentials.lastIndex = at
  const match = credentials.exec(text)
  const value = match?.groups?.['value']
  if (match === null || value === undefined) return null
  if (isPlaceholder(value) || isCode(value) || !looksRandom(value)) return null
  const kind = schemes.get(match.groups?.['scheme']?.toLowerCase() ?? '') ?? 'authorization'
  return { kind, from: at + match[0].length - value.length, length: value.length }
}
const schemes = new Map([
  ['bearer', 'bearer'],
  ['basic', 'basic-auth'],
])

const elementValue = />(?<value>[^<>\s]{4,512})<\/(?<name>[\w:.-]{3,64})>/y

/** `<password>value</password>`, from its `>`. */
export function elementAt(text: string, at: number): Value | null {
  if (!endsLikeName(text, at)) return null
  elementValue.lastIndex = at
  const match = elementValue.exec(text)
  const { value, name } = match?.groups ?? {}
  if (value === undefined || name === undefined || !secretName.test(name)) return null
  if (!text.startsWith(`<${name}`, at - name.length - 1)) return null
  if (isPlaceholder(value) || isDefault(value) || /[{}]/.test(value)) return null
  const byPerson = passwordName.test(name)
  const isSecret = byPerson
    ? value.length >= limits.passwordChars && !/^[A-Z]?[a-z]+$/.test(value)
    : value.length >= limits.quotedChars && looksRandom(value)
  return isSecret || (byPerson && looksNoisy(value)) ? valueOf(name, at + 1, value) : null
}
