// What the log is made of: one component for each thing that was said, called or noticed. Every text of the model, a
// tool or a file passes safe-text on its way in, so that nothing it holds can act on the terminal.
import { Container, Markdown, Text, wrapTextWithAnsi, type Component } from '@earendil-works/pi-tui'
import { defaults } from '../../settings/defaults.ts'
import type { FileChange } from '../../tools/files/file-change.ts'
import { fenceTags } from '../../transcript/fence.ts'
import { revealed } from '../terminal/approval-text.ts'
import { changeInCall, diffOf, signs, type Change } from '../terminal/change.ts'
import { describeCall } from '../terminal/event-text.ts'
import { safeText } from '../terminal/safe-text.ts'
import type { Theme } from './theme.ts'

/** Opens and closes with all others. */
export interface Foldable extends Component {
  setOpen(isOpen: boolean): void
}

export const isFoldable = (component: Component): component is Foldable => 'setOpen' in component

/** Its lines are made once for each width, until something in it changes. */
abstract class FoldableBlock implements Foldable {
  protected isOpen = false
  #lines: { readonly width: number; readonly lines: string[] } | null = null

  protected abstract made(width: number): string[]

  setOpen(isOpen: boolean): void {
    this.isOpen = isOpen
    this.invalidate()
  }

  invalidate(): void {
    this.#lines = null
  }

  render(width: number): string[] {
    if (this.#lines?.width !== width) this.#lines = { width, lines: this.made(width) }
    return this.#lines.lines
  }
}

/** What a person said. */
export class MessageBlock extends FoldableBlock {
  readonly #theme: Theme
  readonly #text: string

  constructor(text: string, theme: Theme) {
    super()
    this.#theme = theme
    this.#text = safeText(text)
  }

  protected made(width: number): string[] {
    const { user, strong, faint } = this.#theme
    const most = this.isOpen ? Infinity : defaults.screen.messageLines
    const lines = this.#text.split('\n')
    const rest = lines.length - Math.min(lines.length, most)
    const shown = lines
      .slice(0, most)
      .flatMap((line) => wrapped(strong(this.isOpen ? line : cut(line, width)), width, 2))
    const [first = '', ...others] = shown
    return [
      `${user('› ')}${first.slice(Math.min(2, width - 1))}`,
      ...others,
      ...(rest === 0 ? [] : wrapped(faint(more(rest)), width, 2)),
    ]
  }
}

export class NoticeBlock extends Text {
  constructor(message: string, paint: (text: string) => string) {
    super(paint(safeText(message).trimEnd()), 2, 0)
  }
}

/** Stands close to its own kind: calls one after the other, notices one after the other. */
export const isDense = (component: Component): boolean =>
  component instanceof NoticeBlock || component instanceof CallBlock

/** Blanks on both sides of the output of a command. */
export const outputIndent = 2

/** Output of a command, as it was written. */
export function outputBlock(text: string, hasColours: boolean): Component {
  return new Text(safeText(text, { colours: hasColours }).trimEnd(), outputIndent, 0)
}

/** An answer while it streams. The text is made safe whole, since a piece cannot be judged alone. */
export class AnswerBlock extends Container {
  readonly #markdown: Markdown
  readonly #theme: Theme
  #thinking: Text | null = null
  #text = ''
  #thought = ''

  constructor(theme: Theme) {
    super()
    this.#theme = theme
    this.#markdown = new Markdown('', 0, 0, theme.markdown)
    this.addChild(this.#markdown)
  }

  say(piece: string): void {
    this.#text += piece
    this.end()
    this.#markdown.setText(safeText(this.#text))
  }

  /** Only its newest line: it tells that something goes on, not what to read. */
  think(piece: string): void {
    if (this.#text !== '') return
    this.#thought = (this.#thought + piece).slice(-defaults.cli.columns * 2)
    const line = safeText(this.#thought).trim().split('\n').at(-1) ?? ''
    if (this.#thinking === null) {
      this.#thinking = new Text('', 2, 0)
      this.addChild(this.#thinking)
    }
    this.#thinking.setText(this.#theme.faint(`… ${line}`))
  }

  /** What was thought is not kept in sight. */
  end(): void {
    if (this.#thinking !== null) this.removeChild(this.#thinking)
    this.#thinking = null
  }
}

/** A call, what it changes, and what came of it. */
export class CallBlock extends FoldableBlock {
  readonly #theme: Theme
  readonly #head: string
  readonly #name: string
  readonly #input: unknown
  #change: Change | null = null
  #result: string | null = null
  #isError = false
  #progress = ''

  constructor(name: string, input: unknown, theme: Theme) {
    super()
    this.#theme = theme
    this.#head = describeCall(name, input)
    this.#name = name
    this.#input = input
  }

  report(text: string): void {
    this.#progress = text
    this.invalidate()
  }

  /** `change`: what it did to a file, where that is known; of an earlier run only the call itself is. */
  end(text: string, isError: boolean, change?: FileChange): void {
    this.#change = isError
      ? null
      : change === undefined
        ? changeInCall(this.#name, this.#input)
        : diffOf(change)
    this.#result = text
    this.#isError = isError
    this.#progress = ''
    this.invalidate()
  }

  protected made(width: number): string[] {
    const { bad, good, faint, warn } = this.#theme
    const mark = this.#result === null ? warn('●') : this.#isError ? bad('●') : good('●')
    const lines = [
      ...headed(mark, this.#head, width),
      ...(this.#change === null
        ? []
        : changeLines(
            this.#change,
            this.#theme,
            width,
            this.isOpen ? Infinity : defaults.screen.changeLines,
          )),
    ]
    if (this.#result === null) {
      const last = safeText(this.#progress).trimEnd().split('\n').at(-1) ?? ''
      return last === '' ? lines : [...lines, ...wrapped(faint(last), width, 4).slice(0, 1)]
    }
    // A change that worked is told by its diff.
    if (this.#change !== null && !this.#isError && !this.isOpen) return lines
    return [...lines, ...this.#resultLines(this.#result, width)]
  }

  #resultLines(result: string, width: number): string[] {
    const most = this.isOpen ? Infinity : defaults.screen.resultLines
    const lines = safeText(result)
      .trimEnd()
      .split('\n')
      .filter((line) => !isFence(line))
    const paint = this.#isError ? this.#theme.bad : this.#theme.faint
    const rest = lines.length - Math.min(lines.length, most)
    // What a command says last tells how it ended; of everything else the beginning tells what it is.
    const isCommand = this.#name === 'Bash'
    const shown = lines
      .slice(isCommand ? rest : 0, isCommand ? undefined : most)
      .flatMap((line) => wrapped(paint(this.isOpen ? line : cut(line, width)), width, 4))
    const hidden = rest === 0 ? [] : wrapped(this.#theme.faint(more(rest, isCommand)), width, 4)
    return isCommand ? [...hidden, ...shown] : [...shown, ...hidden]
  }
}

/** A line that only tells a model where somebody else's text begins or ends. */
const isFence = (line: string): boolean => ourTags.has(/^<\/?([a-z-]+)[^<]*>$/.exec(line)?.[1] ?? '')
const ourTags: ReadonlySet<string> = new Set(fenceTags)

/** The lines of a change, at most so many of them. What cannot be seen is written out, and nothing is cut. */
export function changeLines({ title, lines }: Change, theme: Theme, width: number, most: number): string[] {
  const paints = { added: theme.good, removed: theme.bad, same: plain, place: theme.faint }
  const shown = lines
    .slice(0, most)
    .flatMap(({ kind, text }) => wrapped(paints[kind](`${signs[kind]}${revealed(text)}`), width, 4))
  const rest = lines.length - Math.min(lines.length, most)
  return [
    ...wrapped(theme.faint(revealed(title)), width, 4),
    ...shown,
    ...(rest === 0 ? [] : wrapped(theme.faint(more(rest)), width, 4)),
  ]
}

const plain = (text: string): string => text
const more = (lines: number, isEarlier = false): string =>
  `… ${lines} ${isEarlier ? 'earlier' : 'more'} ${lines === 1 ? 'line' : 'lines'} (ctrl+o to expand)`

/** A line that would take more than some rows, cut to them; what is opened is not cut. */
function cut(line: string, width: number): string {
  const most = width * defaults.screen.lineRows
  return line.length <= most ? line : `${line.slice(0, most).toWellFormed()}… (ctrl+o to expand)`
}

/** The lines after the first stand below its text, not below its mark. */
const headed = (mark: string, text: string, width: number): string[] =>
  wrapped(text, width, 2).map((line, at) => (at === 0 ? `${mark} ${line.trimStart()}` : line))

/** Wrapped and moved to the right; nothing is cut. */
export function wrapped(text: string, width: number, indent: number): string[] {
  const room = Math.max(1, width - indent)
  return wrapTextWithAnsi(text, room).map((line) => `${' '.repeat(Math.min(indent, width - 1))}${line}`)
}
