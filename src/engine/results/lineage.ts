// What a call may have been moved by (law M1): the words the user typed and everything else the model sees, read off the
// view. What nobody vouches for is data: results of tools, texts given back after a compaction, summaries that may hold
// either. What an agent or a fork is told was written by a model or by us: only what the user typed before it began counts.
import type { Lineage, Reading } from '../../memory/trust/lineage.ts'
import type { Fold } from '../../projection/fold.ts'
import type { Part } from '../../projection/view.ts'
import { textIn } from '../../transcript/content.ts'
import { modeKind } from '../../transcript/markers.ts'

/** Their results are our own words. */
const silentTools = new Set(['Write', 'Edit', 'TaskList', 'Snip'])
const sourceKeys = ['url', 'file_path', 'path'] as const

/** Whose view it is: the session, `main` or what it is for, and what it stands on. */
export interface Speaker {
  readonly session: string
  readonly source: string
  readonly links: readonly { readonly from: number }[]
}

/** Up to the call that is named, or for everything seen so far. */
export function lineageOf(fold: Fold, { session, source, links }: Speaker, callId: string | null): Lineage {
  const isMain = source === 'main'
  const typedBefore = isMain ? Number.POSITIVE_INFINITY : (links.at(-1)?.from ?? 0)
  const inputs = new Map<string, Readonly<Record<string, unknown>>>()
  let message: string | null = null
  let before: Reading[] = isMain ? [] : [{ tool: source, source: null, trust: 'data' }]
  let turn: Reading[] = []
  const userWords: string[] = []
  let typedAt: number | undefined
  for (const part of fold.parts()) {
    if (part.kind === 'input') {
      if (part.from < typedBefore) {
        userWords.push(textIn(part.blocks))
        typedAt = part.at
      }
      before = [...before, ...turn]
      turn = []
    }
    for (const block of part.blocks) {
      if (block.type !== 'tool_use' || !('input' in block)) continue
      inputs.set(block.id, block.input)
      if (block.id === callId) message = part.uuid
    }
    const reading = readingOf(part, inputs)
    if (reading !== null) turn.push(reading)
  }
  return { session, isMain, message, userWords, typedAt, turn, before }
}

function readingOf(
  part: Part,
  inputs: ReadonlyMap<string, Readonly<Record<string, unknown>>>,
): Reading | null {
  if (part.kind === 'edit') return { tool: part.by ?? 'summary', source: null, trust: 'data' }
  if (part.kind === 'injected') {
    // Only what the user or the model itself stands for is ever recalled unasked.
    // What holds now is the program's own text: nobody else speaks in it.
    if (part.attachment?.kind === 'memory-recall' || part.attachment?.kind === modeKind) return null
    return {
      tool: part.attachment?.kind ?? 'injected',
      source: part.attachment?.source ?? null,
      trust: 'data',
    }
  }
  if (part.kind !== 'result') return null
  const tool = part.tool ?? 'tool'
  if (silentTools.has(tool) && part.isError !== true) return null
  const id = part.blocks.find((block) => block.type === 'tool_result' && 'is_error' in block)
  const input = id !== undefined && 'tool_use_id' in id ? inputs.get(id.tool_use_id) : undefined
  return { tool, source: sourceIn(input), trust: 'data' }
}

function sourceIn(input: Readonly<Record<string, unknown>> | undefined): string | null {
  for (const key of sourceKeys) {
    const value = input?.[key]
    if (typeof value === 'string') return value
  }
  return null
}
