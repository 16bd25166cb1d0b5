// Folders that Write and Edit do not write by themselves: whoever guards such a folder decides what becomes of a text and
// puts it in place. The model uses the ordinary tools and sees an ordinary result; there is no way around the guard,
// since the path gate does not let the tools write there.
import type { OrWhy } from '../../disk/failure.ts'
import { resolve } from 'node:path'
import { defaults } from '../../settings/defaults.ts'
import { failed, succeeded } from '../outcome.ts'
import type { Tool, ToolEnv, ToolOutcome } from '../tool.ts'
import { changed } from './edit.ts'

export interface Guarded {
  /** Where the file really lies. */
  readonly path: string
  readonly text: string
  readonly sha256: string
}

export type GuardedWrite = OrWhy<{
  readonly path: string
  /** What stands there now. */
  readonly file: { readonly sha256: string; readonly mtimeMs: number; readonly bytes: number } | null
  /** For the model. */
  readonly said: string
  /** For those who look on. */
  readonly memory?: ToolOutcome['memory']
}>

export interface FileGuard {
  /** Whether an absolute path is the guard's. */
  covers(path: string): boolean
  /** Made by the program itself: there is nothing to write, however old the look at it. */
  isGenerated(path: string): boolean
  /** The file as it is; null where there is none. */
  read(path: string): Promise<OrWhy<{ readonly file: Guarded | null }>>
  /** `expected`: the hash of what the text was made from, null for none. */
  write(
    change: { readonly path: string; readonly text: string; readonly expected: string | null },
    env: ToolEnv,
    signal: AbortSignal,
  ): Promise<GuardedWrite>
}

type GuardTools = (tools: readonly Tool[], guard: FileGuard, home: string | undefined) => readonly Tool[]

/** The tools, with the two that write going through the guard where it stands. */
export const guardedTools: GuardTools = (...given) => guarded(['Write', 'Edit'], through, ...given)

/** The same, with Read going through the guard too: for what lies in no folder of the disk. */
export const readThrough: GuardTools = (...given) => guarded(['Read'], shown, ...given)

async function shown(
  guard: FileGuard,
  path: string,
  input: Readonly<Record<string, unknown>>,
  env: ToolEnv,
): Promise<ToolOutcome> {
  const read = await guard.read(path)
  if (!read.ok) return failed(read.why)
  if (read.file === null) return failed(`${path} was not found.`)
  const { text, sha256 } = read.file
  const lines = text.replace(/\n$/u, '').split('\n')
  const offset = typeof input['offset'] === 'number' ? input['offset'] : 1
  const limit = typeof input['limit'] === 'number' ? input['limit'] : defaults.tools.readPageLines
  const page = lines.slice(offset - 1, offset - 1 + limit)
  const part = page.length === lines.length ? null : { offset, limit }
  env.readFiles.set(path, { sha256, mtimeMs: 0, bytes: Buffer.byteLength(text), part, callId: env.callId })
  const rest = offset - 1 + page.length < lines.length ? `\n[${lines.length} lines in all]` : ''
  return succeeded(`${page.map((line, at) => `${offset + at}\t${line}`).join('\n')}${rest}`)
}

/** The absolute path that a call names. */
export function pathIn(
  input: Readonly<Record<string, unknown>>,
  cwd: string,
  home: string | undefined,
): string | null {
  const path = input['file_path'] ?? input['path']
  if (typeof path !== 'string' || path.includes('\0')) return null
  return path.startsWith('~/') && home !== undefined ? resolve(home, path.slice(2)) : resolve(cwd, path)
}

/** Those of these names, with what is done instead where the guard stands. */
function guarded(
  names: readonly string[],
  instead: typeof through,
  ...[tools, guard, home]: Parameters<GuardTools>
): readonly Tool[] {
  return tools.map((tool) => {
    if (!names.includes(tool.spec.name)) return tool
    return {
      ...tool,
      parse: (input) => tool.parse(input),
      async run(input, env, signal) {
        const path = pathIn(input, env.cwd, home)
        if (path === null || !guard.covers(path)) return tool.run(input, env, signal)
        return await instead(guard, path, input, env, signal)
      },
    }
  })
}

async function through(
  guard: FileGuard,
  path: string,
  input: Readonly<Record<string, unknown>>,
  env: ToolEnv,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  if (guard.isGenerated(path))
    return succeeded(`${path} is generated from the other files; there is nothing to write.`)
  const now = await guard.read(path)
  if (!now.ok) return failed(now.why)
  const { file } = now
  const known = file === null ? undefined : env.readFiles.get(file.path)
  if (file !== null && known === undefined)
    return failed(`${path} exists and was not read in this session. Read it first.`)
  if (file !== null && known?.sha256 !== file.sha256)
    return failed(`${path} changed since it was read. Read it again.`)
  const text = textFrom(input, file)
  if (!text.ok) return failed(text.why)
  const done = await guard.write({ path, text: text.text, expected: file?.sha256 ?? null }, env, signal)
  if (!done.ok) return failed(done.why)
  if (done.file !== null) env.readFiles.set(done.path, { ...done.file, part: null, callId: '' })
  return done.memory === undefined ? succeeded(done.said) : { ...succeeded(done.said), memory: done.memory }
}

function textFrom(
  input: Readonly<Record<string, unknown>>,
  file: Guarded | null,
): OrWhy<{ readonly text: string }> {
  const { content, old_string: old, new_string: next } = input
  if (typeof content === 'string') return { ok: true, text: content }
  if (file === null) return { ok: false, why: 'It was not found. Use Write to create it.' }
  if (typeof old !== 'string' || typeof next !== 'string' || old === '' || old === next)
    return { ok: false, why: '`old_string` must be a text of the file, and `new_string` another.' }
  return changed(file.text, {
    file_path: file.path,
    old_string: old,
    new_string: next,
    replace_all: input['replace_all'] === true,
  })
}
