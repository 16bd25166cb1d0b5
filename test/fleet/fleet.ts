// What tests and benches of the fleet begin with: a store, a queue and budgets over one connection, and an engine that asks a
// simulator.
import { randomUUID } from 'node:crypto'
import { createEngine, type EngineOptions } from '../../src/index.ts'
import { dollarsOf } from '../../src/engine/limits/spend.ts'
import type { AskUser } from '../../src/tools/permission/question.ts'
import { createPermission } from '../../src/tools/permission/permission.ts'
import { machineFileSystem } from '../../src/disk/fs.ts'
import { modelTable } from '../../src/model/models.ts'
import type { Model } from '../../src/model/model.ts'
import { connect, postgresStore, type PostgresStoreOptions } from '../../src/postgres/index.ts'
import { Budgets } from '../../src/postgres/budgets.ts'
import { Queue } from '../../src/postgres/queue.ts'
import { meteredModel, questionsOf, type OpenEngine } from '../../src/fleet/index.ts'
import { systemClock } from '../../src/transcript/ids.ts'
import { anthropicModel } from '../../src/wires/anthropic/adapter.ts'

export const fleetModel = 'claude-sonnet-4-6'

export function fleetOn(url: string, more: Partial<PostgresStoreOptions> = {}) {
  const tenant = more.tenant ?? 'acme'
  const connection = connect({
    url,
    connections: more.connections,
    patienceMs: more.patienceMs,
    answerMs: more.answerMs,
  })
  const price = (model: string, usage: Parameters<typeof dollarsOf>[2]) =>
    dollarsOf(modelTable(), model, usage)
  const store = postgresStore({ price, ...more, tenant, connection })
  return {
    connection,
    store,
    queue: new Queue(connection, tenant),
    budgets: new Budgets(connection, tenant),
    async close() {
      await store.close()
      await connection.close()
    },
  }
}
export type TestFleet = ReturnType<typeof fleetOn>

export const modelAt = (baseUrl: string): Model =>
  anthropicModel({
    apiKey: 'test',
    baseUrl,
    clock: systemClock,
    random: Math.random,
    settings: { retryBaseMs: 5, retryMaxMs: 50, maxRetries: 3 },
  })

/** A small engine of its own for each session; with tools it asks a person about those that change something. */
export const engineOver =
  (
    { queue, budgets }: TestFleet,
    model: Model,
    options: Partial<EngineOptions> = {},
    cwd = '/',
  ): OpenEngine =>
  async (claimed, store) => {
    const asked = await questionsOf(claimed, queue)
    if (!asked.ok) return asked
    const engine = createEngine({
      store,
      modelId: fleetModel,
      model: meteredModel({
        model,
        models: modelTable(),
        budgets,
        maxOutputTokens: 1000,
        lease: claimed,
        unique: randomUUID,
      }),
      maxOutputTokens: 1000,
      judges: permissionWith(asked.questions.askUser, cwd).judges,
      ...options,
    })
    return { ok: true, opened: { engine, pending: asked.questions, close: () => Promise.resolve() } }
  }

const permissionWith = (askUser: AskUser, cwd: string) =>
  createPermission({ fs: machineFileSystem, root: cwd, cwd, home: cwd, rules: [], mode: 'default', askUser })
