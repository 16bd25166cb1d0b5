import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, it } from 'vitest'
import { fileStore, inMemoryStore } from '../../src/stores/index.ts'
import { unsavedStore } from '../../src/stores/unsaved.ts'
import { storeContract } from '../../src/testing/store-contract.ts'

const folders: string[] = []
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true })
})
const freshFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'pal-store-'))
  folders.push(folder)
  return join(folder, 'deep', 'root')
}

const makers = {
  'in memory': () => inMemoryStore(),
  'unsaved, over another': () => unsavedStore(inMemoryStore()),
  'files, batch': async () => fileStore({ root: await freshFolder() }),
  'files, full': async () => fileStore({ root: await freshFolder(), fsync: 'full' }),
  'files, none': async () => fileStore({ root: await freshFolder(), fsync: 'none' }),
}

for (const [name, make] of Object.entries(makers)) {
  describe(name, () => {
    for (const item of storeContract) it(`[${item.rule}] ${item.title}`, () => item.run(make))
  })
}
