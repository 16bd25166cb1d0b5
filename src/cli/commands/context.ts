// `pal context`: what a session's context holds, from the last request really sent. It is composed again from the
// transcript and broken down by where each block came from.
import { MemoryRoom } from '../../engine/opening/memory-room.ts'
import { supplyMissing } from '../../engine/opening/supply.ts'
import { lookUp, windowOf, wireModelId, type ModelTable } from '../../model/models.ts'
import type { WireBlock, WireRequest, WireThinking, WireTool } from '../../model/wire.ts'
import { modelOf, tableOf } from '../../preset.ts'
import { wireIn } from '../../preset/reaching.ts'
import { thinkingOf } from '../../preset/choices.ts'
import { Fold } from '../../projection/fold.ts'
import { taggingOf } from '../../projection/layers/snip.ts'
import { estimateBlock, estimateText, estimateTool } from '../../projection/tokens.ts'
import type { View, ViewBlock } from '../../projection/view.ts'
import type { ComposeOutcome } from '../../request/compose.ts'
import { createComposer } from '../../wires/anthropic/compose.ts'
import type { Spoken, WireChooser } from '../../wires/wire.ts'
import { isKnown, type ToolSpec } from '../../transcript/fact.ts'
import type { SessionId } from '../../transcript/ids.ts'
import { lineageOf, readLine } from '../../transcript/lineage.ts'
import type { Store } from '../../transcript/store.ts'
import { complain, exits, refuse, type Exit } from '../exit-codes.ts'
import { showSession } from '../session-lookup.ts'
import type { Io } from '../terminal/io.ts'
import { safeJson } from '../terminal/safe-text.ts'
import { bar, percent, prose, table, whole } from '../terminal/tables.ts'
import type { ProjectFlags, Workplace } from '../workplace/workplace.ts'
import { cacheText, cacheView, lastSent, spokenLast, type CacheView } from './context-cache.ts'
import { countByProvider, countText } from './context-count.ts'

const barWidth = 24

export const context = (
  io: Io,
  id: string | undefined,
  flags: ProjectFlags & { readonly count?: boolean | undefined },
): Promise<Exit> =>
  showSession(io, id, flags, (place, store, session, json) =>
    showContext(place, store, session, json, flags.count === true),
  )

export async function showContext(
  { io, settings, access }: Workplace,
  store: Store,
  session: SessionId,
  json: boolean,
  counts = false,
): Promise<Exit> {
  const models = tableOf(settings)
  const request = await lastRequest(store, session, {
    models,
    model: modelOf(settings),
    wire: wireIn({ model: access ?? undefined, settings }, models),
    window: settings.window,
    thinking: thinkingOf(settings),
    effort: settings.effort,
  })
  if (!request.ok) return complain(io, refuse(exits.failed, request.why))
  const rows = breakdown(request.body, request.view, request.tokens)
  const { body: _body, view: _view, ok: _ok, sentBody, spoken, ...about } = request
  const count = counts ? await countByProvider({ access, settings }, spoken, sentBody) : null
  const counted = count === null ? {} : { provider: count }
  io.out(
    json
      ? `${safeJson({ session, ...about, ...counted, sources: rows }, 2)}\n`
      : prose(
          `${asPicture(session, request, rows, io)}${count === null ? '' : `${countText(count)}\n`}`,
          io.columns,
        ),
  )
  return exits.done
}

function asPicture(
  session: string,
  request: SentRequest,
  rows: readonly Row[],
  { columns: room }: Io,
): string {
  const { tokens, window, counted, isExact, model, cache } = request
  const most = Math.max(1, ...rows.map((row) => row.tokens))
  const list = table(
    [
      { title: 'source' },
      { title: 'blocks', right: true },
      { title: 'tokens', right: true },
      { title: 'share', right: true },
      { title: '', drop: 1 },
    ],
    [
      ...rows.map((row) => [
        row.source,
        String(row.blocks),
        whole(row.tokens),
        percent(tokens === 0 ? 0 : row.tokens / tokens),
        bar(row.tokens / most, barWidth),
      ]),
      ['all', '', whole(tokens), '', ''],
    ],
    room,
  )
  const filled = Math.min(1, tokens / window)
  const cells = Math.min(windowBlocks, Math.floor(room / 2))
  const blocks = Math.round(filled * cells)
  const picture = '█'.repeat(blocks) + '░'.repeat(cells - blocks)
  return `session ${session}, ${model}
${picture} ${whole(tokens)} of ${whole(window)} tokens (${percent(filled)})

${list}
${counted === 'provider' ? "The total is the provider's count for the last request; the parts are estimates, scaled to it." : 'No response has reported a count yet: all figures are estimates.'}
${isExact ? 'Rebuilt from the transcript, the request has the same hash as the one sent.' : 'Rebuilt from the transcript, the request differs from the one sent (other settings or tags); sizes are close.'}
${cacheText(cache, Date.now())}
`
}
const windowBlocks = 60

// ---- the request ----

interface RequestSettings {
  readonly models: ModelTable
  /** For a session that has sent nothing yet. */
  readonly model: string
  readonly wire: WireChooser
  readonly window?: number | undefined
  readonly thinking?: WireThinking | undefined
  readonly effort?: string | undefined
}

interface SentRequest {
  readonly ok: true
  /** In the words of the Messages API, by which sources are told apart. */
  readonly body: string
  /** As it was written for its own wire. */
  readonly sentBody: string
  readonly spoken: Spoken
  readonly view: View
  readonly model: string
  readonly window: number
  /** Size of the prompt. */
  readonly tokens: number
  readonly counted: 'provider' | 'estimate'
  readonly isExact: boolean
  readonly cache: CacheView
}

/**
 * The last request, composed again. It must have the hash that was written down when it was sent; where settings have
 * changed since, it may not, and that is said.
 */
async function lastRequest(
  store: Store,
  session: SessionId,
  settings: RequestSettings,
): Promise<SentRequest | { readonly ok: false; readonly why: string }> {
  const line = await lineageOf(store, session)
  if (!line.ok) return { ok: false, why: line.failure.message }
  const last = await lastSent(store, session)
  const fold = new Fold()
  const range = last === null ? {} : { to: last.sent.upTo }
  const room = new MemoryRoom(session)
  let inForce = settings.model
  for await (const item of readLine(store, line.links, range)) {
    if (item.kind === 'damage') continue
    const failure = item.kind === 'failed' ? item.failure : room.take(item)
    if (failure !== null || item.kind === 'failed') return { ok: false, why: failure?.message ?? '' }
    const { entry } = item
    const missing = isKnown(entry) ? await supplyMissing(store, line.links, fold, entry.fact, true) : null
    if (missing !== null) return { ok: false, why: missing.message }
    fold.push(entry)
    if (isKnown(entry) && entry.fact.type === 'model-set') inForce = entry.fact.model
    if (!isKnown(entry) || entry.fact.type !== 'boundary') continue
    fold.evict()
    room.clear()
  }
  const view = fold.view()
  const spoken = spokenLast(settings.wire, inForce, last?.sent.model)
  const { wire, quirks } = spoken
  const model = last?.sent.model ?? spoken.model
  const parameters = {
    model,
    maxTokens: 1,
    bindsPrefix: lookUp(settings.models, model)?.capabilities.bindsPrefix ?? false,
    lifetime: last === null ? '5m' : (last.sent.lifetime ?? null),
    thinking: settings.thinking,
    effort: settings.effort,
  } as const
  const tag = taggingOf(view)
  // Sources are told apart in the words of the Messages API; whether it is the request that was sent, its own wire says.
  const outcome = createComposer({ tag }).compose(view, parameters)
  const sent = wire.createComposer({ tag, quirks }).compose(view, parameters)
  if (!outcome.ok || !sent.ok)
    return { ok: false, why: `the session has no request: ${whyNot(outcome, sent)}` }
  const { usage } = last ?? {}
  return {
    ok: true,
    body: outcome.composed.body,
    sentBody: sent.composed.body,
    spoken,
    view,
    model,
    window: windowOf({
      model: wireModelId(settings.model) === model ? settings.model : model,
      table: settings.models,
      override: settings.window,
    }).tokens,
    tokens: usage === undefined ? view.tokens : usage.input + usage.cacheRead + usage.cacheWrite,
    counted: usage === undefined ? 'estimate' : 'provider',
    isExact: sent.composed.hash === last?.sent.hash,
    cache: cacheView(spoken, settings.models, last),
  }
}

const whyNot = (...outcomes: readonly ComposeOutcome[]): string =>
  outcomes.flatMap((each) => (each.ok ? [] : [each.why]))[0] ?? ''

// ---- what it holds ----

interface Row {
  readonly source: string
  readonly blocks: number
  readonly tokens: number
}

interface Weight {
  blocks: number
  weight: number
}

/**
 * By source. Law: the rows are made of the request's own bytes, every block of it stands in exactly one row, and the
 * tokens sum to the size that was given.
 */
function breakdown(body: string, view: View, total: number): readonly Row[] {
  const request = JSON.parse(body) as WireRequest
  const weights = new Map<string, Weight>()
  const add = (source: string, weight: number): void => {
    const row = weights.get(source) ?? { blocks: 0, weight: 0 }
    weights.set(source, { blocks: row.blocks + 1, weight: row.weight + weight })
  }
  addSystem(request, view, add)
  for (const tool of request.tools ?? []) add(`tool ${tool.name}`, estimateTool(specOf(tool)))
  const known = originsOf(view)
  for (const { role, content } of request.messages) {
    const blocks: readonly WireBlock[] =
      typeof content === 'string' ? [{ type: 'text', text: content }] : content
    for (const block of blocks) add(sourceOf(role, block, known), estimateBlock(unpacked(block)))
  }
  return scaled(weights, total)
}

const specOf = ({ name, description = '', input_schema = {} }: WireTool): ToolSpec => ({
  name,
  description,
  input_schema,
})

/** A block as the view has it: a result whose content is one text travels as that text. */
function unpacked(block: WireBlock): ViewBlock {
  const { content } = block
  const isPacked = block.type === 'tool_result' && typeof content === 'string'
  return (isPacked ? { ...block, content: [{ type: 'text', text: content }] } : block) as ViewBlock
}

type Add = (source: string, weight: number) => void

function addSystem(request: WireRequest, view: View, add: Add): void {
  const { system } = request
  if (system === undefined) return
  if (typeof system === 'string') return add('system prompt', estimateText(system))
  const sides = (['static', 'dynamic'] as const).filter((side) =>
    view.sections.some((section) => section.side === side),
  )
  for (const [at, block] of system.entries())
    add(`system, ${sides[at] ?? 'more'} part`, estimateBlock(block as ViewBlock))
}

interface Origins {
  /** Texts in user messages that are not the user's own words. */
  readonly texts: ReadonlyMap<string, string>
  /** Results by call: of which tool, and which layer replaced them. */
  readonly results: ReadonlyMap<string, string>
  readonly tools: ReadonlyMap<string, string>
}

function originsOf(view: View): Origins {
  const texts = new Map<string, string>()
  const results = new Map<string, string>()
  const tools = new Map<string, string>()
  if (view.reminder !== null) texts.set(view.reminder, 'instruction files')
  for (const message of view.messages) {
    for (const part of message.parts) {
      const source =
        part.by !== null ? `edits by ${part.by}` : part.kind === 'injected' ? 'attachments' : null
      for (const block of part.blocks) {
        if (block.type === 'tool_use' && 'name' in block) tools.set(block.id, block.name)
        if (block.type === 'tool_result' && 'tool_use_id' in block)
          results.set(block.tool_use_id, source ?? `${part.tool ?? 'tool'} results`)
        if (block.type === 'text' && 'text' in block && source !== null) texts.set(block.text, source)
      }
    }
  }
  return { texts, results, tools }
}

/** What Snip names a message by; a block of its own. */
const tag = /^\[id:\w+\]$/

function sourceOf(role: string, block: WireBlock, known: Origins): string {
  const text = block.type === 'text' && typeof block['text'] === 'string' ? block['text'] : null
  if (text !== null && tag.test(text)) return 'message ids'
  if (text !== null && known.texts.has(text)) return known.texts.get(text)!
  if (block.type === 'tool_result') return known.results.get(String(block['tool_use_id'])) ?? 'tool results'
  if (block.type === 'thinking' || block.type === 'redacted_thinking') return 'reasoning'
  if (block.type === 'tool_use') return 'tool calls'
  if (role === 'assistant') return 'answers'
  return 'your messages'
}

/** Whole tokens that sum to the total: what rounding leaves goes to those who lost most by it. */
function scaled(weights: ReadonlyMap<string, Weight>, total: number): readonly Row[] {
  const sum = [...weights.values()].reduce((all, { weight }) => all + weight, 0)
  const exact = [...weights].map(([source, { blocks, weight }]) => ({
    source,
    blocks,
    share: sum === 0 ? 0 : (weight / sum) * total,
  }))
  const left = total - exact.reduce((all, { share }) => all + Math.floor(share), 0)
  const raised = new Set(
    exact
      .toSorted((a, b) => (b.share % 1) - (a.share % 1))
      .slice(0, left)
      .map(({ source }) => source),
  )
  return exact
    .map(({ source, blocks, share }) => ({
      source,
      blocks,
      tokens: Math.floor(share) + (raised.has(source) ? 1 : 0),
    }))
    .toSorted((a, b) => b.tokens - a.tokens)
}
