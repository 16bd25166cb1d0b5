// A compaction of a foreign conversation: the messages between the opening and the newest ones become one text of ours, made
// without a model from what they say. The opening (first prompt, what the client says of itself) stays word for word and
// cached; so does the newest part. Made from the client's own units every time, never from an earlier text of ours. Pure.
import { plan, rewritten } from '../compaction/ladder.ts'
import { Fold } from '../projection/fold.ts'
import { blockWords } from '../projection/folding/render.ts'
import { roomOf } from '../projection/budget.ts'
import { allowanceOf, type DialPoint } from '../projection/dial.ts'
import { defaults } from '../settings/defaults.ts'
import type { Fact } from '../transcript/fact.ts'
import { seq, sessionId, uuid, type Seq } from '../transcript/ids.ts'
import { isRecord, type UserBlock } from '../transcript/content.ts'
import { isReference } from '../wires/openai-responses/request.ts'
import { estimateBlocks } from '../projection/tokens.ts'
import type { Chain } from './chain.ts'
import type { Keeper } from './trim.ts'
import { factsOf, saidIn } from './facts.ts'
import { textAt, valueAt } from './json-spans.ts'
import { unitTokens } from './sizing.ts'
import { isAnswer, resultTexts, type ForeignRequest, type Unit } from './layouts.ts'

/** A text that replaces the messages from one to before another, for every request that begins alike. */
export interface Boundary {
  /** The first message that is replaced, and the first behind it that is not. */
  readonly from: number
  readonly to: number
  readonly text: string
  /** Reasoning behind it that was made under what is gone: left out, by the beginning each ends. */
  readonly without: readonly string[]
  readonly savedChars: number
  readonly kept: string
}

export interface CompactOptions {
  readonly point: DialPoint
  readonly window: number
  /** Characters of a token, as the last answer told. */
  readonly charsPerToken: number
  /** The model refuses reasoning whose beginning has changed. */
  readonly bindsPrefix: boolean
  /** What a unit takes as it is sent, in characters; its bytes where nothing is said. */
  readonly sizeOf?: ((unit: number) => number) | undefined
  /** A request that was refused: the newest part gets less. */
  readonly tailShare?: number | undefined
  /** Where the whole of what is replaced will be. */
  readonly keeper: Keeper
  /** The first message that may be replaced, where an earlier text of ours stands before the first answer. */
  readonly opening?: number | undefined
  /** What stays word for word in the text. */
  readonly isPinned?: ((unit: Unit) => boolean) | undefined
}

export type Compacted =
  | { readonly ok: true; readonly link: string; readonly boundary: Boundary; readonly whole: string }
  | { readonly ok: false; readonly why: string }

export function compacted(request: ForeignRequest, chain: Chain, options: CompactOptions): Compacted {
  const { units } = request
  const found = replaceable(request, options)
  if ('why' in found) return refused(found.why)
  const { opening, to } = found
  const end = units.findIndex(({ message }) => message >= to)
  const link = chain.links[end - 1]
  if (end <= 0 || link === undefined) return refused('no place between two messages is old enough')
  const made = textOf(request, units.slice(0, end), opening, { ...options, summary: null })
  if (typeof made !== 'string') return refused(made.why)
  const replaced = units.slice(0, end).filter(({ message }) => message >= opening)
  if (replaced.some((unit) => refersElsewhere(request, unit)))
    return refused('it refers to what the provider keeps, and nobody else can read that')
  const whole = wholeOf(request, replaced)
  const kept = options.keeper(whole)
  const text = forForeign(made, kept.wayBack)
  const savedChars = bytesOfUnits(replaced) - text.length
  if (savedChars <= 0) return refused('a text would not be smaller than what it replaces')
  const without = options.bindsPrefix
    ? units.flatMap((unit, at) => (at >= end && isReasoningUnit(request, unit) ? [chain.links[at]!] : []))
    : []
  return { ok: true, link, whole, boundary: { from: opening, to, text, without, savedChars, kept: kept.ref } }
}

interface Replaceable {
  readonly opening: number
  readonly to: number
}

/**
 * The messages that may be replaced. A compaction by the provider is sealed, and its model alone reads it: it stays, and what is
 * replaced lies behind it, or before it where that is more.
 */
function replaceable(
  request: ForeignRequest,
  options: CompactOptions,
): Replaceable | { readonly why: string } {
  const { bytes, units } = request
  const from = options.opening ?? answerFrom(request, 0)
  if (from === undefined) return { why: 'nothing was answered yet' }
  const sealed = units.findLast((unit) => isSealed(bytes, unit))?.message ?? -1
  const opening = sealed < from ? from : answerFrom(request, sealed + 1)
  const { tailTokens } = allowanceOf(options.point, options.window)
  const tailChars = tailTokens * options.charsPerToken * (options.tailShare ?? 1)
  const to = opening === undefined ? null : tailFrom(request, opening, tailChars, options.sizeOf)
  const spans: Replaceable[] = []
  if (opening !== undefined && to !== null) spans.push({ opening, to })
  if (sealed > from) spans.push({ opening: from, to: sealed })
  const sizeOf = (span: Replaceable): number =>
    bytesOfUnits(units.filter(({ message }) => message >= span.opening && message < span.to))
  const [most] = spans.toSorted((a, b) => sizeOf(b) - sizeOf(a))
  return most ?? { why: 'no place between two messages is old enough' }
}
const answerFrom = ({ units }: ForeignRequest, least: number): number | undefined =>
  units.find(({ role, message }) => message >= least && isAnswer(role))?.message

function isSealed(bytes: Uint8Array, unit: Unit): boolean {
  const value = isAnswer(unit.role) ? valueAt(bytes, unit) : null
  return isRecord(value) && /^(?:context_)?compaction(?:_summary)?$/u.test(String(value['type']))
}

/** An item of Responses that stands for one at the provider. */
function refersElsewhere({ bytes, wire }: ForeignRequest, unit: Unit): boolean {
  const value = wire === 'openai-responses' ? valueAt(bytes, unit) : null
  return isRecord(value) && isReference(value)
}

const refused = (why: string): { readonly ok: false; readonly why: string } => ({ ok: false, why })

/** What a text may take, in tokens. */
function withinOf({ point, window }: Pick<CompactOptions, 'point' | 'window'>): number {
  const allowed = allowanceOf(point, window)
  return allowed.excerptTokens + allowed.detailTokens + allowed.textTokens
}

/** The same compaction with a summary that somebody wrote; the user's words and what is pinned stand beside it as before. */
export function retold(
  request: ForeignRequest,
  { boundary, end }: { readonly boundary: Boundary; readonly end: number },
  summary: string,
  options: Pick<CompactOptions, 'point' | 'window' | 'isPinned'> & { readonly wayBack: string },
): { readonly ok: true; readonly boundary: Boundary } | { readonly ok: false; readonly why: string } {
  const units = request.units.slice(0, end)
  const made = textOf(request, units, boundary.from, { ...options, summary })
  if (typeof made !== 'string') return refused(made.why)
  const text = forForeign(made, options.wayBack)
  const savedChars = boundary.savedChars + boundary.text.length - text.length
  return savedChars <= 0
    ? refused('it is not smaller than what it replaces')
    : { ok: true, boundary: { ...boundary, text, savedChars } }
}
const bytesOfUnits = (units: readonly Unit[]): number =>
  units.reduce((sum, { start, end }) => sum + end - start, 0)

/** The first message of the newest part: as many as fit, beginning where a turn or an answer does. */
function tailFrom(
  request: ForeignRequest,
  opening: number,
  chars: number,
  sizeOf: CompactOptions['sizeOf'],
): number | null {
  const { units, messages } = request
  const sizes = Array<number>(messages).fill(0)
  const results = new Set<number>()
  const roles = Array<string>(messages).fill('')
  for (const [at, unit] of units.entries()) {
    sizes[unit.message]! += sizeOf?.(at) ?? unit.end - unit.start
    roles[unit.message] = unit.role
    if (resultTexts(request, unit) !== null) results.add(unit.message)
  }
  // A client's own words behind the opening stay last before the newest part, and only an answer may follow them.
  const isOnlyAnswer = wordsBefore(request, opening) < opening
  // Calls of one answer may be items of their own: it begins with the first of them.
  const isStart = (message: number): boolean =>
    (isAnswer(roles[message]!) && !isAnswer(roles[message - 1] ?? '')) ||
    (!isOnlyAnswer && roles[message] === 'user' && !results.has(message))
  let found: number | null = null
  let size = 0
  for (let message = messages - 1; message > opening; message--) {
    size += sizes[message]!
    if (found !== null && size > chars) break
    if (isStart(message)) found = message
  }
  return found
}

/**
 * Where the text goes that replaces messages from one on: there, or before what the client says for itself (`system`) right
 * before it, which the API wants directly before an answer.
 */
export function wordsBefore({ wire, units }: ForeignRequest, from: number): number {
  if (wire !== 'anthropic') return from
  const said = units.findLast(({ message, role }) => message < from && role !== 'system')
  return said === undefined ? from : said.message + 1
}

interface TextOptions extends Pick<CompactOptions, 'point' | 'window' | 'isPinned'> {
  readonly summary: string | null
}

/** What the units say, as one text within so many tokens and what is pinned; the summary in it extracted, or as given. */
function textOf(
  request: ForeignRequest,
  units: readonly Unit[],
  opening: number,
  { point, window: most, isPinned, summary }: TextOptions,
): string | { readonly why: string } {
  const within = withinOf({ point, window: most })
  const said = units.map((unit) => (isSealed(request.bytes, unit) ? [] : saidIn(request, [unit])))
  const instructing = instructions(request, units, opening, allowanceOf(point, most).detailTokens)
  const pinned = new Set<unknown>(
    said.flatMap((items, at) =>
      instructing.has(units[at]!) || isPinned?.(units[at]!) === true
        ? items.flatMap(({ content }) => [...content])
        : [],
    ),
  )
  const fold = foldOf(
    factsOf(said.flat(), [], { model: request.model ?? '', messageId: (index) => `m${index}` }),
    pinned,
  )
  const window = Math.max(defaults.counting.unknownWindowTokens, 2 * fold.view().tokens)
  const room = roomOf({ window, maxOutput: 0, fixed: fold.view().fixedEstimate })
  if (!room.ok) return { why: room.why }
  const ask = { trigger: 'auto', within: within + pinnedTokens(pinned) } as const
  const extracted = plan(fold, room.room, ask)
  if (!extracted.ok) return { why: extracted.message }
  const made =
    summary === null ? extracted : rewritten(fold, room.room, ask, extracted.plan, { summary, by: 'model' })
  if (!made.ok) return { why: made.message }
  push(fold, {
    type: 'view-edit',
    layer: 'gateway-compact',
    asked: 'automatic',
    edits: made.plan.edits,
    why: '',
    tokensFreed: 0,
  })
  return [...fold.parts()].flatMap(({ blocks }) => blocks.map(blockWords)).join('\n\n')
}

/**
 * What a program told its model in the middle of the conversation (`system`, `developer`): it still holds, so it is quoted whole. The
 * newest first, each text once, and so many tokens at most: some clients say a word for themselves in every turn.
 */
function instructions(
  request: ForeignRequest,
  units: readonly Unit[],
  opening: number,
  within: number,
): ReadonlySet<Unit> {
  const found = new Set<Unit>()
  const texts = new Set<string>()
  let tokens = 0
  for (const unit of units.toReversed()) {
    if (unit.message < opening) break
    if (unit.role !== 'system' && unit.role !== 'developer') continue
    const text = textAt(unit.canonical, { start: 0, end: unit.canonical.length }) ?? ''
    const size = unitTokens(request, unit)
    if (texts.has(text) || tokens + size > within) continue
    texts.add(text)
    tokens += size
    found.add(unit)
  }
  return found
}

const pinnedTokens = (blocks: ReadonlySet<unknown>): number =>
  blocks.size === 0 ? 0 : estimateBlocks([...blocks] as UserBlock[])

function foldOf(facts: readonly Fact[], pinned: ReadonlySet<unknown>): Fold {
  const fold = new Fold()
  push(fold, { type: 'session-start', session: sessionId('gateway'), purpose: 'main' })
  const places = facts.map((fact) => ({ fact, at: push(fold, fact) }))
  for (const { fact, at } of pinned.size === 0 ? [] : places) {
    const blocks: readonly unknown[] = 'content' in fact && Array.isArray(fact.content) ? fact.content : []
    for (const [block, value] of blocks.entries())
      // A result is one block of the view, whatever stands in it.
      if (pinned.has(value))
        push(fold, { type: 'pin', at: fact.type === 'tool-result' ? { seq: at } : { seq: at, block } })
  }
  return fold
}

function push(fold: Fold, fact: Fact): Seq {
  const at = seq(fold.numbers.upTo + 1)
  const id = uuid(`00000000-0000-7000-8000-${at.toString(16).padStart(12, '0')}`)
  fold.push({ v: 1, seq: at, uuid: id, parent: null, at: 0, fact })
  return at
}

/** Our own agent has a tool for what was left out; a foreign one has the file. */
const forForeign = (text: string, wayBack: string): string =>
  text
    .replace(/The original is kept in the transcript under [\d., -]+\./u, () => wayBack)
    .replaceAll(/Expand \{"ref": "[^"]*"\} (?:returns|names)/gu, 'the original has')
    .replaceAll(/Expand \{"ref": "[^"]*"\}/gu, 'see the original')

/** What is replaced, to be read by an agent: each unit on its own line, as the client sent it. */
const wholeOf = ({ bytes }: ForeignRequest, units: readonly Unit[]): string =>
  units.map(({ role, start, end }) => `${role} ${textAt(bytes, { start, end }) ?? ''}`).join('\n')

/** Reasoning that its API may bind to what stood before it. */
export function isReasoningUnit({ bytes, wire }: ForeignRequest, unit: Unit): boolean {
  if (wire !== 'anthropic' || !isAnswer(unit.role)) return false
  const value = valueAt(bytes, unit) as { readonly type?: unknown } | undefined
  return value?.type === 'thinking' || value?.type === 'redacted_thinking'
}
