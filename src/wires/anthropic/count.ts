// How the Messages API counts a request.
import { countIn, onlyFields, type CountRules } from '../../model/count.ts'

/** What `count_tokens` takes of a request. */
const taken = new Set(['model', 'tools', 'system', 'messages', 'thinking', 'tool_choice'])

export const anthropicCount: CountRules = {
  body: (body) => JSON.stringify(onlyFields(body, taken)),
  tokensIn: (answer) => countIn(answer, 'input_tokens'),
}
