// An engine with layers against the simulator over HTTP, on one clock that the test moves, played straight through or
// closed and opened again between turns.
import { createEngine, type EngineOptions, type Session } from '../../src/index.ts'
import type { LiveEvent } from '../../src/engine/live.ts'
import type { Model } from '../../src/model/model.ts'
import { modelTable } from '../../src/model/models.ts'
import type { WireBlock, WireRequest } from '../../src/model/wire.ts'
import { standardLayers, type LayerOptions } from '../../src/projection/layers/index.ts'
import {
  createManualClock,
  type ManualClock,
  type ScriptStep,
  type SimulatorOptions,
} from '../../src/simulator/index.ts'
import { inMemoryStore } from '../../src/stores/index.ts'
import { countingIds } from '../../src/testing/builders.ts'
import type { Tool, ToolPolicy } from '../../src/tools/tool.ts'
import type { Store } from '../../src/transcript/store.ts'
import { factsOf, later, modelId, simulated, turn, type SimulatedApi } from '../e2e/simulated.ts'

export interface StageOptions {
  readonly layers?: LayerOptions
  readonly engine?: Partial<EngineOptions>
  readonly simulator?: Partial<SimulatorOptions>
  /** Closes and opens the session between turns. */
  readonly resumes?: boolean
  readonly cacheEdits?: boolean
}

export interface Stage {
  readonly scene: SimulatedApi
  readonly store: Store
  readonly clock: ManualClock
  session: Session
  /** One turn; gives what passed by. */
  say(text: string): Promise<readonly LiveEvent[]>
  /** Closes the session and opens it again. */
  reopen(): Promise<void>
  /** From now on another server answers. */
  reach(model: Model): void
  requests(): readonly WireRequest[]
  facts(): ReturnType<typeof factsOf>
}

export async function stage(steps: readonly ScriptStep[], options: StageOptions = {}): Promise<Stage> {
  const clock = createManualClock(Date.UTC(2026, 0, 1))
  const cacheEdits = options.cacheEdits ?? false
  const scene = await simulated([...steps], { clock, capabilities: { cacheEdits }, ...options.simulator })
  const store = options.engine?.store ?? inMemoryStore()
  const tools = options.engine?.tools ?? []
  const policies = new Map(tools.map((tool) => [tool.spec.name, tool.policy]))
  let reached = scene.model
  const engine = createEngine({
    modelId,
    model: { stream: (request, signal) => reached.stream(request, signal) },
    models: modelTable([{ id: modelId, capabilities: { cacheEdits } }]),
    layers: standardLayers({ policyOf: (name) => policies.get(name), ...options.layers }),
    clock,
    ids: countingIds(),
    ...options.engine,
    store,
    tools,
  })
  const own: Stage = {
    scene,
    store,
    clock,
    session: await engine.open(),
    say: async (text) => {
      if (options.resumes === true) await own.reopen()
      const { events } = await turn(own.session.send(text))
      return events
    },
    reopen: async () => {
      await own.session.close()
      own.session = await engine.open(own.session.id)
    },
    reach: (model) => {
      reached = model
    },
    requests: () => scene.simulator.log.requests.map(({ body }) => body as WireRequest),
    facts: () => factsOf(store, own.session.id),
  }
  later(() => own.session.close())
  return own
}

/** A tool that answers what the function gives, with the policy of the built-in one of that name. */
export function toolOf(
  name: string,
  output: (input: Record<string, unknown>) => string,
  policy: Partial<ToolPolicy> = {},
): Tool {
  return {
    spec: { name, description: `does ${name}`, input_schema: { type: 'object', properties: {} } },
    policy: { readOnly: true, results: 'clear', maxResultChars: 50_000, ...policy },
    parse: (input) => ({ ok: true, input }),
    run: async (input) => ({ content: [{ type: 'text', text: output(input) }], isError: false }),
  }
}

/** Every result in a request, by the id of its call. */
export function resultsIn(request: WireRequest): Map<string, string> {
  const results = new Map<string, string>()
  for (const message of request.messages) {
    if (typeof message.content === 'string') continue
    for (const block of message.content) {
      if (block.type === 'tool_result') results.set(block['tool_use_id'] as string, textIn(block['content']))
    }
  }
  return results
}

function textIn(content: unknown): string {
  if (typeof content === 'string') return content
  return (content as readonly WireBlock[])
    .map((block) => (block['text'] as string | undefined) ?? '')
    .join('')
}

/** A request without its marks, as one string. */
export const plainBytes = (request: WireRequest): string =>
  JSON.stringify(request, (key, value: unknown) => (key === 'cache_control' ? undefined : value))
