// A model of your own behind the port: `stream` never throws and ends with exactly one `end` or `failed`. This one answers
// from a table; yours may call another provider. `modelContract` of palimpsest/testing holds it to the promises.
import { createEngine, inMemoryStore, type Model } from 'palimpsest'

const answers: Readonly<Record<string, string>> = { 'ping?': 'pong', 'tick?': 'tock' }

const table: Model = {
  async *stream(request, signal) {
    const usage = { input: request.body.length / 4, cacheRead: 0, cacheWrite: 0, output: 1 }
    const messageId = `msg_${crypto.randomUUID()}`
    const model = 'table-1'
    yield { type: 'start', messageId, model, usage }
    const asked = Object.keys(answers).findLast((question) => request.body.includes(question))
    const text = asked === undefined ? 'I only know ping and tick.' : answers[asked]!
    if (signal.aborted) {
      const failure = { code: 'aborted', message: 'aborted by the caller', status: null } as const
      yield { type: 'failed', failure, partial: null }
      return
    }
    yield { type: 'text-delta', text }
    const message = {
      messageId,
      model,
      content: [{ type: 'text', text } as const],
      stop: 'end_turn',
      usage,
      appliedEdits: [],
      inputTransformations: [],
      diagnostics: null,
    }
    yield { type: 'end', message }
  },
}

const engine = createEngine({ store: inMemoryStore(), model: table, modelId: 'table-1', window: 100_000 })
const session = await engine.open()
for (const question of ['ping?', 'tick?'])
  for await (const event of session.send(question)) {
    if (event.type === 'text-delta') console.log(event.text)
    if (event.type === 'turn-end' && event.failure !== null) throw new Error(event.failure.message)
  }
await session.close()
