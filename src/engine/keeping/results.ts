// The gate every tool result passes before it is written (SPEC 2): what is too large goes whole beside the session,
// and the view gets a preview that says where it is. If it cannot be kept, it is cut in place, and that is said.
// What hooks say passes the same gate.
import { defaults } from '../../settings/defaults.ts'
import type { Tool, ToolOutcome } from '../../tools/tool.ts'
import type { UserBlock } from '../../transcript/content.ts'
import type { FactOf } from '../../transcript/fact.ts'
import { callId } from '../../transcript/ids.ts'
import type { Slice } from '../core.ts'
import { keepBeside } from './keep-beside.ts'
import { cutOff, previewOf } from './preview.ts'
import { ruleFor } from '../options.ts'

export async function gated(
  core: Slice<'options' | 'state' | 'transcript'>,
  id: string,
  tool: Tool | undefined,
  outcome: ToolOutcome,
): Promise<FactOf<'tool-result'>> {
  const fact = { type: 'tool-result', call: callId(id), isError: outcome.isError } as const
  const text = outcome.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
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
  core: Slice<'options' | 'state' | 'transcript'>,
  name: string,
  text: string,
): Promise<string> {
  const limit = defaults.results.maxChars
  return text.length <= limit ? text : (await keep(core, name, text, limit)).shown
}

async function keep(
  core: Slice<'options' | 'state' | 'transcript'>,
  name: string,
  text: string,
  limit: number,
): Promise<{ readonly shown: string; readonly spill?: FactOf<'tool-result'>['spill'] }> {
  const kept = await keepBeside(core, name, core.state.fold.numbers.upTo + 1, text)
  if (!kept.ok) return { shown: cutOff(text, limit, kept.failure.message) }
  const { blob, bytes, sha256, path } = kept
  return { shown: previewOf(text, { bytes, path: path ?? blob, ref: blob }), spill: { blob, bytes, sha256 } }
}

/** A tool that has kept the whole by itself gave a preview larger than is allowed here. */
const shortened = (text: string, { blob, bytes }: NonNullable<ToolOutcome['spill']>): string =>
  previewOf(text, { bytes, path: blob, ref: blob })

const noOutput: UserBlock = { type: 'text', text: '[no output]' }
