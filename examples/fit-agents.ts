// The OpenAI Agents SDK: one input filter, and a run of many turns stays within the window and on the cache. Sessions keep everything.
import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from '@openai/agents'
import { agentsFit } from 'palimpsest/fit'
import { z } from 'zod'
import { onFit, page, seen, whatWasSeen } from './log.ts'

setTracingDisabled(true)
const runner = new Runner({
  modelProvider: new OpenAIProvider({
    apiKey: process.env['OPENAI_API_KEY'] ?? '',
    baseURL: process.env['OPENAI_BASE_URL'] ?? '',
    useResponses: true,
  }),
  callModelInputFilter: agentsFit({
    model: 'gpt-5.6-sol',
    window: 40_000, // small, so that something happens in a short example; leave it out for the model's own
    onFit,
  }),
})
const agent = new Agent({
  name: 'reader',
  instructions: 'You read logs.',
  model: 'gpt-5.6-sol',
  tools: [
    tool({
      name: 'read',
      description: 'Reads a page of the log.',
      parameters: z.object({ page: z.number() }),
      execute: ({ page: number }) => page(number),
    }),
  ],
})
const result = await runner.run(agent, 'Find the slow requests in all pages.', { maxTurns: 100 })
seen.cached = result.rawResponses.reduce(
  (sum, { usage }) =>
    sum + (usage.inputTokensDetails?.reduce((all, details) => all + (details['cached_tokens'] ?? 0), 0) ?? 0),
  0,
)
console.log(`${seen.calls} calls, ${result.history.length} items: ${whatWasSeen()}`)
