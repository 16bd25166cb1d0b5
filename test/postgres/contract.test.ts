import { afterAll, beforeAll, describe, it } from 'vitest'
import { postgresStore, type PostgresStore } from '../../src/postgres/index.ts'
import { storeContract } from '../../src/testing/store-contract.ts'
import { freshDatabase, skipReason, startServer, type Server } from './server.ts'

describe.skipIf(skipReason !== null)('sessions in Postgres', () => {
  let server: Server
  const stores: PostgresStore[] = []
  beforeAll(async () => {
    server = await startServer()
  })
  afterAll(async () => {
    for (const store of stores) await store.close()
    await server.stop()
  })
  const make = async (): Promise<PostgresStore> => {
    const { url } = await freshDatabase(server)
    const store = postgresStore({ url, tenant: 'acme' })
    stores.push(store)
    return store
  }
  for (const item of storeContract) it(`[${item.rule}] ${item.title}`, () => item.run(make))
})
