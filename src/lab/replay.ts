// Plays a recording through the real engine: the recorded input comes in at the recorded time, the layers of a policy
// settle, the request is really composed, the simulator's cache charges it, and the recorded answer is received.
// In process and without a disk, so that the same recording and the same policy give the same figures.
import { createEngine } from '../engine/engine.ts'
import type { LiveEvent } from '../engine/live.ts'
import type { RestorationOptions } from '../engine/restoring/restorer.ts'
import { EngineError, type Session } from '../engine/session.ts'
import { lookUp, modelTable } from '../model/models.ts'
import type { WireBlock, WireRequest } from '../model/wire.ts'
import { autocompactName, microcompactName } from '../projection/layers/index.ts'
import { defaults } from '../settings/defaults.ts'
import {
  checkRequest,
  createCache,
  createCounter,
  findModel,
  simulatedModels,
  type CacheUsage,
  type Counter,
  type PromptCache,
  type SimulatedModel,
} from '../simulator/index.ts'
import { inMemoryStore } from '../stores/in-memory.ts'
import { uuid, type Clock, type Ids } from '../transcript/ids.ts'
import { Meter, type Figures } from './measures.ts'
import { needsOf, type Needs } from './measuring/needs.ts'
import { fixedPart } from './playing/fixed-part.ts'
import { hindsight } from './playing/hindsight.ts'
import { RecordedFiles } from './playing/recorded-files.ts'
import { Timeline, type Moment } from './playing/timeline.ts'
import { scriptOf, type Script, type Step } from './playing/script.ts'
import { relabelled, WireBlocks } from './playing/wire-blocks.ts'
import { Writer, writingOf } from './playing/writer.ts'
import { capResultsName } from './policies/cap-results.ts'
import { clearResultsName } from './policies/clear-results.ts'
import { pruneCallsName } from './policies/prune-calls.ts'
import { staleReadsName } from './policies/stale-reads.ts'
import type { Policy } from './policies/rules.ts'
import { isWritten, layersOf } from './policy.ts'
import type { Recording } from './recording.ts'

export type Lifetime = '5m' | '1h'

export interface ReplayOptions {
  readonly policy: Policy
  readonly window: number
  readonly model: string
  /** Whether the window is wanted request by request. */
  readonly timeline?: boolean | undefined
  /** Sees each request that is sent, in the order of the steps. */
  readonly watch?: ((request: WireRequest) => void) | undefined
}

/** A recording made ready: what does not depend on the policy is found once. */
export interface Prepared {
  readonly script: Script
  readonly needs: Needs
}

export interface Replayed {
  readonly name: string
  readonly client: string
  readonly figures: Readonly<Record<Lifetime, Figures>>
  /** Edits by the layer that made them. */
  readonly edits: Readonly<Record<string, number>>
  /** The first refusals of the wire rules, and why a replay broke off. */
  readonly problems: readonly string[]
  /** Under the longer lifetime, where it was wanted. */
  readonly timeline?: readonly Moment[] | undefined
}

export function prepareReplay(recording: Recording): Prepared {
  const script = scriptOf(recording)
  return { script, needs: needsOf(script) }
}

/** Both lifetimes. Where no layer asks whether the cache is warm, one walk is charged under both. */
export async function replay(prepared: Prepared, options: ReplayOptions): Promise<Replayed> {
  if (options.policy.hindsight === true) return inHindsight(prepared, options)
  if (options.policy.standard === undefined) {
    const [long, short] = await walk(prepared, options, ['1h', '5m'])
    return { ...long!, figures: { '1h': long!.figures, '5m': short!.figures } }
  }
  const [long] = await walk(prepared, options, ['1h'])
  const [short] = await walk(prepared, options, ['5m'])
  return { ...long!, figures: { '1h': long!.figures, '5m': short!.figures } }
}

function inHindsight({ script, needs }: Prepared, options: ReplayOptions): Replayed {
  const counter = withReasoning(createCounter())
  const lifetimes = ['1h', '5m'] as const
  const [long, short] = hindsight(script, needs, { counter, model: modelFor(options), lifetimes })
  const { name, client } = script
  return { name, client, figures: { '1h': long!, '5m': short! }, edits: {}, problems: [] }
}

function modelFor(options: ReplayOptions): SimulatedModel {
  const model = findModel(simulatedModels, options.model)
  if (model === null) throw new EngineError({ code: 'no-such-model', message: `no model ${options.model}` })
  return model
}

type Walked = Omit<Replayed, 'figures'> & { readonly figures: Figures }

/** One walk through the recording; the engine is told the first lifetime. */
async function walk(
  { script, needs }: Prepared,
  options: ReplayOptions,
  lifetimes: readonly Lifetime[],
): Promise<readonly Walked[]> {
  const run = await open(script, needs, options, lifetimes)
  const { session, meter, problems } = run
  const said: string[] = []
  try {
    for (const [index, step] of script.steps.entries()) {
      said.push(...step.typed)
      await comeIn(run, step)
      const body = await session.requestBody()
      const isLast = index === script.steps.length - 1
      await answer(run, step, index, charge(run, body, { step, index, said, isLast }))
      await run.writer?.idle()
      run.files.calls(step)
    }
  } catch (error) {
    // What the engine refuses ends this replay; anything else is a fault of ours.
    if (!(error instanceof EngineError)) throw error
    meter.breakOff()
    problems.push(`broke off: ${error.message}`)
  }
  await session.close()
  const { name, client } = script
  const edits = Object.fromEntries(run.edits)
  const timeline = run.timeline === null ? {} : { timeline: run.timeline.moments }
  return meter.figures().map((figures) => ({ name, client, figures, edits, problems, ...timeline }))
}

interface Run {
  readonly options: ReplayOptions
  readonly session: Session
  readonly clock: { at: number } & Clock
  readonly blocks: WireBlocks
  readonly ledgers: readonly { readonly lifetime: Lifetime; readonly cache: PromptCache }[]
  readonly counter: Counter
  readonly model: SimulatedModel
  readonly meter: Meter
  readonly edits: Map<string, number>
  readonly problems: string[]
  readonly files: RecordedFiles
  readonly timeline: Timeline | null
  /** Where a model writes texts. */
  readonly writer: Writer | null
  /** Since the last request. */
  freed: number
  isSummary: boolean
  lastAt: number | null
}

async function open(
  script: Script,
  needs: Needs,
  options: ReplayOptions,
  lifetimes: readonly Lifetime[],
): Promise<Run> {
  const { policy } = options
  const model = modelFor(options)
  const counter = withReasoning(createCounter())
  const { system, tools } = fixedPart(script, policy.spill, counter, model)
  const clock = clockAt(script.steps[0]?.at ?? 0)
  const meter = new Meter(needs, lookUp(modelTable(), options.model), lifetimes.length)
  const charges = policy.summaries === 'model'
  const layers = layersOf(
    policy,
    (name) => tools.find((tool) => tool.spec.name === name)?.policy,
    ({ viewTokens, textTokens }) => charges && meter.summary(viewTokens, textTokens),
  )
  const run: Omit<Run, 'session'> & { writer: Writer | null } = {
    options,
    clock,
    blocks: new WireBlocks(),
    ledgers: lifetimes.map((lifetime) => ({ lifetime, cache: createCache({ counter }) })),
    counter,
    model,
    meter,
    edits: new Map(),
    problems: [],
    files: new RecordedFiles(),
    timeline: options.timeline === true ? new Timeline() : null,
    writer: null,
    freed: 0,
    isSummary: false,
    lastAt: null,
  }
  if (isWritten(policy)) run.writer = writerFor(run)
  const engine = createEngine({
    store: inMemoryStore({ clock }),
    modelId: options.model,
    system,
    tools,
    layers,
    clock,
    ids: countedIds(),
    cacheLifetime: lifetimes[0],
    thrift: policy.standard?.thrift,
    pressureClearing: policy.standard?.pressureClearing,
    window: policy.ignoresWindow ? unlimited : options.window,
    restoration: restorationOf(policy, run.files),
    listen: (event) => note(run, event),
    ...writingOf(run.writer, policy.standard?.text),
    ...(script.reminder === null ? {} : { reminder: script.reminder }),
  })
  return Object.assign(run, { session: await engine.open() })
}

function writerFor({ blocks, ledgers, clock, counter, model, meter }: Omit<Run, 'session'>): Writer {
  return new Writer({
    read: (body) => blocks.show(body).request,
    charge: (request, answer) => {
      const output = answer.reduce((sum, block) => sum + counter.block(block, model), 0)
      const charged = ledgers.map(({ lifetime, cache }) =>
        cache.account(relabelled(request, lifetime), clock.at, clock.at),
      )
      meter.background(charged, output)
      return { ...charged[0]!, output_tokens: output }
    },
  })
}

function restorationOf({ standard }: Policy, source: RecordedFiles): RestorationOptions {
  const { restoreFiles, restoreFileTokens, outlinesTokens } = standard ?? {}
  const files = restoreFiles === undefined ? undefined : restoreFiles > 0
  return { source, files, fileCount: restoreFiles, fileTokens: restoreFileTokens, outlinesTokens }
}

const unlimited = Number.MAX_SAFE_INTEGER

async function comeIn({ session, clock, files }: Run, step: Step): Promise<void> {
  clock.at = Math.max(clock.at, step.at)
  files.results(step)
  for (const { id, content, isError } of step.results) await session.result(id, { content, isError })
  if (step.input.length > 0) await session.say(step.input)
}

interface Asked {
  readonly step: Step
  readonly index: number
  readonly said: readonly string[]
  readonly isLast: boolean
}

/** Accounts and measures one request; gives back what the engine's own lifetime was charged. */
function charge(run: Run, body: string, { step, index, said, isLast }: Asked): CacheUsage {
  const { clock, options, problems, lastAt } = run
  const { request, blocks } = run.blocks.show(body)
  options.watch?.(request)
  const charges = run.ledgers.map(({ lifetime, cache }) => ({
    usage: cache.account(relabelled(request, lifetime), clock.at, Math.max(clock.at, step.answer.at)),
    isCold: lastAt !== null && clock.at - lastAt >= defaults.request.cacheLifetimeMs[lifetime],
  }))
  const { usage } = charges[0]!
  const tokens = usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens
  const isTooLong = !options.policy.ignoresWindow && tokens > options.window
  if (isTooLong) problems.push(`request ${index}: ${tokens} tokens do not fit ${options.window}`)
  const isChecked = isLast || isTooLong || run.freed > 0 || index % defaults.lab.checkEvery === 0
  const error = isChecked ? checkRequest(request) : null
  if (error !== null) problems.push(`request ${index}: ${error.error.message}`)
  const isRejected = isChecked ? error !== null || isTooLong : null
  const { freed, isSummary } = run
  run.timeline?.request(run.session.view(), clock.at, usage, charges[0]!.isCold)
  run.meter.request({ step: index, blocks, isRejected, said, freed, isSummary, charges })
  run.freed = 0
  run.isSummary = false
  run.lastAt = clock.at
  return usage
}

async function answer(run: Run, step: Step, index: number, usage: CacheUsage): Promise<void> {
  const { session, clock, counter, model, options } = run
  const { at, content, outputTokens } = step.answer
  const output =
    outputTokens ?? content.reduce((sum, block) => sum + counter.block({ ...block } as WireBlock, model), 0)
  clock.at = Math.max(clock.at, at)
  await session.receive({
    id: `msg_${index}`,
    model: options.model,
    content,
    stop_reason: content.some((block) => block.type === 'tool_use') ? 'tool_use' : 'end_turn',
    usage: { ...usage, output_tokens: output },
  })
}

/** What they take out leaves no text that stands for a span. */
const clearing: ReadonlySet<string> = new Set([
  capResultsName,
  clearResultsName,
  pruneCallsName,
  staleReadsName,
  microcompactName,
  'tool-result-budget',
])

function note(run: Omit<Run, 'session'>, event: LiveEvent): void {
  if (event.type !== 'view-edit' && event.type !== 'compaction') return
  const layer = event.type === 'compaction' ? autocompactName : event.layer
  run.edits.set(layer, (run.edits.get(layer) ?? 0) + 1)
  const freed = event.type === 'compaction' ? event.tokensBefore - event.tokensAfter : event.tokensFreed
  run.freed += freed
  const why =
    event.type === 'compaction' ? `${event.tokensBefore} tokens became ${event.tokensAfter}` : event.why
  run.timeline?.change({ layer, why, freed })
  if (!clearing.has(layer)) run.isSummary = true
}

function clockAt(start: number): { at: number } & Clock {
  const clock = { at: start, now: () => clock.at }
  return clock
}

function countedIds(): Ids {
  let count = 0
  return { uuid: () => uuid(`00000000-0000-7000-8000-${(++count).toString(16).padStart(12, '0')}`) }
}

// Reasoning whose text was not recorded is weighed by the length of its signature.

function withReasoning(counter: Counter): Counter {
  return {
    ...counter,
    block: (block, model) => {
      const plain = counter.block(block, model)
      if (block.type !== 'thinking' || typeof block['signature'] !== 'string') return plain
      return Math.max(plain, Math.round(block['signature'].length * defaults.lab.tokensPerSignatureChar))
    },
  }
}
