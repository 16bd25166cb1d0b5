// Results that are too large: the gate each passes before it is written, and those a layer writes out later. The whole goes
// beside the session, and the view gets both ends, cut at line ends, with the exact size and the way to the rest. If it
// cannot be kept, it is cut in place, and that is said. What hooks say passes the same gate.
import type { Slice } from '../core.ts'
import { ruleFor } from '../options.ts'
import type { Budget } from '../../projection/layer.ts'
import { priceOf } from '../../projection/layers/pricing.ts'
import { estimateBlock } from '../../projection/tokens.ts'
import type { Part, ToolResultBlock } from '../../projection/view.ts'
import { defaults } from '../../settings/defaults.ts'
import { cutOff, previewOf } from '../../tools/outcome.ts'
import type { Tool, ToolOutcome } from '../../tools/tool.ts'
import { type UserBlock, textIn } from '../../transcript/content.ts'
import type { BlockRef, FactOf, StubEdit } from '../../transcript/fact.ts'
import { callId } from '../../transcript/ids.ts'
import { expandCall } from '../../transcript/markers.ts'
import type { BlobInfo, Result } from '../../transcript/store.ts'

async function keepWhole(
  core: Slice<'options' | 'transcript'>,
  id: string,
  place: number,
  text: string,
): Promise<Result<BlobInfo>> {
  const { store } = core.options
  const { lease } = core.transcript
  const bytes = new TextEncoder().encode(text)
  const kept = await store.putBlob(lease, id, bytes)
  return kept.ok || kept.failure.code !== 'exists' ? kept : store.putBlob(lease, `${id}-${place}`, bytes)
}

/** Where the size limit of a result is applied: what is larger is kept whole and shown in part. */
export async function gated(
  core: Slice<'background' | 'options' | 'state' | 'transcript'>,
  id: string,
  tool: Tool | undefined,
  outcome: ToolOutcome,
): Promise<FactOf<'tool-result'>> {
  const fact = { type: 'tool-result', call: callId(id), isError: outcome.isError } as const
  const text = textIn(outcome.content)
  const others = outcome.content.filter((block) => block.type !== 'text')
  if (text.trim() === '' && others.length === 0) return { ...fact, content: [noOutput] }
  const { toolPolicies } = core.options
  const known = tool === undefined ? [] : [tool]
  const { maxResultChars: limit } = ruleFor({ tools: known, toolPolicies }, tool?.spec.name)
  // A tool that pages by itself sets no limit; writing its pages out would only make the model read them again.
  if (limit === null || text.length <= limit) {
    return {
      ...fact,
      content: outcome.content,
      ...(outcome.spill === undefined ? {} : { spill: outcome.spill }),
    }
  }
  const { shown, spill } =
    outcome.spill === undefined
      ? await keep(core, id, text, limit)
      : { shown: shortened(text, outcome.spill), spill: outcome.spill }
  return { ...fact, content: [{ type: 'text', text: shown }, ...others], ...(spill && { spill }) }
}

/** The words of a hook, whole or as a preview. */
export async function gatedText(
  core: Slice<'background' | 'options' | 'state' | 'transcript'>,
  name: string,
  text: string,
): Promise<string> {
  const limit = defaults.results.maxChars
  return text.length <= limit ? text : (await keep(core, name, text, limit)).shown
}

async function keep(
  core: Slice<'background' | 'options' | 'state' | 'transcript'>,
  name: string,
  text: string,
  limit: number,
): Promise<{ readonly shown: string; readonly spill?: FactOf<'tool-result'>['spill'] }> {
  const kept = await keepWhole(core, name, core.state.fold.numbers.upTo + 1, text)
  if (!kept.ok) {
    const { code, message } = kept.failure
    core.background.tell({
      type: 'notice',
      code,
      message: `only both ends of ${name} are left (${text.length} characters): ${message}`,
    })
    return { shown: cutOff(text, limit, message) }
  }
  const { blob, bytes, sha256, path } = kept
  return { shown: previewOf(text, { bytes, path: path ?? blob, ref: blob }), spill: { blob, bytes, sha256 } }
}

/** A tool that has kept the whole by itself gave a preview larger than is allowed here. */
const shortened = (text: string, { blob, bytes }: NonNullable<ToolOutcome['spill']>): string =>
  previewOf(text, { bytes, path: blob, ref: blob })

const noOutput: UserBlock = { type: 'text', text: '[no output]' }

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
  const kept = await keepWhole(core, block.tool_use_id, at.seq, content)
  const ref = `${at.seq}`
  const text = kept.ok
    ? previewOf(content, { bytes: kept.bytes, path: kept.path ?? kept.blob, ref })
    : `${cutOff(content, defaults.results.headBytes, kept.failure.message)}\n[${expandCall(ref)} returns all of it]`
  const left = estimateBlock({ ...block, content: [{ type: 'text', text }] })
  return { edit: { kind: 'stub', at, text, ref }, freed: part.estimate - left }
}

const resultIn = (part: Part, at: BlockRef): ToolResultBlock | undefined =>
  part.blocks.find(
    (block, index): block is ToolResultBlock =>
      block.type === 'tool_result' && 'is_error' in block && part.source[index] === (at.block ?? 0),
  )
