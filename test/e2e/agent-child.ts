// An agent in a process of its own, for tests that kill it: agent-child.ts <root> <url> <session or new> <input>
// Runs one turn with tools that take their time, queues one input on the way, and says on standard output what it was
// told is durable: `session ID`, `said TEXT` when an input is written, `queued TEXT` when a queued one is, `end OUTCOME`.
import { createEngine } from '../../src/engine/engine.ts'
import { anthropicModel } from '../../src/wires/anthropic/adapter.ts'
import { fileStore } from '../../src/stores/index.ts'
import { sessionId, systemClock } from '../../src/transcript/ids.ts'
import type { Tool } from '../../src/tools/tool.ts'

const [root, url, id, input] = process.argv.slice(2)
const say = (text: string): boolean => process.stdout.write(`${text}\n`)
const slow = (name: string, readOnly: boolean): Tool => ({
  spec: { name, description: name, input_schema: { type: 'object', properties: {} } },
  policy: { readOnly, results: 'keep', maxResultChars: null },
  parse: (given) => ({ ok: true, input: given }),
  run: async () => {
    await new Promise((resolve) => setTimeout(resolve, 5))
    return { content: [{ type: 'text', text: `${name} `.repeat(200) }], isError: false }
  },
})

const engine = createEngine({
  store: fileStore({ root: root! }),
  modelId: 'claude-sonnet-4-6',
  model: anthropicModel({ apiKey: 'test', baseUrl: url!, clock: systemClock, random: () => 0 }),
  tools: [slow('look', true), slow('touch', false)],
})
const session = await engine.open(id === 'new' ? undefined : sessionId(id!))
say(`session ${session.id}`)
let rounds = 0
let isQueued = false
for await (const event of session.send(input!)) {
  if (event.type === 'request-start' && rounds++ === 0) say(`said ${input}`)
  if (event.type === 'tool-end' && !isQueued) {
    isQueued = true
    const queued = `${input}, by the way`
    await session.queue(queued)
    say(`queued ${queued}`)
  }
  if (event.type === 'turn-end') say(`end ${event.outcome} ${event.failure?.message ?? ''}`)
}
await session.close()
