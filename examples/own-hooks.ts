// Functions that are asked at certain moments: one blocks a call, one adds context, one only looks.
import { anthropicModel, createEngine, hooks, inMemoryStore, tool } from 'palimpsest'
import { z } from 'zod'

const deploy = tool({
  name: 'deploy',
  description: 'Deploys a service.',
  input: z.object({ service: z.string() }),
  run: ({ service }) => `deployed ${service}`,
})
const isFriday = true

const engine = createEngine({
  store: inMemoryStore(),
  model: anthropicModel({
    apiKey: process.env['ANTHROPIC_API_KEY'],
    baseUrl: process.env['ANTHROPIC_BASE_URL'],
  }),
  modelId: 'claude-sonnet-5',
  tools: [deploy],
  hooks: hooks({
    UserPromptSubmit: () => ({ context: 'The on-call engineer today is Ada.' }),
    // A hook that throws blocks the call too: a check that fell over lets nothing through.
    PreToolUse: ({ tool: name }) =>
      name === 'deploy' && isFriday
        ? { block: 'No deployments on Fridays; ask the on-call engineer.' }
        : undefined,
    Stop: ({ outcome }) => console.log(`\nthe turn ended: ${outcome}`),
  }),
})
const session = await engine.open()
for await (const event of session.send('Deploy the shop.')) {
  if (event.type === 'tool-end')
    console.log(`${event.name} ${event.isError ? 'was not run' : 'ran'}: ${event.text}`)
  if (event.type === 'text-delta') process.stdout.write(event.text)
}
await session.close()
