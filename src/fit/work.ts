// One call under way: what was given, what is known of it, what was decided so far, and how large the result would be.
import { factorOf, learn, sizeOf } from '../projection/calibration.ts'
import { estimateText } from '../projection/tokens.ts'
import type { Room } from '../projection/budget.ts'
import { promptTokens } from '../model/usage.ts'
import { applyDecisions, type AppliedDecisions } from './applying.ts'
import { ChainIndex, chainOf, type Chain, type Match } from './chain.ts'
import type { Boundary } from './compaction.ts'
import type { FitFailure, FitOptions, KeptOriginal } from './contract.ts'
import { plainDigest } from '../wires/plain-digest.ts'
import { bytesOf, stringAt } from './json-spans.ts'
import { resultTexts, type ForeignRequest, type Unit, isAnswer } from './layouts.ts'
import type { Piece } from './messages.ts'
import { paceAfter, type Pace } from './pace.ts'
import { roomFor, type Setting } from './setting.ts'
import { headTokens, tokensOf } from './sizing.ts'
import type { FitState, StoredEdit } from './state.ts'
import { cut, newResults, repeatOf, type UnitEdit, type LargeResult } from './trim.ts'
import { firstUnsent } from './turns.ts'
import { saidIn } from './facts.ts'

export interface Work {
  readonly request: ForeignRequest
  readonly pieces: readonly Piece[]
  readonly chain: Chain
  readonly state: FitState
  readonly setting: Setting
  readonly options: FitOptions
  readonly match: Match['kind']
  readonly isCarried: boolean
  /** How many units were there in the last call. */
  readonly known: number
  /** What the caller says of single messages and tools. */
  readonly wishes: CallerWishes
  /** The first unit that was never sent. */
  readonly from: number
  readonly tokens: readonly number[]
  readonly fixed: number
  readonly factor: number
  readonly room: Room
  /** Decisions, by the beginnings they end. */
  readonly edits: ReadonlyMap<string, StoredEdit>
  readonly boundaries: ReadonlyMap<string, Boundary>
  readonly kept: readonly KeptOriginal[]
}

/** The state after what the last answer reported. */
export function heard(state: FitState, { usage, now, model }: FitOptions): FitState {
  if (usage === undefined || usage === null || state.estimate === 0) return state
  const tokens = promptTokens(usage)
  if (!(tokens > 0)) return state
  const { anchor } = state
  const sample = {
    model,
    estimated: state.estimate - (anchor?.estimate ?? 0),
    reported: tokens - (anchor?.tokens ?? 0),
  }
  // The cache was last touched when that request was sent.
  const at = state.at ?? now
  const pace: Pace | null =
    at === undefined ? state.pace : paceAfter(state.pace ?? undefined, usage, state.bytes, at)
  return {
    ...state,
    anchor: { tokens, estimate: state.estimate },
    calibration: learn(state.calibration, sample),
    pace,
  }
}

export function workOf(
  { request, pieces }: { readonly request: ForeignRequest; readonly pieces: readonly Piece[] },
  messages: readonly unknown[],
  state: FitState,
  setting: Setting,
  options: FitOptions,
): { readonly ok: true; readonly work: Work } | FitFailure {
  const chain = chainOf('', request, plainDigest)
  const found = matched(state, chain)
  const fixed = headTokens(request)
  const factor = factorOf(state.calibration, options.model)
  const room = roomFor(setting, options, Math.round(factor * fixed))
  if (!room.ok) return room
  const known = found.given < state.tokens.length ? state.tokens.slice(0, found.given) : state.tokens
  return {
    ok: true,
    work: {
      request,
      pieces,
      chain,
      state,
      setting,
      options,
      match: found.kind,
      isCarried: found.isCarried,
      known: found.common,
      wishes: wishesOf(request, pieces, messages, options),
      from: firstUnsent(request, found.common),
      tokens: tokensOf(request, known),
      fixed,
      factor,
      room: room.room,
      edits: editsFor(request, chain, state, found),
      boundaries: new Map(Object.entries(state.boundaries)),
      kept: [],
    },
  }
}

/**
 * What was decided about results. Where the list before them was changed each of them has another beginning: the same result
 * of the same call stays as short as it was sent.
 */
function editsFor(
  request: ForeignRequest,
  { links }: Chain,
  { edits }: FitState,
  { kind, common }: Pick<Found, 'kind' | 'common'>,
): ReadonlyMap<string, StoredEdit> {
  const all = new Map(Object.entries(edits))
  if (all.size === 0 || kind === 'next' || kind === 'again') return all
  const cuts = new Map(
    [...all.values()].flatMap((edit) => (edit.why === 'large' ? [[`${edit.call} ${edit.ref}`, edit]] : [])),
  )
  for (const { unit, call, texts } of newResults(request, common)) {
    const edit = cuts.get(`${call} ${plainDigest(bytesOf(texts.join('\n')))}`)
    if (edit !== undefined && !all.has(links[unit]!)) all.set(links[unit]!, edit)
  }
  return all
}

interface Found {
  readonly kind: Match['kind']
  readonly common: number
  readonly given: number
  readonly isCarried: boolean
}

/** Whether the list goes on from what was given last, or from what was returned. */
function matched({ head, given, sent }: FitState, chain: Chain): Found {
  const index = new ChainIndex({ conversations: 2 })
  if (sent !== null && sent.length > 0) index.take('sent', '', { head, links: sent })
  if (given.length > 0) index.take('given', '', { head, links: given })
  // Changed tools or another system prompt are still this conversation: here the state names it.
  const match = index.match('', { ...chain, head })
  const common = match.kind === 'new' || match.kind === 'restart' ? 0 : match.common
  const isCarried = match.kind !== 'new' && match.kind !== 'restart' && match.session === 'sent'
  const same = given.findIndex((link, at) => link !== chain.links[at])
  return { kind: match.kind, common, given: same < 0 ? given.length : same, isCarried }
}

/** The texts of a unit, where it is a result. */
function textsOf(request: ForeignRequest, unit: Unit): readonly string[] | null {
  const found = resultTexts(request, unit)
  return found === null ? null : found.texts.map((span) => stringAt(request.bytes, span) ?? '')
}

export interface Arranged {
  readonly applied: AppliedDecisions
  /** Uncalibrated, with system and tools. */
  readonly estimate: number
  readonly tokens: number
}

/** What the list becomes by what was decided, and its size. */
export function arranged(work: Work): Arranged {
  const { request, chain, edits, boundaries, tokens } = work
  const unitAt = new Map(chain.links.flatMap((link, at) => (edits.has(link) ? [[link, at]] : [])))
  const applied = applyDecisions(request, chain, {
    edit: (link) => remade(work, edits.get(link), unitAt.get(link)),
    boundary: (link) => boundaries.get(link),
  })
  const found = applied.boundary?.boundary
  const without = new Set(found?.without)
  let estimate = work.fixed + (found === undefined ? 0 : estimateText(found.text))
  for (const [at, unit] of request.units.entries()) {
    const isGone = found !== undefined && unit.message >= found.from && unit.message < found.to
    if (!isGone && !without.has(chain.links[at]!)) estimate += tokens[at]!
  }
  for (const { unit } of applied.edits) estimate -= edits.get(chain.links[unit]!)!.saved
  return { applied, estimate, tokens: sizeOf(work.state.anchor, estimate, work.factor) }
}

/** The texts of an edit, made from the result as they were made first. */
function remade(
  { request }: Work,
  stored: StoredEdit | undefined,
  unit: number | undefined,
): UnitEdit | undefined {
  const texts = stored === undefined || unit === undefined ? null : textsOf(request, request.units[unit]!)
  if (stored === undefined || texts === null || texts.length === 0) return undefined
  if (stored.why === 'repeated') return repeatOf(stored.call, texts.join('').length)
  const { ref, wayBack } = stored
  return cut({ texts }, stored, () => ({ ref, wayBack }))
}

export const untouchedTokens = ({ tokens, fixed, factor, state }: Work): number =>
  sizeOf(
    state.anchor,
    tokens.reduce((sum, each) => sum + each, fixed),
    factor,
  )

// What the caller says of single messages and tools: messages that stay word for word, and how much of a tool's results passes whole.

interface CallerWishes {
  /** Whether it stands in a message that is pinned. */
  readonly isPinned: (unit: Unit) => boolean
  /** Results that may be shortened, each with the limit of its tool; `share` below one where the window asks for less. */
  readonly shortenable: (results: readonly LargeResult[], share: number) => readonly LargeResult[]
}

function wishesOf(
  request: ForeignRequest,
  pieces: readonly Piece[],
  messages: readonly unknown[],
  { pins, toolPolicies = {} }: FitOptions,
): CallerWishes {
  const isPinned = ({ message }: Unit): boolean => {
    const origin = pieces[message]?.origin
    return pins !== undefined && origin !== undefined && pins(messages[origin], origin)
  }
  const names = Object.keys(toolPolicies).length === 0 ? new Map<string, string>() : toolNames(request)
  const mostOf = (call: string): number | null | undefined => {
    const name = names.get(call)
    return name !== undefined && Object.hasOwn(toolPolicies, name)
      ? toolPolicies[name]!.maxResultChars
      : undefined
  }
  return {
    isPinned,
    shortenable: (results, share) =>
      results.flatMap((result) => {
        const most = mostOf(result.call)
        if (most === null || isPinned(request.units[result.unit]!)) return []
        return [most === undefined ? result : { ...result, most: most * share }]
      }),
  }
}

/** Which tool each call is of. */
function toolNames(request: ForeignRequest): ReadonlyMap<string, string> {
  const answers = request.units.filter(({ role }) => isAnswer(role))
  return new Map(
    saidIn(request, answers).flatMap(({ content }) =>
      content.flatMap((block) =>
        block.type === 'tool_use' && 'id' in block ? [[block.id, block.name] as const] : [],
      ),
    ),
  )
}
