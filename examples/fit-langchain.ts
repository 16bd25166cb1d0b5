// LangChain.js: one middleware, and an agent of many steps stays within the window and on the cache. Its state keeps everything.
import { ChatAnthropic } from '@langchain/anthropic'
import { createAgent, HumanMessage, tool, ToolMessage } from 'langchain'
import { langChainFit } from 'palimpsest/fit'
import { z } from 'zod'
import { onFit, page, seen, whatWasSeen } from './log.ts'

const agent = createAgent({
  model: new ChatAnthropic({
    model: 'claude-sonnet-5',
    apiKey: process.env['ANTHROPIC_API_KEY'],
    anthropicApiUrl: process.env['ANTHROPIC_BASE_URL'],
    maxTokens: 2000,
    invocationKwargs: { cache_control: { type: 'ephemeral' } },
  }),
  tools: [
    tool(({ page: number }: { page: number }) => page(number), {
      name: 'read',
      description: 'Reads a page of the log.',
      schema: z.object({ page: z.number() }),
    }),
  ],
  middleware: [
    langChainFit({
      model: 'claude-sonnet-5',
      HumanMessage,
      ToolMessage,
      window: 40_000, // small, so that something happens in a short example; leave it out for the model's own
      onFit,
    }),
  ],
})
const { messages } = await agent.invoke(
  { messages: [new HumanMessage('Find the slow requests in all pages.')] },
  { recursionLimit: 500 },
)
seen.cached = messages.reduce(
  (sum, message) =>
    sum +
    ((message as { usage_metadata?: { input_token_details?: { cache_read?: number } } }).usage_metadata
      ?.input_token_details?.cache_read ?? 0),
  0,
)
console.log(`${seen.calls} calls of ${messages.length} messages: ${whatWasSeen()}`)
