// Plays a recording through the real engine: the recorded input comes in at the recorded time, the layers of a policy
// settle, the request is really composed, the simulator's cache charges it, and the recorded answer is received.
// In process and without a disk, so that the same recording and the same policy give the same figures.
import { createEngine } from '../engine/engine.ts'
import { EngineError, type Session } from '../engine/session.ts'
import { modelTable, type ModelInfo } from '../model/models.ts'
import type { WireBlock, WireRequest } from '../model/wire.ts'
import { defaults } from '../settings/defaults.ts'
import {
  checkRequest,
  findModel,
  simulatedModels,
  type CacheUsage,
  type Counter,
  type Digests,
  type SimulatedModel,
} from '../simulator/index.ts'
import { inMemoryStore } from '../stores/in-memory.ts'
import type { Clock } from '../transcript/ids.ts'
import type { Store } from '../transcript/store.ts'
import { Meter, type Figures } from './measures.ts'
import type { Lifetime } from './measuring/ledger.ts'
import { accountsFor, wireFor, type Account, type Charged } from './playing/caching.ts'
import { hindsight } from './playing/hindsight.ts'
import { RecordedFiles } from './playing/recorded-files.ts'
import {
  begunWarm,
  clockAt,
  countedIds,
  fixedPart,
  pricedAs,
  pricesFor,
  restorationOf,
  note,
  type Prepared,
} from './playing/setup.ts'
import { Timeline, type Moment } from './playing/timeline.ts'
import type { Step } from './playing/script.ts'
import { WireBlocks } from './playing/wire-blocks.ts'
import { Writer, writingOf } from './playing/writer.ts'
import type { Policy } from './policies/rules.ts'
import { isWritten, layersOf } from './policy.ts'

export type { Lifetime } from './measuring/ledger.ts'
export { prepareReplay, prepareScript, type Prepared } from './playing/setup.ts'
export type { Charged } from './playing/caching.ts'

export interface ReplayOptions {
  readonly policy: Policy
  readonly window: number
  /** Whose rules hold, and, unless `own` is set, whose prices and sizes. */
  readonly model: string
  /** The recording's own model: sizes are its, and each answer is charged at the prices of whoever gave it. */
  readonly own?: string | undefined
  /** Another model at whose prices, and by whose cache, everything is charged and weighed; the rules stay those of `model`. */
  readonly charged?: Charged | undefined
  /** Whether the window is wanted request by request. */
  readonly timeline?: boolean | undefined
  /** Answers that are counted in another recording: played, and in no figure. */
  readonly copies?: ReadonlySet<number> | undefined
  /** Sees each request that is sent, in the order of the steps. */
  readonly watch?: ((request: WireRequest) => void) | undefined
  /** Where the session of the first walk is written, to be looked at afterwards; in memory by itself. */
  readonly store?: Store | undefined
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
  /** Tokens of each request, where everything is sent. */
  readonly sizes?: readonly number[] | undefined
}

/** Both lifetimes. Where no layer asks whether the cache is warm, one walk is charged under both. */
export async function replay(prepared: Prepared, options: ReplayOptions): Promise<Replayed> {
  if (options.policy.hindsight === true) return inHindsight(prepared, options)
  if (options.policy.standard === undefined) {
    const [long, short] = await walk(prepared, options, ['1h', '5m'])
    return { ...long!, figures: { '1h': long!.figures, '5m': short!.figures } }
  }
  const [long] = await walk(prepared, options, ['1h'])
  const [short] = await walk(prepared, { ...options, store: undefined }, ['5m'])
  return { ...long!, figures: { '1h': long!.figures, '5m': short!.figures } }
}

/** Under the cache of whoever it is charged for, where that has one lifetime: one walk, one set of figures. */
export async function replayOnce(prepared: Prepared, options: ReplayOptions): Promise<Walked> {
  const [walked] = await walk(prepared, options, ['5m'])
  return walked!
}

function inHindsight({ script, needs, counterOf }: Prepared, options: ReplayOptions): Replayed {
  const counter = counterOf(options.own ?? options.model)
  const lifetimes = ['1h', '5m'] as const
  const pricesOf = pricesFor(options)
  const [long, short] = hindsight(script, needs, {
    counter,
    model: modelFor(options),
    lifetimes,
    pricesOf,
    copies: options.copies ?? new Set(),
  })
  const { name, client } = script
  return { name, client, figures: { '1h': long!, '5m': short! }, edits: {}, problems: [] }
}

function modelFor(options: ReplayOptions): SimulatedModel {
  const model = findModel(simulatedModels, options.model)
  if (model === null) throw new EngineError({ code: 'no-such-model', message: `no model ${options.model}` })
  return model
}

export type Walked = Omit<Replayed, 'figures'> & { readonly figures: Figures }

/** One walk through the recording; the engine is told the first lifetime. */
async function walk(
  prepared: Prepared,
  options: ReplayOptions,
  lifetimes: readonly Lifetime[],
): Promise<readonly Walked[]> {
  const { script } = prepared
  const run = await open(prepared, options, lifetimes)
  const { session, meter, problems } = run
  const said: string[] = []
  try {
    for (const [index, step] of script.steps.entries()) {
      run.answerer = step.answer.model
      run.isCopy = options.copies?.has(index) ?? false
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
  const sizes = options.policy.ignoresWindow ? { sizes: run.sizes } : {}
  return meter.figures().map((figures) => ({ name, client, figures, edits, problems, ...timeline, ...sizes }))
}

interface Run {
  readonly options: ReplayOptions
  readonly session: Session
  readonly clock: { at: number } & Clock
  readonly blocks: WireBlocks
  readonly accounts: readonly Account[]
  readonly digests: Digests
  readonly counter: Counter
  readonly model: SimulatedModel
  readonly meter: Meter
  readonly pricesOf: (name: string) => ModelInfo | null
  readonly edits: Map<string, number>
  readonly problems: string[]
  readonly sizes: number[]
  readonly firstReadTokens: number
  readonly files: RecordedFiles
  readonly timeline: Timeline | null
  /** Where a model writes texts. */
  readonly writer: Writer | null
  /** Whoever answers now, and whether that is counted elsewhere. */
  answerer: string
  isCopy: boolean
  /** Since the last request. */
  freed: number
  isSummary: boolean
  lastAt: number | null
}

async function open(
  { script, needs, store, digests, counterOf }: Prepared,
  options: ReplayOptions,
  lifetimes: readonly Lifetime[],
): Promise<Run> {
  const { policy } = options
  const model = modelFor(options)
  const counter = counterOf(options.own ?? options.model)
  const { system, tools } = fixedPart(script, policy.spill, counter, model)
  const clock = clockAt(script.steps[0]?.at ?? 0)
  const meter = new Meter(needs, { lifetimes, weigh: (block) => counter.block(block, model) })
  const charges = policy.summaries === 'model'
  const pricesOf = pricesFor(options)
  const layers = layersOf(
    policy,
    (name) => tools.find((tool) => tool.spec.name === name)?.policy,
    ({ viewTokens, textTokens }) =>
      charges && !run.isCopy && meter.summary(viewTokens, textTokens, pricesOf(run.answerer)),
  )
  const run: Omit<Run, 'session'> & { writer: Writer | null } = {
    options,
    clock,
    blocks: new WireBlocks(store),
    digests,
    accounts: accountsFor(options.charged, lifetimes, counter, digests),
    counter,
    model,
    meter,
    pricesOf,
    edits: new Map(),
    problems: [],
    sizes: [],
    firstReadTokens: script.firstReadTokens,
    files: new RecordedFiles(),
    timeline: options.timeline === true ? new Timeline() : null,
    writer: null,
    answerer: script.steps[0]?.answer.model ?? options.model,
    isCopy: false,
    freed: 0,
    isSummary: false,
    lastAt: null,
  }
  if (isWritten(policy)) run.writer = writerFor(run)
  const engine = createEngine({
    store: options.store ?? inMemoryStore({ clock }),
    modelId: options.model,
    ...(options.charged === undefined
      ? {}
      : { models: modelTable([pricedAs(options.model, options.charged.info)]) }),
    wire: wireFor(options.charged?.cache, (composed, parameters) => run.blocks.heard(composed, parameters)),
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

function writerFor(run: Omit<Run, 'session'>): Writer {
  const { blocks, accounts, clock, counter, model, meter } = run
  return new Writer({
    read: (body) => blocks.show(body).request,
    charge: (request, answer) => {
      const output = answer.reduce((sum, block) => sum + counter.block(block, model), 0)
      const charged = accounts.map(({ cache }) => cache.account(request, clock.at, clock.at))
      if (!run.isCopy) meter.background(charged, output, run.pricesOf(run.answerer))
      return { ...charged[0]!, output_tokens: output }
    },
  })
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
  const warm = index === 0 ? run.firstReadTokens : 0
  const charges = run.accounts.map(({ lifetimeMs, cache }) => ({
    usage: begunWarm(cache.account(request, clock.at, Math.max(clock.at, step.answer.at)), warm),
    isCold: lastAt !== null && clock.at - lastAt >= lifetimeMs,
  }))
  const { usage } = charges[0]!
  const tokens = usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens
  run.sizes.push(tokens)
  const isTooLong = !options.policy.ignoresWindow && tokens > options.window
  if (isTooLong) problems.push(`request ${index}: ${tokens} tokens do not fit ${options.window}`)
  const isChecked = isLast || isTooLong || run.freed > 0 || index % defaults.lab.checkEvery === 0
  const error = isChecked ? checkRequest(request, { digests: run.digests }) : null
  if (error !== null) problems.push(`request ${index}: ${error.error.message}`)
  const isRejected = isChecked ? error !== null || isTooLong : null
  const { freed, isSummary } = run
  const { outputTokens: output, model } = step.answer
  const info = run.pricesOf(model)
  const { isCold } = charges[0]!
  run.timeline?.request(run.session.view(), clock.at, usage, { isCold, output, info })
  run.meter.request({
    step: index,
    isCopy: run.isCopy,
    blocks,
    isRejected,
    said,
    freed,
    isSummary,
    output,
    info,
    charges,
  })
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
