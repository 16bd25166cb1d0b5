// The neutral corpus format: a header line, then one line a turn in the Messages API's shape, perhaps packed.
import type { Imported, RecordedBlock, RecordedTurn, Recording, Skipped } from '../recording.ts'
import { anthropicUsage, messageBlocks } from './blocks.ts'
import { fieldsOf, listOf, numberOf, stringOrNull, timeOf, type Fields, type Lines } from './lines.ts'

export const isCorpusHeader = (value: Fields): boolean =>
  'session' in value && 'client' in value && 'usage_kind' in value
const isCorpusTurn = (value: Fields): boolean => 'role' in value && Array.isArray(value['content'])

export function importCorpus(name: string, lines: Lines): Imported {
  const header = lines.records[0]
  if (header === undefined || !isCorpusHeader(header.value)) {
    return { ok: false, failure: { code: 'no-header', message: `${name}, line 1: no corpus header` } }
  }
  const client = stringOrNull(header.value['client']) ?? 'unknown'
  const skipped: Skipped[] = [...lines.skipped]
  const turns: RecordedTurn[] = []
  for (const { line, value } of lines.records.slice(1)) {
    if (isCorpusTurn(value)) turns.push(turnOf(value, client))
    else skipped.push({ line, why: 'not a turn' })
  }
  const { value } = header
  const usageKind = value['usage_kind']
  const recording: Recording = {
    name: stringOrNull(value['session']) ?? name,
    client,
    project: stringOrNull(value['project']) ?? undefined,
    model: stringOrNull(value['model']) ?? 'unknown',
    usageKind: usageKind === 'anthropic' || usageKind === 'openai' ? usageKind : 'none',
    outputCounts: value['output_tokens'] === 'partial' ? 'partial' : 'final',
    firstRequestTokens: numberOf(value['first_request_tokens']),
    system: stringOrNull(value['system']),
    tools: listOf(value['tools']).map((tool) => stringOrNull(fieldsOf(tool)['name']) ?? 'unknown'),
    turns,
  }
  return { ok: true, recording, report: { format: 'corpus', skipped } }
}

function turnOf(value: Fields, client: string): RecordedTurn {
  const role = value['role'] === 'assistant' ? 'assistant' : 'user'
  const blocks = messageBlocks(value['content'], role)
  return {
    role,
    content: role === 'user' && client.startsWith('claude-code') ? blocks.map(markClientLine) : blocks,
    at: timeOf(value['timestamp']),
    usage: anthropicUsage(value['usage']),
    model: stringOrNull(value['model']) ?? undefined,
  }
}

/** Lines that Claude Code writes where the person's words stand: commands, their output, interruptions. */
export function markClientLine(recorded: RecordedBlock): RecordedBlock {
  const { block, kind } = recorded
  if (kind !== undefined || block.type !== 'text' || !('text' in block)) return recorded
  return clientLine.test(block.text) ? { block, kind: 'client_note' } : recorded
}
const clientLine =
  /^\s*(<(command-(name|message|args|contents)|local-command-\w+|bash-(input|stdout|stderr)|task-notification|system-reminder)>|\[Request interrupted by user)/
