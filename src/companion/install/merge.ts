// Entries of ours in files of the user's: added behind what is there, and taken out by the command they run.
import { fieldsOf, isFields, listOf, parseFields, textOf, type Fields } from '../hook/shape.ts'
import { jsonText, quoted } from './plan.ts'

export type HookEntries = Readonly<Record<string, readonly object[]>>

/** Null where the text is no JSON object: it is left alone. */
export function withHooks(text: string | null, entries: HookEntries): string | null {
  const fields = text === null || text.trim() === '' ? {} : parseFields(text)
  if (fields === null) return null
  const hooks = fields['hooks'] === undefined ? {} : fields['hooks']
  if (!isFields(hooks)) return null
  const merged: Record<string, unknown> = { ...hooks }
  for (const [event, own] of Object.entries(entries)) merged[event] = [...listOf(hooks[event]), ...own]
  return jsonText({ ...fields, hooks: merged })
}

/** Null where another status line is set, or the text is no JSON object. */
export function withStatusLine(text: string | null, command: string): string | null {
  const fields = text === null || text.trim() === '' ? {} : parseFields(text)
  if (fields === null || fields['statusLine'] !== undefined) return null
  return jsonText({ ...fields, statusLine: { type: 'command', command, padding: 0 } })
}

/** The text without entries whose command names our bundle; null where it is no JSON object. */
export function withoutOurs(text: string, hookPath: string): string | null {
  const fields = parseFields(text)
  if (fields === null) return null
  const isNamed = (command: string): boolean =>
    command.includes(hookPath) || command.includes(quoted(hookPath))
  const isOurs = (entry: unknown): boolean => {
    const commands = listOf(fieldsOf(entry)['hooks']).map((hook) => textOf(fieldsOf(hook)['command']) ?? '')
    return commands.length > 0 && commands.every(isNamed)
  }
  const { hooks, statusLine, ...rest } = fields
  const kept: Record<string, unknown> = {}
  for (const [event, entries] of Object.entries(fieldsOf(hooks))) {
    const others = listOf(entries).filter((entry) => !isOurs(entry))
    if (others.length > 0 || listOf(entries).length === 0) kept[event] = others
  }
  const line = isNamed(textOf(fieldsOf(statusLine)['command']) ?? '') ? undefined : statusLine
  const without: Fields = {
    ...rest,
    ...(Object.keys(kept).length === 0 ? {} : { hooks: kept }),
    ...(line === undefined ? {} : { statusLine: line }),
  }
  return jsonText(without)
}
