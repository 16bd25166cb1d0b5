// A question of permission as lines of text: whole, never cut, what cannot be seen written out, and a long
// run of blanks or empty lines counted instead of printed, so that nothing hides behind it.
import type { Question } from '../../tools/permission/question.ts'
import { safeLine, safeText } from './safe-text.ts'

/** Blanks in a row that are still shown as blanks; an indentation may be longer. */
const shownBlanks = 24
const shownEmptyLines = 3

export function approvalText({ tool, subject, why }: Pick<Question, 'tool' | 'subject' | 'why'>): string {
  const lines = revealed(subject)
    .split('\n')
    .map((line) => `  | ${line}`)
  return `pal: ${safeLine(tool)} wants to run:\n${lines.join('\n')}\n  because: ${safeLine(why)}\n`
}

/** A text that a person judges, with nothing in it that shows as nothing. */
export const revealed = (text: string): string =>
  safeText(
    text.replace(control, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`),
    {
      reveal: true,
    },
  )
    .replace(/[^\S\n]{2,}/gu, (blanks) =>
      blanks.length > shownBlanks ? ` [${blanks.length} blanks] ` : blanks,
    )
    .replace(/\n(?:[^\S\n]*\n){2,}/gu, (lines) => {
      const count = lines.split('\n').length - 2
      return count > shownEmptyLines ? `\n[${count} empty lines]\n` : lines
    })

/** Everything a terminal acts on is written out here, where elsewhere it is dropped. */
const control = /[^\P{Cc}\n\t]/gu
