// Snip: the model removes whole turns that it no longer needs from its view. Which turns an id names is the engine's
// knowledge and comes in with the env; what the tool decides is returned as a fact, to be written after its result.
import { snipToolName } from '../projection/layers/snip.ts'
import { defaults } from '../settings/defaults.ts'
import { inputShape, list, text, type InputOf } from './input.ts'
import { failed, succeeded } from './outcome.ts'
import type { Tool } from './tool.ts'

const limits = defaults.snip
const fields = {
  ids: list('From [id:…] at the end of user messages', text('', 64), limits.ids),
  reason: text('', limits.reasonChars),
}
const shape = inputShape(fields)

/** Removes whole turns that the model names. */
export function snipTool(): Tool<InputOf<typeof fields>> {
  return {
    spec: {
      name: snipToolName,
      description:
        'Remove finished turns from context: each id removes that user message and all up to the next. It costs a cache write: use it for large finished topics only. [id:…] is for this tool alone; never write it.',
      input_schema: shape.schema,
    },
    policy: { readOnly: false, results: 'never-clear', maxResultChars: null },
    parse: (input) => shape.parse(input),
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
  }
}
