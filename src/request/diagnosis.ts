// What the provider says of a prompt beside the one before, held against what we found ourselves. Its words are kept as it
// says them; those we know are put in ours, and compared by the part of the prompt that they name.
import { isRecord } from '../transcript/content.ts'
import type { Diagnosis } from '../transcript/fact.ts'

/** Our words for two answers that name no reason: nothing differs, and nothing was compared yet. */
export const sameReason = 'same'
const pendingReason = 'pending'
/** A reason is a word: what is longer is none, and is not kept with every answer. */
const mostReasonChars = 100

/** An answer's `diagnostics`, of a request that asked for them; null where it says nothing. */
export function diagnosisOf(diagnostics: unknown): Diagnosis | null {
  if (diagnostics === null) return { reason: sameReason }
  if (!isRecord(diagnostics) || !('cache_miss_reason' in diagnostics)) return null
  const miss = diagnostics['cache_miss_reason']
  if (miss === null) return { reason: pendingReason }
  if (!isRecord(miss) || typeof miss['type'] !== 'string' || miss['type'] === '') return null
  const tokens = miss['cache_missed_input_tokens']
  const reason = miss['type']
  if (reason.length > mostReasonChars) return null
  return typeof tokens === 'number' && Number.isFinite(tokens) && tokens >= 0
    ? { reason, tokens }
    : { reason }
}

/** The parts of a prompt in the order a cache reads them: the first that differs is the one that counts. */
const parts = ['the model', 'the tools', 'the system prompt', 'the messages'] as const
type PromptPart = (typeof parts)[number]

const partsByReason: ReadonlyMap<string, PromptPart> = new Map([
  ['model_changed', 'the model'],
  ['tools_changed', 'the tools'],
  ['system_changed', 'the system prompt'],
  ['messages_changed', 'the messages'],
])
const wordsByReason: ReadonlyMap<string, string> = new Map([
  [sameReason, 'nothing changed'],
  [pendingReason, 'not compared yet'],
  ['previous_message_not_found', 'it does not know the request before'],
  ['unavailable', 'it cannot tell'],
])
/** By the kinds of our causes; those that are not here are no change of a prompt. */
const partsByKind: ReadonlyMap<unknown, PromptPart> = new Map([
  ['model', 'the model'],
  ['tools', 'the tools'],
  ['system', 'the system prompt'],
  ['message', 'the messages'],
  ['images', 'the messages'],
  ['thinking', 'the messages'],
  ['effort', 'the messages'],
  ['announced', 'the messages'],
])

/** What it says, as a sentence in which the provider speaks; a word that we do not know stands as it is. */
export function describeDiagnosis({ reason, tokens }: Diagnosis): string {
  const part = partsByReason.get(reason)
  const words = part === undefined ? (wordsByReason.get(reason) ?? reason) : `${part} changed`
  return tokens === undefined ? words : `${words} (${tokens} tokens)`
}

/** Where its word and our causes name different parts of the prompt; null where they agree or it names none. */
export function disagreement(causes: readonly unknown[], reason: string): string | null {
  const theirs = partsByReason.get(reason) ?? null
  if (theirs === null && reason !== sameReason) return null
  const found = new Set(causes.map((cause) => (isRecord(cause) ? partsByKind.get(cause['kind']) : undefined)))
  const ours = parts.find((part) => found.has(part)) ?? null
  if (ours === theirs) return null
  if (theirs === null) return `we see a change of ${ours}, the provider none`
  return ours === null
    ? `we see no change, the provider one of ${theirs}`
    : `we see a change of ${ours}, the provider one of ${theirs}`
}

/** Both as one line behind our causes: empty where the provider said nothing. */
export function providersWord(
  causes: readonly unknown[],
  provider: string | undefined,
  tokens?: number,
): string {
  if (provider === undefined) return ''
  const differs = disagreement(causes, provider)
  const said = `the provider says: ${describeDiagnosis({ reason: provider, tokens })}`
  return differs === null ? `; ${said}` : `; ${said} (${differs})`
}
