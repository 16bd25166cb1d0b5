// Questions for a person, where none sits before the program. A question is kept and ends the turn; the session waits in the
// database, not in a process. The answer holds for exactly that call of that session, also in another process.
import { createHash } from 'node:crypto'
import type { Claimed, Queue } from '../postgres/queue.ts'
import type { Result } from '../disk/failure.ts'
import type { AskUser } from '../tools/permission/question.ts'

export interface AskedQuestion {
  readonly id: string
  readonly tool: string
}

export interface Pending {
  /** What was asked since the session was opened and nobody has answered. */
  asked(): readonly AskedQuestion[]
  /** They were taken care of. */
  forget(): void
}

export interface Questions extends Pending {
  readonly askUser: AskUser
}

/** With the answers there are already. */
export async function questionsOf(
  claimed: Claimed,
  queue: Queue,
): Promise<Result<{ readonly questions: Questions }>> {
  const known = await queue.questions(claimed.session)
  if (!known.ok) return known
  const answers = new Map(
    known.questions.flatMap(({ id, answer }) => (answer === null ? [] : [[id, answer] as const])),
  )
  const asked: AskedQuestion[] = []
  /** It may have been answered since the session was opened. */
  const answerNow = async (id: string): Promise<string | undefined> => {
    const now = await queue.questions(claimed.session)
    return now.ok ? (now.questions.find((one) => one.id === id)?.answer ?? undefined) : undefined
  }
  const askUser: AskUser = async ({ tool, subject, why, problem }) => {
    const id = questionId(tool, subject)
    const answer = answers.get(id) ?? (await answerNow(id))
    if (answer === 'allow') return { kind: 'once' }
    if (answer !== undefined) return { kind: 'no', words: answer.replace(/^deny:? ?/, '') }
    const body = [subject, ...(problem === undefined ? [] : [problem]), why].join('\n')
    const kept = await queue.ask(claimed, id, tool, body)
    if (kept.ok && kept.isFound) asked.push({ id, tool })
    return { kind: 'interrupt' }
  }
  return { ok: true, questions: { asked: () => asked, forget: () => void asked.splice(0), askUser } }
}

/** The same call has the same question. */
const questionId = (tool: string, subject: string): string =>
  createHash('sha256').update(`${tool}\n${subject}`).digest('hex').slice(0, 12)
