// The AI SDK: one line in generateText, and a loop of many steps stays within the window and on the cache.
import { createOpenAI } from '@ai-sdk/openai'
import { generateText, isStepCount, tool } from 'ai'
import { aiSdkFit } from 'palimpsest/fit'
import { z } from 'zod'
import { onFit, page, seen, whatWasSeen } from './log.ts'

const openai = createOpenAI({
  apiKey: process.env['OPENAI_API_KEY'] ?? '',
  baseURL: process.env['OPENAI_BASE_URL'] ?? '',
})
const { prepareStep } = aiSdkFit({
  model: 'gpt-5.5',
  window: 40_000, // small, so that something happens in a short example; leave it out for the model's own
  onFit,
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
seen.cached = steps.reduce((sum, { usage }) => sum + (usage.inputTokenDetails.cacheReadTokens ?? 0), 0)
console.log(text)
console.log(`${steps.length} steps: ${whatWasSeen()}`)
