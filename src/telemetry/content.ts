// Texts of a conversation as the conventions want them on a span; asked for only where a person has switched content on.
// Secrets are taken out as for everybody else, and no text is longer than its cap.
import { forOthers } from '../disk/redact.ts'
import { defaults } from '../settings/defaults.ts'

/** A short text on a span: well-formed, and never longer than its cap. */
export const short = (text: string): string => text.slice(0, defaults.telemetry.textChars).toWellFormed()

/** Texts and calls of one message, as JSON. Images and documents are named, not sent. */
export const messageJson = (role: string, blocks: readonly { readonly type: string }[]): string =>
  capped(JSON.stringify([{ role, parts: blocks.map(partOf) }]))

export const valueJson = (value: unknown): string => capped(JSON.stringify(value) ?? 'null')

const capped = (json: string): string =>
  forOthers(json.toWellFormed()).slice(0, defaults.telemetry.contentChars).toWellFormed()

function partOf({ type, ...rest }: { readonly type: string }): unknown {
  const { text, id, name, input } = rest as Readonly<Record<string, unknown>>
  if (type === 'text') return { type, content: text }
  return type === 'tool_use' ? { type: 'tool_call', id, name, arguments: input } : { type }
}
