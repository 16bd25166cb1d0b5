// The OpenAI Agents SDK on Responses: an input filter in one long run, or a session with the filter over many runs.
import { Agent, MemorySession, OpenAIProvider, Runner, setTracingDisabled, tool } from '@openai/agents'
import { agentsFit } from 'palimpsest/fit'
import { z } from 'zod'
import { baseUrl, page, prompt, teller, way, window } from './work.ts'

setTracingDisabled(true)
const { onFit, told } = teller()
const filter = agentsFit({ model: 'gpt-5.6-sol', window, onFit })
const runs = Number(process.env['FIT_RUNS'] ?? '1')
const runner = new Runner({
  modelProvider: new OpenAIProvider({ apiKey: 'k', baseURL: `${baseUrl}/v1`, useResponses: true }),
  ...(way === 'untouched' ? {} : { callModelInputFilter: filter }),
})
const agent = new Agent({
  name: 'reader',
  instructions: 'You read logs.',
  model: 'gpt-5.6-sol',
  tools: [
    tool({
      name: 'read',
      description: 'Reads a page.',
      parameters: z.object({ page: z.number() }),
      execute: ({ page: number }) => page(number),
    }),
  ],
})
const whole = new MemorySession()
const session = way === 'session' ? filter.session(whole) : whole
let text: unknown = ''
for (let run = 0; run < runs; run++)
  text = (await runner.run(agent, prompt, { maxTurns: 1000, ...(runs === 1 ? {} : { session }) })).finalOutput
console.log(JSON.stringify({ text, kept: (await whole.getItems()).length, ...told() }))
