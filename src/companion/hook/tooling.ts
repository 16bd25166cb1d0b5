// After a tool of the client's: what an audit left is said once; and, where the user has switched it on, a long output is
// shortened in its own shape, with the original kept in the session's folder.
import { join } from 'node:path'
import { remainder } from './compacting.ts'
import { createFile, ownFolder } from './files.ts'
import type { HookRun, HookOutput } from './hook-protocol.ts'
import { isRecord, textOf } from '../../transcript/json.ts'

const limits = {
  least: 8000,
  /** Above, the client itself keeps the output in a file. */
  most: 30_000,
  endChars: 2500,
  errorLines: 30,
  lineChars: 300,
}

export function afterTool(run: HookRun): HookOutput {
  const rest = remainder(run)
  const result = run.options.shrink ? shrunk(run) : undefined
  return { ...rest, ...(result === undefined ? {} : { result }) }
}

function shrunk(run: HookRun): unknown {
  const tool = textOf(run.input.fields['tool_name'], 200)
  const response = run.input.fields['tool_response']
  if (tool === 'Bash' && isRecord(response)) {
    const stdout = textOf(response['stdout'])
    if (stdout === null || response['isImage'] === true) return undefined
    const text = shortened(run, stdout)
    return text === null ? undefined : { ...response, stdout: text }
  }
  if (tool === null || !tool.startsWith('mcp__')) return undefined
  return shortenedParts(run, response)
}

/** A text, or a list with one long text in it; whatever else is there stays as it is. */
function shortenedParts(run: HookRun, response: unknown): unknown {
  if (typeof response === 'string') return shortened(run, response) ?? undefined
  if (!Array.isArray(response)) return undefined
  let isChanged = false
  const parts = response.map((part: unknown) => {
    if (isChanged || !isRecord(part) || part['type'] !== 'text') return part
    const text = shortened(run, textOf(part['text']) ?? '')
    if (text === null) return part
    isChanged = true
    return { ...part, text }
  })
  return isChanged ? parts : undefined
}

/** Null where it stays, also where the original cannot be kept. */
function shortened({ state, input }: HookRun, text: string): string | null {
  if (text.length < limits.least || text.length >= limits.most) return null
  const folder = join(state.folder, 'originals')
  const id = (textOf(input.fields['tool_use_id'], 200) ?? '').replaceAll(/[^\w-]/g, '')
  const path = join(folder, `${id === '' ? state.unique() : id}.txt`)
  if (!ownFolder(folder) || !createFile(path, Buffer.from(text))) return null
  const [head, tail] = [text.slice(0, limits.endChars), text.slice(-limits.endChars)]
  const middle = text.slice(limits.endChars, -limits.endChars)
  const errors = middle
    .split('\n')
    .filter((line) => errorLine.test(line))
    .slice(0, limits.errorLines)
    .map((line) => line.slice(0, limits.lineChars))
  const note = `[${middle.length} characters left out${errors.length === 0 ? '' : `; their lines with errors follow`}. The whole output is in ${path}]`
  return [head, note, ...errors, ...(errors.length === 0 ? [] : ['[end of these lines]']), tail]
    .join('\n')
    .toWellFormed()
}

const errorLine = /\b(?:error|exception|fail(?:ed|ure)?|fatal|panic|traceback|denied|cannot|refused)\b/i
