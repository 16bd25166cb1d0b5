// What may reach a terminal. Every tool output, file name and model text passes here: control characters and
// every sequence a terminal acts on are taken out, colours apart, which are reset at the end. Law: what comes out holds
// no C0 but newline and tab, no C1, no ESC that is not the start of a colour; and it is the same however the text was cut
// into pieces on its way.
import { figuresJson } from '../../transcript/json.ts'

export interface SafeOptions {
  /** Lets colours through. */
  readonly colours?: boolean
  /** Shows what cannot be seen (bidi, zero width) as an escape: for everything a person is asked to judge. */
  readonly reveal?: boolean
}

export interface SafeStream {
  push(text: string): string
  /** What was held back, and the reset of colours. */
  end(): string
}

const ESC = '\u001B'
const reset = `${ESC}[0m`
const colour = /^[0-9;:]*$/
/** Directions, joiners, blanks without width, and the tag characters that spell text nobody sees. */
const unseen =
  /[\u00AD\u061C\u115F\u1160\u180E\u200B-\u200F\u202A-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\u{E0000}-\u{E007F}]/gu

/** What a character means to a terminal, by its code. */
const introducers: Readonly<Record<string, State>> = {
  '[': 'csi',
  ']': 'string',
  P: 'string',
  X: 'string',
  '^': 'string',
  _: 'string',
}
const eightBit: Readonly<Record<string, State>> = {
  '\u0090': 'string',
  '\u0098': 'string',
  '\u009B': 'csi',
  '\u009D': 'string',
  '\u009E': 'string',
  '\u009F': 'string',
}
type State = 'text' | 'escape' | 'csi' | 'string'

export function safeText(text: string, options: SafeOptions = {}): string {
  const stream = safeStream(options)
  return stream.push(text) + stream.end()
}

/** One line, for names and titles: what would break it becomes a blank. */
export const safeLine = (text: string): string => safeText(text, { reveal: true }).replace(/[\n\t]+/g, ' ')

/** JSON for a pipe or a screen: what a terminal could act on is written as an escape, the value stays the same. */
export const safeJson = (value: unknown, indent?: number): string =>
  figuresJson(value, indent).replace(/[\u007F-\u009F]|[^\P{Cf}\n]/gu, escaped)

const escaped = (text: string): string =>
  Array.from(
    { length: text.length },
    (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('')

export function safeStream(options: SafeOptions = {}): SafeStream {
  let state: State = 'text'
  let parameters = ''
  let isFirst = false
  let afterReturn = false
  let isColoured = false
  /** Half of a character waits for the other. */
  let half = ''

  const inText = (char: string): string => {
    const wasReturn = afterReturn
    afterReturn = char === '\r'
    // A return would let later text overwrite what was shown: it starts a new line instead.
    if (char === '\n') return wasReturn ? '' : '\n'
    if (char === '\r') return '\n'
    if (char === '\t' || char >= '\u00A0' || (char >= ' ' && char < '\u007F')) return char
    if (char === ESC) [state, isFirst] = ['escape', true]
    else if (eightBit[char] !== undefined) [state, parameters] = [eightBit[char], 'x']
    return ''
  }
  const inEscape = (char: string): string => {
    const wasFirst = isFirst
    isFirst = false
    if (wasFirst && introducers[char] !== undefined) [state, parameters] = [introducers[char], '']
    else if (char >= '0' && char <= '~') state = 'text'
    else if (!(char >= ' ' && char <= '/')) return again(char)
    return ''
  }
  const inCsi = (char: string): string => {
    if (char >= ' ' && char <= '?') {
      parameters += char
      return ''
    }
    if (!(char >= '@' && char <= '~')) return again(char)
    state = 'text'
    if (char !== 'm' || options.colours !== true || !colour.test(parameters)) return ''
    isColoured = !/^[0;:]*$/.test(parameters)
    return `${ESC}[${parameters}m`
  }
  /** A text for the terminal itself. A line end closes it too, so that a forgotten end costs a line and not the rest. */
  const inString = (char: string): string => {
    if (char === '\u0007' || char === '\u009C') state = 'text'
    else if (char === ESC || char === '\n' || char === '\r' || char === '\u0018' || char === '\u001A')
      return again(char)
    return ''
  }
  const again = (char: string): string => {
    state = 'text'
    return inText(char)
  }
  const steps: Readonly<Record<State, (char: string) => string>> = {
    text: inText,
    escape: inEscape,
    csi: inCsi,
    string: inString,
  }
  const shown = (text: string): string =>
    options.reveal === true
      ? text.replace(unseen, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`)
      : text

  return {
    push: (text) => {
      let out = ''
      const whole = half + text
      half = /[\uD800-\uDBFF]$/.test(whole) ? whole.slice(-1) : ''
      for (const char of half === '' ? whole : whole.slice(0, -1)) out += steps[state](char)
      return shown(out.toWellFormed())
    },
    end: () => {
      const rest = half === '' ? '' : steps[state](half).toWellFormed()
      const tail = isColoured ? reset : ''
      half = ''
      isColoured = false
      state = 'text'
      return rest + tail
    },
  }
}
