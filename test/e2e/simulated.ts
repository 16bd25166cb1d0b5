// What end-to-end tests begin with: a simulator over HTTP, folders that go away afterwards, small tools, and ways to look at
// what was written and what was asked.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach } from 'vitest'
import type { LiveEvent, TurnFailure } from '../../src/engine/live.ts'
import { anthropicModel } from '../../src/wires/anthropic/adapter.ts'
import type { Model } from '../../src/model/model.ts'
import {
  createSimulator,
  scripted,
  type Simulator,
  type SimulatorOptions,
} from '../../src/simulator/index.ts'
import type { Tool, ToolOutcome } from '../../src/tools/tool.ts'
import type { Fact, FactOf, FactType } from '../../src/transcript/fact.ts'
import { isKnown } from '../../src/transcript/fact.ts'
import { systemClock, type SessionId } from '../../src/transcript/ids.ts'
import type { Damage, Store } from '../../src/transcript/store.ts'

const cleanups: (() => Promise<unknown>)[] = []
export const later = (cleanup: () => Promise<unknown>): void => void cleanups.push(cleanup)
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

export const modelId = 'claude-sonnet-4-6'

export interface SimulatedApi {
  readonly simulator: Simulator
  readonly url: string
  readonly model: Model
}

export async function simulated(
  steps: Parameters<typeof scripted>[0],
  options: Partial<SimulatorOptions> = {},
): Promise<SimulatedApi> {
  const simulator = createSimulator({ answerer: scripted(steps), ...options })
  const { url } = await simulator.start()
  later(() => simulator.stop())
  const settings = { retryBaseMs: 1, retryMaxMs: 2, maxRetries: 1 }
  const model = anthropicModel({
    apiKey: 'test',
    baseUrl: url,
    clock: systemClock,
    random: () => 0,
    settings,
  })
  return { simulator, url, model }
}

export async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'pal-e2e-'))
  // Something may still be written down while the folder goes.
  later(() => rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }))
  return path
}

export async function collect(events: AsyncIterable<LiveEvent>): Promise<LiveEvent[]> {
  const all: LiveEvent[] = []
  for await (const event of events) all.push(event)
  return all
}

export interface Ended {
  readonly outcome: string
  readonly failure: TurnFailure | null
  readonly events: readonly LiveEvent[]
  readonly notices: readonly string[]
}

/** Runs a turn to its end, which every turn must have. */
export async function turn(events: AsyncIterable<LiveEvent>): Promise<Ended> {
  const all = await collect(events)
  const last = all.at(-1)
  if (last?.type !== 'turn-end') throw new Error(`the turn ended with ${JSON.stringify(last)}`)
  const notices = all.flatMap((event) => (event.type === 'notice' ? [event.code] : []))
  return { outcome: last.outcome, failure: last.failure, events: all, notices }
}

/** A tool that answers what the function gives. */
export function tool(
  name: string,
  run: (input: Record<string, unknown>, signal: AbortSignal) => string | Promise<string>,
  readOnly = true,
): Tool {
  return {
    spec: { name, description: `does ${name}`, input_schema: { type: 'object', properties: {} } },
    policy: { readOnly, results: 'keep', maxResultChars: null },
    parse: (input) => ({ ok: true, input }),
    run: async (input, _env, signal): Promise<ToolOutcome> => ({
      content: [{ type: 'text', text: await run(input, signal) }],
      isError: false,
    }),
  }
}

export async function factsOf(store: Store, session: SessionId): Promise<Fact[]> {
  const facts: Fact[] = []
  for await (const item of store.read(session)) {
    if (item.kind === 'failed') throw new Error(item.failure.message)
    if (item.kind === 'entry' && isKnown(item.entry)) facts.push(item.entry.fact)
  }
  return facts
}

export async function damageOf(store: Store, session: SessionId): Promise<Damage[]> {
  const found: Damage[] = []
  for await (const item of store.read(session)) if (item.kind === 'damage') found.push(item.damage)
  return found
}

export const ofType = <T extends FactType>(facts: readonly Fact[], type: T): FactOf<T>[] =>
  facts.filter((fact): fact is FactOf<T> => fact.type === type)

/** What the simulator refused; a test that ends with something here has sent an invalid request. */
export const refusals = ({ simulator }: SimulatedApi): readonly string[] =>
  simulator.log.requests.flatMap(({ error }) => (error === null ? [] : [error.message]))

export const words = (count: number, word = 'lorem'): string => `${word} `.repeat(count)
