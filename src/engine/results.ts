// The gate every tool result passes before it is written (SPEC 2): what is too large goes whole beside the session,
// and the view gets a preview that says where it is. If it cannot be kept, it is cut in place, and that is said.
// What hooks say passes the same gate.
import { defaults } from '../settings/defaults.ts'
import type { Tool, ToolOutcome } from '../tools/tool.ts'
import type { UserBlock } from '../transcript/content.ts'
import type { FactOf } from '../transcript/fact.ts'
import { callId } from '../transcript/ids.ts'
import type { Core } from './core.ts'
import { cutOff, previewOf } from './keeping/preview.ts'

export async function gated(
  core: Core,
  id: string,
  tool: Tool | undefined,
  outcome: ToolOutcome,
): Promise<FactOf<'tool-result'>> {
  const fact = { type: 'tool-result', call: callId(id), isError: outcome.isError } as const
  const text = outcome.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
  const others = outcome.content.filter((block) => block.type !== 'text')
  if (text.trim() === '' && others.length === 0) return { ...fact, content: [noOutput] }
  const limit = limitOf(core, tool)
  // A tool that pages by itself sets no limit; writing its pages out would only make the model read them again.
  if (limit === null || text.length <= limit) {
    return {
      ...fact,
      content: outcome.content,
      ...(outcome.spill === undefined ? {} : { spill: outcome.spill }),
    }
  }
  const { shown, spill } = await keep(core, id, text, limit)
  return { ...fact, content: [{ type: 'text', text: shown }, ...others], ...(spill && { spill }) }
}

/** The words of a hook, whole or as a preview. */
export async function gatedText(core: Core, name: string, text: string): Promise<string> {
  const limit = defaults.results.maxChars
  return text.length <= limit ? text : (await keep(core, name, text, limit)).shown
}

function limitOf(core: Core, tool: Tool | undefined): number | null {
  if (tool === undefined) return defaults.results.maxChars
  const set = core.options.resultLimits?.[tool.spec.name]
  return set === undefined ? tool.policy.maxResultChars : set
}

async function keep(
  core: Core,
  name: string,
  text: string,
  limit: number,
): Promise<{ readonly shown: string; readonly spill?: FactOf<'tool-result'>['spill'] }> {
  const kept = await core.options.store.putBlob(core.transcript.lease, name, new TextEncoder().encode(text))
  if (!kept.ok) return { shown: cutOff(text, limit, kept.failure.message) }
  const { blob, bytes, sha256, path } = kept
  return { shown: previewOf(text, { bytes, path: path ?? blob, ref: blob }), spill: { blob, bytes, sha256 } }
}

const noOutput: UserBlock = { type: 'text', text: '[no output]' }
