// The lines of the clients' session files, as far as the scan needs them. The newer kinds of Claude Code's hold whole requests
// and are the bulk of a file; they are told by how a line begins and never parsed.
import { objectIn, fieldsOf, listOf, textOf, numberOf, type Fields } from '../../transcript/json.ts'
import { toolCodeIn } from '../../compaction/tool-code.ts'
import { belowFolder, programOf } from '../clean.ts'
import type { LineFacts, LineReader } from './scan.ts'

const kinds = /"type":"(?:assistant|user|system)"/
const otherKind = /^\{"type":"(?!assistant"|user"|system")/

export const claudeLines: LineReader = {
  isWanted: ({ head, tail, has }) => {
    const begin = head()
    // Work of agents stands in the main file of older versions.
    if (otherKind.test(begin) || begin.includes('"isSidechain":true')) return false
    if (!kinds.test(begin) && !kinds.test(tail())) return false
    return has('"tool_use"') || has(madeTask) || has('"is_error":true') || has('"compact_boundary"')
  },
  factsOf: (line) => {
    if (line['isSidechain'] === true) return {}
    if (line['type'] === 'system') return line['subtype'] === 'compact_boundary' ? { boundary: true } : {}
    const content = listOf(fieldsOf(line['message'])['content']).map(fieldsOf)
    if (line['type'] === 'assistant') return claudeCalls(content, textOf(line['cwd']))
    if (line['type'] !== 'user') return {}
    const task = fieldsOf(fieldsOf(line['toolUseResult'])['task'])
    const moved = taskState({ taskId: task['id'], status: task['status'] ?? 'pending' })
    return { ...claudeResults(content), ...(moved.length === 0 ? {} : { moved }) }
  },
}

/** A task as it was made, or is shown: its number stands in no call that makes it. */
const madeTask = '"toolUseResult":{"task":{"id":'

const readers = new Set(['Read', 'NotebookRead'])
const searchers = new Set(['Grep', 'Glob', 'LS'])
const editors = new Set(['Edit', 'Write', 'MultiEdit', 'NotebookEdit'])

function claudeCalls(content: readonly Fields[], cwd: string | null): LineFacts {
  const files: { path: string; isEdit: boolean }[] = []
  const commands: { id: string; program: string }[] = []
  let tasks: readonly boolean[] | undefined
  const moved: NonNullable<LineFacts['moved']>[number][] = []
  for (const block of content) {
    const name = textOf(block['name'])
    const id = textOf(block['id'])
    if (block['type'] !== 'tool_use' || name === null || id === null) continue
    const input = fieldsOf(block['input'])
    const path = textOf(input['file_path']) ?? textOf(input['notebook_path'])
    if (path !== null && (readers.has(name) || editors.has(name)))
      files.push({ path: belowFolder(path, cwd), isEdit: editors.has(name) })
    const searched = searchers.has(name) ? textOf(input['path']) : null
    if (searched !== null) files.push({ path: belowFolder(searched, cwd), isEdit: false })
    const command = name === 'Bash' ? textOf(input['command']) : null
    if (command !== null) commands.push({ id, program: programOf(command) })
    if (name === 'TodoWrite') tasks = openStates(input['todos'])
    if (name === 'TaskUpdate') moved.push(...taskState(input))
  }
  return {
    files,
    commands,
    ...(tasks === undefined ? {} : { tasks }),
    ...(moved.length === 0 ? {} : { moved }),
  }
}

/** Of a list of tasks those that are not done, each with whether it is begun. */
const openStates = (listed: unknown): readonly boolean[] =>
  listOf(listed)
    .map((task) => fieldsOf(task)['status'])
    .filter((status) => status === 'pending' || status === 'in_progress')
    .map((status) => status === 'in_progress')

function taskState(input: Fields): NonNullable<LineFacts['moved']> {
  const id = textOf(input['taskId'])
  const status = textOf(input['status'])
  if (id === null || status === null) return []
  return [{ id, state: status === 'in_progress' ? 'begun' : status === 'pending' ? 'open' : 'over' }]
}

const claudeExit = /^(?:Error: )?Exit code (\d{1,3})\b/

function claudeResults(content: readonly Fields[]): LineFacts {
  const results = content.flatMap((block) => {
    const id = textOf(block['tool_use_id'])
    if (block['type'] !== 'tool_result' || id === null) return []
    const isError = block['is_error'] === true
    const text = isError
      ? (textOf(block['content']) ?? textOf(fieldsOf(listOf(block['content'])[0])['text']))
      : null
    const code = claudeExit.exec(text?.slice(0, 40) ?? '')?.[1]
    return [{ id, isError, exitCode: code === undefined ? null : Number(code) }]
  })
  return { results }
}

// ---- Codex ----

const codexKinds =
  /"type":"(?:compacted|function_call|custom_tool_call|function_call_output|custom_tool_call_output|local_shell_call)"/

export const codexLines: LineReader = {
  isWanted: ({ head }) => codexKinds.test(head()),
  factsOf: (line) => {
    if (line['type'] === 'compacted') return { boundary: true }
    const payload = fieldsOf(line['payload'])
    const id = textOf(payload['call_id'])
    if (line['type'] !== 'response_item' || id === null) return {}
    switch (payload['type']) {
      case 'function_call':
      case 'local_shell_call':
        return codexCall(id, payload)
      case 'custom_tool_call':
        return codexText(textOf(payload['input']) ?? '')
      case 'function_call_output':
        return codexResult(id, payload['output'])
      default:
        return {}
    }
  },
}

function codexCall(id: string, payload: Fields): LineFacts {
  const input = objectIn(textOf(payload['arguments']) ?? '') ?? fieldsOf(payload['action'])
  if (textOf(payload['name']) === 'update_plan') return { tasks: openStates(input['plan']) }
  const command = commandIn(input)
  return command === null
    ? {}
    : { commands: [{ id, program: programOf(command) }], files: patchedFiles(command) }
}

/** A patch, or code that calls tools: a patch among what it gives them, or a plan. */
function codexText(text: string): LineFacts {
  const code = toolCodeIn(text)
  if (code === null) return { files: patchedFiles(text) }
  const plan = code.inputs.findLast(({ plan }) => Array.isArray(plan))?.['plan']
  const given = code.inputs.flatMap((input) => Object.values(input))
  const texts = [...code.texts, ...given].filter((one): one is string => typeof one === 'string')
  const files = texts.flatMap(patchedFiles)
  return { files, ...(plan === undefined ? {} : { tasks: openStates(plan) }) }
}

/** A command as one text, or the words of one that a shell is given. */
function commandIn(input: Fields): string | null {
  const text = textOf(input['cmd']) ?? textOf(input['command'])
  if (text !== null) return text
  const words = listOf(input['command']).filter((word): word is string => typeof word === 'string')
  if (words.length === 0) return null
  return /(?:^|\/)(?:ba|z|da)?sh$/.test(words[0]!) ? words.at(-1)! : words.join(' ')
}

const patchLine = /^\*\*\* (?:Update|Add) File: (.{1,240})$/gm

const patchedFiles = (text: string): readonly { readonly path: string; readonly isEdit: boolean }[] =>
  [...text.matchAll(patchLine)].slice(0, 40).map(([, path]) => ({ path: path!.trim(), isEdit: true }))

const codexExit = /(?:Process exited with code|Exit code:) (\d{1,3})\b/

function codexResult(id: string, output: unknown): LineFacts {
  const text = textOf(output) ?? textOf(fieldsOf(output)['output']) ?? ''
  const meta = numberOf(fieldsOf(objectIn(text)?.['metadata'])['exit_code'])
  const code = meta ?? Number(codexExit.exec(text.slice(0, 400))?.[1] ?? Number.NaN)
  const exitCode = Number.isNaN(code) ? null : code
  return { results: [{ id, exitCode, isError: exitCode !== null && exitCode !== 0 }] }
}
