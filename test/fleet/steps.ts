// What tests of workers look at: the facts of a session, what was said in it, and whether anything is left to do.
import { createHash } from 'node:crypto'
import type { AnswerContext, Answerer } from '../../src/simulator/index.ts'
import { isKnown, isRealInput, type Fact } from '../../src/transcript/fact.ts'
import { sessionId } from '../../src/transcript/ids.ts'
import type { TestFleet } from './fleet.ts'

/** Answers with the last words of the user, so that every answer can be matched with its input. */
export const echo: Answerer = {
  answer({ request }) {
    return { content: [{ type: 'text', text: `re: ${lastWords(request)}` }], stop_reason: 'end_turn' }
  },
}

const lastWords = ({ messages }: AnswerContext['request']): string => {
  const last = messages.at(-1)!.content
  return typeof last === 'string'
    ? last
    : last.map((block) => (block.type === 'text' ? block.text : '')).join('')
}

/** An echo that holds back its first answers to these words until it is let go. */
export function holding(words: string, most = Infinity) {
  let [asked, letGo] = [0, (): void => undefined]
  const free = new Promise<void>((resolve) => (letGo = resolve))
  const answerer: Answerer = {
    async answer(context) {
      if (lastWords(context.request) === words && ++asked <= most) await free
      return echo.answer(context)
    },
  }
  return { answerer, asked: () => asked, letGo: () => letGo() }
}

export const factsOf = async ({ store }: TestFleet, session: string): Promise<readonly Fact[]> => {
  const facts: Fact[] = []
  for await (const item of store.read(sessionId(session)))
    if (item.kind === 'entry' && isKnown(item.entry)) facts.push(item.entry.fact)
  return facts
}
export const said = (facts: readonly Fact[]): readonly string[] =>
  facts.flatMap((fact) =>
    fact.type === 'assistant-message'
      ? [fact.content.map((block) => (block.type === 'text' ? block.text : '')).join('')]
      : [],
  )
export const inputs = (facts: readonly Fact[]) => facts.filter(isRealInput)
export const isIdle = async ({ queue }: TestFleet, session: string): Promise<boolean> => {
  const rows = await queue.rows(session)
  const row = rows.ok ? rows.rows[0] : undefined
  return row !== undefined && row.waiting === 0 && row.wantedFor === null && row.owner === null
}
export const send = async (
  { queue }: TestFleet,
  session: string,
  id: string,
  body = id,
): Promise<boolean> => {
  const sent = await queue.send({ session, id, kind: 'input', body })
  if (!sent.ok) throw new Error(sent.failure.message)
  return sent.isNew
}

/** By this a line is known again. */
export const sumOf = (line: string): string => createHash('sha256').update(line).digest('base64').slice(0, 16)
