// Go on with a session by its stored id: run it twice, the second time it remembers the first.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { anthropicModel, createEngine, fileStore } from 'palimpsest'

const engine = createEngine({
  store: fileStore({ root: '.sessions' }),
  model: anthropicModel({
    apiKey: process.env['ANTHROPIC_API_KEY'],
    baseUrl: process.env['ANTHROPIC_BASE_URL'],
  }),
  modelId: 'claude-sonnet-5',
})
const stored = existsSync('.last-session') ? readFileSync('.last-session', 'utf8') : undefined
// Rejects with an EngineError whose `code` says why: not-found, held by another process, damaged …
const session = await engine.open(stored)
writeFileSync('.last-session', session.id)
console.log(
  `${stored === undefined ? 'began' : 'went on with'} a session of ${session.view().messages.length} messages`,
)
const question = stored === undefined ? 'Remember the word heron.' : 'Which word was it?'
for await (const event of session.send(question)) {
  if (event.type === 'text-delta') process.stdout.write(event.text)
  if (event.type === 'turn-end' && event.failure !== null) throw new Error(event.failure.message)
}
console.log()
await session.close()
