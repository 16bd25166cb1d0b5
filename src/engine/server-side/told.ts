// What a request tells the server to leave out (SPEC 4.3, 4.5). Deletions from its cache stand in the view as cleared
// results, so they travel again with every request, after a resume and in forks, until an edit ends them.
import type { WireCacheEdit, WireContextEdit } from '../../model/wire.ts'
import type { View } from '../../projection/view.ts'
import { defaults } from '../../settings/defaults.ts'
import type { EditPrice } from '../../transcript/fact.ts'
import type { Slice } from '../core.ts'
import { ruleFor } from '../options.ts'

export interface Told {
  readonly cacheEdits?: readonly WireCacheEdit[]
  readonly contextEdits?: readonly WireContextEdit[]
  readonly betas?: readonly string[]
}

export function toldTo(
  core: Slice<'lifetime' | 'modelInfo' | 'options' | 'room' | 'state'>,
  view: View,
): Told {
  const { options } = core
  const can = core.modelInfo()?.capabilities
  const cacheEdits = can?.cacheEdits === true && core.lifetime !== null ? deletionsIn(view) : []
  const native =
    options.nativeClearing === true && options.automaticRemoval !== false && can?.contextEditing === true
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
  core: Slice<'options' | 'room' | 'state'>,
  view: View,
): readonly WireContextEdit[] | null {
  const room = core.room()
  if (!room.ok) return null
  const { nativeTriggerTokens, nativeTriggerShare, nativeClearTokens, keep, writeTools } = defaults.clearing
  const trigger = Math.floor(Math.min(nativeTriggerTokens, nativeTriggerShare * room.room.threshold))
  const least = Math.floor((trigger * nativeClearTokens) / nativeTriggerTokens)
  const names = view.tools.map((tool) => tool.name)
  const excluded = names.filter((name) => !mayBeCleared(core, name))
  const written = names.filter((name) => writeTools.includes(name) && !excluded.includes(name))
  const thinking: readonly WireContextEdit[] =
    core.options.thinking === undefined || core.options.thinking.type === 'disabled'
      ? []
      : [{ type: 'clear_thinking_20251015', keep: wasIdle(core, view) ? lastTurn : 'all' }]
  if (isClearedByTime(core, view)) return thinking.length === 0 ? null : thinking
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

const lastTurn = { type: 'thinking_turns', value: 1 } as const

export const mayBeCleared = (core: Slice<'options'>, name: string): boolean =>
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
