// You keep the loop and the client; Palimpsest records, reduces and composes each request.
import Anthropic from '@anthropic-ai/sdk'
import { createEngine, inMemoryStore, tool } from 'palimpsest'
import { z } from 'zod'

const client = new Anthropic({
  apiKey: process.env['ANTHROPIC_API_KEY'],
  baseURL: process.env['ANTHROPIC_BASE_URL'],
})
// Named here so that the model knows of it; your loop carries it out.
const add = tool({
  name: 'add',
  description: 'Adds two numbers.',
  input: z.object({ a: z.number(), b: z.number() }),
  run: ({ a, b }) => String(a + b),
})
const engine = createEngine({ store: inMemoryStore(), modelId: 'claude-sonnet-5', tools: [add] })
const session = await engine.open()
await session.say('What is 19 plus 23?')
do {
  const request = await session.request() // layers have settled; valid, marked for the cache
  const response = await client.messages.create(request)
  await session.receive(response) // recorded, usage counted
  for (const block of response.content) if (block.type === 'text') console.log(block.text)
  for (const call of session.openCalls()) {
    const { a, b } = call.input as { a: number; b: number }
    await session.result(call.id, String(a + b))
  }
} while (session.unfinished())
console.log(`${session.spent().requests} requests`)
await session.close()
