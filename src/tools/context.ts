// The model's hand on its own context. Expand gives back, page by page, what a stub, a summary or a kept output stands for; Snip
// removes whole turns that it no longer needs. Looking a reference or an id up is the engine's work and comes in with the env.
import { defaults } from '../settings/defaults.ts'
import { optional, text, whole, toolWith, type InputOf, list } from './input.ts'
import { failed, succeeded } from './outcome.ts'
import type { Tool } from './tool.ts'
import { snipToolName } from '../projection/layers/snip.ts'

const limits = defaults.tools
const fields = {
  ref: text('12 (message), 12.0 (block), 2-34 (range), or an output id', 256),
  offset: optional(whole('First character', 0)),
  limit: optional(whole('', 1, limits.expandMaxChars)),
}

/** Brings back what a stub or a summary replaced. */
export function expandTool(): Tool<InputOf<typeof fields>> {
  return toolWith(fields, {
    name: 'Expand',
    description: `Return the original behind a ref named in a stub, summary or saved output, an image too. Pages of ${limits.expandChars.toLocaleString('en-US')} characters; continue with \`offset\`.`,
    // What was expanded once can be expanded again, so it may go early.
    policy: { readOnly: true, results: 'clear', maxResultChars: null },
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
  })
}

const snipFields = {
  ids: list('From [id:…] at the end of user messages', text('', 64), defaults.snip.ids),
  reason: text('', defaults.snip.reasonChars),
}

/** Removes whole turns that the model names. What it decides is returned as a fact, to be written after its result. */
export function snipTool(): Tool<InputOf<typeof snipFields>> {
  return toolWith(snipFields, {
    name: snipToolName,
    description:
      'Remove finished turns from context: each id removes that user message and all up to the next. It costs a cache write: use it for large finished topics only. [id:…] is for this tool alone; never write it.',
    policy: { readOnly: false, results: 'never-clear', maxResultChars: null },
    async run({ ids, reason }, env) {
      if (env.snip === undefined) return failed('Nothing was removed: this session has no ids.')
      const done = env.snip(ids, reason)
      if (!done.ok) return failed(done.why)
      if (done.fact === null) return succeeded('Nothing to do: these turns have been removed already.')
      return {
        ...succeeded(
          `${done.turns === 1 ? 'One turn' : `${done.turns} turns`} removed, about ${done.tokens} tokens.`,
        ),
        facts: [done.fact],
      }
    },
  })
}
