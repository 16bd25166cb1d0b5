// A question of permission in plain lines, by the law of the screen: nothing that was typed for something else answers it.
// A letter alone on its line selects an answer and an empty line confirms it. Every other line was not meant for the
// question: it goes where lines go while a turn runs, and from then on only /answer leads back.
import { defaults } from '../../settings/defaults.ts'
import type { Answer, AskUser, Question } from '../../tools/permission/question.ts'
import { approvalText, longerAnswers, revealed } from '../terminal/approval-text.ts'
import type { Io } from '../terminal/io.ts'

export interface Asking {
  readonly ask: AskUser
  /** Takes a line for the open question; false when none is open or the line is not meant for it. */
  take(line: string): boolean
}

interface Choice {
  readonly key: string
  readonly label: string
  readonly about?: string | undefined
  readonly answer: Answer
}

interface Open {
  readonly choices: readonly Choice[]
  readonly note: string | undefined
  readonly answer: (answer: Answer) => void
  /** Lines before this time were begun before the question was seen. */
  armedAt: number
  isTypedPast: boolean
  selected: Choice | null
  /** The selection was shown before the line at hand was read. */
  isShown: boolean
}

const escape = '\u001B'

export function createAsking(io: Io): Asking {
  const queue: (() => void)[] = []
  let open: Open | null = null
  let lineAt = -Infinity
  const show = ({ choices, note }: Open): void => io.err(choicesText(choices, note))
  const select = (question: Open, choice: Choice): void => {
    question.selected = choice
    question.isShown = false
    setImmediate(() => {
      question.isShown = true
    })
    io.err(`pal: ${choice.label}: an empty line confirms, any other line does not\n? `)
  }
  const typedPast = (question: Open): false => {
    if (!question.isTypedPast) io.err('pal: that is no answer to the question; /answer goes back to it\n')
    question.isTypedPast = true
    question.selected = null
    return false
  }
  const taken = (question: Open, line: string): boolean => {
    const text = line.trim()
    if (text === escape) question.answer({ kind: 'interrupt' })
    else if (text === '/answer') {
      question.armedAt = -Infinity
      question.isTypedPast = false
      question.selected = null
      show(question)
    } else if (question.isTypedPast || performance.now() < question.armedAt) return typedPast(question)
    else if (text === '') {
      if (question.selected === null) show(question)
      else if (question.isShown) question.answer(question.selected.answer)
    } else if (/^n\s/.test(text)) question.answer({ kind: 'no', words: text.slice(1).trim() })
    else {
      const choice = question.choices.find(({ key }) => key === text)
      if (choice === undefined) return typedPast(question)
      select(question, choice)
    }
    return true
  }
  return {
    async ask(question, signal) {
      if (open !== null) await new Promise<void>((resolve) => queue.push(resolve))
      return new Promise<Answer>((resolve) => {
        const answer = (given: Answer): void => {
          open = null
          signal.removeEventListener('abort', onAbort)
          resolve(given)
          queue.shift()?.()
        }
        const onAbort = (): void => answer({ kind: 'interrupt' })
        const { settleMs, quietMs } = defaults.screen
        const armedAt = Math.max(performance.now() + settleMs, lineAt + quietMs)
        const now: Open = {
          ...choicesFor(question),
          answer,
          armedAt,
          isTypedPast: false,
          selected: null,
          isShown: false,
        }
        open = now
        io.err(approvalText(question))
        show(now)
        if (signal.aborted) onAbort()
        else signal.addEventListener('abort', onAbort, { once: true })
      })
    },
    take(line) {
      const isTaken = open !== null && taken(open, line)
      if (!isTaken) lineAt = performance.now()
      return isTaken
    },
  }
}

function choicesFor(question: Question): Pick<Open, 'choices' | 'note'> {
  const { answers, note } = longerAnswers(question)
  return {
    choices: [
      { key: 'y', label: 'Yes', answer: { kind: 'once' } },
      ...answers,
      { key: 'n', label: 'No; n and words tell the model what to do instead', answer: { kind: 'no' } },
    ],
    note,
  }
}

function choicesText(choices: readonly Choice[], note: string | undefined): string {
  const lines = choices.map(
    ({ key, label, about }) => `  ${key}  ${label}${about === undefined ? '' : `: ${revealed(about)}`}`,
  )
  const notes = note === undefined ? [] : [`     ${revealed(note)}`]
  return `${[...lines, ...notes].join('\n')}\n  A letter selects, an empty line confirms, Ctrl-C interrupts.\n? `
}
