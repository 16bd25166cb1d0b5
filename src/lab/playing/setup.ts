// What a replay is given, so that the same recording gives the same figures: the recording made ready, a clock that is set, ids
// that are counted, the files of the recording, the sizes of its blocks, system prompt and tools, and who listens to the layers.
import type { RestorationOptions } from '../../engine/restoring/restorer.ts'
import { lookUp, modelTable, type ModelInfo, type ModelRow, type Rates } from '../../model/models.ts'
import { defaults } from '../../settings/defaults.ts'
import {
  createCounter,
  createDigests,
  type CacheUsage,
  type Counter,
  type Digests,
  type SimulatedModel,
} from '../../simulator/index.ts'
import type { Tool } from '../../tools/tool.ts'
import { uuid, type Clock, type Ids } from '../../transcript/ids.ts'
import { needsOf, type Needs } from '../measuring/needs.ts'
import type { Policy } from '../policies/rules.ts'
import type { Recording } from '../recording.ts'
import type { Charged } from './caching.ts'
import type { RecordedFiles } from './recorded-files.ts'
import { scriptOf, type Script } from './script.ts'
import { BlockStore } from './wire-blocks.ts'
import type { LiveEvent } from '../../engine/live.ts'
import { autocompactName, microcompactName } from '../../projection/layers/index.ts'
import { capResultsName, clearResultsName, pruneCallsName, staleReadsName } from '../policies/plain-rules.ts'
import type { Timeline } from './timeline.ts'

export function restorationOf({ standard }: Policy, source: RecordedFiles): RestorationOptions {
  const { restoreFiles, restoreFileTokens, outlinesTokens } = standard ?? {}
  const files = restoreFiles === undefined ? undefined : restoreFiles > 0
  return { source, files, fileCount: restoreFiles, fileTokens: restoreFileTokens, outlinesTokens }
}

export function clockAt(start: number): { at: number } & Clock {
  const clock = { at: start, now: () => clock.at }
  return clock
}

export function countedIds(): Ids {
  let count = 0
  return { uuid: () => uuid(`00000000-0000-7000-8000-${(++count).toString(16).padStart(12, '0')}`) }
}

/** What earlier sessions had left in the cache is read by the first request, as it was when it was recorded. */
export function begunWarm(usage: CacheUsage, readTokens: number): CacheUsage {
  const { cache_creation_input_tokens: written, cache_read_input_tokens: read, cache_creation } = usage
  const more = Math.min(Math.max(0, readTokens - read), written)
  const short = Math.min(more, cache_creation.ephemeral_5m_input_tokens)
  return {
    ...usage,
    cache_read_input_tokens: read + more,
    cache_creation_input_tokens: written - more,
    cache_creation: {
      ephemeral_5m_input_tokens: cache_creation.ephemeral_5m_input_tokens - short,
      ephemeral_1h_input_tokens: cache_creation.ephemeral_1h_input_tokens - (more - short),
    },
  }
}

/** Prices by the name of whoever answered. */
export function pricesFor({
  own,
  model,
  charged: other,
}: {
  readonly own?: string | undefined
  readonly model: string
  readonly charged?: Charged | undefined
}): (name: string) => ModelInfo | null {
  if (other !== undefined) return () => other.info
  const table = modelTable()
  const known = new Map<string, ModelInfo | null>()
  return (name) => {
    const charged = own === undefined ? model : name
    let info = known.get(charged)
    if (info === undefined) known.set(charged, (info = lookUp(table, charged)))
    return info
  }
}

/** The row of a model with the prices of another. Where writing costs nothing extra, what is written costs plain input. */
export function pricedAs(id: string, { prices, minCacheTokens }: ModelInfo): ModelRow {
  if (prices === null || prices.write5m > 0) return { id, prices, minCacheTokens }
  const plain = <R extends Rates>(rates: R): R => ({ ...rates, write5m: rates.input, write1h: rates.input })
  const { tier } = prices
  const charged = tier === undefined ? {} : { tier: { ...tier, rates: plain(tier.rates) } }
  return { id, prices: { ...plain(prices), ...charged }, minCacheTokens }
}

/** A recording made ready: what does not depend on the policy is found, read, weighed and hashed once. */
export interface Prepared {
  readonly script: Script
  readonly needs: Needs
  readonly store: BlockStore
  readonly digests: Digests
  readonly counterOf: (model: string) => Counter
}

/** Makes a recording ready to be played. */
export const prepareReplay = (recording: Recording): Prepared => prepareScript(scriptOf(recording))

export function prepareScript(script: Script): Prepared {
  const counters = new Map<string, Counter>()
  const counterOf = (model: string): Counter => {
    const counter = counters.get(model) ?? scaledCounter(model)
    counters.set(model, counter)
    return counter
  }
  return { script, needs: needsOf(script), store: new BlockStore(), digests: createDigests(), counterOf }
}

/** Models that count alike, and the factor between the simulator's counter and theirs. */
export function familyOf(model: string): { readonly name: string; readonly scale: number } {
  const small = model.toLowerCase()
  return defaults.lab.families.find(({ names }) => names.test(small))!
}

/**
 * What a block weighs in a replay: the simulator's counter, scaled to what the providers of the recorded sessions counted, family
 * by family. Reasoning whose text was not recorded is weighed by the length of its signature.
 */
export function scaledCounter(model: string): Counter {
  const counter = createCounter()
  const { scale } = familyOf(model)
  return {
    overhead: (rules) => counter.overhead(rules),
    tool: (tool, rules) => Math.round(counter.tool(tool, rules) * scale),
    block: (block, rules) => {
      const plain = counter.block(block, rules)
      const isSealed = block.type === 'thinking' && typeof block['signature'] === 'string'
      const sealed = isSealed ? String(block['signature']).length * defaults.lab.tokensPerSignatureChar : 0
      return Math.round(Math.max(plain, sealed) * scale)
    },
  }
}

interface FixedPart {
  readonly system: string
  readonly tools: readonly Tool[]
}

/** Tools of all recorders whose old results may be cleared: they read, search, run or write. */
const clearable =
  /^(?:read|view|cat|ls|bash|rg|grep|glob|edit|write|multiedit|exec|shell|apply_patch|str_replace\w*|(?:read|write)_(?:file|stdin)|exec_command|execute_bash|web_?(?:search|fetch)|crawl_tool)$/i

/**
 * System prompt and tools in the size they were recorded with. Vendors' prompts are not part of recordings, so plain filler stands
 * for them; what counts is how much it weighs and that it never moves.
 */
export function fixedPart(
  script: Script,
  spills: boolean,
  counter: Counter,
  model: SimulatedModel,
): FixedPart {
  const tools = script.tools.map((name) => toolOf(name, spills))
  const known = tools.reduce((sum, { spec }) => sum + counter.tool(spec, model), 0) + counter.overhead(model)
  const first = script.steps[0]?.input ?? []
  const input = [...first, ...(script.reminder === null ? [] : [textBlock(script.reminder)])]
  const said = input.reduce((sum, block) => sum + counter.block({ ...block }, model), 0)
  const { unknownFixedTokens } = defaults.lab
  const whole = script.firstRequestTokens === null ? unknownFixedTokens : script.firstRequestTokens - said
  if (script.firstRequestTokens === null && script.system !== null) return { system: script.system, tools }
  return { system: filler(Math.max(1, whole - known), counter, model), tools }
}

const textBlock = (text: string) => ({ type: 'text' as const, text })
const sentence =
  'You work on the files of this project with the tools you are given and report what you did. '

function filler(tokens: number, counter: Counter, model: SimulatedModel): string {
  const each = counter.block(textBlock(sentence.repeat(100)), model) / 100
  return sentence.repeat(Math.max(1, Math.round(tokens / each)))
}

function toolOf(name: string, spills: boolean): Tool {
  return {
    spec: { name, description: `As recorded: ${name}.`, input_schema: { type: 'object' } },
    policy: {
      readOnly: false,
      results: clearable.test(name) ? 'clear' : 'keep',
      maxResultChars: spills && !/^(?:read|view)$/i.test(name) ? defaults.results.maxChars : null,
    },
    parse: (input) => ({ ok: true, input }),
    run: () => Promise.resolve({ content: [], isError: true }),
  }
}

/** Since the last request, the edits of the whole replay apart. */
interface Noted {
  readonly edits: Map<string, number>
  readonly timeline: Timeline | null
  freed: number
  isSummary: boolean
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

export function note(run: Noted, event: LiveEvent): void {
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
