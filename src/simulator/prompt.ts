// A request as the cache sees it: one list of positions over tools, system and messages, each with the hash
// of everything up to it and its end in tokens. Levels have seeds, so a change that touches only later levels leaves
// the earlier ones alone. Open choices: a breakpoint inside a tool result counts at the end of that result; an
// absent tool choice is `auto`, absent thinking the model's default; deferred tools are not in the prompt; a web search
// tool is part of the system seed, not of the tools.
import type { CacheControl, WireBlock, WireRequest, WireTool } from '../model/wire.ts'
import type { Counter } from './counter.ts'
import { chain, type Digests } from './digest.ts'
import type { SimulatedModel } from './models.ts'
import { hasBlock, innerBlocks, isAsk, isThinking, messageBlocks } from './rules/blocks.ts'
import { canCarryBreakpoint, ttlOf } from './rules/cache-breakpoints.ts'
import { isRecord } from './rules/shape.ts'

export type Level = 'tools' | 'system' | 'messages'

export interface Position {
  readonly hash: string
  readonly level: Level
  readonly endTokens: number
  readonly breakpoint: '5m' | '1h' | null
  /** Lookback counts these: a run of calls, or of results, is one. */
  readonly run: number
  /** References deleted by a cache edit at or before this position. */
  readonly deleted: readonly string[]
}

export interface Prompt {
  readonly model: string
  readonly positions: readonly Position[]
  readonly totalTokens: number
  readonly deletedTokens: number
  /** Hash at the end of each level, seeds included. */
  readonly toolsHash: string
  readonly systemHash: string
}

interface PromptOptions {
  readonly counter: Counter
  readonly digests: Digests
  readonly scope: string
}

const DEFAULT_EFFORT = 'high'

export type ReadPrompt = (request: WireRequest, model: SimulatedModel) => Prompt

/** Reads requests, the one it has just read only once. */
export function createPromptReader(options: PromptOptions): ReadPrompt {
  let last: {
    readonly request: WireRequest
    readonly model: SimulatedModel
    readonly prompt: Prompt
  } | null = null
  return (request, model) => {
    if (last?.request !== request || last.model.id !== model.id)
      last = { request, model, prompt: readPrompt(request, model, options) }
    return last.prompt
  }
}

export function readPrompt(request: WireRequest, model: SimulatedModel, options: PromptOptions): Prompt {
  const { counter, digests } = options
  const deletions = new Set(request.cache_edits?.map((edit) => edit.cache_reference))
  const reader = new PromptReader(chain('tools', options.scope, model.id), deletions, digests)
  const offered = (request.tools ?? []).filter((tool) => tool.defer_loading !== true)
  const searches = offered.filter(isWebSearch)
  reader.weigh(offered.length > 0 ? counter.overhead(model) : 0)
  for (const tool of offered.filter((each) => !isWebSearch(each))) {
    reader.add('tools', {
      item: tool,
      type: 'tool',
      digest: digests.tool(tool),
      tokens: counter.tool(tool, model),
      breakpoint: tool.cache_control,
    })
  }
  const toolsHash = reader.hash
  reader.weigh(searches.reduce((sum, tool) => sum + counter.tool(tool, model), 0))
  const searchDigests = searches.map((tool) => digests.tool(tool))
  reader.seed('system', request.speed ?? 'standard', String(hasBlock(request, cites)), ...searchDigests)
  for (const block of systemBlocks(request)) {
    reader.add('system', {
      item: block,
      type: 'text',
      digest: digests.block(block),
      tokens: counter.block(block, model),
      breakpoint: block.cache_control,
    })
  }
  const systemHash = reader.hash
  reader.seed('messages', ...messageSeed(request, model))
  const kept = firstKeptThinking(request, model)
  for (const [index, message] of request.messages.entries()) {
    for (const block of messageBlocks(message)) {
      if (index < kept && isThinking(block)) continue
      reader.add('messages', {
        item: block,
        type: block.type,
        digest: `${message.role} ${digests.block(block)}`,
        tokens: counter.block(block, model),
        breakpoint: breakpointOf(block),
        reference: block['cache_reference'],
        isNoBreakpoint: !canCarryBreakpoint(block),
      })
    }
  }
  if (request.cache_control !== undefined) reader.breakLast(ttlOf(request.cache_control))
  const { positions, tokens: totalTokens, deletedTokens } = reader
  return { model: model.id, positions, totalTokens, deletedTokens, toolsHash, systemHash }
}

interface Piece {
  readonly item: object
  readonly type: string
  readonly digest: string
  readonly tokens: number
  readonly breakpoint: CacheControl | null | undefined
  readonly reference?: unknown
  readonly isNoBreakpoint?: boolean
}

/** Walks the list once; lives for one request. */
class PromptReader {
  readonly positions: Position[] = []
  hash: string
  tokens = 0
  deletedTokens = 0
  #run = 0
  #type = ''
  #deleted: readonly string[] = []
  #lastPossible = -1
  readonly #deletions: ReadonlySet<string>
  readonly #digests: Digests

  constructor(seed: string, deletions: ReadonlySet<string>, digests: Digests) {
    this.hash = seed
    this.#deletions = deletions
    this.#digests = digests
  }

  weigh(tokens: number): void {
    this.tokens += tokens
  }

  seed(...parts: readonly string[]): void {
    this.hash = chain(this.hash, ...parts)
  }

  add(level: Level, piece: Piece): void {
    const { type, reference } = piece
    this.hash = this.#digests.follow(this.hash, piece.item, piece.digest)
    const continues = type === this.#type && (type === 'tool_use' || type === 'tool_result')
    if (!continues) this.#run += 1
    this.#type = type
    if (typeof reference === 'string' && this.#deletions.has(reference)) {
      this.#deleted = [...this.#deleted, reference]
      this.deletedTokens += piece.tokens
    } else this.tokens += piece.tokens
    if (piece.isNoBreakpoint !== true) this.#lastPossible = this.positions.length
    const breakpoint = piece.breakpoint ?? null
    this.positions.push({
      hash: this.hash,
      level,
      endTokens: this.tokens,
      breakpoint: breakpoint === null ? null : ttlOf(breakpoint),
      run: this.#run,
      deleted: this.#deleted,
    })
  }

  breakLast(breakpoint: '5m' | '1h'): void {
    const position = this.positions[this.#lastPossible]
    if (position?.breakpoint === null) this.positions[this.#lastPossible] = { ...position, breakpoint }
  }
}

function systemBlocks({ system }: WireRequest): readonly WireBlock[] {
  if (system === undefined || system === '') return []
  return typeof system === 'string' ? [{ type: 'text', text: system }] : system
}

function breakpointOf(block: WireBlock): CacheControl | undefined {
  return (
    block.cache_control ??
    innerBlocks(block).findLast((each) => (each.cache_control ?? null) !== null)?.cache_control
  )
}

function messageSeed(request: WireRequest, model: SimulatedModel): readonly string[] {
  const { type, ...rest } = request.thinking ?? { type: model.defaultThinking }
  const { block_binding: _, ...thinking } = rest as Record<string, unknown>
  const effort = request.output_config?.effort ?? DEFAULT_EFFORT
  return [
    JSON.stringify(request.tool_choice ?? { type: 'auto' }),
    String(hasBlock(request, ({ type }) => type === 'image')),
    type,
    JSON.stringify(thinking),
    effort,
  ]
}

const cites = (block: WireBlock): boolean =>
  isRecord(block['citations']) && block['citations']['enabled'] === true

function isWebSearch(tool: WireTool): boolean {
  return tool.type?.startsWith('web_search_') === true
}

/** Models that do not keep old reasoning lose it when the user speaks again; a tool result is not a new turn. */
function firstKeptThinking(request: WireRequest, model: SimulatedModel): number {
  if (model.keepsThinking) return 0
  return request.messages.findLastIndex(isAsk)
}
