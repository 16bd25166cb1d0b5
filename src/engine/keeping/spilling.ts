// Carries out what the tool-result budget proposes: results are written out beside the session, and a stub with a
// preview takes their place. The entries keep the whole text, so a disk that refuses costs the file and nothing else.
import type { Budget } from '../../projection/layer.ts'
import { priceOf } from '../../projection/layers/pricing.ts'
import { estimateBlock } from '../../projection/tokens.ts'
import type { Part, ToolResultBlock } from '../../projection/view.ts'
import { defaults } from '../../settings/defaults.ts'
import type { BlockRef, FactOf, StubEdit } from '../../transcript/fact.ts'
import type { Slice } from '../core.ts'
import { keepBeside } from './keep-beside.ts'
import { cutOff, previewOf } from './preview.ts'

interface Spilled {
  readonly edit: StubEdit
  /** Estimated tokens that leave the view. */
  readonly freed: number
}

/** The edit that stands for a proposal to spill, or null when nothing of it can be. */
export async function spilled(
  core: Slice<'options' | 'state' | 'transcript' | 'view'>,
  layer: string,
  proposal: { readonly at: readonly BlockRef[]; readonly why: string },
  budget: Budget,
): Promise<FactOf<'view-edit'> | null> {
  const done: Spilled[] = []
  for (const at of proposal.at) {
    const one = await spillOne(core, at)
    if (one !== null) done.push(one)
  }
  if (done.length === 0) return null
  const freed = done.reduce((sum, one) => sum + one.freed, 0)
  // Never sent, so nothing is written again, and the next request would have had to write it.
  const price = priceOf(core.view(), { ...budget, isWarm: false }, 'unsent', freed, 0)
  return {
    type: 'view-edit',
    layer,
    asked: 'automatic',
    edits: done.map(({ edit }) => edit),
    why: proposal.why,
    tokensFreed: price.freedTokens,
    price,
  }
}

async function spillOne(
  core: Slice<'options' | 'state' | 'transcript'>,
  at: BlockRef,
): Promise<Spilled | null> {
  const part = core.state.fold.units.find(at.seq)
  const block = part === undefined ? undefined : resultIn(part, at)
  if (part === undefined || block === undefined) return null
  const content = block.content
    .map((inner) => (inner.type === 'text' ? inner.text : `[${inner.type}]`))
    .join('\n')
  const kept = await keepBeside(core, block.tool_use_id, at.seq, content)
  const ref = `${at.seq}`
  const text = kept.ok
    ? previewOf(content, { bytes: kept.bytes, path: kept.path ?? kept.blob, ref })
    : `${cutOff(content, defaults.results.headBytes, kept.failure.message)}\n[expand ${ref} shows all of it]`
  const left = estimateBlock({ ...block, content: [{ type: 'text', text }] })
  return { edit: { kind: 'stub', at, text, ref }, freed: part.estimate - left }
}

const resultIn = (part: Part, at: BlockRef): ToolResultBlock | undefined =>
  part.blocks.find(
    (block, index): block is ToolResultBlock =>
      block.type === 'tool_result' && 'is_error' in block && part.source[index] === (at.block ?? 0),
  )
