// Files as they are now, through the real Read tool: its limits, its gate, its redaction and the caller's permission hold
// here as for the model. And where the table of read files says that a file is shown, and whether it still is.
import type { Slice } from '../core.ts'
import { runnableTools } from '../options.ts'
import type { FileSource, ReadNow } from './restorer.ts'
import type { Fold } from '../../projection/fold.ts'
import { createReadFiles } from '../../tools/files/read-files.ts'
import { permitBy } from '../../tools/permission/pipeline.ts'
import { type Permit, runCalls } from '../../tools/run.ts'
import type { ReadFile, Tool, ToolEnv } from '../../tools/tool.ts'
import { type ToolUseBlock, type UserBlock, textsIn } from '../../transcript/content.ts'

const readTool = 'Read'

export interface ReadFileNow {
  readonly content: readonly UserBlock[]
  /** How it is now; null for what is no text. */
  readonly file: ReadFile | null
}

export function readThrough(core: Slice<'options' | 'readFiles' | 'view'>): FileSource {
  return {
    recent: () =>
      core.readFiles
        .entries()
        .map(([path]) => path)
        .reverse(),
    read: async (paths, signal) => {
      const found = new Map<string, ReadNow>()
      for (const [path, { content, file }] of await readFilesNow(core, paths, signal)) {
        const text = textsIn(content)
        if (text.length > 0) found.set(path, { text: text.join('\n'), file })
      }
      return found
    },
  }
}

/** Those of the files that can be read, by the path they were asked for under. */
export async function readFilesNow(
  core: Slice<'options' | 'view'>,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, ReadFileNow>> {
  const found = new Map<string, ReadFileNow>()
  const tools = runnableTools(core.options, core.view().tools).filter((tool) => tool.spec.name === readTool)
  if (tools.length === 0) return found
  const readFiles = createReadFiles()
  const { cwd, clock, judges = [] } = core.options
  const env = (call: ToolUseBlock): ToolEnv => ({
    cwd,
    callId: call.id,
    readFiles,
    spill: null,
    expand: async () => ({ ok: false, why: 'nothing is expanded here' }),
    isShown: () => false,
    report: () => undefined,
    now: () => clock.now(),
  })
  const calls = paths.map((path): ToolUseBlock => ({
    type: 'tool_use',
    id: path,
    name: readTool,
    input: { file_path: path },
  }))
  const mayRun = (call: ToolUseBlock, tool: Tool): Promise<Permit> => permitBy(judges, call, tool, signal)
  for await (const { call, outcome } of runCalls(calls, { tools, env, signal, mayRun })) {
    if (outcome.isError) continue
    const [, file = null] = readFiles.entries().find(([path]) => path === call.id) ?? []
    found.set(call.id, { content: outcome.content, file })
  }
  return found
}

export const attachmentRef = (place: number): string => `attachment-${place}`

/** Whether the result of a call, or an attachment, stands in the view as it came, so that it can be pointed at. */
export function isShown(fold: Fold, ref: string): boolean {
  const [, place] = /^attachment-(\d+)$/.exec(ref) ?? []
  for (const part of fold.parts()) {
    if (part.by !== null) continue
    if (place !== undefined && part.from === Number(place)) return true
    if (part.kind !== 'result') continue
    const isHere = part.blocks.some(
      (block) =>
        block.type === 'tool_result' &&
        'is_error' in block &&
        block.tool_use_id === ref &&
        block.cleared === undefined,
    )
    if (isHere) return true
  }
  return false
}
