// Sessions kept elsewhere: a store is twelve functions. This one stands before another and counts what is written; a real
// one (a database, a bucket) implements all of them. The published contract says whether it keeps its promises.
import { anthropicModel, createEngine, inMemoryStore, type Store } from 'palimpsest'
import { storeContract, storeWith } from 'palimpsest/testing'

function counting(inner: Store): { readonly store: Store; readonly written: () => number } {
  let written = 0
  const store = storeWith(inner, {
    append: async (lease, entries, ...how) => {
      const appended = await inner.append(lease, entries, ...how)
      if (appended.ok) written += entries.length
      return appended
    },
  })
  return { store, written: () => written }
}

let kept = 0
for (const promise of storeContract) {
  await promise
    .run(() => counting(inMemoryStore()).store)
    .then(
      () => (kept += 1),
      (error: unknown) => console.error(`${promise.title}: ${String(error)}`),
    )
}
console.log(`contract: ${kept} of ${storeContract.length}`)

const { store, written } = counting(inMemoryStore())
const engine = createEngine({
  store,
  model: anthropicModel({
    apiKey: process.env['ANTHROPIC_API_KEY'],
    baseUrl: process.env['ANTHROPIC_BASE_URL'],
  }),
  modelId: 'claude-sonnet-5',
})
const session = await engine.open()
for await (const event of session.send('hello'))
  if (event.type === 'text-delta') process.stdout.write(event.text)
await session.close()
console.log(`\n${written() > 3 ? 'every' : 'not every'} entry came through the store`)
