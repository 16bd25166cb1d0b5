// A question of permission on the screen: what would happen stands whole above the answers, and each answer for longer
// names the rule it sets and where that is kept.
import type { Answer, Question as Asked } from '../../tools/permission/question.ts'
import { diffOf } from '../terminal/change.ts'
import { longerAnswers } from '../terminal/approval-text.ts'
import type { Question } from './question.ts'

export function approvalOf(asked: Asked): Question<Answer> {
  const { note, answers } = longerAnswers(asked)
  return {
    title: `${asked.tool}: ${asked.why}${asked.problem === undefined ? '' : `\n${asked.problem}`}`,
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
