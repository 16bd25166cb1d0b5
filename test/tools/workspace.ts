// A workspace for tests: a folder of its own, the file tools behind a real gate, and what they are given.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect } from 'vitest'
import { machineFileSystem, type FileSystem } from '../../src/disk/fs.ts'
import type { Tool, ToolEnv, ToolOutcome } from '../../src/tools/tool.ts'
import { editTool } from '../../src/tools/files/edit.ts'
import { createPathGate, type PathGateOptions } from '../../src/tools/files/path-gate.ts'
import { createReadFiles } from '../../src/tools/files/read-files.ts'
import { readTool } from '../../src/tools/files/read.ts'
import { writeTool } from '../../src/tools/files/write.ts'

const base = mkdtempSync(join(tmpdir(), 'pal-files-'))
afterAll(() => rmSync(base, { recursive: true }))
const never = new AbortController().signal
let count = 0

export interface Workspace {
  readonly root: string
  readonly env: ToolEnv
  readonly shown: Set<string>
  readonly read: (input: Record<string, unknown>) => Promise<ToolOutcome>
  readonly write: (input: Record<string, unknown>) => Promise<ToolOutcome>
  readonly edit: (input: Record<string, unknown>) => Promise<ToolOutcome>
  readonly put: (name: string, bytes: string | Uint8Array) => string
  readonly text: (name: string) => string
}

export function openWorkspace(
  more: Partial<PathGateOptions> = {},
  fs: FileSystem = machineFileSystem,
): Workspace {
  const root = join(base, `w${++count}`, 'proj')
  mkdirSync(root, { recursive: true })
  const gate = createPathGate({ fs, unique: () => `t${++count}`, ...more })
  const shown = new Set<string>()
  const env: ToolEnv = {
    cwd: root,
    callId: 'x',
    readFiles: createReadFiles(),
    spill: null,
    expand: async () => ({ ok: false, why: '' }),
    isShown: (id) => shown.has(id),
    report: () => {},
    now: () => 0,
  }
  const use = (tool: Tool) => async (input: Record<string, unknown>) => {
    const parsed = tool.parse(input)
    if (!parsed.ok) throw new Error(parsed.why)
    return await tool.run(parsed.input, { ...env, callId: `call_${++count}` }, never)
  }
  const put = (name: string, bytes: string | Uint8Array) => {
    writeFileSync(join(root, name), bytes)
    return name
  }
  return {
    root,
    env,
    shown,
    read: use(readTool(gate)),
    write: use(writeTool(gate)),
    edit: use(editTool(gate)),
    put,
    text: (name) => readFileSync(join(root, name), 'utf8'),
  }
}
export const textOf = (outcome: ToolOutcome) =>
  outcome.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
export const refused = (outcome: ToolOutcome, like: RegExp) => {
  expect(textOf(outcome)).toMatch(like)
  expect(outcome.isError).toBe(true)
}
