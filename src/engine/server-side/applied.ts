// What the server says it left out by itself (SPEC 4.5), written down like an edit of ours. It names only counts, and
// clears from the oldest end, so the places follow. Written before the answer: the usage that comes with the answer
// counts without them already.
import type { ModelMessage } from '../../model/model.ts'
import type { BlockRef, FactOf, ServerReport } from '../../transcript/fact.ts'
import type { Slice } from '../core.ts'
import type { Emit } from '../live.ts'
import { mayBeCleared } from './told.ts'

export const nativeName = 'native-clearing'

export async function noteApplied(
  core: Slice<'append' | 'options' | 'state'>,
  message: ModelMessage,
  emit: Emit,
): Promise<void> {
  const now = reportOf(message)
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
  if (!written.ok)
    return emit({ type: 'notice', code: written.failure.code, message: written.failure.message })
  const { seq } = written.entries[0]!
  emit({ type: 'view-edit', layer: nativeName, why, tokensFreed: fact.tokensFreed, seq })
}

function reportOf({ appliedEdits }: ModelMessage): ServerReport {
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

function lastReport(core: Slice<'state'>): ServerReport {
  const last = core.state.fold.edits.controls.findLast(
    ({ fact }) => fact.type === 'view-edit' && fact.layer === nativeName,
  )
  const report = last?.fact.type === 'view-edit' ? last.fact.price : undefined
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
