// Makes turns of messages as they come: neighbours of the user side are one turn, one response of the provider is one
// turn even if its lines are scattered, and the counts of a response are kept once.
import type { Usage } from '../transcript/fact.ts'
import { contextOf, type RecordedBlock, type RecordedTurn } from './recording.ts'

export interface Response {
  readonly at: number | null
  readonly messageId?: string | undefined
  readonly usage?: Usage | undefined
  readonly model?: string | undefined
  readonly stop?: string | undefined
}

interface Draft {
  readonly role: 'user' | 'assistant'
  readonly content: RecordedBlock[]
  readonly at: number | null
  response: Response | null
  /** The response is complete: what comes next belongs to another one. */
  isClosed: boolean
}

export class TurnList {
  readonly #drafts: Draft[] = []

  user(content: readonly RecordedBlock[], at: number | null): void {
    if (content.length === 0) return
    const last = this.#drafts.at(-1)
    if (last?.role === 'user') last.content.push(...content)
    else this.#drafts.push({ role: 'user', content: [...content], at, response: null, isClosed: false })
  }

  assistant(content: readonly RecordedBlock[], response: Response): void {
    const open = this.#openResponse(response.messageId)
    if (open === null) {
      this.#drafts.push({
        role: 'assistant',
        content: [...content],
        at: response.at,
        response,
        isClosed: false,
      })
      return
    }
    open.content.push(...content)
    open.response = merged(open.response, response)
  }

  /** Ends the last response, with its counts if they are known only now. Counts that come twice are kept once. */
  closeResponse(usage?: Usage): void {
    const last = this.#drafts.findLast((draft) => draft.role === 'assistant')
    if (last === undefined || last.isClosed) return
    last.isClosed = true
    if (usage !== undefined) last.response = { ...(last.response ?? { at: null }), usage }
  }

  turns(): readonly RecordedTurn[] {
    return this.#drafts.map(({ role, content, at, response }) => ({
      role,
      content: role === 'user' ? resultsFirst(content) : content,
      at,
      ...(response === null ? {} : { ...response, at: response.at ?? at }),
    }))
  }

  // With an id, the last response if it has the same one, even when results of its first calls came between.
  #openResponse(messageId: string | undefined): Draft | null {
    const last = this.#drafts.findLast((draft) => draft.role === 'assistant')
    if (last === undefined || last.isClosed) return null
    if (messageId !== undefined || last.response?.messageId !== undefined) {
      return messageId === last.response?.messageId && this.#onlyResultsAfter(last) ? last : null
    }
    return last === this.#drafts.at(-1) ? last : null
  }

  #onlyResultsAfter(draft: Draft): boolean {
    const later = this.#drafts.slice(this.#drafts.indexOf(draft) + 1)
    return later.every(({ content }) => content.every(({ block }) => block.type === 'tool_result'))
  }
}

function resultsFirst(content: readonly RecordedBlock[]): readonly RecordedBlock[] {
  const isResult = ({ block }: RecordedBlock): boolean => block.type === 'tool_result'
  return [...content.filter(isResult), ...content.filter((recorded) => !isResult(recorded))]
}

// The counts are repeated on every line of a response, and grow while it is written: the larger are the final ones.
function merged(before: Response | null, now: Response): Response {
  if (before === null) return now
  return { ...before, ...defined(now), at: before.at ?? now.at, usage: larger(before.usage, now.usage) }
}

function larger(left: Usage | undefined, right: Usage | undefined): Usage | undefined {
  if (left === undefined || right === undefined) return left ?? right
  return contextOf(right) + right.output >= contextOf(left) + left.output ? right : left
}

const defined = (response: Response): Partial<Response> =>
  Object.fromEntries(Object.entries(response).filter(([, value]) => value !== undefined))
