// LangChain.js on Claude: a middleware of createAgent.
import { ChatAnthropic } from '@langchain/anthropic'
import { createAgent, HumanMessage, tool, ToolMessage } from 'langchain'
import { langChainFit } from 'palimpsest/fit'
import { z } from 'zod'
import { baseUrl, page, prompt, teller, way, window } from './work.ts'

const { onFit, told } = teller()
const agent = createAgent({
  model: new ChatAnthropic({
    model: 'claude-sonnet-5',
    apiKey: 'k',
    anthropicApiUrl: baseUrl,
    maxTokens: 2000,
    maxRetries: 0,
    invocationKwargs: { cache_control: { type: 'ephemeral' } },
  }),
  tools: [
    tool(({ page: number }: { page: number }) => page(number), {
      name: 'read',
      description: 'Reads a page.',
      schema: z.object({ page: z.number() }),
    }),
  ],
  middleware:
    way === 'middleware'
      ? [langChainFit({ model: 'claude-sonnet-5', HumanMessage, ToolMessage, window, onFit })]
      : [],
})
const { messages } = await agent.invoke({ messages: [new HumanMessage(prompt)] }, { recursionLimit: 3000 })
console.log(JSON.stringify({ text: messages.at(-1)?.content, ...told() }))
