// A question of permission as lines of text: whole, never cut, what cannot be seen written out, and a long
// run of blanks or empty lines counted instead of printed, so that nothing hides behind it.
import type { Answer, Question } from '../../tools/permission/question.ts'
import { changeText, diffOf } from './change.ts'
import { safeLine, safeText } from './safe-text.ts'

/** Blanks in a row that are still shown as blanks; an indentation may be longer. */
const shownBlanks = 24
const shownEmptyLines = 3

type Shown = Pick<Question, 'tool' | 'subject' | 'why' | 'change' | 'problem'>

export function approvalText({ tool, subject, why, change, problem }: Shown): string {
  const lines = revealed(change === undefined ? subject : changeText(diffOf(change)))
    .split('\n')
    .map((line) => `  | ${line}`)
  const fails = problem === undefined ? '' : `  but: ${safeLine(problem)}\n`
  return `pal: ${safeLine(tool)} wants to run:\n${lines.join('\n')}\n  because: ${safeLine(why)}\n${fails}`
}

/** An answer that holds for longer: the rule it sets, and where that is kept. */
export interface LongerAnswer {
  readonly answer: Answer
  readonly label: string
  readonly about: string
  readonly key: string
}

export function longerAnswers({ rules, scopes, everywhere = rules, note }: Question): {
  readonly answers: readonly LongerAnswer[]
  readonly note: string | undefined
} {
  if (rules.length === 0) return { answers: [], note: undefined }
  const answers: LongerAnswer[] = [
    {
      answer: { kind: 'session' },
      label: 'Yes, for this session',
      about: `allows ${ruleText(rules)} until pal exits`,
      key: 's',
    },
  ]
  if (scopes.includes('local'))
    answers.push({
      answer: { kind: 'always', scope: 'local' },
      label: 'Yes, always in this project',
      about: `allows ${ruleText(rules)} here, kept in .palimpsest/settings.local.json`,
      key: 'a',
    })
  if (scopes.includes('user') && everywhere.length > 0)
    answers.push({
      answer: { kind: 'always', scope: 'user' },
      label: 'Yes, always',
      about: `allows ${ruleText(everywhere)} in every project, kept in your own settings`,
      key: 'e',
    })
  return { answers, note }
}

/** Rules on one line, whole: a line end or a tab in one is written out too. */
const ruleText = (rules: readonly string[]): string =>
  rules.map((rule) => revealed(rule).replaceAll('\n', '\\n').replaceAll('\t', '\\t')).join(', ')

/** A text that a person judges, with nothing in it that shows as nothing. */
export const revealed = (text: string): string =>
  safeText(
    text
      .replace(control, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`)
      .replace(unseen, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`),
  )
    .replace(/[^\S\n]{2,}/gu, (blanks) =>
      blanks.length > shownBlanks ? ` [${blanks.length} blanks] ` : blanks,
    )
    .replace(/\n(?:[^\S\n]*\n){2,}/gu, (lines) => {
      const count = lines.split('\n').length - 2
      return count > shownEmptyLines ? `\n[${count} empty lines]\n` : lines
    })

/** What shows as nothing or as a blank that is none: by its nature in Unicode, so that no list has to name it. */
const unseen = /[^\P{Default_Ignorable_Code_Point}]|[^\P{Cf}]|[^\P{Z} ]|\u2800/gu
/** Everything a terminal acts on is written out here, where elsewhere it is dropped. */
const control = /[^\P{Cc}\n\t]/gu
