// A question of permission on the screen: what would happen stands whole above the answers, and each answer for longer
// names the very rule it would set.
import type { Answer, Question as Asked } from '../../tools/permission/question.ts'
import type { Choice, Question } from './question.ts'

export function approvalOf(asked: Asked): Question<Answer> {
  const rules = asked.rules.join(', ')
  const longer: Choice<Answer>[] =
    asked.rules.length === 0
      ? []
      : [
          { value: { kind: 'session' }, label: 'Yes, until pal ends', about: rules, key: 's' },
          ...asked.scopes.map((scope): Choice<Answer> => ({
            value: { kind: 'always', scope },
            label: scope === 'user' ? 'Yes, always and everywhere' : 'Yes, always in this project',
            about: rules,
            key: scope === 'user' ? 'e' : 'a',
          })),
        ]
  return {
    title: `${asked.tool}: ${asked.why}`,
    subject: asked.subject,
    choices: [
      { value: { kind: 'once' }, label: 'Yes, once', key: 'y' },
      ...longer,
      { value: { kind: 'no' }, label: 'No; say what to do instead', key: 'n' },
    ],
  }
}
