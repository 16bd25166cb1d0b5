// A question with answers to choose from. One without a subject is a list the person asked for: it takes the place of the
// editor and its first line is selected. One with a subject lets something happen, and is asked as a decision (decision.ts).
import { Container, SelectList, Text, type Component, type SelectItem } from '@earendil-works/pi-tui'
import { defaults } from '../../settings/defaults.ts'
import { safeText } from '../terminal/safe-text.ts'
import type { Change } from '../terminal/change.ts'
import type { Theme } from './theme.ts'

export interface Choice<T> {
  readonly value: T
  readonly label: string
  readonly about?: string | undefined
  /** A key that selects it. */
  readonly key?: string | undefined
  /** Confirming it opens a text field; the answer is made from what is written there. */
  readonly withText?: ((text: string) => T) | undefined
}

export interface Question<T> {
  readonly title: string
  /** What is to be judged, shown whole; empty where nothing is. */
  readonly subject: string
  /** What is to be judged as a change of a file, shown in place of the subject. */
  readonly change?: Change | undefined
  readonly choices: readonly Choice<T>[]
  /** Said below the choices. */
  readonly note?: string | undefined
}

/** Answers once: with a choice, or with null when the person turns away. */
export class PickerBlock<T> extends Container {
  readonly #list: SelectList
  /** Keys typed before the list could be seen were not meant for it. */
  #isArmed = false

  constructor(question: Question<T>, theme: Theme, answer: (chosen: T | null) => void) {
    super()
    const items = question.choices.map(({ label, about }, at): SelectItem => ({
      value: String(at),
      label: safeText(label, { reveal: true }),
      ...(about === undefined ? {} : { description: safeText(about, { reveal: true }) }),
    }))
    this.#list = new SelectList(items, defaults.screen.pickerRows, theme.list, { maxPrimaryColumnWidth: 60 })
    this.#list.onSelect = ({ value }) => {
      const choice = question.choices[Number(value)]
      if (choice !== undefined) answer(choice.value)
    }
    this.#list.onCancel = () => answer(null)
    const parts: Component[] = [
      new Text(theme.strong(theme.warn(safeText(question.title, { reveal: true }))), 1, 1),
      this.#list,
    ]
    for (const part of parts) this.addChild(part)
  }

  override render(width: number): string[] {
    this.#isArmed = true
    return super.render(width)
  }

  handleInput(data: string): void {
    if (this.#isArmed) this.#list.handleInput(data)
  }
}
