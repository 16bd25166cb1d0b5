// Ask something aside: a fork reads the conversation's prompt cache and leaves the conversation as it is.
import { anthropicModel, createEngine, inMemoryStore } from 'palimpsest'

const engine = createEngine({
  store: inMemoryStore(),
  model: anthropicModel({
    apiKey: process.env['ANTHROPIC_API_KEY'],
    baseUrl: process.env['ANTHROPIC_BASE_URL'],
  }),
  modelId: 'claude-sonnet-5',
})
const session = await engine.open()
for await (const event of session.send('We use Postgres for the queue. What should I watch out for?'))
  if (event.type === 'text-delta') process.stdout.write(event.text)
console.log()

const length = session.view().messages.length
const title = await session.fork({
  purpose: 'title',
  directive: 'Give this conversation a title of at most six words. Answer with the title alone.',
})
console.log(title.failure === null ? `title: ${title.text}` : `no title: ${title.failure.message}`)
console.log(`the conversation still has ${session.view().messages.length - length} messages more`)
await session.close()
