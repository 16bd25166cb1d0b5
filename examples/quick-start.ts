// One turn, streamed. The session is kept under .sessions and can be resumed (resume.ts).
import { anthropicModel, createEngine, fileStore } from 'palimpsest'

const engine = createEngine({
  store: fileStore({ root: '.sessions' }),
  model: anthropicModel({
    apiKey: process.env['ANTHROPIC_API_KEY'],
    baseUrl: process.env['ANTHROPIC_BASE_URL'],
  }),
  modelId: 'claude-sonnet-5',
  system: 'You are a careful engineer.',
})

const session = await engine.open()
for await (const event of session.send('Say hello.')) {
  if (event.type === 'text-delta') process.stdout.write(event.text)
  if (event.type === 'answer-end')
    console.log(`\n[${event.usage.output} tokens, $${event.dollars?.toFixed(4)}]`)
  // `send` never throws: its last event says how the turn ended.
  if (event.type === 'turn-end' && event.failure !== null) {
    console.error(`${event.failure.code}: ${event.failure.message}`)
    process.exitCode = 1
  }
}
await session.close()
