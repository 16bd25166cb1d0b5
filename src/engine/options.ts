// What an engine is made of: the ports and the choices, handed in once.
import { lookUp, modelTable, wireModelId, type ModelTable } from '../model/models.ts'
import type { Model } from '../model/model.ts'
import type { WireThinking } from '../model/wire.ts'
import { anthropicWire, type AnthropicRequest } from '../wires/anthropic/wire.ts'
import { namePattern } from '../wires/repairing.ts'
import type { Wire, WireChooser } from '../wires/wire.ts'
import type { Threshold } from '../projection/budget.ts'
import { isThrift, type Thrift } from '../projection/dial.ts'
import type { Layer } from '../projection/layer.ts'
import {
  standardLayers,
  type LayerOptions,
  type PolicyOf,
  type ResultRule,
} from '../projection/layers/index.ts'
import { ruleOf } from '../projection/layers/tool-policy.ts'
import type { Judge } from '../tools/permission/pipeline.ts'
import type { Tool } from '../tools/tool.ts'
import type { FactOf, Section, ToolSpec } from '../transcript/fact.ts'
import { defaults } from '../settings/defaults.ts'
import { systemClock, systemIds, type Clock, type Ids } from '../transcript/ids.ts'
import type { Store } from '../transcript/store.ts'
import type { NoteKeeper, SessionSummariser, TurnWatcher } from './ports.ts'
import type { Companion } from './ports.ts'
import type { Hooks } from './hooks.ts'
import type { Emit } from './live.ts'
import type { Caps } from './limits/spend.ts'
import type { FolderInstructions, ReminderSource } from './ports.ts'
import type { Recall } from './ports.ts'
import type { RestorationOptions } from './restoring/restorer.ts'

/** Sections as they are now; asked when a session begins and after each compaction that rewrites its beginning. Never throws. */
export interface SectionSource {
  load(): Promise<readonly Section[]>
}

/** `Request` is what `session.request()` gives: the body of the wire. */
export interface EngineOptions<Request = AnthropicRequest> {
  readonly store: Store
  /** The model's name, as the API knows it. */
  readonly modelId: string
  /** Who answers. Without one the caller keeps the loop and uses the four verbs. */
  readonly model?: Model | undefined
  /** The system prompt: a text of the caller's own, or named sections. */
  readonly system?: string | readonly Section[] | SectionSource | undefined
  /** Stands before the first user message: instruction files; a source is asked again after each compaction. */
  readonly reminder?: string | ReminderSource | undefined
  /** Made for each session: instructions of folders that its calls come to. */
  readonly folderInstructions?: (() => FolderInstructions) | undefined
  readonly tools?: readonly Tool[] | undefined
  /** Not offered to new sessions, but run for those whose list names them: what a list holds is decided when it is made. */
  readonly formerTools?: readonly Tool[] | undefined
  /** In their order; each may speak once before a request. Or switches of the standard ones; an empty list means none. */
  readonly layers?: readonly Layer[] | LayerOptions | undefined
  /** False: nothing leaves the view but by the user. No layer speaks, and a request that is too long is shown, not mended. */
  readonly automaticRemoval?: boolean | undefined
  /** Writes what stands for a span. Without one it is extracted from the span's own words. */
  readonly summariser?: SessionSummariser | undefined
  /** Keeps notes while the session goes on. */
  readonly notes?: NoteKeeper | undefined
  /** False: notes are kept, but no compaction takes them for its text. */
  readonly notesAsSummary?: boolean | undefined
  /** Looks at each finished turn for what should outlive the session. */
  readonly afterTurn?: TurnWatcher | undefined
  /** Whether a model is asked for a summary shortly before it is needed; it is where one can be. */
  readonly prepare?: boolean | { readonly waitMs: number } | undefined
  /** What a compaction gives back beside its summary. */
  readonly restoration?: RestorationOptions | undefined
  /** Brings memories for what the user says. */
  readonly recall?: Recall | undefined
  /** Brings messages of others. */
  readonly companion?: Companion | undefined
  readonly hooks?: Hooks | undefined
  /** What holds now and may change, as a block for the model that is asked: sent when it differs from what was last sent. */
  readonly situation?: ((modelId: string) => string) | undefined
  /** Who decides whether a call may run, in their order. Without any every tool of the list may. */
  readonly judges?: readonly Judge[] | undefined
  readonly caps?: Caps | undefined
  /** Most responses of one turn; left out, as many as the model wants. */
  readonly maxRounds?: number | undefined
  /** What may happen to results, by the name of their tool, over what the tool says itself. */
  readonly toolPolicies?: ToolPolicies | undefined
  /** Hears the live events of the four verbs; those of `send` come with its own stream. */
  readonly listen?: Emit | undefined
  /** The provider clears old results by itself where it can. */
  readonly nativeClearing?: boolean | undefined
  /** The provider is asked what of the request before it could not read from its cache, where it can say so. */
  readonly cacheDiagnostics?: boolean | undefined
  /** Newest results that clearing leaves, the server's own too. */
  readonly keepResults?: number | undefined
  /** Where the tools work. */
  readonly cwd?: string | undefined
  readonly models?: ModelTable | undefined
  /** Window of the model in tokens, over all other sources. */
  readonly window?: number | undefined
  /** Where reductions begin, in tokens or as "80%" of the effective window; a row of the model table comes first. */
  readonly threshold?: Threshold | undefined
  /** The dial: from 0, keep as much as fits, to 1, spend as little as is sensible. */
  readonly thrift?: Thrift | undefined
  /** Under pressure old results become stubs before a text stands for anything. */
  readonly pressureClearing?: boolean | undefined
  readonly maxOutputTokens?: number | undefined
  readonly thinking?: WireThinking | undefined
  readonly effort?: string | undefined
  /** Lifetime of cache breakpoints; null sends none. */
  readonly cacheLifetime?: '5m' | '1h' | null | undefined
  /** The API its requests are written for; left out, the Messages API. */
  readonly wire?: Wire<Request> | undefined
  readonly clock?: Clock | undefined
  readonly ids?: Ids | undefined
}

/** An engine whose models speak different wires: `model` is handed the name of the wire with each request. */
export interface ChoosingOptions extends Omit<EngineOptions, 'wire'> {
  readonly wire: WireChooser
}

/** Either kind, where it does not matter what a request is. */
export interface AnyOptions extends Omit<EngineOptions, 'wire'> {
  readonly wire?: Wire | WireChooser | undefined
}

export interface Ready extends ChoosingOptions {
  readonly tools: readonly Tool[]
  readonly layers: readonly Layer[]
  readonly caps: Caps
  readonly cwd: string
  readonly models: ModelTable
  readonly cacheLifetime: '5m' | '1h' | null
  readonly clock: Clock
  readonly ids: Ids
}

export function ready({ wire, ...options }: AnyOptions): Ready {
  const { tools = [], clock = systemClock } = options
  return {
    ...options,
    wire: chooserOf(wire),
    tools,
    layers: layersOf(options, tools),
    caps: options.caps ?? {},
    cwd: options.cwd ?? '.',
    models: options.models ?? modelTable(),
    cacheLifetime: options.cacheLifetime === undefined ? '5m' : options.cacheLifetime,
    clock,
    ids: options.ids ?? systemIds(clock),
  }
}

const chooserOf = (wire: AnyOptions['wire'] = anthropicWire): WireChooser =>
  typeof wire === 'function' ? wire : (modelId) => ({ wire, model: wireModelId(modelId) })

const storeVerbs = ['lease', 'append', 'read', 'list'] as const

/** What programs without types get wrong; said at once and by its name, not by the first thing that then breaks. */
export function wrongOption(options: Partial<AnyOptions> | undefined): string | null {
  const { store, modelId, model, layers, wire, tools = [] } = options ?? {}
  if (store === undefined)
    return '`store` is missing: where sessions are kept, fileStore({ root }) or inMemoryStore()'
  const verb = storeVerbs.find((name) => typeof store[name] !== 'function')
  if (verb !== undefined) return `\`store\` is not a store: it has no ${verb}()`
  if (typeof modelId !== 'string' || modelId.trim() === '')
    return "`modelId` is missing: the model's name as its API knows it"
  if (model !== undefined && typeof model.stream !== 'function')
    return '`model` is not a model: it has no stream(); anthropicModel({ apiKey }) makes one'
  if (wire !== undefined && typeof wire !== 'function' && typeof wire.createComposer !== 'function')
    return '`wire` is not a wire: it has no createComposer(); anthropicWire is one'
  const layer = (layers !== undefined && isList(layers) ? layers : []).find(
    (each) => typeof each.decide !== 'function',
  )
  if (layer !== undefined) return `the layer ${JSON.stringify(layer.name)} has no decide()`
  const number = wrongNumber(options ?? {})
  if (number !== null) return number
  if (!Array.isArray(tools as unknown)) return '`tools` is not a list; write [tool({ … })]'
  const tool = tools.find(
    (each) => !each.spec?.name || typeof each.run !== 'function' || typeof each.parse !== 'function',
  )
  if (tool !== undefined)
    return `the tool ${JSON.stringify(tool.spec?.name)} has no spec, parse or run; tool({ … }) makes one`
  // A recorded session that is played again may have tools of any name: nobody is asked.
  const odd = model === undefined ? undefined : tools.find(({ spec }) => !namePattern.test(spec.name))
  if (odd !== undefined)
    return `no API takes the name of the tool ${JSON.stringify(odd.spec.name)}: up to 64 letters, digits, _ and -`
  const names = tools.map(({ spec }) => spec.name)
  const twice = model === undefined ? undefined : names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined)
    return `two tools are called ${JSON.stringify(twice)}, and no API takes that; give one another name`
  return null
}

/** A number that was read from elsewhere may be none, and a cap of NaN would stop nothing. */
function wrongNumber({
  window,
  maxOutputTokens,
  maxRounds,
  keepResults,
  thrift,
  caps = {},
}: Partial<AnyOptions>): string | null {
  const isNumber = (value: unknown, least: number, most = Infinity): boolean =>
    value === undefined || (typeof value === 'number' && value >= least && value <= most)
  const rows: readonly (readonly [name: string, value: unknown, isRight: boolean, wanted: string])[] = [
    ['window', window, isNumber(window, 1), 'a number of tokens above 0'],
    ['maxOutputTokens', maxOutputTokens, isNumber(maxOutputTokens, 1), 'a number of tokens above 0'],
    ['maxRounds', maxRounds, isNumber(maxRounds, 1), 'a number above 0'],
    ['keepResults', keepResults, isNumber(keepResults, 0), 'a number, 0 or more'],
    ['thrift', thrift, thrift === undefined || isThrift(thrift), 'a number from 0 to 1'],
    ['caps.dollars', caps.dollars, isNumber(caps.dollars, 0), 'a number of dollars'],
    ['caps.tokens', caps.tokens, isNumber(caps.tokens, 0), 'a number of tokens'],
  ]
  const wrong = rows.find(([, , isRight]) => !isRight)
  return wrong === undefined ? null : `\`${wrong[0]}\` is ${String(wrong[1])}; it takes ${wrong[3]}`
}

function layersOf(options: Omit<AnyOptions, 'wire'>, tools: readonly Tool[]): readonly Layer[] {
  if (options.automaticRemoval === false) return []
  const { layers, nativeClearing, keepResults, pressureClearing, thrift, summariser } = options
  if (layers !== undefined && isList(layers)) return layers
  return standardLayers({
    policyOf: policiesOf(tools, options.toolPolicies),
    nativeClearing,
    keepResults,
    pressureClearing,
    thrift,
    ...layers,
    // Whoever can be asked decides it: a price for a call that nobody makes would keep the cheaper text away.
    asksModel: summariser !== undefined && summariser.onlyWithInstructions !== true,
  })
}

const isList = (layers: readonly Layer[] | LayerOptions): layers is readonly Layer[] => Array.isArray(layers)

/** What may happen to the results of tools, by name; what is left out is as the tool has it. */
export type ToolPolicies = Readonly<
  Record<string, { readonly [Field in keyof ResultRule]?: ResultRule[Field] | undefined }>
>

/** What the tools say of their own results, and whoever set them up over that, as layers ask for it. */
function policiesOf(tools: readonly Tool[], given: ToolPolicies = {}): PolicyOf {
  const policies = new Map(tools.map((tool) => [tool.spec.name, tool.policy]))
  return (name) => {
    const own = policies.get(name)
    const set = Object.hasOwn(given, name) ? given[name] : undefined
    if (set === undefined) return own
    const { results, maxResultChars } = ruleOf(() => own, name)
    return {
      results: set.results ?? results,
      maxResultChars: set.maxResultChars === undefined ? maxResultChars : set.maxResultChars,
    }
  }
}

/** The same for one tool, where a result is made or sent. */
export const ruleFor = (
  { tools, toolPolicies }: Pick<Ready, 'tools' | 'toolPolicies'>,
  name: string | undefined,
): ResultRule => ruleOf(policiesOf(tools, toolPolicies), name)

/** Output a request may take: what was chosen, as far as the model goes. */
export function maxOutputOf({
  options,
  modelId,
}: {
  readonly options: Ready
  readonly modelId: string
}): number {
  const wanted = options.maxOutputTokens ?? defaults.engine.maxOutputTokens
  return Math.min(wanted, lookUp(options.models, modelId)?.maxOutput ?? wanted)
}

/** The tools that run in a session: the engine's, and of those no longer offered the ones its own list names. */
export function runnableTools(
  { tools, formerTools = [] }: Ready,
  listed: readonly ToolSpec[],
): readonly Tool[] {
  const named = new Set(listed.map((tool) => tool.name))
  return [...tools, ...formerTools.filter((tool) => named.has(tool.spec.name))]
}

/** A caller's own system prompt is one dynamic section: nothing of it is known to be shared. */
async function sectionsOf(system: EngineOptions['system']): Promise<readonly Section[]> {
  if (system === undefined || system === '') return []
  if (typeof system === 'string') return [{ name: 'system', text: system, side: 'dynamic' }]
  return 'load' in system ? system.load() : system
}

/** What a session of these options begins with. */
export async function instructionsOf(
  options: Ready,
  reminder = typeof options.reminder === 'string' ? options.reminder : undefined,
): Promise<FactOf<'instructions-set'>> {
  return {
    type: 'instructions-set',
    sections: await sectionsOf(options.system),
    tools: options.tools.map((tool) => tool.spec),
    ...(reminder === undefined ? {} : { reminder }),
  }
}
