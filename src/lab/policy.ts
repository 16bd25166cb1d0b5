// What a policy is, and policies as files. A policy is a list of real layers that the real engine hears. Those with a
// name are in policies/list.ts.
//
// Format of a policy file (JSON): { "name", "about"?, "spill"?, "standard"?, "cap"?, "clear"?, "stale"?, "prune"?,
// "trim"?, "summaries"?, "ignoresWindow"? }, with the fields of `Policy` below; a field that is not known is refused.
import * as z from 'zod/mini'
import type { Thrift } from '../projection/dial.ts'
import type { Layer } from '../projection/layer.ts'
import { standardLayers } from '../projection/layers/index.ts'
import type { ToolPolicy } from '../tools/tool.ts'
import type { Result } from '../transcript/store.ts'
import { capResults, type CapRule } from './policies/cap-results.ts'
import { clearResults, type ClearRule } from './policies/clear-results.ts'
import { pruneCalls, type PruneRule } from './policies/prune-calls.ts'
import { staleReads, type StaleRule } from './policies/stale-reads.ts'
import { trimRounds, type Trimmed, type TrimRule } from './policies/trim-rounds.ts'
import { isRecord } from '../transcript/content.ts'

/** Settings of our own layers; what is left out has its default. */
export interface StandardSettings {
  readonly budget?: boolean | undefined
  readonly messageChars?: number | undefined
  readonly microcompact?: boolean | undefined
  readonly autocompact?: boolean | undefined
  /** Files a compaction gives back, none with 0; what one may take, and what the outlines of others may. */
  readonly restoreFiles?: number | undefined
  readonly restoreFileTokens?: number | undefined
  readonly outlinesTokens?: number | undefined
  readonly timeClearing?: boolean | undefined
  readonly cachedClearing?: boolean | undefined
  readonly keepResults?: number | undefined
  readonly idleMs?: number | undefined
  readonly digestChars?: number | undefined
  /** Where the dial stands, or a point of its own. */
  readonly thrift?: Thrift | undefined
  readonly pressureClearing?: boolean | undefined
  /** Who writes the text of a boundary: nobody, a model, or the notes with a model where they do not do. */
  readonly text?: 'extract' | 'model' | 'notes' | undefined
}

export interface Policy {
  readonly name: string
  readonly about: string
  /** Results above the gate's size are written out and become a preview. */
  readonly spill: boolean
  /** Our own layers, with these settings. */
  readonly standard: StandardSettings | null
  readonly cap: CapRule | null
  readonly clear: ClearRule | null
  readonly stale: StaleRule | null
  readonly prune: PruneRule | null
  /** What happens when the room ends. */
  readonly trim: TrimRule
  /** Whether a model would have written the text that stands for a span; if so its call is charged. */
  readonly summaries: 'none' | 'model'
  /** Sends everything, as if there were no window. */
  readonly ignoresWindow: boolean
  /** Knows the future: no policy that could be had, but a bound for all that could (measuring/hindsight.ts). */
  readonly hindsight: boolean
}

/** Everything is sent until the room ends. */
export const plain = {
  spill: false,
  standard: null,
  cap: null,
  clear: null,
  stale: null,
  prune: null,
  summaries: 'none',
  ignoresWindow: false,
  hindsight: false,
} as const

/** What happens at the end of the room where a policy says nothing else. */
export const fallback: TrimRule = { text: 'extract', userWords: 'keep' }

/** Whether a model is asked for texts, notes included. */
export const isWritten = ({ standard }: Policy): boolean => (standard?.text ?? 'extract') !== 'extract'

/** The layers of a policy for one session. `policyOf` says what may happen to the results of a tool. */
export function layersOf(
  policy: Policy,
  policyOf: (tool: string) => ToolPolicy | undefined,
  heard: (trimmed: Trimmed) => void,
): readonly Layer[] {
  return [
    ...(policy.standard === null
      ? []
      : standardLayers({ ...policy.standard, asksModel: isWritten(policy), policyOf })),
    ...(policy.cap === null ? [] : [capResults(policy.cap)]),
    ...(policy.stale === null ? [] : [staleReads(policy.stale)]),
    ...(policy.clear === null ? [] : [clearResults(policy.clear)]),
    ...(policy.prune === null ? [] : [pruneCalls(policy.prune)]),
    ...(policy.ignoresWindow ? [] : [trimRounds(policy.trim, heard)]),
  ]
}

const size = z.number().check(z.nonnegative())
const share = z.number().check(z.gt(0), z.lte(1))
const share0 = z.number().check(z.gte(0), z.lte(1))
const point = z.strictObject({
  carry: size,
  coldTokens: size,
  leastTokens: size,
  tailTokens: size,
  excerptTokens: size,
  textTokens: size,
  filesTokens: size,
  clearsIdle: size,
})
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
      restoreFiles: z.optional(size),
      restoreFileTokens: z.optional(size),
      outlinesTokens: z.optional(size),
      timeClearing: z.optional(z.boolean()),
      cachedClearing: z.optional(z.boolean()),
      keepResults: z.optional(size),
      idleMs: z.optional(size),
      digestChars: z.optional(size),
      thrift: z.optional(z.union([share0, point])),
      pressureClearing: z.optional(z.boolean()),
      text: z.optional(z.enum(['extract', 'model', 'notes'])),
    }),
  ),
  clear: z.optional(
    z.strictObject({
      atTokens: z.optional(size),
      counts: z.optional(z.enum(['shown', 'whole', 'messages'])),
      atChars: z.optional(size),
      toChars: z.optional(size),
      idleMs: z.optional(size),
      keepResults: z.optional(size),
      keepTokens: z.optional(size),
      keepTurns: z.optional(size),
      minFreedTokens: z.optional(size),
    }),
  ),
  cap: z.optional(z.strictObject({ overChars: size, keepChars: size })),
  stale: z.optional(z.strictObject({ minBytes: size })),
  prune: z.optional(z.strictObject({ keepMessages: size })),
  trim: z.optional(
    z.strictObject({
      atTokens: z.optional(size),
      atShare: z.optional(share),
      belowEnd: z.optional(size),
      keepTokens: z.optional(size),
      keepShare: z.optional(share),
      keepWindowShare: z.optional(share),
      restore: z.optional(z.strictObject({ files: size, tokensEach: size })),
      text: z.optional(z.enum(['extract', 'bag', 'none'])),
      userWords: z.optional(z.enum(['keep', 'lose'])),
    }),
  ),
  summaries: z.optional(z.enum(['none', 'model'])),
  ignoresWindow: z.optional(z.boolean()),
})

/** Earlier names of the standard layers' settings. */
const earlierNames: Readonly<Record<string, string>> = {
  timeBased: 'timeClearing',
  cached: 'cachedClearing',
  keep: 'keepResults',
  pressure: 'pressureClearing',
}

/** The file with settings of the standard layers under the names they have now. */
function withPresentNames(value: unknown): unknown {
  if (!isRecord(value) || !isRecord(value['standard'])) return value
  const entries = Object.entries(value['standard']).map(([name, set]) => [earlierNames[name] ?? name, set])
  return { ...value, standard: Object.fromEntries(entries) as unknown }
}

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
  const read = shape.safeParse(withPresentNames(value))
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
    cap: data.cap ?? null,
    clear: data.clear ?? null,
    stale: data.stale ?? null,
    prune: data.prune ?? null,
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
