// What the server leaves out: what a request tells it to, and what it says it left out by itself, written down like an edit
// of ours. Deletions from its cache stand in the view as cleared results, so they travel again with every request, after a
// resume and in forks, until an edit ends them. What it clears by itself it names by counts, from the oldest end; written
// before the answer, whose usage counts without them already.
import type { Slice } from '../core.ts'
import type { Emit } from '../live.ts'
import { isRefused } from '../state.ts'
import { knownFeatures } from './features.ts'
import { ruleFor } from '../options.ts'
import type { ModelMessage } from '../../model/model.ts'
import type { WireCacheEdit, WireContextEdit } from '../../model/wire.ts'
import type { View } from '../../projection/view.ts'
import { defaults } from '../../settings/defaults.ts'
import type { BlockRef, EditPrice, Entry, Fact, FactOf, ServerReport } from '../../transcript/fact.ts'

export interface ServerEdits {
  readonly cacheEdits?: readonly WireCacheEdit[]
  readonly contextEdits?: readonly WireContextEdit[]
  readonly betas?: readonly string[]
}

export function serverEditsFor(
  core: Slice<'lifetime' | 'modelInfo' | 'options' | 'room' | 'state'>,
  view: View,
): ServerEdits {
  const { options } = core
  const can = core.modelInfo()?.capabilities
  const cacheEdits = can?.cacheEdits === true && core.lifetime !== null ? deletionsIn(view) : []
  const native =
    options.nativeClearing === true &&
    !isRefused(core, 'context-management') &&
    options.automaticRemoval !== false &&
    can?.contextEditing === true
      ? nativeEdits(core, view)
      : null
  return {
    ...(cacheEdits.length > 0 ? { cacheEdits } : {}),
    ...(native === null ? {} : { contextEdits: native, betas: [contextManagementBeta] }),
  }
}

const contextManagementBeta = 'context-management-2025-06-27'

export function deletionsIn(view: View): readonly WireCacheEdit[] {
  const edits: WireCacheEdit[] = []
  for (const message of view.messages) {
    for (const block of message.content) {
      if (block.type === 'tool_result' && 'is_error' in block && block.cleared === 'cache-edit')
        edits.push({ type: 'delete', cache_reference: block.tool_use_id })
    }
  }
  return edits
}

/** The same for every request of a session, but for what changes when the cache is cold anyway: the reasoning kept, and below. */
function nativeEdits(
  core: Slice<'modelInfo' | 'options' | 'room' | 'state'>,
  view: View,
): readonly WireContextEdit[] | null {
  const room = core.room()
  if (!room.ok) return null
  const { nativeTriggerTokens, nativeTriggerShare, nativeClearTokens, writeTools } = defaults.clearing
  const keep = Math.max(1, core.options.keepResults ?? defaults.clearing.keep)
  const trigger = Math.floor(Math.min(nativeTriggerTokens, nativeTriggerShare * room.room.threshold))
  const least = Math.floor((trigger * nativeClearTokens) / nativeTriggerTokens)
  const names = view.tools.map((tool) => tool.name)
  const excluded = names.filter((name) => !mayBeCleared(core, name))
  const written = names.filter((name) => writeTools.includes(name) && !excluded.includes(name))
  const isUndone = isClearingUndone(core)
  const thinking: readonly WireContextEdit[] =
    (knownFeatures(core).thinking?.type ?? 'disabled') === 'disabled'
      ? []
      : [{ type: 'clear_thinking_20251015', keep: wasIdle(core, view) && !isUndone ? lastTurn : 'all' }]
  if (isUndone || isClearedByTime(core, view)) return thinking.length === 0 ? null : thinking
  return [
    ...thinking,
    {
      type: 'clear_tool_uses_20250919',
      trigger: { type: 'input_tokens', value: trigger },
      keep: { type: 'tool_uses', value: keep },
      clear_at_least: { type: 'input_tokens', value: least },
      ...(excluded.length > 0 ? { exclude_tools: excluded } : {}),
      ...(written.length > 0 ? { clear_tool_inputs: written } : {}),
    },
  ]
}

/** Who undid what the server cleared wants to see it: it clears nothing more until a compaction has made room. */
function isClearingUndone({ state: { fold } }: Slice<'state'>): boolean {
  const { controls } = fold.edits
  const since = controls.findLastIndex(({ fact }) => fact.type === 'boundary')
  return controls
    .slice(since + 1)
    .some(
      ({ fact }) =>
        fact.type === 'undo' && controls.some(({ seq, fact: of }) => seq === fact.target && isNative(of)),
    )
}

/** What the server cleared since the last compaction, as far as it is not undone. It knows of it as one. */
export function serverClearings({ state: { fold } }: Slice<'state'>): readonly Entry[] {
  const { controls } = fold.edits
  const since = controls.findLastIndex(({ fact }) => fact.type === 'boundary')
  return controls
    .slice(since + 1)
    .filter(({ seq, fact }) => isNative(fact) && fold.edits.editing(seq) !== undefined)
}

const isNative = (fact: Fact): fact is FactOf<'view-edit'> =>
  fact.type === 'view-edit' && fact.layer === nativeName

const lastTurn = { type: 'thinking_turns', value: 1 } as const

const mayBeCleared = (core: Slice<'options'>, name: string): boolean =>
  ruleFor(core.options, name).results === 'clear'

/**
 * Old results were cleared for this very request, so the server clears none in it. What it has cleared before would all
 * come back, so it is still asked then.
 */
function isClearedByTime({ state: { fold } }: Slice<'state'>, view: View): boolean {
  const cleared = fold.edits.controls.findLast(
    ({ fact }) => fact.type === 'view-edit' && clearings.has(fact.price?.kind),
  )
  if (cleared === undefined || cleared.seq <= (view.lastRequest ?? -1)) return false
  const isByTime = cleared.fact.type === 'view-edit' && cleared.fact.price?.kind === 'time'
  return isByTime && !isClearedByServer(view)
}

/** The prices of edits that clear results where they stand. */
const clearings: ReadonlySet<EditPrice['kind']> = new Set([
  'time',
  'cached',
  'economy',
  'pressure',
  'expired',
] as const)

function isClearedByServer({ messages }: View): boolean {
  for (const message of messages)
    for (const block of message.content)
      if ('cleared' in block && block.cleared === 'context-management') return true
  return false
}

/** A pause after which the cache was cold lies in this view, or ends now: once true it stays so. */
function wasIdle(core: Slice<'options'>, view: View): boolean {
  let before: number | null = null
  for (const message of view.messages) {
    if (before !== null && message.parts[0]!.at - before > defaults.clearing.idleMs) return true
    if (message.role === 'assistant') before = message.parts.at(-1)!.at
  }
  return before !== null && core.options.clock.now() - before > defaults.clearing.idleMs
}

const nativeName = 'native-clearing'

export async function noteApplied(
  core: Slice<'append' | 'options' | 'state'>,
  message: ModelMessage,
  emit: Emit,
): Promise<void> {
  const now = serverReportOf(message)
  const before = lastReport(core)
  if (now.toolUses <= before.toolUses && now.thinkingTurns <= before.thinkingTurns) return
  const at = now.toolUses > before.toolUses ? oldestResults(core, now.toolUses) : []
  const why = `the server says it left out ${now.toolUses} tool uses and the reasoning of ${now.thinkingTurns} turns`
  const fact: FactOf<'view-edit'> = {
    type: 'view-edit',
    layer: nativeName,
    asked: 'automatic',
    edits: at.map((one) => ({ kind: 'remote', at: [one], via: 'context-management' })),
    why,
    tokensFreed: Math.max(0, now.tokens - before.tokens),
    price: now,
  }
  const written = await core.append([fact])
  if (!written.ok) return emit({ type: 'notice', ...written.failure })
  const { seq } = written.entries[0]!
  emit({ type: 'view-edit', layer: nativeName, why, tokensFreed: fact.tokensFreed, seq })
}

export function serverReportOf({ appliedEdits }: ModelMessage): ServerReport {
  const sum = (field: string): number =>
    appliedEdits.reduce((total, edit) => {
      const value = edit[field]
      return total + (typeof value === 'number' ? value : 0)
    }, 0)
  return {
    toolUses: sum('cleared_tool_uses'),
    thinkingTurns: sum('cleared_thinking_turns'),
    tokens: sum('cleared_input_tokens'),
  }
}

/** What stands written down. A compaction has put away what was cleared before it, and what was undone is in sight. */
function lastReport(core: Slice<'state'>): ServerReport {
  const last = serverClearings(core).at(-1)
  const report = last !== undefined && isNative(last.fact) ? last.fact.price : undefined
  return report?.kind === undefined ? { ...nothingApplied, ...report } : nothingApplied
}

const nothingApplied: ServerReport = { toolUses: 0, thinkingTurns: 0, tokens: 0 }

/** The oldest results that the server may clear and is not yet known to have cleared. */
function oldestResults(core: Slice<'options' | 'state'>, count: number): readonly BlockRef[] {
  const at: BlockRef[] = []
  let left = count
  for (const part of core.state.fold.parts()) {
    if (part.kind !== 'result' || part.tool === undefined || !mayBeCleared(core, part.tool)) continue
    if (left-- <= 0) break
    const block = part.blocks[0]
    if (block !== undefined && 'is_error' in block && block.cleared === undefined && part.source[0] !== -1)
      at.push({ seq: part.from, block: part.source[0]! })
  }
  return at
}
