// Tools from zod schemas: the model sees the JSON Schema, your function gets what was checked against it.
import { anthropicModel, createEngine, inMemoryStore, tool } from 'palimpsest'
import { z } from 'zod'

const stock = new Map([
  ['pencil', 12],
  ['paper', 0],
])

const inStock = tool({
  name: 'in_stock',
  description: 'How many of an article are in stock. Fails for an article that is not in the catalogue.',
  input: z.object({ article: z.string().describe('Its name, in the singular') }),
  readOnly: true, // several calls may run at the same time
  run: ({ article }) => {
    const count = stock.get(article)
    if (count === undefined) throw new Error(`there is no article ${article}`) // the model reads this
    return String(count)
  },
})

const order = tool({
  name: 'order',
  description: 'Orders more of an article.',
  input: z.object({ article: z.string(), count: z.number().int().positive().max(100) }),
  results: 'keep', // never cleared to make room
  run: ({ article, count }, { signal, report }) => {
    signal.throwIfAborted()
    report(`ordering ${count} of ${article}`) // shown while it runs, never kept
    stock.set(article, (stock.get(article) ?? 0) + count)
    return `ordered ${count}, now ${stock.get(article)}`
  },
})

const engine = createEngine({
  store: inMemoryStore(),
  model: anthropicModel({
    apiKey: process.env['ANTHROPIC_API_KEY'],
    baseUrl: process.env['ANTHROPIC_BASE_URL'],
  }),
  modelId: 'claude-sonnet-5',
  tools: [inStock, order],
})
const session = await engine.open()
for await (const event of session.send('Is there paper? Order 20 if not.')) {
  if (event.type === 'tool-end') console.log(`${event.name}: ${event.text}`)
  if (event.type === 'text-delta') process.stdout.write(event.text)
  if (event.type === 'turn-end' && event.failure !== null) throw new Error(event.failure.message)
}
console.log()
await session.close()
