// The AI SDK: one line in generateText, and a loop of many steps stays within the window and on the cache.
import { createOpenAI } from '@ai-sdk/openai'
import { generateText, isStepCount, tool } from 'ai'
import { aiSdkFit } from 'palimpsest/fit'
import { z } from 'zod'

const openai = createOpenAI({
  apiKey: process.env['OPENAI_API_KEY'] ?? '',
  baseURL: process.env['OPENAI_BASE_URL'] ?? '',
})
const page = (number: number) =>
  Array.from(
    { length: 400 },
    (_, line) => `page ${number} line ${line}: request ${number * 400 + line} took ${line % 97} ms`,
  ).join('\n')

const seen = { shortened: 0, compactions: 0 }
const { prepareStep } = aiSdkFit({
  model: 'gpt-5.5',
  window: 40_000, // small, so that something happens in a short example; leave it out for the model's own
  onFit: (told) => {
    if ('ok' in told) throw new Error(told.message)
    seen.shortened += told.edits.filter(({ isNew }) => isNew).length
    seen.compactions += told.boundary?.isNew === true ? 1 : 0
  },
})
const { steps, text } = await generateText({
  model: openai.chat('gpt-5.5'),
  prompt: 'Find the slow requests in all pages.',
  tools: {
    read: tool({
      description: 'Reads a page of the log.',
      inputSchema: z.object({ page: z.number() }),
      execute: ({ page: number }) => page(number),
    }),
  },
  stopWhen: isStepCount(100),
  prepareStep,
})
const cached = steps.reduce((sum, { usage }) => sum + (usage.inputTokenDetails.cacheReadTokens ?? 0), 0)
console.log(text)
console.log(
  `${steps.length} steps: ${seen.shortened} results shortened, ${seen.compactions} compactions, ${cached} tokens from the cache`,
)
