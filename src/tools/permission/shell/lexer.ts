// A second, much smaller reading of a command, beside the one of the parser: plain words, quotes, a few operators and
// redirections, and nothing else. What it does not know it refuses. A command counts as read-only only where both
// readings agree about every word: the words that are judged must be the words that bash runs (PM32).
import type { OrWhy } from '../../../disk/failure.ts'
import type { KnownWord } from './word.ts'

export interface PlainWord {
  readonly pos: number
  readonly end: number
  /** One, or several where braces stand for several. */
  readonly known: readonly KnownWord[]
}

export interface PlainRedirect {
  /** Why it does more than read, or null. */
  readonly doubt: string | null
  /** The file that it reads. */
  readonly input: string | null
}

export interface PlainCommand {
  readonly words: PlainWord[]
  readonly redirects: PlainRedirect[]
}

export type Plain = OrWhy<{
  /** By the position of their first word. */
  readonly commands: ReadonlyMap<number, PlainCommand>
  /** Redirections of groups, by the position of the bracket that ends the group. */
  readonly groups: ReadonlyMap<number, readonly PlainRedirect[]>
}>

export function lex(source: string): Plain {
  const lexer = new Lexer(source)
  const why = lexer.run()
  return why === null
    ? { ok: true, commands: lexer.commands, groups: lexer.groups }
    : { ok: false, why: `it uses ${why}` }
}

const keywords = new Set(
  'if then else elif fi for while until do done case esac select function coproc in [['.split(' '),
)
const isBlank = (char: string | undefined): boolean => char === ' ' || char === '\t'
const ends = /[\s;&|()<>]/
const isEnd = (char: string | undefined): boolean => char === undefined || ends.test(char)
/** Behind a dollar sign in double quotes these begin no expansion. */
const afterDollar = /^["\s|/\\,.:;)%=\]^&']$/
const assignment = /^[A-Za-z_]\w*(?:\[|\+?=)/
const operator = /<<<|<<-|<<|<&|<>|<\(|<|&>>|&>|>>|>&|>\||>\(|>/y
const stream = /(?:\d{1,2}|-)(?=[ \t\n;|&)]|$)/y
const delimiter = /(?:'([A-Za-z_]\w*)'|"([A-Za-z_]\w*)"|([A-Za-z_]\w*))(?=[ \t\n;|&)]|$)/y

class Lexer {
  readonly commands = new Map<number, PlainCommand>()
  readonly groups = new Map<number, PlainRedirect[]>()
  readonly #source: string
  #at = 0
  #current: PlainCommand = { words: [], redirects: [] }
  /** The group that has just ended, whose redirections may follow. */
  #group: number | null = null
  #hereDocument: { readonly word: string; readonly isQuoted: boolean } | null = null

  constructor(source: string) {
    this.#source = source
  }

  /** What stands in the way, or null. */
  run(): string | null {
    while (this.#at < this.#source.length) {
      const why = this.#step(this.#source[this.#at]!)
      if (why !== null) return why
    }
    if (this.#hereDocument !== null) return 'a here-document without an end'
    return this.#endCommand()
  }

  #step(char: string): string | null {
    const source = this.#source
    const next = source[this.#at + 1]
    if (isBlank(char)) this.#at++
    else if (char === '\\' && next === '\n' && /^\s?$/.test(source[this.#at - 1] ?? '')) this.#at += 2
    else if (char === '\n') return this.#newline()
    else if (char === '#') {
      const end = source.indexOf('\n', this.#at)
      this.#at = end === -1 ? source.length : end
    } else if (char === '<' || char === '>' || (char === '&' && next === '>')) return this.#redirect()
    else if (/[;&|()]/.test(char)) return this.#operator(char, next)
    else return this.#word()
    return null
  }

  #operator(char: string, next: string | undefined): string | null {
    if (char === '(') {
      if (next === '(' || next === ')' || this.#isInside()) return 'a bracket where none is known'
      this.#at++
      return null
    }
    const why = this.#endCommand()
    if (why !== null) return why
    if (char === ')') {
      this.#group = this.#at++
      return null
    }
    if ((char === '|' && next === '&') || (char === ';' && (next === ';' || next === '&')))
      return `the operator ${char}${next}`
    this.#at += char !== ';' && next === char ? 2 : 1
    return null
  }

  #newline(): string | null {
    const why = this.#endCommand()
    this.#at++
    const document = this.#hereDocument
    if (why !== null || document === null) return why
    this.#hereDocument = null
    const { word, isQuoted } = document
    let end = this.#source.indexOf(`\n${word}`, this.#at - 1)
    while (end !== -1 && !/^\n?$/.test(this.#source[end + 1 + word.length] ?? ''))
      end = this.#source.indexOf(`\n${word}`, end + 1)
    if (end === -1) return 'a here-document without an end'
    if (!isQuoted && /[$`\\]/.test(this.#source.slice(this.#at, end)))
      return 'a here-document with expansions'
    this.#at = end + 1 + word.length
    return null
  }

  #isInside(): boolean {
    return this.#current.words.length + this.#current.redirects.length > 0 || this.#group !== null
  }

  #endCommand(): string | null {
    const { words, redirects } = this.#current
    const [first] = words
    if (first !== undefined) this.commands.set(first.pos, this.#current)
    this.#current = { words: [], redirects: [] }
    this.#group = null
    return first === undefined && redirects.length > 0 ? 'a redirection without a command' : null
  }

  /** A word, or one of the few that belong to the language itself. */
  #word(): string | null {
    const start = this.#at
    const read = readWord(this.#source, start, this.#hereDocument === null)
    if (typeof read === 'string') return read
    const { end, known } = read
    if (end === start) return 'a character that is not known'
    const text = this.#source.slice(start, end)
    const after = this.#source[end]
    if (after === '(') return 'a bracket where none is known'
    if ((after === '<' || after === '>') && text.endsWith('}')) return 'a stream with a name of its own'
    this.#at = end
    // A number right before a redirection says which stream is meant.
    if ((after === '<' || after === '>') && /^\d+$/.test(text))
      return text.length > 2 ? 'a stream that is not known' : this.#redirect()
    if (this.#group !== null) return 'words behind a group'
    if (this.#current.words.length === 0) {
      if (text === '{' || text === '!' || text === 'time')
        return this.#current.redirects.length === 0 && (isBlank(after) || (text === '{' && after === '\n'))
          ? null
          : `${text} where it is not known`
      if (text === '}') {
        this.#group = start
        return null
      }
      if (keywords.has(text)) return `shell syntax that cannot be checked (${text})`
      if (assignment.test(text)) return 'a variable that it sets'
      if (text.startsWith('-')) return 'a command that begins with a dash'
    }
    this.#current.words.push({ pos: start, end, known })
    return null
  }

  #redirect(): string | null {
    operator.lastIndex = this.#at
    const [found = ''] = operator.exec(this.#source) ?? []
    this.#at += found.length
    while (isBlank(this.#source[this.#at])) this.#at++
    const into =
      this.#group === null ? this.#current.redirects : (this.groups.get(this.#group) ?? this.#opened())
    if (found === '<&' || found === '>&') {
      stream.lastIndex = this.#at
      const target = stream.exec(this.#source)?.[0]
      if (target === undefined) return `a redirection with ${found} that is not known`
      this.#at += target.length
      into.push({ doubt: null, input: null })
      return null
    }
    if (found === '<<') return this.#hereDocumentBegins(into)
    if (!['<', '<<<', '>', '>>', '&>', '&>>'].includes(found)) return `a redirection with ${found}`
    if (isEnd(this.#source[this.#at])) return 'a redirection without a target'
    const start = this.#at
    const read = readWord(this.#source, start, this.#hereDocument === null)
    if (typeof read === 'string') return read
    const [word] = read.known
    if (word === undefined || read.known.length > 1 || (word.isGlob && found !== '<<<'))
      return 'a redirection whose target is only known when it runs'
    this.#at = read.end
    if (this.#source[read.end] === '(') return 'a bracket where none is known'
    if (found === '<' || found === '<<<') into.push({ doubt: null, input: found === '<' ? word.value : null })
    else into.push({ doubt: word.text === '/dev/null' ? null : `it writes to ${word.value}`, input: null })
    return null
  }

  #opened(): PlainRedirect[] {
    const list: PlainRedirect[] = []
    this.groups.set(this.#group!, list)
    return list
  }

  #hereDocumentBegins(into: PlainRedirect[]): string | null {
    delimiter.lastIndex = this.#at
    const [text, single, double, bare] = delimiter.exec(this.#source) ?? []
    if (text === undefined || this.#hereDocument !== null) return 'a here-document that is not plain'
    this.#at += text.length
    this.#hereDocument = { word: single ?? double ?? bare ?? '', isQuoted: bare === undefined }
    into.push({ doubt: null, input: null })
    return null
  }
}

interface Read {
  readonly end: number
  readonly known: readonly KnownWord[]
}

/** Characters that mean themselves wherever they stand. */
const ordinary = /[\w.,/:@%+^=-]*/y

/** One word from a position on; a text says why it is not plain. */
function readWord(source: string, start: number, mayHoldNewline: boolean): Read | string {
  let at = start
  let value = ''
  let isGlob = false
  let isBare = true
  let isQuoted = false
  for (; at < source.length; at++) {
    ordinary.lastIndex = at
    const [run = ''] = ordinary.exec(source) ?? []
    value += run
    at += run.length
    const char = source[at]
    if (char === undefined || ends.test(char)) break
    if (char === "'" || char === '"') {
      const quoted = char === "'" ? singleQuoted(source, at) : doubleQuoted(source, at)
      if (typeof quoted === 'string') return quoted
      if (!mayHoldNewline && quoted.value.includes('\n')) return 'quotes over lines before a here-document'
      value += quoted.value
      isGlob ||= quoted.isGlob
      at = quoted.end - 1
      isBare = false
      isQuoted = true
    } else if (char === '\\') {
      const next = source[++at]
      if (next === undefined || next === '\n') return 'a backslash at the end of a line inside a word'
      value += next
      isBare = false
    } else if (char === '$') {
      if (source[++at] !== '?') return `an expansion ($${source[at] ?? ''}…)`
      value += '*'
      isGlob = true
      isBare = false
    } else if (char === '`') return 'a command in backquotes'
    else if (char === '~' && isHome(source, at, start, value) === null) return 'a ~ that is not the own home'
    else value += char
  }
  const text = source.slice(start, at)
  if (value.startsWith('~') && !text.startsWith('~')) return 'a quoted ~'
  if (isBare && /[*?]|\[[^\]]*\]/.test(text)) isGlob = true
  else if (!isBare) {
    const open = unquoted(text)
    if (/[*?]/.test(open)) isGlob = true
    if (/[[{]/.test(open)) return 'a pattern with quotes in it'
  }
  const word: KnownWord = { value, text, isGlob, isBare: isBare && !isGlob && !isQuoted }
  const open = isBare ? text.indexOf('{') : -1
  return open === -1 || !/,|\.\./.test(text.slice(open)) ? { end: at, known: [word] } : withBraces(word, at)
}

/** At the start of a word it is a home; behind = and : the shell may take it for one. */
function isHome(source: string, at: number, start: number, value: string): true | null {
  if (at === start) return source[at + 1] === '/' || isEnd(source[at + 1]) ? true : null
  return /[=:]$/.test(value) ? null : true
}

/** What is left of a word's text without its quoted and escaped parts. */
const unquoted = (text: string): string => text.replace(/\\[\s\S]|'[^']*'|"(?:[^"\\]|\\[\s\S])*"|\$\?/g, '')

interface Quoted {
  readonly value: string
  readonly end: number
  readonly isGlob: boolean
}

function singleQuoted(source: string, at: number): Quoted | string {
  const end = source.indexOf("'", at + 1)
  return end === -1
    ? 'a quote that does not end'
    : { value: source.slice(at + 1, end), end: end + 1, isGlob: false }
}

function doubleQuoted(source: string, from: number): Quoted | string {
  let value = ''
  let isGlob = false
  for (let at = from + 1; at < source.length; at++) {
    const char = source[at]!
    const next = source[at + 1]
    if (char === '"') return { value, end: at + 1, isGlob }
    if (char === '`') return 'a command in backquotes'
    if (char === '\\') {
      if (next === undefined || next === '\n') return 'a backslash at the end of a line inside quotes'
      value += /[$`"\\]/.test(next) ? next : `\\${next}`
      at++
    } else if (char === '$' && next === '?') {
      value += '*'
      isGlob = true
      at++
    } else if (char === '$' && !afterDollar.test(next ?? '')) return `an expansion ($${next ?? ''}…)`
    else value += char
  }
  return 'a quote that does not end'
}

/** One list of plain alternatives; everything else that braces can do is not followed. */
function withBraces(word: KnownWord, end: number): Read | string {
  const [, before, list, after] = /^([^{}]*)\{([^{}]*)\}([^{}]*)$/.exec(word.text) ?? []
  if (before === undefined || list === undefined || !list.includes(',') || list.includes('..'))
    return 'braces that expand to several words'
  const known = list.split(',').map((one) => {
    const value = `${before}${one}${after}`
    return { value, text: value, isGlob: /[*?[]/.test(value), isBare: false }
  })
  if (known.some(({ value }) => value === '' || /^~|[=:]~/.test(value))) return 'braces with an empty word'
  return { end, known }
}
