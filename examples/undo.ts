// A compaction puts the older part away; `edits()` lists every removal, and `undo` takes one back byte for byte.
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
for (let chapter = 1; chapter <= 12; chapter++)
  for await (const event of session.send(`Chapter ${chapter}: ${'and then they sailed on. '.repeat(400)}`))
    if (event.type === 'turn-end' && event.failure !== null) throw new Error(event.failure.message)

const before = session.view()
const { tokensBefore, tokensAfter, seq } = await session.compact()
console.log(`compacted: ${tokensBefore > tokensAfter ? 'smaller' : 'not smaller'}`)
for (const edit of await session.edits()) console.log(`edit ${edit.seq}: ${edit.layer}`)
if (seq !== null) await session.undo(seq)
const same = JSON.stringify(session.view().messages) === JSON.stringify(before.messages)
console.log(`after the undo the view is ${same ? 'as it was' : 'different'}`)
await session.close()
