// An entry in one line, for lists and for those who follow a session.
import { textIn } from '../transcript/content.ts'
import { isKnown, type StoredEntry } from '../transcript/fact.ts'

const mostChars = 160

/** One entry in a line, for people who follow a session. */
export function describeEntry(entry: StoredEntry): string {
  if (!isKnown(entry)) return entry.unknown
  const { fact } = entry
  const words =
    'content' in fact
      ? textIn(fact.content as Parameters<typeof textIn>[0], ' ').replaceAll(/\s+/gu, ' ')
      : ''
  const calls =
    fact.type === 'assistant-message'
      ? fact.content
          .flatMap((block) => (block.type === 'tool_use' ? [block.name] : []))
          .map((name) => ` [${name}]`)
      : []
  const text =
    fact.type === 'turn-end'
      ? ` ${fact.outcome}${fact.failure === undefined ? '' : `: ${fact.failure.message}`}`
      : words === ''
        ? ''
        : ` ${words}`
  const cut = fact.type === 'assistant-message' && fact.partial === true ? ' (cut off)' : ''
  const line = `${fact.type}${cut}${calls.join('')}${text}`
  return line.length <= mostChars ? line : `${line.slice(0, mostChars).toWellFormed()}…`
}
