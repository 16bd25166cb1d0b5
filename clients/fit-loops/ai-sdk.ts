// The AI SDK on Chat Completions: `prepareStep`, or a middleware under streamText.
import { createOpenAI } from '@ai-sdk/openai'
import { generateText, isStepCount, streamText, tool, wrapLanguageModel } from 'ai'
import { aiSdkFit } from 'palimpsest/fit'
import { z } from 'zod'
import { baseUrl, page, prompt, teller, way, window } from './work.ts'

const { onFit, told } = teller()
const model = createOpenAI({ apiKey: 'k', baseURL: `${baseUrl}/v1` }).chat('gpt-5.5')
const { prepareStep, middleware } = aiSdkFit({ model: 'gpt-5.5', window, onFit })
const options = {
  prompt,
  tools: {
    read: tool({
      description: 'Reads a page.',
      inputSchema: z.object({ page: z.number() }),
      execute: ({ page: number }) => page(number),
    }),
  },
  stopWhen: isStepCount(1000),
  maxRetries: 0,
}
const text =
  way === 'middleware'
    ? await streamText({ ...options, model: wrapLanguageModel({ model, middleware }) }).text
    : (await generateText({ ...options, model, ...(way === 'prepareStep' ? { prepareStep } : {}) })).text
console.log(JSON.stringify({ text, ...told() }))
