// A rule of your own for what leaves the view: of the results of one tool only the newest stays whole. What a layer proposes
// is written down as a fact, so it is listed by `edits()`, can be undone, and `Expand` brings the text back.
import { anthropicModel, createEngine, inMemoryStore, tool, type Layer } from 'palimpsest'
import { z } from 'zod'

const newestOnly = (name: string): Layer => ({
  name: `newest-${name}`,
  decide(view) {
    const results = [...view.messages].flatMap(({ parts }) => parts).filter((part) => part.tool === name)
    // `by` names the layer that has already made a part what it is.
    const older = results.slice(0, -1).filter((part) => part.by === null)
    if (older.length === 0) return null
    return {
      kind: 'edit',
      why: `a newer result of ${name} is there`,
      edits: older.map((part) => ({
        kind: 'stub',
        at: { seq: part.from, block: part.source[0]! },
        text: `[an older result of ${name}]`,
        ref: String(part.from),
      })),
      tokensFreed: older.reduce((sum, { estimate }) => sum + estimate, 0),
    }
  },
})

const status = tool({
  name: 'status',
  description: 'The state of the build.',
  input: z.object({}),
  run: () => `still building\n${'a line of the log\n'.repeat(200)}`,
})
const engine = createEngine({
  store: inMemoryStore(),
  model: anthropicModel({
    apiKey: process.env['ANTHROPIC_API_KEY'],
    baseUrl: process.env['ANTHROPIC_BASE_URL'],
  }),
  modelId: 'claude-sonnet-5',
  tools: [status],
  layers: [newestOnly('status')],
})
const session = await engine.open()
for await (const event of session.send('Look at the build twice.'))
  if (event.type === 'turn-end' && event.failure !== null) throw new Error(event.failure.message)
for (const { layer, why } of await session.edits()) console.log(`${layer}: ${why}`)
await session.close()
