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

  it('[DB8] what was written and whose answer was lost counts as written when it is asked again; what came between does not', async () => {
    const { url } = await freshDatabase(server)
    const real = connect({ url })
    open.push(real)
    // The first answer of every statement that saves is lost, as by a connection that breaks.
    let meanwhile = (): Promise<unknown> => Promise.resolve()
    const connection: typeof real = {
      ...real,
      async query(words, values) {
        if (words.includes('pal.save_memory')) {
          await real.query(words, values)
          await meanwhile()
        }
        return await real.query(words, values)
      },
    }
    const store = postgresMemories({ connection, tenant: 'acme', scope: 'team', place: 'site' })
    const by = { kind: 'user', trust: 'user', session: null, message: null, from: [], at: 1 } as const
    const text = (body: string): string =>
      `---\nname: a\ndescription: what it is\ntype: project\n---\n${body}\n`
    const save = (body: string) => store.save({ file: 'a.md', text: text(body) }, by, { via: 'session' })
    expect(await save('one')).toMatchObject({ ok: true, applied: { kind: 'written', version: 1 } })
    const how = { via: 'dream', report: [], isAsked: false } as const
    const set = (body: string) => [
      { file: 'b.md', text: text(body), by },
      { file: 'a.md', text: null, by },
    ]
    expect(await store.sets.save(set('two'), how)).toMatchObject({
      ok: true,
      applied: [
        { file: 'b.md', kind: 'written', version: 2 },
        { file: 'a.md', kind: 'removed' },
      ],
    })
    meanwhile = () =>
      on(url).save({ file: 'b.md', text: text('theirs') }, { ...by, at: 2 }, { via: 'session' })
    expect(await store.sets.save(set('three'), how)).toMatchObject({
      ok: false,
      failure: { code: 'changed' },
    })
    expect(await store.read('b.md')).toMatchObject({ text: text('theirs') })
  })

  it('[DB8] a memory that waits for review and whose answer was lost is kept once; another of the same words is another', async () => {
    const { url, adminUrl } = await freshDatabase(server)
    const real = connect({ url })
    open.push(real)
    const connection: typeof real = {
      ...real,
      async query(words, values) {
        if (words.includes('pal.save_memory')) await real.query(words, values)
        return await real.query(words, values)
      },
    }
    const store = postgresMemories({ connection, tenant: 'acme', scope: 'team', place: 'site' })
    const by = { kind: 'model', trust: 'data', session: 's', message: null, from: [], at: 1 } as const
    const text = '---\nname: a\ndescription: a rule\ntype: feedback\n---\nAlways do so.\n'
    const save = (at: number) => store.save({ file: 'a.md', text }, { ...by, at }, { via: 'session' })
    expect(await save(1)).toMatchObject({ ok: true, applied: { kind: 'held', version: 1 } })
    expect(await save(2)).toMatchObject({ ok: true, applied: { kind: 'held', version: 2 } })
    expect(await sql(adminUrl, 'select count(*)::int as held from pal.memory')).toEqual([{ held: 2 }])
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
