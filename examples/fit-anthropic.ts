// Your own loop on the Anthropic SDK: `fit` keeps what is sent within the window and on the cache. The list stays whole.
import Anthropic from '@anthropic-ai/sdk'
import { fit, usageIn, type FitOutcome, type FitState, type Usage } from 'palimpsest/fit'
import { onFit, page, seen, whatWasSeen } from './log.ts'

const client = new Anthropic({
  apiKey: process.env['ANTHROPIC_API_KEY'],
  baseURL: process.env['ANTHROPIC_BASE_URL'],
})
const model = 'claude-sonnet-5'
const tools: Anthropic.Tool[] = [
  { name: 'read', description: 'Reads a page of the log.', input_schema: { type: 'object' } },
]
const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Find the slow requests in all pages.' }]
const originals = new Map<string, string>() // what was cut, for a tool of your own
let state: FitState | null = null // plain JSON: store it with the conversation
let usage: Usage | null = null

for (;;) {
  // A small window, so that something happens in a short example; leave it out for the model's own.
  const fitted: FitOutcome<Anthropic.MessageParam> = fit(messages, {
    wire: 'anthropic',
    model,
    tools,
    state,
    usage,
    now: Date.now(),
    window: 40_000,
  })
  if (!fitted.ok) throw new Error(fitted.message)
  state = fitted.state
  for (const { ref, text } of fitted.kept) originals.set(ref, text)
  const answer = await client.messages.create({
    model,
    max_tokens: 2000,
    tools,
    messages: [...fitted.messages],
    cache_control: { type: 'ephemeral' },
  })
  usage = usageIn('anthropic', answer.usage)
  onFit(fitted.report)
  seen.cached += usage?.cacheRead ?? 0
  messages.push({ role: 'assistant', content: answer.content })
  const results = answer.content.flatMap((block): Anthropic.ToolResultBlockParam[] =>
    block.type === 'tool_use'
      ? [
          {
            type: 'tool_result',
            tool_use_id: block.id,
            content: page((block.input as { page: number }).page),
          },
        ]
      : [],
  )
  if (results.length === 0) break
  messages.push({ role: 'user', content: results })
}
console.log(`${seen.calls} requests of ${messages.length} messages: ${whatWasSeen()}`)
