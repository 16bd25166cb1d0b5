// The lines of Claude Code's session files, as far as the scan needs them. The newer kinds hold whole requests and are the
// bulk of a file; they are told by how a line begins and never parsed.
import type { LineFacts, LineReader } from './scan.ts'
import { programOf } from './programs.ts'
import { fieldsOf, listOf, textOf, type Fields } from './shape.ts'

const kinds = /"type":"(?:assistant|user|system)"/
const otherKind = /^\{"type":"(?!assistant"|user"|system")/

export const claudeLines: LineReader = {
  isWanted: ({ head, tail, has }) => {
    const begin = head()
    // Work of agents stands in the main file of older versions.
    if (otherKind.test(begin) || begin.includes('"isSidechain":true')) return false
    if (!kinds.test(begin) && !kinds.test(tail())) return false
    return has('"tool_use"') || has('"is_error":true') || has('"compact_boundary"')
  },
  factsOf: (line) => {
    if (line['isSidechain'] === true) return {}
    if (line['type'] === 'system') return line['subtype'] === 'compact_boundary' ? { boundary: true } : {}
    const content = listOf(fieldsOf(line['message'])['content']).map(fieldsOf)
    if (line['type'] === 'assistant') return callFacts(content, textOf(line['cwd']))
    return line['type'] === 'user' ? resultFacts(content) : {}
  },
}

const readers = new Set(['Read', 'NotebookRead'])
const searchers = new Set(['Grep', 'Glob', 'LS'])
const editors = new Set(['Edit', 'Write', 'MultiEdit', 'NotebookEdit'])

function callFacts(content: readonly Fields[], cwd: string | null): LineFacts {
  const files: { path: string; isEdit: boolean }[] = []
  const commands: { id: string; program: string }[] = []
  let tasks: readonly boolean[] | undefined
  let task: LineFacts['task']
  for (const block of content) {
    const name = textOf(block['name'])
    const id = textOf(block['id'])
    if (block['type'] !== 'tool_use' || name === null || id === null) continue
    const input = fieldsOf(block['input'])
    const path = textOf(input['file_path']) ?? textOf(input['notebook_path'])
    if (path !== null && (readers.has(name) || editors.has(name)))
      files.push({ path: below(path, cwd), isEdit: editors.has(name) })
    const searched = searchers.has(name) ? textOf(input['path']) : null
    if (searched !== null) files.push({ path: below(searched, cwd), isEdit: false })
    const command = name === 'Bash' ? textOf(input['command']) : null
    if (command !== null) commands.push({ id, program: programOf(command) })
    if (name === 'TodoWrite') tasks = todoStates(input)
    if (name === 'TaskUpdate') task = taskState(input) ?? task
  }
  return {
    files,
    commands,
    ...(tasks === undefined ? {} : { tasks }),
    ...(task === undefined ? {} : { task }),
  }
}

const todoStates = (input: Fields): readonly boolean[] =>
  listOf(input['todos'])
    .map((todo) => fieldsOf(todo)['status'])
    .filter((status) => status === 'pending' || status === 'in_progress')
    .map((status) => status === 'in_progress')

function taskState(input: Fields): LineFacts['task'] {
  const id = textOf(input['taskId'])
  const status = textOf(input['status'])
  if (id === null || status === null) return undefined
  return { id, state: status === 'in_progress' ? 'begun' : status === 'pending' ? 'open' : 'over' }
}

const exitLine = /^(?:Error: )?Exit code (\d{1,3})\b/

function resultFacts(content: readonly Fields[]): LineFacts {
  const results = content.flatMap((block) => {
    const id = textOf(block['tool_use_id'])
    if (block['type'] !== 'tool_result' || id === null) return []
    const isError = block['is_error'] === true
    const text = isError
      ? (textOf(block['content']) ?? textOf(fieldsOf(listOf(block['content'])[0])['text']))
      : null
    const code = exitLine.exec(text?.slice(0, 40) ?? '')?.[1]
    return [{ id, isError, exitCode: code === undefined ? null : Number(code) }]
  })
  return { results }
}

/** A path as it stands below the folder of work; others stay as they are and are left out later. */
export const below = (path: string, folder: string | null): string =>
  folder !== null && path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path
