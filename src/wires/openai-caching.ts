// How the caches of OpenAI behave, by the generation of a model: prefixes are cached unasked; from 5.6 on writes are billed and
// breakpoints may be named. Read on 2026-11-15 from the vendor's guide on prompt caching and its price list.
import { plainName, type ModelInfo } from '../model/models.ts'
import type { BodyParts, Dialect } from '../request/compose.ts'
import { withField, type Segment, type SentMessage } from '../request/segments.ts'
import type { Lifetime } from '../transcript/lifetime.ts'
import type { CacheRules, Quirks } from './wire.ts'

interface Generation {
  readonly models: RegExp
  readonly readFactor: number
  readonly writeFactor: number
  readonly breakpoints: boolean
  readonly lifetime: Lifetime
}

/** The first row that fits; compatible servers are taken for the last. */
const generations: readonly Generation[] = [
  { models: /^gpt-6\.1\b/, readFactor: 0.05, writeFactor: 1.25, breakpoints: true, lifetime: '30m' },
  { models: /^gpt-(?:6|5\.[6-9])\b/, readFactor: 0.1, writeFactor: 1.25, breakpoints: true, lifetime: '30m' },
  { models: /^gpt-5\b/, readFactor: 0.1, writeFactor: 1, breakpoints: false, lifetime: '5m' },
  { models: /^gpt-4\.1\b|^o[34]\b/, readFactor: 0.25, writeFactor: 1, breakpoints: false, lifetime: '5m' },
  { models: /^/, readFactor: 0.5, writeFactor: 1, breakpoints: false, lifetime: '5m' },
]

const generationOf = (model: string): Generation =>
  generations.find(({ models }) => models.test(plainName(model))) ?? generations.at(-1)!

/** Whether a request to this model may name breakpoints. */
const takesBreakpoints = (model: string, quirks: Quirks): boolean =>
  quirks.breakpoints ?? generationOf(model).breakpoints

/** The field that ends a part which is cached for longer than one conversation. */
const cacheBreakpoint = '"prompt_cache_breakpoint":{"mode":"explicit"}'

/**
 * The parts of the system prompt: what is the same for everybody ends with a breakpoint where the model knows them, and so
 * does the last part where the summary of a boundary follows at once.
 */
export function systemParts(
  system: readonly Segment[],
  { segments, boundaryAfterSystem }: Pick<BodyParts, 'segments' | 'boundaryAfterSystem'>,
  quirks: Quirks,
): readonly string[] {
  const marks = takesBreakpoints(segments.model, quirks)
  return system.map(({ name, json }, at) =>
    marks && (name === 'static' || (boundaryAfterSystem && at === system.length - 1))
      ? withField(json, cacheBreakpoint)
      : json,
  )
}

/** A body of either API: the model, `head`, the tools, and the list of messages that begins with the system prompt. */
export function openAiBody(
  { segments: { model, tools, system }, messages }: BodyParts,
  head: string,
  list: 'messages' | 'input',
  systemJson: (system: readonly Segment[]) => string,
  rest: string,
): string {
  const offered = tools.length === 0 ? '' : `,"tools":[${tools.map(({ json }) => json).join(',')}]`
  const first = system.length === 0 ? '' : `${systemJson(system)},`
  // Put together with `+`: the engine keeps such a string in pieces, so the messages are not copied once more.
  return (
    `{"model":${JSON.stringify(model)}${head}${offered},"${list}":[${first}` + messages + ']' + rest + '}'
  )
}

/** A message with the breakpoint on one of its parts, which stands in it as it was written. */
function itemWithBreakpoint({ json, blocks }: SentMessage, at: number, field: string): string {
  let [from, end] = [0, 0]
  // Two of them may read alike, so each is looked for behind the one before it.
  for (const { json: part } of blocks.slice(0, at + 1)) {
    from = json.indexOf(part, end)
    if (from === -1) return json
    end = from + part.length
  }
  return `${json.slice(0, from)}${withField(blocks[at]!.json, field)}${json.slice(end)}`
}

/** What composers for both APIs of OpenAI share: prefixes are cached unasked, and a boundary may end with a breakpoint. */
export const openAiComposing = (
  quirks: Quirks,
): Pick<Dialect, 'breakpoints' | 'field' | 'withBreakpoint' | 'boundaryField' | 'allowsThinking'> => ({
  breakpoints: () => [],
  field: () => '',
  withBreakpoint: itemWithBreakpoint,
  boundaryField: (model) => (takesBreakpoints(model, quirks) ? cacheBreakpoint : ''),
  allowsThinking: () => true,
})

/** Shorter prefixes are not cached, hits come in steps, and a fall within the first of them says nothing. */
const minTokens = 1024
const stepTokens = 128

/** The cache of an OpenAI model. */
export function openAiCacheRules(model: ModelInfo | null): CacheRules {
  const { readFactor, writeFactor, lifetime } = generationOf(model?.id ?? '')
  return {
    kind: 'implicit',
    lifetimes: [lifetime],
    readFactor,
    writeFactor,
    minTokens: model?.minCacheTokens ?? minTokens,
    stepTokens,
    breaks: { slackTokens: minTokens, hitsBefore: 1, lookback: null },
  }
}

/** Whether reasoning of this model comes sealed and may be asked for. Others refuse the question. */
export const reasonsSealed = (model: string): boolean => !/^gpt-[34]/.test(plainName(model))
