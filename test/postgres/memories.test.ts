import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connect, postgresMemories } from '../../src/postgres/index.ts'
import type { SetStore } from '../../src/memory/memory-store.ts'
import { memoryContract } from '../../src/testing/memory-contract.ts'
import { expectConsolidated } from '../dream/other-store.ts'
import { freshDatabase, skipReason, sql, startServer, type Server } from './server.ts'

describe.skipIf(skipReason !== null)('memories in Postgres', () => {
  let server: Server
  const open: { close(): Promise<void> }[] = []
  beforeAll(async () => {
    server = await startServer()
  })
  afterAll(async () => {
    for (const each of open) await each.close()
    await server.stop()
  })
  const on = (url: string, tenant = 'acme'): SetStore => {
    const connection = connect({ url })
    open.push(connection)
    return postgresMemories({ connection, tenant, scope: 'team', place: 'site' })
  }
  const make = async (): Promise<SetStore> => on((await freshDatabase(server)).url)
  for (const item of memoryContract) it(`[${item.rule}] ${item.title}`, () => item.run(make))

  it('[DB8] [ME78] are consolidated through the port like those of a folder', async () => {
    await expectConsolidated(await make())
  })

  it('[DB8] [ME78] of two change sets made at once from the same bytes one is written, whole', async () => {
    const { url } = await freshDatabase(server)
    const by = { kind: 'user', trust: 'user', session: null, message: null, from: [], at: 1 } as const
    const set = (body: string, files: readonly string[]) =>
      files.map((file) => {
        const text = `---\nname: ${file}\ndescription: what it is\ntype: project\n---\n${body}\n`
        return { file, text, expected: null, by }
      })
    const how = { via: 'dream', report: [], isAsked: false } as const
    const made = await Promise.all([
      on(url).sets.save(set('one', ['a.md', 'b.md', 'c.md']), how),
      on(url).sets.save(set('two', ['c.md', 'b.md', 'a.md']), how),
    ])
    expect(made.map((one) => (one.ok ? 'made' : one.failure.code)).toSorted()).toEqual(['changed', 'made'])
    const store = on(url)
    const texts = await Promise.all(['a.md', 'b.md', 'c.md'].map((file) => store.read(file)))
    expect(new Set(texts.map((read) => (read.ok ? read.text.trim().split('\n').at(-1) : '')))).toHaveLength(1)
  })

  it('[DB8] two who save at once: one is written, the other is refused; another tenant sees none, and no secret is kept', async () => {
    const { url, adminUrl } = await freshDatabase(server, ['acme', 'globex'])
    const by = { kind: 'user', trust: 'user', session: null, message: null, from: [], at: 1 } as const
    const text = (body: string): string =>
      `---\nname: a\ndescription: what a is\ntype: project\n---\n${body}\n`
    const saves = await Promise.all(
      ['one', 'two', 'three'].map((body) =>
        on(url).save({ file: 'a.md', text: text(body), expected: null }, by, { via: 'session' }),
      ),
    )
    const kinds = saves.map((saved) => (saved.ok ? saved.applied.kind : saved.failure.code))
    expect(kinds.toSorted()).toEqual(['refused', 'refused', 'written'])
    expect(await on(url, 'globex').list()).toMatchObject({ total: 0 })
    const key = `sk-ant-api03-${'a1B2'.repeat(20)}`
    await on(url).save({ file: 'b.md', text: text(`The key is ${key}`) }, by, { via: 'session' })
    expect(JSON.stringify(await sql(adminUrl, 'select body from pal.memory'))).not.toContain(key)
  })
})
