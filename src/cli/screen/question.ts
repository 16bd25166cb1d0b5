// A question with answers to choose from. One without a subject is a list the person asked for: it takes the place of the
// editor and its first line is selected; text was not meant for it, closes it and goes to the prompt. One with a subject lets something happen, and is asked as a decision (decision.ts).
import {
  Container,
  decodeKittyPrintable,
  SelectList,
  Text,
  type Component,
  type SelectItem,
} from '@earendil-works/pi-tui'
import { defaults } from '../../settings/defaults.ts'
import type { Answer, Question as Asked } from '../../tools/permission/question.ts'
import type { Question } from '../conversation/context.ts'
import { longerAnswers } from '../terminal/approval-text.ts'
import { diffOf } from '../terminal/change.ts'
import { safeText } from '../terminal/safe-text.ts'
import type { Theme } from './theme.ts'

const leastLabel = 24
const labelShare = 0.6

interface PickerEars<T> {
  readonly answered: (chosen: T | null) => void
  /** A key that is for the prompt. */
  readonly typed: (data: string) => void
}

/** Answers once: with a choice, or with null when the person turns away. */
export class PickerBlock<T> extends Container {
  readonly #list: SelectList
  /** Keys typed before the list could be seen were not meant for it. */
  #isArmed = false
  /** Keys of one piece of input come before anybody hears that the list is closed. */
  #isClosed = false
  readonly #ears: PickerEars<T>

  constructor(question: Question<T>, theme: Theme, ears: PickerEars<T>, columns: number) {
    super()
    this.#ears = ears
    const items = question.choices.map(({ label, about }, at): SelectItem => ({
      value: String(at),
      label: safeText(label, { reveal: true }),
      ...(about === undefined ? {} : { description: safeText(about, { reveal: true }) }),
    }))
    // What is told of each has room beside the longest label, and in a narrow window beside the beginning of a long one.
    const longest = Math.max(...items.map(({ label }) => label.length)) + 2
    const maxPrimaryColumnWidth = Math.min(longest, Math.max(leastLabel, Math.floor(columns * labelShare)))
    this.#list = new SelectList(items, defaults.screen.pickerRows, theme.list, { maxPrimaryColumnWidth })
    this.#list.onSelect = ({ value }) => {
      const choice = question.choices[Number(value)]
      if (choice !== undefined) ears.answered(choice.value)
    }
    this.#list.onCancel = () => ears.answered(null)
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
    if (!this.#isClosed && !isText(data)) return void (this.#isArmed && this.#list.handleInput(data))
    if (!this.#isClosed) this.#ears.answered(null)
    this.#isClosed = true
    this.#ears.typed(data)
  }
}

/** Letters and pastes; arrows, Enter and Escape are none. */
const isText = (data: string): boolean =>
  data.startsWith('\u001B[200~') || decodeKittyPrintable(data) !== undefined || !/\p{Cc}/u.test(data)

/**
 * A question of permission: what would happen stands whole above the answers, and each answer for longer names the rule it
 * sets and where that is kept.
 */
export function approvalOf(asked: Asked, home: string): Question<Answer> {
  const { note, answers } = longerAnswers(asked)
  const why = asked.why.replaceAll(`${home}/`, '~/')
  return {
    title: `${asked.tool}: ${why}${asked.problem === undefined ? '' : `\n${asked.problem}`}`,
    subject: asked.subject,
    change: asked.change === undefined ? undefined : diffOf(asked.change),
    choices: [
      { value: { kind: 'once' }, label: 'Yes', key: 'y' },
      ...answers.map(({ answer, label, about, key }) => ({ value: answer, label, about, key })),
      {
        value: { kind: 'no' },
        label: 'No, and tell the model what to do instead',
        key: 'n',
        withText: (words) => ({ kind: 'no', words }),
      },
    ],
    note,
  }
}

/** An answer that is still to come; null when the asker gives up. */
export function pendingAnswer<T>(signal: AbortSignal | undefined): {
  readonly promise: Promise<T | null>
  readonly resolve: (answer: T | null) => void
} {
  let resolve: (answer: T | null) => void = () => undefined
  const promise = new Promise<T | null>((done) => {
    resolve = done
  })
  signal?.addEventListener('abort', () => resolve(null), { once: true })
  return { promise, resolve }
}
