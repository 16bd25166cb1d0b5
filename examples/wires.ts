// The same session on two wires: a model of OpenAI answers, then one of Google goes on.
import {
  createEngine,
  inMemoryStore,
  leftBehindText,
  modelTable,
  openAiResponsesWire,
  providersOf,
  routedModel,
  tool,
  wireChooser,
} from 'palimpsest'
import { z } from 'zod'

const openai = process.env['OPENAI_BASE_URL'] ?? 'https://api.openai.com/v1'
const providers = providersOf({ openai: { baseUrl: openai }, google: googleAt() })
const models = modelTable()
const add = tool({
  name: 'add',
  description: 'Adds two numbers.',
  input: z.object({ a: z.number(), b: z.number() }),
  run: ({ a, b }) => String(a + b),
})

// Our loop: each request goes to the provider that the model's name begins with, in the words of its API.
const engine = createEngine({
  store: inMemoryStore(),
  modelId: 'openai/gpt-6-sol',
  models,
  tools: [add],
  wire: wireChooser(providers, models),
  model: routedModel({
    providers,
    anthropic: null,
    keys: { openai: process.env['OPENAI_API_KEY'], google: process.env['GEMINI_API_KEY'] },
  }),
})
const session = await engine.open()
for await (const event of session.send('What is 19 plus 23?'))
  if (event.type === 'text-delta') process.stdout.write(event.text)

// Before another model goes on: what its first request costs, and what only the maker of an answer can read.
const price = session.switchPrice('google/gemini-4-argon')
console.log(
  `\nswitching sends ${price.tokens} tokens anew; ${leftBehindText(price.left) ?? 'everything goes along'}`,
)
await session.setModel('google/gemini-4-argon')
for await (const event of session.send('And doubled?'))
  if (event.type === 'text-delta') process.stdout.write(event.text)
await session.close()

// Your loop: `request()` has the type of the wire that was named.
const own = createEngine({ store: inMemoryStore(), modelId: 'gpt-6-sol', wire: openAiResponsesWire })
const talk = await own.open()
await talk.say('Say hello.')
const request = await talk.request()
const response = await fetch(`${openai}/responses`, {
  method: 'POST',
  headers: { 'content-type': 'application/json', authorization: `Bearer ${process.env['OPENAI_API_KEY']}` },
  body: JSON.stringify(request),
})
await talk.receive((await response.json()) as object)
console.log(`\n${request.input.length} items were sent, ${talk.view().messages.length} messages are kept`)
await talk.close()

function googleAt() {
  const baseUrl = process.env['GOOGLE_GEMINI_BASE_URL']
  return baseUrl === undefined ? {} : { baseUrl }
}
