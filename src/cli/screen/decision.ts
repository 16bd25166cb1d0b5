// A question whose answer lets something happen. Law: nothing that was typed for something else answers it.
//
//   unarmed    keys go to the prompt below. It arms itself once it was drawn and the person was quiet for a while, or at Tab.
//   choosing   arrows and one letter select; Enter confirms what was selected and drawn. Any other key was not meant for
//              it: the question is unarmed, and everything typed since goes to the prompt.
//   writing    the text field of an answer that takes words has the keys.
import {
  decodeKittyPrintable,
  Editor,
  matchesKey,
  parseKey,
  type Component,
  type Focusable,
  type TUI,
} from '@earendil-works/pi-tui'
import type { Choice, Question } from '../conversation/context.ts'
import { revealed } from '../terminal/approval-text.ts'
import { changeLines, wrapped } from './blocks.ts'
import type { Theme } from './theme.ts'

export interface DecisionEars<T> {
  /** Called once. */
  readonly answered: (value: T) => void
  /** Keys that are no answer, in their order. */
  readonly typed: (keys: readonly string[]) => void
  /** The question has been drawn for the first time. */
  readonly drawn: () => void
  /** The text field has opened. */
  readonly writing: () => void
  /** Whether something is begun in the prompt: letters go on with it then. */
  readonly hasDraft: () => boolean
}

const hints = {
  unarmed: 'Keys go to the prompt. Tab to answer · esc to interrupt',
  choosing: '↑↓ or a letter · enter to confirm · esc to interrupt',
  unselected: 'Select an answer first: ↑↓ or a letter · esc to interrupt',
  writing: 'enter to send · empty: just no · esc to interrupt',
} as const

export class DecisionBlock<T> implements Component, Focusable {
  focused = false
  readonly #question: Question<T>
  readonly #theme: Theme
  readonly #ears: DecisionEars<T>
  readonly #field: Editor
  #hint: keyof typeof hints = 'unarmed'
  #selected: Choice<T> | null = null
  /** The selection a person has seen. */
  #shown: Choice<T> | null = null
  #letter = ''
  #isDrawn = false
  #head: { readonly width: number; readonly lines: readonly string[] } | null = null

  constructor(question: Question<T>, tui: TUI, theme: Theme, ears: DecisionEars<T>) {
    this.#question = question
    this.#theme = theme
    this.#ears = ears
    this.#field = new Editor(tui, theme.editor)
    this.#field.onSubmit = (text) => {
      const made = this.#selected?.withText?.(text)
      if (made !== undefined) ears.answered(made)
    }
  }

  get isArmed(): boolean {
    return this.#hint !== 'unarmed'
  }

  get isWriting(): boolean {
    return this.#hint === 'writing'
  }

  arm(): void {
    if (!this.isArmed) this.#hint = 'choosing'
  }

  disarm(): void {
    this.#hint = 'unarmed'
    this.#selected = null
    this.#letter = ''
  }

  handleInput(data: string): void {
    if (this.isWriting) return this.#field.handleInput(data)
    const { choices } = this.#question
    const lettered = choices.find(({ key }) => key === (decodeKittyPrintable(data) ?? data))
    if (matchesKey(data, 'up')) this.#move(-1)
    else if (matchesKey(data, 'down')) this.#move(1)
    else if (matchesKey(data, 'tab')) return
    else if (matchesKey(data, 'enter')) this.#confirm()
    // Two letters are the beginning of a word.
    else if (lettered !== undefined && this.#letter === '' && !this.#ears.hasDraft()) {
      this.#selected = lettered
      this.#letter = data
    } else {
      const keys = this.#letter === '' ? [data] : [this.#letter, data]
      this.disarm()
      this.#ears.typed(keys)
    }
  }

  #move(by: number): void {
    const { choices } = this.#question
    const at = this.#selected === null ? (by > 0 ? -1 : 0) : choices.indexOf(this.#selected)
    this.#selected = choices[(at + by + choices.length) % choices.length] ?? null
  }

  #confirm(): void {
    const choice = this.#selected
    if (choice === null) this.#hint = 'unselected'
    // Typed in one go with its selection: nobody has seen what would be confirmed.
    else if (choice !== this.#shown) return
    else if (choice.withText === undefined) this.#ears.answered(choice.value)
    else {
      this.#hint = 'writing'
      this.#ears.writing()
    }
  }

  invalidate(): void {
    this.#head = null
    this.#field.invalidate()
  }

  render(width: number): string[] {
    if (this.#head?.width !== width) this.#head = { width, lines: this.#above(width) }
    this.#shown = this.#selected
    this.#field.focused = this.focused && this.isWriting
    const { note } = this.#question
    const lines = [
      ...this.#head.lines,
      ...this.#question.choices.flatMap((choice) => this.#choice(choice, width)),
      ...(note === undefined ? [] : wrapped(this.#theme.faint(revealed(note)), width, 3)),
      ...(this.isWriting ? this.#field.render(width) : []),
      ...wrapped(this.#theme.faint(hints[this.#hint]), width, 1),
    ]
    if (!this.#isDrawn) {
      this.#isDrawn = true
      this.#ears.drawn()
    }
    return lines
  }

  #above(width: number): readonly string[] {
    const { title, subject, change } = this.#question
    const { strong, warn } = this.#theme
    return [
      '',
      ...revealed(title)
        .split('\n')
        .flatMap((line) => wrapped(strong(warn(line)), width, 1)),
      '',
      ...(change === undefined
        ? revealed(subject)
            .split('\n')
            .flatMap((line) => wrapped(line, width, 3))
        : changeLines(change, this.#theme, width, Infinity)),
      '',
    ]
  }

  #choice(choice: Choice<T>, width: number): string[] {
    const { label, about, key } = choice
    const isSelected = choice === this.#selected
    const text = `${isSelected ? '→' : ' '} ${revealed(label)}${key === undefined ? '' : ` (${key})`}`
    const paint = isSelected ? this.#theme.accent : (line: string) => line
    return [
      ...wrapped(paint(text), width, 1),
      ...(about === undefined
        ? []
        : revealed(about)
            .split('\n')
            .flatMap((line) => wrapped(this.#theme.faint(line), width, 5))),
    ]
  }
}

/** Whether a person pressed it: a terminal also answers what it is asked. */
export const isTyped = (data: string): boolean =>
  !data.startsWith('\u001B') || data.startsWith('\u001B[200~') || parseKey(data) !== undefined
