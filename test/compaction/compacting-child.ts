// A session that compacts in a process of its own, for a test that kills it: compacting-child.ts <root> <session> <input>
// Begins a compaction whose summary never comes, queues an input meanwhile, and says on standard output when that is
// durable: `queued INPUT`.
import { createEngine } from '../../src/engine/engine.ts'
import { fileStore } from '../../src/stores/index.ts'
import { sessionId } from '../../src/transcript/ids.ts'

const [root, id, input] = process.argv.slice(2)
let begin = (): void => undefined
const begun = new Promise<void>((resolve) => (begin = resolve))
const engine = createEngine({
  store: fileStore({ root: root! }),
  modelId: 'claude-sonnet-4-6',
  summariser: {
    summarise: () => {
      begin()
      return new Promise(() => setInterval(() => undefined, 1000))
    },
  },
})
const session = await engine.open(sessionId(id!))
void session.compact()
await begun
await session.queue(input!)
process.stdout.write(`queued ${input}\n`)
