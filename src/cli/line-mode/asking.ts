// A question of permission in plain lines. While one stands open the next line is its answer and nothing else; what is
// asked about is shown whole, with everything that cannot be seen written out.
import type { Answer, AskUser, Question } from '../../tools/permission/question.ts'
import { approvalText } from '../terminal/approval-text.ts'
import type { Io } from '../terminal/io.ts'
import { safeLine } from '../terminal/safe-text.ts'

export interface Asking {
  readonly ask: AskUser
  /** Takes a line for the open question; false when none is open. */
  take(line: string): boolean
}

export function createAsking(io: Io): Asking {
  let open: { readonly question: Question; readonly answer: (answer: Answer) => void } | null = null
  const show = (question: Question): void => {
    io.err(`${approvalText(question)}${choicesText(question)}`)
  }
  return {
    ask: (question, signal) =>
      new Promise((resolve) => {
        const answer = (given: Answer): void => {
          open = null
          signal.removeEventListener('abort', onAbort)
          resolve(given)
        }
        const onAbort = (): void => answer({ kind: 'no' })
        open = { question, answer }
        show(question)
        if (signal.aborted) onAbort()
        else signal.addEventListener('abort', onAbort, { once: true })
      }),
    take(line) {
      if (open === null) return false
      const given = answerIn(line, open.question)
      if (given === null) io.err(choicesText(open.question))
      else open.answer(given)
      return true
    },
  }
}

/** Null when the line is no answer: nothing is taken for a yes that is none. */
function answerIn(line: string, { rules, scopes }: Question): Answer | null {
  const [, word = '', rest = ''] = /^\s*(\S*)\s*([\s\S]*)$/.exec(line) ?? []
  switch (word.toLowerCase()) {
    case 'y':
    case 'yes':
      return rest === '' ? { kind: 'once' } : null
    case 's':
      return rest === '' && rules.length > 0 ? { kind: 'session' } : null
    case 'a':
      return rest === '' && scopes.includes('local') ? { kind: 'always', scope: 'local' } : null
    case 'e':
      return rest === '' && scopes.includes('user') ? { kind: 'always', scope: 'user' } : null
    case 'n':
    case 'no':
      return { kind: 'no', words: rest }
    default:
      return null
  }
}

function choicesText({ rules, scopes }: Question): string {
  const rule = rules.map((one) => safeLine(one)).join(', ')
  const lines = [
    'y  once',
    rules.length > 0 ? `s  until pal ends: ${rule}` : '',
    scopes.includes('local') ? `a  always in this project: ${rule}` : '',
    scopes.includes('user') ? `e  always and everywhere: ${rule}` : '',
    'n  no; words behind it say what to do instead',
  ]
  return `${lines
    .filter((line) => line !== '')
    .map((line) => `  ${line}`)
    .join('\n')}\n? `
}
