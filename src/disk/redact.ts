// Takes secrets out of text by their shape, before the text reaches the model, the transcript or any other file.
// A secret becomes `[secret:<kind>:<characters>]`. The pass is linear in the text, and redacting twice changes nothing.
// It goes through the text once and looks closer only at four places: where a word begins with a known mark, at `=` and
// `:` behind a telling name, at `://` and at the head of a PEM block. Hashes and uuids on their own are not secrets.
import { withoutColours, type Uncoloured } from './secrets/colours.ts'
import { isPlaceholder } from './secrets/noise.ts'
import { elementAt, namedValue, type Value } from './secrets/values.ts'
import { secretShapes, type SecretShape } from './secret-shapes.ts'

export interface Redacted {
  readonly text: string
  readonly found: readonly FoundSecret[]
}
export interface FoundSecret {
  readonly kind: string
  readonly length: number
}
interface Hit extends FoundSecret {
  readonly from: number
  /** Where the scan goes on: behind the value, or behind the context it was found by. */
  readonly next: number
}

const limits = {
  passes: 8,
  /** A private key without its end is taken out up to here. */
  pemChars: 16_384,
  /** One line of a key of PuTTY, with the name of a file before it. */
  puttyLineChars: 280,
  /** How far before an option its command is looked for. */
  behindChars: 200,
}

const LESS = 128
const isIn = (table: Uint8Array, char: number) => char < LESS && table[char] === 1
const word = new Uint8Array(LESS)
for (const char of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-')
  word[char.charCodeAt(0)] = 1

interface Mark {
  readonly start: string
  readonly shape: SecretShape
}
const marksByFirst: Mark[][] = Array.from({ length: LESS }, () => [])
/** For each first character the second ones that can follow it: most words are passed over by these two. */
const second: Uint8Array[] = Array.from({ length: LESS }, () => new Uint8Array(LESS))
for (const shape of secretShapes) {
  for (const start of shape.starts) {
    const first = start.charCodeAt(0)
    marksByFirst[first]!.push({ start, shape })
    if (start.length === 1) second[first]!.fill(1)
    else second[first]![start.charCodeAt(1)] = 1
  }
}

const code = {
  upperA: 65,
  upperP: 80,
  colon: 58,
  equals: 61,
  greater: 62,
  open: 91,
  dash: 45,
  slash: 47,
  tilde: 126,
  newline: 10,
}
/** Where it looks closer: never, where a mark can go on with the next character, or always. */
const never = 0
const atMark = 1
const always = 2
const look = new Uint8Array(LESS)
for (const [first, marks] of marksByFirst.entries()) if (marks.length > 0) look[first] = atMark
for (const char of [code.upperP, code.colon, code.equals, code.greater, code.open, code.dash, code.tilde])
  look[char] = always

/** `text` without its secrets, and what was taken out. */
export function redact(text: string): Redacted {
  const coloured = withoutColours(text)
  if (coloured !== null) return redactColoured(text, coloured)
  let clean = pass(text)
  // A tag can free what stood right beside it without a gap, so look again, but not without end.
  for (let left = limits.passes; clean.glued && left > 1; left--) {
    const again = pass(clean.text)
    clean = { ...again, found: [...clean.found, ...again.found] }
  }
  return { text: clean.text, found: clean.found }
}

/** What a model wrote into a call, for whoever is not its own transcript: lists, progress, other models. */
export const forOthers = (written: string): string => redact(written).text

/** Secrets are found without the colours, and taken out of the original with the codes in them. */
function redactColoured(original: string, coloured: Uncoloured): Redacted {
  let [text, plain]: [string, Uncoloured | null] = [original, coloured]
  const found: FoundSecret[] = []
  for (let left = limits.passes; left > 0 && plain !== null; left--) {
    const { hits } = pass(plain.text)
    if (hits.length === 0) break
    const parts: string[] = []
    let done = 0
    for (const hit of hits) {
      const { from, to } = plain.range(hit.from, hit.length)
      parts.push(text.slice(done, from), tagOf(hit))
      found.push({ kind: hit.kind, length: hit.length })
      done = to
    }
    text = parts.join('') + text.slice(done)
    plain = withoutColours(text)
  }
  // The last code may have gone with a secret.
  if (plain !== null) return { text, found }
  const rest = redact(text)
  return { text: rest.text, found: [...found, ...rest.found] }
}

/** `glued`: a secret was taken out right beside something that may be one too. */
function pass(text: string): Redacted & { readonly glued: boolean; readonly hits: readonly Hit[] } {
  const hits: Hit[] = []
  let glued = false
  const found: FoundSecret[] = []
  const parts: string[] = []
  let from = 0
  let at = 0
  while (at < text.length) {
    const char = text.charCodeAt(at)
    const how = char < LESS ? look[char] : never
    const isWorth = how === always || (how === atMark && isIn(second[char]!, text.charCodeAt(at + 1)))
    const hit = isWorth ? hitAt(text, at, char, from) : null
    if (hit === null) {
      at++
      continue
    }
    if (hit.length > 0) {
      parts.push(text.slice(from, hit.from), tagOf(hit))
      found.push({ kind: hit.kind, length: hit.length })
      hits.push(hit)
      glued ||= hit.from > from && /[\w~./-]/.test(text[hit.from - 1]!)
      from = hit.from + hit.length
      glued ||= from < text.length && /\w/.test(text[from]!)
    }
    at = hit.next
  }
  return { text: found.length === 0 ? text : parts.join('') + text.slice(from), found, glued, hits }
}

const tagOf = (found: FoundSecret) => `[secret:${found.kind}:${found.length}]`
const tag = /\[secret:[a-z0-9-]{1,40}:[0-9]{1,9}\]/y

/** Whether the text holds a tag that stands for a secret; such text must not be written over the secret itself. */
export const holdsTag = (text: string): boolean => /\[secret:[a-z0-9-]{1,40}:[0-9]{1,9}\]/.test(text)

/** `from` is where the last secret ended: what follows it without a gap is a word of its own. */
function hitAt(text: string, at: number, char: number, from: number): Hit | null {
  if (char === code.equals || char === code.colon) {
    return (
      (char === code.colon ? (urlPassword(text, at) ?? botToken(text, at)) : null) ??
      hitOf(namedValue(text, at))
    )
  }
  if (char === code.greater) return hitOf(elementAt(text, at))
  if (char === code.open) {
    const end = matchEnd(tag, text, at)
    return end === null ? null : { kind: '', length: 0, from: at, next: end }
  }
  if (char === code.tilde) return azureClientSecret(text, at)
  if (char === code.dash && text.startsWith('-----BEGIN ', at)) return privateKey(text, at)
  if (char === code.upperP && text.startsWith(puttyHead, at)) return puttyKey(text, at)
  const next = text.charCodeAt(at + 1)
  if (!isIn(second[char]!, next) || !(at === from || beginsWord(text, at))) return null
  return shaped(text, at, marksByFirst[char]!)
}

const hitOf = (value: Value | null): Hit | null =>
  value === null ? null : { ...value, next: value.from + value.length }

/** What belongs to an escape (`\n`, `\u0022`, `\x3d` in quoted text, `%3D` and `%253D` in an address) is no part of the word behind it. */
function beginsWord(text: string, at: number): boolean {
  if (at === 0 || !isIn(word, text.charCodeAt(at - 1))) return true
  return escapeBefore.test(text.slice(Math.max(0, at - 6), at))
}
const escapeBefore = /(?:\\(?:[nrt]|u[0-9a-f]{4}|x[0-9a-f]{2})|%(?:25)?[0-9a-f]{2})$/i

function shaped(text: string, at: number, marks: readonly Mark[]): Hit | null {
  for (const { start, shape } of marks) {
    if (!text.startsWith(start, at)) continue
    const { kind, token } = shape
    token.lastIndex = at
    const match = token.exec(text)
    if (match === null || (shape.behind !== undefined && !stands(shape.behind, text, at))) continue
    const value = match.groups?.['value'] ?? match[0]
    const from = at + match[0].lastIndexOf(value)
    if (isPlaceholder(value)) continue
    return { kind, length: value.length, from, next: from + value.length }
  }
  return null
}

/** Whether the line says so before a place. */
function stands(what: RegExp, text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - limits.behindChars), at)
  return what.test(before.slice(before.lastIndexOf('\n') + 1))
}

const pemHead = /-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----/y

function privateKey(text: string, at: number): Hit | null {
  const head = matchEnd(pemHead, text, at)
  if (head === null) return null
  const room = text.slice(head, head + limits.pemChars)
  const foot = /-----END (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----/.exec(room)
  // Without an end: as far as the lines still look like one.
  const length =
    foot === null
      ? /^(?:[A-Za-z0-9+/=:,.\s-]|\\[nr])*/.exec(room)![0].trimEnd().length
      : foot.index + foot[0].length
  return { kind: 'private-key', length: head - at + length, from: at, next: head + length }
}

const puttyHead = 'Private-Lines:'

const puttyLines = /Private-Lines:[ ]?(?<count>[0-9]{1,3})(?=\r?\n|\\[rn])/y

/** Up to its check sum, or as far as the lines look like one; lines may be numbered, or begin with the name of their file. */
function puttyKey(text: string, at: number): Hit | null {
  puttyLines.lastIndex = at
  const match = puttyLines.exec(text)
  if (match === null) return null
  const head = at + match[0].length
  const most = Number(match.groups!['count']) * limits.puttyLineChars
  const room = text.slice(head, head + Math.min(limits.pemChars, most))
  const foot = room.indexOf('Private-MAC')
  const lines = /^(?:(?:\r?\n|\\n)[A-Za-z0-9+/=]{4,80}(?=[\s\\"']|$)){1,400}/.exec(room)?.[0]
  const length = foot >= 0 ? room.slice(0, foot).trimEnd().length : (lines?.length ?? 0)
  const isDone = room.slice(0, length).trim() === '' || /^(?:\r?\n|\\n)?\[secret:/.test(room)
  return isDone ? null : { kind: 'private-key', length, from: head, next: head + length }
}

// A slash or a quote inside a password is followed by more of it; behind a port a path begins.
const urlWithPassword =
  /:\/\/[^\s:@/'"`<>\\[]{0,100}:(?![0-9]{1,5}[/?#]|port\/)(?<value>(?:[^\s@/'"`<>\\]|[/'"](?=[^\s@/'"`<>\\,;:)\]}+])){1,200})@[A-Za-z0-9.[{$-]/iy

function urlPassword(text: string, at: number): Hit | null {
  if (text.charCodeAt(at + 1) !== code.slash) return null
  urlWithPassword.lastIndex = at
  const match = urlWithPassword.exec(text)
  const value = match?.groups?.['value']
  if (match === null || value === undefined || isPlaceholder(value)) return null
  const from = at + match[0].length - 2 - value.length
  return { kind: 'url-password', length: value.length, from, next: from + value.length }
}

const botTail = /:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])/y

function botToken(text: string, at: number): Hit | null {
  if (text.charCodeAt(at + 1) !== code.upperA) return null
  const end = matchEnd(botTail, text, at)
  if (end === null || !/(?<![A-Za-z0-9_])(?:bot)?[0-9]{8,10}$/.test(text.slice(Math.max(0, at - 14), at)))
    return null
  return { kind: 'telegram-token', length: end - at - 1, from: at + 1, next: end }
}

const azureTail = /~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~.-])/y

function azureClientSecret(text: string, at: number): Hit | null {
  if (!/(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.-]{3}[0-9]Q$/.test(text.slice(Math.max(0, at - 6), at))) return null
  const end = matchEnd(azureTail, text, at)
  return end === null ? null : { kind: 'azure-client-secret', length: end - at + 5, from: at - 5, next: end }
}

function matchEnd(pattern: RegExp, text: string, at: number): number | null {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : null
}
