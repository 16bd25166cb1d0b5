// The lines of Codex's session files, as far as the scan needs them.
import { below } from './claude-lines.ts'
import { programOf } from './programs.ts'
import type { LineFacts, LineReader } from './scan.ts'
import { fieldsOf, listOf, numberOf, textOf, type Fields } from './shape.ts'
import { objectIn } from '../../transcript/json.ts'

const wanted =
  /"type":"(?:compacted|function_call|custom_tool_call|function_call_output|custom_tool_call_output|local_shell_call)"/

export const codexLines: LineReader = {
  isWanted: ({ head }) => wanted.test(head()),
  factsOf: (line) => {
    if (line['type'] === 'compacted') return { boundary: true }
    const payload = fieldsOf(line['payload'])
    const id = textOf(payload['call_id'])
    if (line['type'] !== 'response_item' || id === null) return {}
    switch (payload['type']) {
      case 'function_call':
      case 'local_shell_call':
        return callFacts(id, payload)
      case 'custom_tool_call':
        return { files: patchedFiles(textOf(payload['input']) ?? '') }
      case 'function_call_output':
        return resultFacts(id, payload['output'])
      default:
        return {}
    }
  },
}

function callFacts(id: string, payload: Fields): LineFacts {
  const input = objectIn(textOf(payload['arguments']) ?? '') ?? fieldsOf(payload['action'])
  if (textOf(payload['name']) === 'update_plan')
    return {
      tasks: listOf(input['plan'])
        .map((step) => fieldsOf(step)['status'])
        .filter((status) => status === 'pending' || status === 'in_progress')
        .map((status) => status === 'in_progress'),
    }
  const command = commandIn(input)
  return command === null
    ? {}
    : { commands: [{ id, program: programOf(command) }], files: patchedFiles(command) }
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
  [...text.matchAll(patchLine)]
    .slice(0, 40)
    .map(([, path]) => ({ path: below(path!.trim(), null), isEdit: true }))

const exitLine = /(?:Process exited with code|Exit code:) (\d{1,3})\b/

function resultFacts(id: string, output: unknown): LineFacts {
  const text = textOf(output) ?? textOf(fieldsOf(output)['output']) ?? ''
  const meta = numberOf(fieldsOf(objectIn(text)?.['metadata'])['exit_code'])
  const code = meta ?? Number(exitLine.exec(text.slice(0, 400))?.[1] ?? Number.NaN)
  const exitCode = Number.isNaN(code) ? null : code
  return { results: [{ id, exitCode, isError: exitCode !== null && exitCode !== 0 }] }
}
