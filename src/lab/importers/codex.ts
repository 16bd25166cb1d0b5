// Rollout files of Codex: items of responses in envelopes, with the counts in events of their own. Older files hold
// the bare items. Items up to a count are one response.
import type { AssistantBlock } from '../../transcript/content.ts'
import type { Usage } from '../../transcript/fact.ts'
import {
  importedFrom,
  summaryKind,
  TurnList,
  type Imported,
  type RecordedBlock,
  type Skipped,
} from '../recording.ts'
import { callOf, resultBlock, textBlock } from './blocks.ts'
import { fieldsOf, listOf, numberOf, stringOrNull, timeOf, type Fields, type Lines } from './lines.ts'
import { isRecord } from '../../transcript/json.ts'

const envelopes = new Set(['session_meta', 'turn_context', 'response_item', 'event_msg', 'compacted'])
const items = new Set([
  'message',
  'reasoning',
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
  'local_shell_call',
  'web_search_call',
])

export const isCodexLine = (value: Fields): boolean => {
  const type = stringOrNull(value['type']) ?? ''
  if (isRecord(value['payload'])) return envelopes.has(type)
  return (
    value['record_type'] === 'state' ||
    (items.has(type) && ('role' in value || type !== 'message') && !('message' in value))
  )
}

interface State {
  readonly list: TurnList
  readonly skipped: Skipped[]
  meta: Fields
  model: string | null
  isCounted: boolean
}

export function importCodex(name: string, lines: Lines): Imported {
  const state: State = {
    list: new TurnList(),
    skipped: [...lines.skipped],
    meta: {},
    model: null,
    isCounted: false,
  }
  for (const { line, value } of lines.records) {
    const why = take(state, value)
    if (why !== null) state.skipped.push({ line, why })
  }
  const { list, meta, model, skipped, isCounted } = state
  return importedFrom({ format: 'codex', skipped }, list.turns(), {
    name: stringOrNull(meta['id']) ?? name,
    client: `codex ${stringOrNull(meta['cli_version']) ?? ''}`.trim(),
    model: model ?? 'unknown',
    usageKind: isCounted ? 'openai' : 'none',
    system: stringOrNull(fieldsOf(meta['base_instructions'])['text']) ?? stringOrNull(meta['instructions']),
  })
}

/** Takes one line in, or says why it was left behind. */
function take(state: State, value: Fields): string | null {
  const at = timeOf(value['timestamp'])
  const payload = fieldsOf(value['payload'])
  switch (value['type']) {
    case 'session_meta':
      state.meta = { ...payload, ...state.meta }
      return null
    case 'turn_context':
      state.model = stringOrNull(payload['model']) ?? state.model
      return null
    case 'event_msg':
      if (payload['type'] === 'token_count') takeCounts(state, fieldsOf(payload['info']))
      return null
    case 'compacted':
      state.list.user([textBlock(payload['message'], summaryKind)], at)
      return null
    case 'response_item':
      return takeItem(state, payload, at)
    case undefined:
      if ('id' in value && 'timestamp' in value) state.meta = { ...value, ...state.meta }
      return null
    default:
      return takeItem(state, value, at)
  }
}

function takeItem(state: State, item: Fields, at: number | null): string | null {
  const { list } = state
  const answer = (block: AssistantBlock): null => {
    list.assistant([{ block }], { at, model: state.model ?? undefined })
    return null
  }
  const id = stringOrNull(item['call_id']) ?? stringOrNull(item['id'])
  switch (item['type']) {
    case 'message': {
      const blocks = itemTexts(item)
      if (item['role'] === 'assistant') list.assistant(blocks, { at, model: state.model ?? undefined })
      else
        list.user(
          blocks.map((recorded) => ({ ...recorded, kind: kindOf(item['role'], recorded) })),
          at,
        )
      return null
    }
    case 'reasoning': {
      const thinking = listOf(item['summary'])
        .map((part) => stringOrNull(fieldsOf(part)['text']) ?? '')
        .join('\n\n')
      const signature = stringOrNull(item['encrypted_content'])
      return answer({ type: 'thinking', thinking, ...(signature === null ? {} : { signature }) })
    }
    case 'function_call':
      return answer(callOf(id, stringOrNull(item['name']), item['arguments']))
    case 'custom_tool_call':
      return answer(callOf(id, stringOrNull(item['name']), { input: item['input'] }))
    case 'local_shell_call':
      return answer(callOf(id, 'local_shell', item['action']))
    case 'web_search_call':
      return answer({ type: 'text', text: `[web_search] ${JSON.stringify(item['action'] ?? {})}` })
    case 'function_call_output':
    case 'custom_tool_call_output':
      list.user([outputOf(id ?? '', item['output'])], at)
      return null
    case 'ghost_snapshot':
      return null
    default:
      return `unknown item ${JSON.stringify(item['type'])}`
  }
}

function itemTexts(item: Fields): readonly RecordedBlock[] {
  const content = item['content']
  if (typeof content === 'string') return [{ block: { type: 'text', text: content } }]
  return listOf(content).map((part) => {
    const value = fieldsOf(part)
    const text =
      stringOrNull(value['text']) ?? (value['type'] === 'input_image' ? '[image]' : JSON.stringify(value))
    return { block: { type: 'text', text } }
  })
}

function outputOf(call: string, output: unknown): RecordedBlock {
  const value = isRecord(output) ? output : null
  return resultBlock(
    call,
    value === null ? output : (value['content'] ?? value),
    value?.['success'] === false,
  )
}

const clientNote =
  /^\s*(<(environment_context|user_instructions|INSTRUCTIONS|turn_aborted)>|# AGENTS\.md instructions)/

function kindOf(role: unknown, { block }: RecordedBlock): string | undefined {
  if (role !== 'user') return stringOrNull(role) ?? 'unknown'
  return 'text' in block && clientNote.test(block.text) ? 'client_note' : undefined
}

function takeCounts(state: State, info: Fields): void {
  const usage = codexUsage(info)
  if (usage === undefined) return
  state.isCounted = true
  state.list.closeResponse(usage)
}

/** What was read from the cache is part of the input count here. */
export function codexUsage(info: Fields): Usage | undefined {
  const last = fieldsOf(info['last_token_usage'])
  const input = numberOf(last['input_tokens'])
  if (input === null) return undefined
  const cacheRead = numberOf(last['cached_input_tokens']) ?? 0
  return {
    input: input - cacheRead,
    cacheRead,
    cacheWrite: 0,
    output: numberOf(last['output_tokens']) ?? 0,
  }
}
