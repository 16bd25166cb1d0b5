// Events of a turn as text: its progress in short lines for the error stream (what is called, what a layer did, what is
// waited for), its failure, and the price of going on with another model.
import type { Compacted } from '../../engine/compacting/ask.ts'
import type { SwitchPrice } from '../../engine/limits/switch-price.ts'
import type { LiveEvent, TurnFailure } from '../../engine/live.ts'
import type { Session } from '../../engine/session.ts'
import { fieldsOf } from '../../transcript/json.ts'
import { leftBehindText } from '../../wires/left-behind.ts'
import { safeLine, safeText } from './safe-text.ts'
import { whole, dollars, short } from './tables.ts'

const shownChars = 100
const second = 1000
/** What says most about a call, likeliest first: what is searched for before where. */
const telling = ['file_path', 'command', 'pattern', 'url', 'ref', 'path', 'query', 'label', 'name'] as const

/** A call in one line. What a person may have to judge is shown with everything invisible made visible. */
export function describeCall(name: string, input: unknown): string {
  const fields = fieldsOf(input)
  const field = telling.find((key) => typeof fields[key] === 'string')
  const where = field === 'pattern' && typeof fields['path'] === 'string' ? ` in ${fields['path']}` : ''
  const about = field === undefined ? JSON.stringify(fields) : `${String(fields[field])}${where}`
  return cut(safeLine(`${name} ${about === '{}' ? '' : about}`).trim())
}

/** The line of an event, or null where there is nothing to say. */
export function progressLine(event: LiveEvent): string | null {
  switch (event.type) {
    case 'tool-start':
      return `  ${describeCall(event.name, event.input)}`
    case 'tool-end':
      return event.isError ? `    ! ${cut(safeLine(event.text))}` : null
    case 'view-edit':
      return `  ~ ${safeLine(event.layer)}: ${cut(safeLine(event.why))} (${whole(event.tokensFreed)} tokens freed)`
    case 'compaction':
      return `  ~ compacted: ${whole(event.tokensBefore)} tokens became ${whole(event.tokensAfter)} (${replacement(event.source)})`
    case 'working':
      return `  … ${safeLine(event.source)}${event.forMs < second ? '' : `, ${Math.round(event.forMs / second)} s`}`
    case 'retry-wait':
      return `  … ${cut(safeLine(event.failure.message))}; attempt ${event.attempt} in ${whole(event.waitMs)} ms`
    default:
      return null
  }
}

/** What became of memories, for people. */
export function memoryLine({ did, files }: LiveEvent & { type: 'memory' }): string {
  const names = safeLine(files.join(', '))
  if (did === 'recalled') return `recalled: ${names}`
  return did === 'saved'
    ? `remembered: ${names} (pal memory shows them)`
    : `${files.length === 1 ? '1 memory needs' : `${files.length} memories need`} review: ${names} (pal memory review)`
}

const cut = (text: string): string =>
  text.length <= shownChars ? text : `${text.slice(0, shownChars - 1).toWellFormed()}…`

const frames: Readonly<Record<string, readonly [before: string, after: string]>> = {
  network: ['the provider cannot be reached', 'Check the network and the address; pal doctor shows it'],
  unauthorized: [
    'the provider does not accept the key',
    'pal doctor shows which one is used; pal login stores another',
  ],
  invalid: ['the provider refuses the request', 'pal doctor shows the model and the address in use'],
}

/**
 * A failed turn for a person: who refused, what it said, and where to look. The bare message of a server ("model: nope")
 * says none of that; JSON output keeps it as it came.
 */
export function failureText({ code, message }: TurnFailure): string {
  const frame = Object.hasOwn(frames, code) ? frames[code] : undefined
  const said = safeText(message)
  return frame === undefined ? said : `${frame[0]}: ${said.replace(/\.?\s*$/u, '.')} ${frame[1]}`
}

/** What takes the place of compacted messages, for people. */
export const replacement = (source: Compacted['source']): string =>
  source === null ? 'shortened results' : replacements[source]

const replacements = {
  extractive: 'an extracted summary',
  model: "the model's summary",
  notes: 'the session notes',
  user: 'your summary',
} as const satisfies Record<NonNullable<Compacted['source']>, string>

// ---- what going on with another model costs: said before the next request is sent ----

/** What the next request costs that the model before would have read from its cache, and what of the conversation stays behind. */
export function switchText({ tokens, cached, dollars: paid, stays, left }: SwitchPrice): string {
  if (tokens === 0) return ''
  const price = paid === null ? 'at a price that is not known' : `for about ${dollars(paid)}`
  const instead = stays === null ? '' : `; the model before would have read it for about ${dollars(stays)}`
  const behind = leftBehindText(left)
  const anew = cached === 0 ? 'anew, ' : `again, ${short(cached)} of it from the cache of earlier answers: `
  return `The next request sends the whole conversation ${anew}${short(tokens)} tokens ${price}${instead}.\n${behind === null ? '' : `${safeLine(behind)}\n`}`
}

/** Of a session that is gone on with: another model than the one that answered last, and its price; null where it is the same. */
export function switchNotice(session: Session): string | null {
  const price = session.switchPrice()
  if (price.tokens === 0 || price.from === null) return null
  return `the last answer is by ${safeLine(price.from)}, the model is now ${safeLine(session.modelId)}. ${switchText(price).trimEnd()}`
}
