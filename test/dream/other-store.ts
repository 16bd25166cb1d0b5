// A consolidation of memories that lie in a store of another kind than a folder, whoever keeps them.
import { expect } from 'vitest'
import { consolidate } from '../../src/forks/memory/consolidation/consolidate.ts'
import type { SetStore } from '../../src/memory/memory-store.ts'
import { ruleModel } from '../../src/simulator/index.ts'
import { later, modelId, simulated } from '../e2e/simulated.ts'
import { from, fromTool, memoryText } from '../memory/memories.ts'
import { openWorkspace, type Workspace } from '../memory/workspace.ts'

const rule = (name: string, body: string): string =>
  memoryText(name, { type: 'feedback', description: body, body })

/** Two that say the opposite, and one of a tool. */
export async function fill(store: SetStore): Promise<void> {
  for (const [file, text, by] of [
    ['old.md', rule('old', 'Always run the linter before tests.'), from()],
    ['new.md', rule('new', 'Never run the linter before tests.'), from()],
    ['page.md', memoryText('page', { body: 'The page names heron as its server.' }), fromTool()],
  ] as const)
    expect(await store.save({ file, text }, by, { via: 'session' })).toMatchObject({
      ok: true,
      applied: { kind: 'written' },
    })
}

export async function filesOf(store: SetStore): Promise<readonly string[]> {
  const listed = await store.list()
  return listed.ok ? listed.memories.map(({ file }) => file).toSorted() : [listed.failure.message]
}

/** A preset over a store of somebody else's, with a model that follows rules. */
export async function workspaceOver(store: SetStore, clock = { now: () => Date.now() }): Promise<Workspace> {
  const { model } = await simulated([], { answerer: ruleModel() })
  const settings = { model: modelId, recallModel: 'off', notes: false, agents: false } as const
  return await openWorkspace(() => [], { memoryStores: [store], settings, interactive: true, model, clock })
}

/** What is shown changes nothing, what is made is made once, and nobody comes in between. */
export async function expectConsolidated(store: SetStore): Promise<void> {
  const { engine, memoryJobs } = (await workspaceOver(store)).preset
  const session = await engine.open()
  later(() => session.close())
  const run = (isDry: boolean) => {
    const job = memoryJobs.list.start('dream', session.id, Date.now())
    return consolidate(memoryJobs.options, store, session, job, { isDry, isAsked: true })
  }
  await fill(store)
  expect(await run(true)).toMatchObject({ kind: 'shown', read: 3 })
  expect(await filesOf(store)).toEqual(['new.md', 'old.md', 'page.md'])
  const other = await store.sets.begin()
  expect(await run(false)).toEqual({ kind: 'taken' })
  if (other.ok) await other.begun?.end('failed')
  expect(await run(false)).toMatchObject({
    kind: 'changed',
    report: expect.arrayContaining(['retired old.md: new.md replaces it']) as string[],
  })
  expect(await filesOf(store)).toEqual(['new.md', 'page.md'])
  expect(await store.read('new.md')).toMatchObject({ ok: true, memory: { provenance: { trust: 'user' } } })
  const last = await store.sets.last()
  expect(last.ok && last.at > 0).toBe(true)
  expect(await run(false)).toMatchObject({ kind: 'nothing' })
}
