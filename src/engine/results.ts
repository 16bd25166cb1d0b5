// The gate every tool result passes before it is written (SPEC 2): what is too large goes whole beside the session,
// and the view gets a preview that says where it is. If it cannot be kept, it is cut in place, and that is said.
import { defaults } from '../settings/defaults.ts'
import { headOf, tailOf } from '../tools/outcome.ts'
import type { Tool, ToolOutcome } from '../tools/tool.ts'
import type { UserBlock } from '../transcript/content.ts'
import type { FactOf } from '../transcript/fact.ts'
import { callId } from '../transcript/ids.ts'
import type { Core } from './core.ts'

export async function gated(
  core: Core,
  id: string,
  tool: Tool | undefined,
  outcome: ToolOutcome,
): Promise<FactOf<'tool-result'>> {
  const limit = tool === undefined ? defaults.results.maxChars : tool.policy.maxResultChars
  const text = outcome.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
  const fact = { type: 'tool-result', call: callId(id), isError: outcome.isError } as const
  // A tool that pages by itself sets no limit; writing its pages out would only make the model read them again.
  if (limit === null || text.length <= limit) {
    return {
      ...fact,
      content: outcome.content,
      ...(outcome.spill === undefined ? {} : { spill: outcome.spill }),
    }
  }
  const others = outcome.content.filter((block) => block.type !== 'text')
  const kept = await core.options.store.putBlob(core.transcript.lease, id, new TextEncoder().encode(text))
  if (!kept.ok) return { ...fact, content: [cut(text, limit, kept.failure.message), ...others] }
  const { blob, bytes, sha256, path } = kept
  return {
    ...fact,
    content: [preview(text, bytes, path ?? blob, blob), ...others],
    spill: { blob, bytes, sha256 },
  }
}

function preview(text: string, bytes: number, where: string, ref: string): UserBlock {
  const { headChars, tailChars } = defaults.results
  const head = toLineEnd(headOf(text, headChars))
  const tail = tailOf(text, tailChars)
  const body = [
    `<persisted-output bytes="${bytes}" path="${where}">`,
    head,
    `[… ${text.length - head.length - tail.length} characters are not shown; read the file or expand ${ref} …]`,
    tail,
    '</persisted-output>',
  ]
  return { type: 'text', text: body.join('\n') }
}

function cut(text: string, limit: number, why: string): UserBlock {
  const head = toLineEnd(headOf(text, limit))
  return {
    type: 'text',
    text: `${head}\n[cut here: ${text.length - head.length} more characters could not be kept (${why})]`,
  }
}

function toLineEnd(text: string): string {
  const end = text.lastIndexOf('\n')
  return end > text.length / 2 ? text.slice(0, end) : text
}
