// Policies by name, and as files. A policy is a list of real layers that the real engine hears; those that stand for
// other programs are written from their documented rules and carry their numbers.
//
// Format of a policy file (JSON): { "name", "about"?, "spill"?, "standard"?, "clear"?, "trim"?, "summaries"?,
// "ignoresWindow"? }, with the fields of `Policy` below; a field that is not known is refused.
import * as z from 'zod/mini'
import type { Layer } from '../projection/layer.ts'
import { standardLayers } from '../projection/layers/index.ts'
import type { ToolPolicy } from '../tools/tool.ts'
import type { Result } from '../transcript/store.ts'
import { clearResults, type ClearRule } from './policies/clear-results.ts'
import { trimRounds, type Trimmed, type TrimRule } from './policies/trim-rounds.ts'

/** Settings of our own layers; what is left out has its default. */
export interface StandardSettings {
  readonly budget?: boolean | undefined
  readonly messageChars?: number | undefined
  readonly microcompact?: boolean | undefined
  readonly autocompact?: boolean | undefined
  readonly timeBased?: boolean | undefined
  readonly cached?: boolean | undefined
  readonly keep?: number | undefined
  readonly idleMs?: number | undefined
  readonly digestChars?: number | undefined
}

export interface Policy {
  readonly name: string
  readonly about: string
  /** Results above the gate's size are written out and become a preview. */
  readonly spill: boolean
  /** Our own layers, with these settings. */
  readonly standard: StandardSettings | null
  readonly clear: ClearRule | null
  /** What happens when the room ends. */
  readonly trim: TrimRule
  /** Whether a model would have written the text that stands for a span; if so its call is charged. */
  readonly summaries: 'none' | 'model'
  /** Sends everything, as if there were no window. */
  readonly ignoresWindow: boolean
}

const cutOff: TrimRule = { text: 'none', userWords: 'lose' }
const fallback: TrimRule = { text: 'extract', userWords: 'keep' }
/** For a policy that compacts by itself: only what could not be sent at all is trimmed. */
const lastResort: TrimRule = { ...fallback, atShare: 1 }
const plain = { spill: false, standard: null, clear: null, summaries: 'none', ignoresWindow: false } as const

/** In the order of the table. */
export const policies: readonly Policy[] = [
  {
    ...plain,
    name: 'append-only',
    about: 'sends everything, window or not',
    trim: cutOff,
    ignoresWindow: true,
  },
  { ...plain, name: 'none', about: 'sends everything; at the window the oldest is cut off', trim: cutOff },
  {
    ...plain,
    name: 'truncate-half',
    about: 'at the threshold the older half is cut off',
    trim: { ...cutOff, keepShare: 0.5 },
  },
  {
    ...plain,
    name: 'provider-clear',
    about: 'from 100,000 tokens on all but the newest 3 results are cleared, as the provider does by default',
    clear: { atTokens: 100_000, keepResults: 3 },
    trim: fallback,
  },
  {
    ...plain,
    name: 'protect-40k',
    about: 'results beyond the newest 40,000 tokens are cleared when that frees 20,000, as opencode does',
    clear: { atTokens: 0, keepTokens: 40_000, minFreedTokens: 20_000 },
    trim: { ...fallback, belowEnd: 20_000, keepTokens: 0 },
    summaries: 'model',
  },
  {
    ...plain,
    name: 'compact-keep-0',
    about: 'at 33,000 below the window a summary stands for everything',
    trim: { ...fallback, belowEnd: 33_000, keepTokens: 0 },
    summaries: 'model',
  },
  {
    ...plain,
    name: 'compact-keep-20k',
    about: 'at 16,384 below the window a summary stands for all but 20,000 tokens, as pi does',
    trim: { ...fallback, belowEnd: 16_384, keepTokens: 20_000 },
    summaries: 'model',
  },
  {
    ...plain,
    name: 'compact-half',
    about: 'at half the window a summary stands for all but the newest 30 %, as gemini-cli does',
    trim: { ...fallback, atShare: 0.5, keepShare: 0.3 },
    summaries: 'model',
  },
  {
    ...plain,
    name: 'bag-of-words',
    about: 'at the threshold a list of words stands for everything: must lose',
    trim: { text: 'bag', userWords: 'keep', keepTokens: 0 },
  },
  {
    ...plain,
    name: 'clear-old',
    about: 'our clearing of old results by time, economy and pressure, alone',
    standard: { budget: false, autocompact: false },
    trim: fallback,
  },
  {
    ...plain,
    name: 'standard',
    about: 'our layers with their defaults',
    spill: true,
    standard: {},
    trim: lastResort,
  },
]

export const policyNamed = (name: string): Policy | undefined =>
  policies.find((policy) => policy.name === name)

/** The layers of a policy for one session. `policyOf` says what may happen to the results of a tool. */
export function layersOf(
  policy: Policy,
  policyOf: (tool: string) => ToolPolicy | undefined,
  heard: (trimmed: Trimmed) => void,
): readonly Layer[] {
  return [
    ...(policy.standard === null ? [] : standardLayers({ ...policy.standard, policyOf })),
    ...(policy.clear === null ? [] : [clearResults(policy.clear)]),
    ...(policy.ignoresWindow ? [] : [trimRounds(policy.trim, heard)]),
  ]
}

const size = z.number().check(z.nonnegative())
const share = z.number().check(z.gt(0), z.lte(1))
const shape = z.strictObject({
  name: z.string(),
  about: z.optional(z.string()),
  spill: z.optional(z.boolean()),
  standard: z.optional(
    z.strictObject({
      budget: z.optional(z.boolean()),
      messageChars: z.optional(size),
      microcompact: z.optional(z.boolean()),
      autocompact: z.optional(z.boolean()),
      timeBased: z.optional(z.boolean()),
      cached: z.optional(z.boolean()),
      keep: z.optional(size),
      idleMs: z.optional(size),
      digestChars: z.optional(size),
    }),
  ),
  clear: z.optional(
    z.strictObject({
      atTokens: size,
      keepResults: z.optional(size),
      keepTokens: z.optional(size),
      minFreedTokens: z.optional(size),
    }),
  ),
  trim: z.optional(
    z.strictObject({
      atTokens: z.optional(size),
      atShare: z.optional(share),
      belowEnd: z.optional(size),
      keepTokens: z.optional(size),
      keepShare: z.optional(share),
      text: z.optional(z.enum(['extract', 'bag', 'none'])),
      userWords: z.optional(z.enum(['keep', 'lose'])),
    }),
  ),
  summaries: z.optional(z.enum(['none', 'model'])),
  ignoresWindow: z.optional(z.boolean()),
})

/** The policy that a file describes, or why it describes none. */
export function policyFrom(file: string, text: string): Result<{ readonly policy: Policy }> {
  const refuse = (why: string) =>
    ({ ok: false, failure: { code: 'bad-policy', message: `${file} is no policy: ${why}` } }) as const
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return refuse((error as Error).message)
  }
  const read = shape.safeParse(value)
  if (!read.success) {
    const [first] = read.error.issues
    const at = first?.path.join('.') ?? ''
    if (first?.code === 'unrecognized_keys') return refuse(`${at} has no field ${first.keys.join(', ')}`)
    return refuse(at === '' ? 'it is no object' : `${at} does not fit`)
  }
  const { data } = read
  const policy: Policy = {
    ...plain,
    ...data,
    about: data.about ?? `from ${file}`,
    spill: data.spill ?? false,
    standard: data.standard ?? null,
    clear: data.clear ?? null,
    trim: {
      ...fallback,
      ...data.trim,
      text: data.trim?.text ?? 'extract',
      userWords: data.trim?.userWords ?? 'keep',
    },
    summaries: data.summaries ?? 'none',
    ignoresWindow: data.ignoresWindow ?? false,
  }
  return { ok: true, policy }
}
