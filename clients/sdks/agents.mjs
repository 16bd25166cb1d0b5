// The OpenAI Agents SDK on both wires of OpenAI: parallel tools, whole and streamed, usage, errors. Prints one line of JSON.
import { Agent, Runner, OpenAIProvider, setTracingDisabled, tool } from '@openai/agents'
import { z } from 'zod'

const [, , url] = process.argv
setTracingDisabled(true)
const read = tool({
  name: 'read',
  description: 'reads',
  parameters: z.object({ path: z.string() }),
  execute: ({ path }) => `content of ${path}`,
})
const agent = new Agent({ name: 'reader', instructions: 'You read.', model: 'gpt-6-sol', tools: [read] })

async function tried(name, useResponses) {
  const runner = (apiKey) =>
    new Runner({ modelProvider: new OpenAIProvider({ apiKey, baseURL: `${url}/v1`, useResponses }) })
  const whole = await runner('right').run(agent, 'go')
  const streamed = await runner('right').run(agent, 'go', { stream: true })
  const pieces = []
  for await (const piece of streamed.toTextStream()) pieces.push(piece)
  await streamed.completed
  const refused = await runner('wrong')
    .run(agent, 'go')
    .then(
      () => 'taken',
      (error) => String(error.status ?? error.message),
    )
  return {
    name,
    calls: whole.newItems.flatMap(({ type, rawItem }) =>
      type === 'tool_call_item' ? [JSON.parse(rawItem.arguments).path] : [],
    ),
    said: whole.finalOutput,
    streamed: pieces.join(''),
    pieces: pieces.length,
    usage: whole.state.usage?.inputTokens ?? whole.rawResponses[0]?.usage.inputTokens ?? 0,
    agent: streamed.finalOutput,
    refused,
  }
}

const seen = []
for (const [name, useResponses] of [
  ['Chat Completions', false],
  ['Responses', true],
]) {
  seen.push(
    await tried(name, useResponses).catch((error) => ({ name, failed: String(error.stack ?? error) })),
  )
}
process.stdout.write(JSON.stringify(seen))
