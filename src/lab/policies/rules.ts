// What a policy says, as a schema: the types of the rules, the check of a policy file and the defaults of a named policy
// are all read off it. A field that is not known is refused.
import * as z from 'zod/mini'

const size = z.number().check(z.nonnegative())
const share = z.number().check(z.gt(0), z.lte(1))
const flag = z.optional(z.boolean())
const amount = z.optional(size)

const point = z.strictObject({
  carry: size,
  coldTokens: size,
  leastTokens: size,
  tailTokens: size,
  excerptTokens: size,
  detailTokens: z._default(size, 0),
  textTokens: size,
  filesTokens: size,
  clearsIdle: size,
})

/** Settings of our own layers; what is left out has its default. */
const standard = z.strictObject({
  budget: flag,
  messageChars: amount,
  microcompact: flag,
  autocompact: flag,
  /** Files a compaction restores, none with 0; what one may take, and what the outlines of others may. */
  restoreFiles: amount,
  restoreFileTokens: amount,
  outlinesTokens: amount,
  timeClearing: flag,
  cachedClearing: flag,
  keepResults: amount,
  idleMs: amount,
  digestChars: amount,
  /** Where the dial stands, or a point of its own. */
  thrift: z.optional(z.union([z.number().check(z.gte(0), z.lte(1)), point])),
  pressureClearing: flag,
  /** Who writes the text of a boundary: nobody, a model, or the notes with a model where they do not do. */
  text: z.optional(z.enum(['extract', 'model', 'notes'])),
})

const cap = z.strictObject({
  overChars: size,
  /** What stays of both ends together; as much at the front as at the back. */
  keepChars: size,
})

const clear = z.strictObject({
  /** Size from which on it clears. */
  atTokens: amount,
  /** What that size is taken of: what is shown now, what would be shown had nothing been cleared, or the messages of that. */
  counts: z.optional(z.enum(['shown', 'whole', 'messages'])),
  /** Characters of results from which on the oldest go until `toChars` are left. */
  atChars: amount,
  toChars: amount,
  /** Time since the last answer after which it clears. */
  idleMs: amount,
  /** Newest results that stay, by count, by size, and those of the newest turns. */
  keepResults: amount,
  keepTokens: amount,
  keepTurns: amount,
  /** Less than this is not worth it. */
  minFreedTokens: amount,
})

const trim = z.strictObject({
  /** Where it begins: tokens, a share of the window, or so many tokens below its end; the engine's threshold else. */
  atTokens: amount,
  atShare: z.optional(share),
  belowEnd: amount,
  /** What stays of the newest rounds: tokens, a share of the view or of the window; up to the engine's target else. */
  keepTokens: amount,
  keepShare: z.optional(share),
  keepWindowShare: z.optional(share),
  /** Files read last that stand behind the text again, each up to so many tokens. */
  restore: z.optional(z.strictObject({ files: size, tokensEach: size })),
  text: z._default(z.enum(['extract', 'bag', 'none']), 'extract'),
  /** The user's words stay word for word, up to the caps of law U1, or are left out but for a marker. */
  userWords: z._default(z.enum(['keep', 'lose']), 'keep'),
})

export const policyShape = z.strictObject({
  name: z.string(),
  about: z._default(z.string(), ''),
  /** Results above the gate's size are written out and become a preview. */
  spill: z._default(z.boolean(), false),
  /** Our own layers, with these settings. */
  standard: z.optional(standard),
  cap: z.optional(cap),
  clear: z.optional(clear),
  /** Fewer bytes of copies that are out of date are not worth it. */
  stale: z.optional(z.strictObject({ minBytes: size })),
  prune: z.optional(z.strictObject({ keepMessages: size })),
  /** What happens when the room ends. */
  trim: z._default(trim, { text: 'extract', userWords: 'keep' }),
  /** Whether a model would have written the text that stands for a span; if so its call is charged. */
  summaries: z._default(z.enum(['none', 'model']), 'none'),
  /** Sends everything, as if there were no window. */
  ignoresWindow: z._default(z.boolean(), false),
})

type Shape = Readonly<z.output<typeof policyShape>>
export interface Policy extends Shape {
  /** Knows the future: no policy that could be had, but a bound for all that could (playing/hindsight.ts). */
  readonly hindsight?: boolean | undefined
}
export type StandardSettings = Readonly<z.output<typeof standard>>
export type CapRule = Readonly<z.output<typeof cap>>
export type ClearRule = Readonly<z.output<typeof clear>>
export type TrimRule = Readonly<z.output<typeof trim>>

/** A policy with what it says, and the defaults for the rest: everything is sent until the room ends. */
export const policy = (
  name: string,
  about: string,
  says: Omit<Partial<z.input<typeof policyShape>>, 'name'>,
): Policy => policyShape.parse({ ...says, name, about })
