// What the settings may say of models and of those who offer them, as schemas.
import * as z from 'zod/mini'

export const count = z.int().check(z.positive())

/** Tokens, or a part as "80%". */
const percent = z.templateLiteral([z.number(), '%']).check(
  z.refine((text) => {
    const value = Number(text.slice(0, -1))
    return value > 0 && value <= 100
  }),
)
export const threshold = z.union([count, percent])

const rates = {
  input: z.number(),
  output: z.number(),
  write5m: z.number(),
  write1h: z.number(),
  read: z.number(),
}
export const modelRow = z.strictObject({
  id: z.string().check(z.minLength(1)),
  window: z.optional(count),
  maxOutput: z.optional(count),
  minCacheTokens: z.optional(count),
  /** Dollars per million tokens. */
  prices: z.optional(z.strictObject(rates)),
  threshold: z.optional(threshold),
  /** What the endpoint offers for this model (docs/capabilities.md). */
  capabilities: z.optional(
    z.strictObject({
      cacheEdits: z.optional(z.boolean()),
      contextEditing: z.optional(z.boolean()),
      bindsPrefix: z.optional(z.boolean()),
    }),
  ),
  /** What one request may carry beside words. */
  media: z.optional(
    z.strictObject({
      count: z.optional(count),
      side: z.optional(count),
      manyImages: z.optional(count),
      manySide: z.optional(count),
      imageBytes: z.optional(count),
      requestBytes: z.optional(count),
    }),
  ),
})
const yesNo = z.optional(z.boolean())
/** Over our own row of a provider, or one of the user's own (docs/providers.md). */
export const provider = z.strictObject({
  wire: z.optional(z.enum(['openai-chat', 'openai-responses', 'gemini'])),
  baseUrl: z.optional(z.string().check(z.regex(/^https?:\/\/[^\s]+$/u))),
  keyVariable: z.optional(z.nullable(z.string().check(z.regex(/^[A-Z][A-Z0-9_]*$/)))),
  quirks: z.optional(
    z.strictObject({
      systemRole: z.optional(z.enum(['system', 'developer'])),
      maxTokensField: z.optional(z.enum(['max_tokens', 'max_completion_tokens'])),
      streamUsage: yesNo,
      reasoningBack: yesNo,
      cacheKey: yesNo,
      rootCacheControl: yesNo,
      effort: yesNo,
      images: yesNo,
      parallelCalls: yesNo,
      signatures: yesNo,
      textContent: yesNo,
      breakpoints: yesNo,
      cacheUnreported: yesNo,
    }),
  ),
})
