// What Gemini CLI writes of a conversation: a line for each message, written again when it changes, and lines that set fields.
import { fieldsOf, numberOf, stringOrNull, timeOf, type Fields } from '../importers/lines.ts'
import type { BilledRequest } from './billed.ts'

export function gemini(name: string, lines: readonly Fields[]): readonly BilledRequest[] {
  const header = fieldsOf(lines.find((value) => typeof value['projectHash'] === 'string'))
  const session = stringOrNull(header['sessionId']) ?? name
  const found = new Map<string, BilledRequest>()
  for (const value of lines) {
    const tokens = fieldsOf(value['tokens'])
    const input = numberOf(tokens['input'])
    const id = stringOrNull(value['id'])
    if (value['type'] !== 'gemini' || input === null || id === null) continue
    const count = (field: string): number => numberOf(tokens[field]) ?? 0
    // Reasoning is billed as output; what tools added to the prompt as input.
    const output = count('output') + count('thoughts')
    const cacheRead = count('cached')
    found.set(id, {
      program: 'gemini-cli',
      session,
      chain: name,
      project: null,
      model: stringOrNull(value['model']) ?? 'unknown',
      at: timeOf(value['timestamp']),
      isAgent: header['kind'] === 'subagent',
      usage: { input: input - cacheRead + count('tool'), cacheRead, cacheWrite: 0, output },
      output,
      id: `gemini-cli ${id}`,
    })
  }
  return [...found.values()]
}
