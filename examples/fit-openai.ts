// Your own loop on the OpenAI SDK (Responses): `fit` keeps what is sent within the window and on the cache.
import OpenAI from 'openai'
import { fit, usageIn, type FitOutcome, type FitState, type Usage } from 'palimpsest/fit'
import { onFit, page, seen, whatWasSeen } from './log.ts'

const client = new OpenAI({ apiKey: process.env['OPENAI_API_KEY'], baseURL: process.env['OPENAI_BASE_URL'] })
const model = 'gpt-5.6-sol'
const tools: OpenAI.Responses.Tool[] = [
  {
    type: 'function',
    name: 'read',
    description: 'Reads a page of the log.',
    parameters: { type: 'object', properties: { page: { type: 'number' } } },
    strict: false,
  },
]
const input: OpenAI.Responses.ResponseInputItem[] = [
  {
    type: 'message',
    role: 'user',
    content: [{ type: 'input_text', text: 'Find the slow requests in all pages.' }],
  },
]
let state: FitState | null = null
let usage: Usage | null = null

for (;;) {
  const fitted: FitOutcome<OpenAI.Responses.ResponseInputItem> = fit(input, {
    wire: 'openai-responses',
    model,
    tools,
    state,
    usage,
    now: Date.now(),
    store: false,
    window: 40_000,
  })
  if (!fitted.ok) throw new Error(fitted.message)
  state = fitted.state
  const answer = await client.responses.create({
    model,
    tools,
    input: [...fitted.messages],
    store: false,
    include: ['reasoning.encrypted_content'],
  })
  usage = usageIn('openai-responses', answer.usage)
  onFit(fitted.report)
  seen.cached += usage?.cacheRead ?? 0
  const calls = answer.output.filter((item) => item.type === 'function_call')
  input.push(...(answer.output as OpenAI.Responses.ResponseInputItem[]))
  if (calls.length === 0) break
  for (const call of calls)
    input.push({
      type: 'function_call_output',
      call_id: call.call_id,
      output: page((JSON.parse(call.arguments) as { page: number }).page),
    })
}
console.log(`${seen.calls} requests of ${input.length} items: ${whatWasSeen()}`)
