// Expand: gives back, page by page, what a stub, a summary or a kept output stands for. Looking the reference up is the
// engine's work and comes in with the env; this file only keeps the page bounded.
import { defaults } from '../settings/defaults.ts'
import { inputShape, optional, text, whole, type InputOf } from './input.ts'
import { failed, succeeded } from './outcome.ts'
import type { Tool } from './tool.ts'

const limits = defaults.tools
const fields = {
  ref: text('12 (message), 12.0 (block), 2-34 (range), or an output id', 256),
  offset: optional(whole('First character', 0)),
  limit: optional(whole('', 1, limits.expandMaxChars)),
}
const shape = inputShape(fields)

/** Brings back what a stub or a summary replaced. */
export function expandTool(): Tool<InputOf<typeof fields>> {
  return {
    spec: {
      name: 'Expand',
      description: `Return the original behind a ref named in a stub, summary or saved output, an image too. Pages of ${limits.expandChars.toLocaleString('en-US')} characters; continue with \`offset\`.`,
      input_schema: shape.schema,
    },
    // What was expanded once can be expanded again, so it may go early.
    policy: { readOnly: true, results: 'clear', maxResultChars: null },
    parse: (input) => shape.parse(input),
    async run({ ref, offset = 0, limit = limits.expandChars }, env) {
      const found = await env.expand(ref, offset, limit)
      if (!found.ok)
        return failed(
          `No ref ${JSON.stringify(ref)} in this session: ${found.why}. Use a ref shown in a stub, summary or saved output.`,
        )
      if (found.media !== undefined)
        return { content: [{ type: 'text', text: found.text }, found.media], isError: false }
      const end = offset + found.text.length
      if (found.text === '')
        return succeeded(`[nothing at ${offset}; the original has ${found.total} characters]`)
      if (offset === 0 && end >= found.total) return succeeded(found.text)
      const rest = end < found.total ? `; go on with offset ${end}` : ''
      return succeeded(`${found.text}\n[characters ${offset} to ${end} of ${found.total}${rest}]`)
    },
  }
}
