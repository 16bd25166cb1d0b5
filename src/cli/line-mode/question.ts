// A question of permission in plain lines, by the law of the screen: nothing that was typed for something else answers it.
// A letter alone on its line selects an answer and an empty line confirms it. Every other line was not meant for the
// question: it goes where lines go while a turn runs, and from then on only /answer leads back.
import { defaults } from '../../settings/defaults.ts'
import type { Answer, AskUser, Question } from '../../tools/permission/question.ts'
import type { KeyedChoice } from '../conversation/context.ts'
import { approvalText, longerAnswers, revealed } from '../terminal/approval-text.ts'
import type { Io } from '../terminal/io.ts'

export interface LineQuestions {
  readonly ask: AskUser
  /** Takes a line for the open question; false when none is open or the line is not meant for it. */
  take(line: string): boolean
  /** Another question, asked in the same way; null when the person turns away. */
  choose<T>(text: string, choices: readonly KeyedChoice<T>[]): Promise<T | null>
  /** No more lines come: whoever waits for an answer goes on without. */
  turnAway(): void
}

interface OpenChoice {
  readonly key: string
  readonly label: string
  readonly about?: string | undefined
  readonly take: () => void
}

interface OpenQuestion {
  readonly choices: readonly OpenChoice[]
  readonly note: string | undefined
  readonly turnAway: () => void
  /** What `n` with words behind it means; left out where it means nothing. */
  readonly no?: ((words: string) => void) | undefined
  /** Lines before this time were begun before the question was seen. */
  armedAt: number
  isTypedPast: boolean
  selected: OpenChoice | null
  /** The selection was shown before the line at hand was read. */
  isShown: boolean
}

const escape = '\u001B'

export function createLineQuestions(io: Io): LineQuestions {
  const queue: (() => void)[] = []
  let open: OpenQuestion | null = null
  let lineAt = -Infinity
  const begin = (text: string, asked: Pick<OpenQuestion, 'choices' | 'note' | 'turnAway' | 'no'>): void => {
    const { inSightMs, quietMs } = defaults.screen
    const armedAt = Math.max(performance.now() + inSightMs, lineAt + quietMs)
    open = { ...asked, armedAt, isTypedPast: false, selected: null, isShown: false }
    io.err(`${text}${choicesText(open.choices, open.note)}`)
  }
  const free = async (): Promise<void> => {
    if (open !== null) await new Promise<void>((resolve) => queue.push(resolve))
  }
  const end = (): void => {
    open = null
    queue.shift()?.()
  }
  return {
    async choose(text, choices) {
      await free()
      return new Promise((resolve) => {
        const answer = (value: (typeof choices)[number]['value'] | null): void => {
          resolve(value)
          end()
        }
        begin(text, {
          choices: choices.map(({ key, label, value }) => ({ key, label, take: () => answer(value) })),
          note: undefined,
          turnAway: () => answer(null),
        })
      })
    },
    async ask(question, signal) {
      await free()
      return new Promise<Answer>((resolve) => {
        const answer = (given: Answer): void => {
          signal.removeEventListener('abort', onAbort)
          resolve(given)
          end()
        }
        const onAbort = (): void => answer({ kind: 'interrupt' })
        begin(approvalText(question), {
          ...choicesFor(question, answer),
          turnAway: onAbort,
          no: (words) => answer({ kind: 'no', words }),
        })
        if (signal.aborted) onAbort()
        else signal.addEventListener('abort', onAbort, { once: true })
      })
    },
    turnAway: () => open?.turnAway(),
    take(line) {
      const isTaken = open !== null && taken(io, open, line)
      if (!isTaken) lineAt = performance.now()
      return isTaken
    },
  }
}

const show = (io: Io, { choices, note }: OpenQuestion): void => io.err(choicesText(choices, note))
function select(io: Io, question: OpenQuestion, choice: OpenChoice): void {
  question.selected = choice
  question.isShown = false
  setImmediate(() => {
    question.isShown = true
  })
  io.err(`pal: ${choice.label}: an empty line confirms, any other line does not\n? `)
}
function typedPast(io: Io, question: OpenQuestion): false {
  if (!question.isTypedPast) io.err('pal: that does not answer the question; /answer returns to it\n')
  question.isTypedPast = true
  question.selected = null
  return false
}
/** Whether the line was meant for the question. */
function taken(io: Io, question: OpenQuestion, line: string): boolean {
  const text = line.trim()
  if (text === escape) question.turnAway()
  else if (text === '/answer') {
    question.armedAt = -Infinity
    question.isTypedPast = false
    question.selected = null
    show(io, question)
  } else if (question.isTypedPast || performance.now() < question.armedAt) return typedPast(io, question)
  else if (text === '') {
    if (question.selected === null) show(io, question)
    else if (question.isShown) question.selected.take()
  } else if (question.no !== undefined && /^n\s/.test(text)) question.no(text.slice(1).trim())
  else {
    const choice = question.choices.find(({ key }) => key === text)
    if (choice === undefined) return typedPast(io, question)
    select(io, question, choice)
  }
  return true
}

function choicesFor(
  question: Question,
  answered: (answer: Answer) => void,
): Pick<OpenQuestion, 'choices' | 'note'> {
  const { answers, note } = longerAnswers(question)
  const all: readonly (Omit<OpenChoice, 'take'> & { readonly answer: Answer })[] = [
    { key: 'y', label: 'Yes', answer: { kind: 'once' } },
    ...answers,
    { key: 'n', label: 'No; n TEXT tells the model what to do instead', answer: { kind: 'no' } },
  ]
  return { choices: all.map((choice) => ({ ...choice, take: () => answered(choice.answer) })), note }
}

function choicesText(choices: readonly OpenChoice[], note: string | undefined): string {
  const lines = choices.map(
    ({ key, label, about }) => `  ${key}  ${label}${about === undefined ? '' : `: ${revealed(about)}`}`,
  )
  const notes = note === undefined ? [] : [`     ${revealed(note)}`]
  return `${[...lines, ...notes].join('\n')}\n  A letter selects, an empty line confirms, Ctrl-C interrupts.\n? `
}
