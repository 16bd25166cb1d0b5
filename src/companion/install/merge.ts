// Entries of ours in files of the user's: added behind what is there, and taken out by the command they run.
import { isRecord, objectIn, fieldsOf, listOf, textOf, type Fields } from '../../transcript/json.ts'

const plainWord = /^[\w./:@%+=-]+$/

/** A word as a shell takes it. */
export const quoted = (word: string): string =>
  plainWord.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`

export const jsonText = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

export type HookEntries = Readonly<Record<string, readonly object[]>>

/** Null where the text is no JSON object: it is left alone. */
export function withHooks(text: string | null, entries: HookEntries): string | null {
  const fields = text === null || text.trim() === '' ? {} : objectIn(text)
  if (fields === null) return null
  const hooks = fields['hooks'] === undefined ? {} : fields['hooks']
  if (!isRecord(hooks)) return null
  const merged: Record<string, unknown> = { ...hooks }
  for (const [event, own] of Object.entries(entries)) merged[event] = [...listOf(hooks[event]), ...own]
  return jsonText({ ...fields, hooks: merged })
}

/** Null where another status line is set and ours may not stand below it, or the text is no JSON object. */
export function withStatusLine(text: string | null, command: string, isBelow: boolean): string | null {
  const fields = text === null || text.trim() === '' ? {} : objectIn(text)
  if (fields === null) return null
  const line = fields['statusLine']
  if (line === undefined) return jsonText({ ...fields, statusLine: { type: 'command', command, padding: 0 } })
  const theirs = textOf(fieldsOf(line)['command'])
  if (!isBelow || theirs === null || fieldsOf(line)['type'] !== 'command') return null
  return jsonText({ ...fields, statusLine: { ...fieldsOf(line), command: bothLines(theirs, command) } })
}

// Both get the same input, and each has a line of its own; theirs ends with one, so that a comment at its end ends there.
const before = `i=$(cat); printf '%s\\n' "$(printf %s "$i" | {\n`
const between = `\n})"; printf %s "$i" | { `
const after = '; }'
const bothLines = (theirs: string, ours: string): string => `${before}${theirs}${between}${ours}${after}`

/** The command that stood there before ours was put below it; null where ours stands alone. */
function theirLine(command: string): string | null {
  const end = command.lastIndexOf(between)
  return command.startsWith(before) && end >= before.length ? command.slice(before.length, end) : null
}

/** The text without entries whose command names our bundle, as it is where it has none; null where it is no JSON object. */
export function withoutOurs(text: string, hookPath: string): string | null {
  const fields = objectIn(text)
  if (fields === null) return null
  const isNamed = (command: string): boolean =>
    command.includes(hookPath) || command.includes(quoted(hookPath))
  const isOurs = (entry: unknown): boolean => {
    const commands = listOf(fieldsOf(entry)['hooks']).map((hook) => textOf(fieldsOf(hook)['command']) ?? '')
    return commands.length > 0 && commands.every(isNamed)
  }
  const { hooks, statusLine, ...rest } = fields
  const command = textOf(fieldsOf(statusLine)['command']) ?? ''
  const entered = Object.values(fieldsOf(hooks)).flatMap(listOf)
  if (!isNamed(command) && !entered.some(isOurs)) return text
  const kept: Record<string, unknown> = {}
  for (const [event, entries] of Object.entries(fieldsOf(hooks))) {
    const others = listOf(entries).filter((entry) => !isOurs(entry))
    if (others.length > 0 || listOf(entries).length === 0) kept[event] = others
  }
  const theirs = theirLine(command)
  const line = !isNamed(command)
    ? statusLine
    : theirs === null
      ? undefined
      : { ...fieldsOf(statusLine), command: theirs }
  const without: Fields = {
    ...rest,
    ...(Object.keys(kept).length === 0 ? {} : { hooks: kept }),
    ...(line === undefined ? {} : { statusLine: line }),
  }
  return jsonText(without)
}
