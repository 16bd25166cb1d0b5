// A question with answers to choose from, in place of the editor. What a person is asked to judge is shown whole, with
// everything invisible made visible (TRUST A19): it wraps and is never cut.
import { Container, SelectList, Text, type Component, type SelectItem } from '@earendil-works/pi-tui'
import { defaults } from '../../settings/defaults.ts'
import { safeText } from '../terminal/safe-text.ts'
import type { Theme } from './theme.ts'

export interface Choice<T> {
  readonly value: T
  readonly label: string
  readonly about?: string | undefined
  /** A key that chooses it at once. */
  readonly key?: string | undefined
}

export interface Question<T> {
  readonly title: string
  /** What is to be judged, shown as it is. */
  readonly subject: string
  readonly choices: readonly Choice<T>[]
}

/** Answers once: with a choice, or with null when the person turns away. */
export class QuestionBlock<T> extends Container {
  readonly #list: SelectList
  readonly #question: Question<T>
  readonly #answer: (chosen: T | null) => void
  /** Keys typed before the question could be seen were not meant for it. */
  #isArmed = false

  constructor(question: Question<T>, theme: Theme, answer: (chosen: T | null) => void) {
    super()
    this.#question = question
    this.#answer = answer
    const items = question.choices.map(({ label, about, key }, at): SelectItem => ({
      value: String(at),
      label: safeText(key === undefined ? label : `${label} (${key})`, { reveal: true }),
      ...(about === undefined ? {} : { description: safeText(about, { reveal: true }) }),
    }))
    this.#list = new SelectList(items, defaults.screen.pickerRows, theme.list, { maxPrimaryColumnWidth: 60 })
    this.#list.onSelect = ({ value }) => this.#choose(Number(value))
    this.#list.onCancel = () => answer(null)
    const parts: Component[] = [
      new Text(theme.strong(theme.warn(safeText(question.title, { reveal: true }))), 1, 1),
      ...(question.subject === '' ? [] : [new Text(safeText(question.subject, { reveal: true }), 3, 0)]),
      new Text('', 0, 0),
      this.#list,
    ]
    for (const part of parts) this.addChild(part)
  }

  override render(width: number): string[] {
    this.#isArmed = true
    return super.render(width)
  }

  handleInput(data: string): void {
    if (!this.#isArmed) return
    const at = this.#question.choices.findIndex(({ key }) => key !== undefined && key === data)
    if (at >= 0) this.#choose(at)
    else this.#list.handleInput(data)
  }

  #choose(at: number): void {
    const choice = this.#question.choices[at]
    if (choice !== undefined) this.#answer(choice.value)
  }
}
