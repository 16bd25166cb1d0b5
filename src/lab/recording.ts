// A session that some agent really had, in one neutral shape: what was said, when, and what the provider counted.
// Importers make it, `toEntries` turns it into a transcript.
import type { AssistantBlock, UserBlock } from '../transcript/content.ts'
import type { Usage } from '../transcript/fact.ts'
import type { Result } from '../transcript/store.ts'

export interface RecordedResult {
  readonly type: 'tool_result'
  readonly tool_use_id: string
  readonly content: readonly UserBlock[]
  readonly is_error: boolean
}

/** A block and, where it is not the person's or the model's own, what it is. */
export interface RecordedBlock {
  readonly block: UserBlock | AssistantBlock | RecordedResult
  /** `compact_summary`, `attachment:file`, `client_note` … */
  readonly kind?: string | undefined
}

export interface RecordedTurn {
  readonly role: 'user' | 'assistant'
  readonly content: readonly RecordedBlock[]
  /** Milliseconds since the epoch, or null when the recording does not say. */
  readonly at: number | null
  /** Assistant turns: one turn is one response of the provider. */
  readonly usage?: Usage | undefined
  readonly model?: string | undefined
  readonly messageId?: string | undefined
  readonly stop?: string | undefined
}

export interface Recording {
  readonly name: string
  readonly client: string
  /** The repository that was worked on, where the recording says. */
  readonly project?: string | undefined
  readonly model: string
  /** `openai`: cached input without write counts. */
  readonly usageKind: 'anthropic' | 'openai' | 'none'
  /** `partial`: output tokens as they stood when the response began, so not to be used. */
  readonly outputCounts: 'final' | 'partial'
  /** Real size of the first request: system prompt, tools and first input. */
  readonly firstRequestTokens: number | null
  readonly system: string | null
  readonly tools: readonly string[]
  readonly turns: readonly RecordedTurn[]
}

export interface Skipped {
  readonly line: number
  readonly why: string
}

/** What an importer met on its way: everything that could be parsed is kept, this says what could not. */
export interface ImportReport {
  readonly format: string
  readonly skipped: readonly Skipped[]
}

export type Imported = Result<{ readonly recording: Recording; readonly report: ImportReport }>

/** Tokens the provider saw before this response. */
export const contextOf = (usage: Usage): number => usage.input + usage.cacheRead + usage.cacheWrite

type FromTurns = 'model' | 'usageKind' | 'outputCounts' | 'firstRequestTokens' | 'system' | 'tools'

/** A recording of these turns: what a file does not say is read off them. One in which nobody speaks is none. */
export function importedFrom(
  { format, skipped }: ImportReport,
  turns: readonly RecordedTurn[],
  known: Pick<Recording, 'name' | 'client'> & Partial<Pick<Recording, FromTurns>>,
): Imported {
  if (turns.length === 0)
    return { ok: false, failure: { code: 'nothing-said', message: `${known.name}: no message in it` } }
  const first = turns.find((turn) => turn.usage !== undefined)?.usage
  const tools = turns.flatMap(({ content }) =>
    content.flatMap(({ block }) => (block.type === 'tool_use' && 'name' in block ? [block.name] : [])),
  )
  const recording: Recording = {
    model: turns.find((turn) => turn.model !== undefined)?.model ?? 'unknown',
    usageKind: first === undefined ? 'none' : 'anthropic',
    outputCounts: 'final',
    firstRequestTokens: first === undefined ? null : contextOf(first),
    system: null,
    tools: [...new Set(tools)],
    ...known,
    turns,
  }
  return { ok: true, recording, report: { format, skipped } }
}

export const isResult = (block: RecordedBlock['block']): block is RecordedResult =>
  block.type === 'tool_result'
export const isUserBlock = (block: RecordedBlock['block']): block is UserBlock =>
  block.type === 'text' || block.type === 'image' || block.type === 'document'

/** What a person typed while the agent was busy is delivered as an attachment; notices of programs are in tags. */
export const isTypedWhileBusy = ({ block, kind }: RecordedBlock): boolean =>
  kind === 'attachment:queued_command' && 'text' in block && !block.text.startsWith('<')

/** The kind of a text that replaces what a client compacted. */
export const summaryKind = 'compact_summary'
export const isSummary = ({ kind }: RecordedBlock): boolean => kind === summaryKind
export const isAttached = (recorded: RecordedBlock): boolean =>
  recorded.kind !== undefined && recorded.kind.startsWith('attachment:') && !isTypedWhileBusy(recorded)

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

/**
 * Makes turns of messages as they come: neighbours of the user side are one turn, one response of the provider is one turn even if
 * its lines are scattered, and the counts of a response are kept once.
 */
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
