// A random session in which every answer is really asked for: the view is composed, the simulator's rules judge the
// body, and the answer comes back with its reasoning signed and bound to that very request.
import { modelTable, lookUp } from '../../src/model/models.ts'
import type { WireBlock, WireError, WireRequest, WireThinking } from '../../src/model/wire.ts'
import type { View } from '../../src/projection/view.ts'
import { createComposer } from '../../src/wires/anthropic/compose.ts'
import type { Composed, ComposeParameters } from '../../src/request/compose.ts'
import { emit } from '../../src/simulator/emission.ts'
import { createDigests } from '../../src/simulator/digest.ts'
import { judgeRequest } from '../../src/simulator/rules.ts'
import { played, type Move } from '../../src/testing/arbitrary.ts'
import { isReasoning, type AssistantBlock } from '../../src/transcript/content.ts'
import { isEditing, type Entry, type FactOf } from '../../src/transcript/fact.ts'
import type { Fold } from '../../src/projection/fold.ts'

export interface AskedRequest {
  readonly view: View
  readonly composed: Composed
  readonly request: WireRequest
  readonly parameters: ComposeParameters
  /** What the judge said against it. */
  readonly error: WireError | null
}

export interface AskedSession {
  readonly entries: readonly Entry[]
  readonly requests: readonly AskedRequest[]
  /** Views that were not composed, with the reason. */
  readonly refused: readonly string[]
}

export interface AskOptions {
  /** The model of every answer; by default each move's own. */
  readonly model?: string
  readonly thinking?: WireThinking
  readonly parameters?: Partial<ComposeParameters>
}

const secret = 'a test'
const table = modelTable()

export function askedSession(moves: readonly Move[], options: AskOptions = {}): AskedSession {
  const composer = createComposer()
  const digests = createDigests()
  const requests: AskedRequest[] = []
  const refused: string[] = []
  const answering = (fact: FactOf<'assistant-message'>, fold: Fold): FactOf<'assistant-message'> => {
    const model = options.model ?? fact.model
    const parameters = parametersOf(model, options)
    const view = fold.view()
    const outcome = composer.compose(view, parameters)
    const spoken = fact.content.flatMap(asServer)
    if (!outcome.ok) {
      refused.push(outcome.why)
      return { ...fact, model, content: spoken.filter((block) => !isReasoning(block)) }
    }
    const { composed } = outcome
    const request = JSON.parse(composed.body) as WireRequest
    const judged = judgeRequest(request, { secret, digests })
    requests.push({ view, composed, request, parameters, error: judged.ok ? null : judged.error })
    if (!judged.ok) return { ...fact, model, content: spoken.filter((block) => !isReasoning(block)) }
    const { prefix, previous } = judged.admission
    const emission = emit(
      { content: spoken.map((block): WireBlock => ({ ...block })), stop_reason: fact.stop ?? 'end_turn' },
      {
        request,
        model: judged.model,
        promptTokens: 0,
        secret,
        digests,
        prefix,
        previous,
        callId: () => 'none',
        nullCitations: true,
      },
    )
    const cut = fact.content.filter((block) => block.type === 'thinking' && !('signature' in block))
    const content = [...(emission.blocks.map(({ block }) => block) as readonly AssistantBlock[]), ...cut]
    return { ...fact, model, content }
  }
  return { entries: played(moves, answering), requests, refused }
}

export function parametersOf(model: string, options: AskOptions = {}): ComposeParameters {
  return {
    model,
    maxTokens: 60_000,
    bindsPrefix: lookUp(table, model)!.capabilities.bindsPrefix,
    lifetime: '5m',
    thinking: options.thinking ?? { type: 'adaptive' },
    ...options.parameters,
  }
}

/** A server says nothing blank and no halves of characters, and cut reasoning has no signature yet. */
function asServer(block: AssistantBlock): readonly AssistantBlock[] {
  if (block.type === 'thinking') return 'signature' in block ? [block] : []
  if (block.type !== 'text') return [block]
  const text = block.text.toWellFormed()
  return text.trim() === '' ? [] : [{ type: 'text', text }]
}

/** Pairs of neighbouring requests to one model between which nothing but plain facts were written. */
export function plainPairs({ entries, requests }: AskedSession): (readonly [AskedRequest, AskedRequest])[] {
  const pairs: (readonly [AskedRequest, AskedRequest])[] = []
  for (const [index, next] of requests.entries()) {
    const before = requests[index - 1]
    if (before === undefined || before.parameters.model !== next.parameters.model) continue
    const between = entries.filter(
      (entry) => entry.seq > before.view.upTo && entry.seq <= next.view.upTo && changes(entry),
    )
    if (between.length === 0) pairs.push([before, next])
  }
  return pairs
}

export const changes = ({ fact }: Entry): boolean =>
  isEditing(fact) || ['undo', 'rewind', 'instructions-set'].includes(fact.type)

const mark = /,"cache_control":\{"type":"ephemeral"(?:,"ttl":"1h")?\}/g

export const withoutMarks = (body: string): string => body.replaceAll(mark, '')

/** The bytes up to the last mark, marks removed. The JSON of a text cannot hold a mark: its quotes are escaped. */
export function cachedBytes(body: string): string {
  const last = [...body.matchAll(mark)].at(-1)
  return last === undefined ? '' : withoutMarks(`${body.slice(0, last.index)}}`)
}
