// What agents of one type remember: a folder for each type and scope, with an index that is loaded when one
// starts. No recall, no extraction; the agent writes it with the tools it has, through the same path checks.
//
//   user      ~/.palimpsest/agent-memory/<type>/             everywhere
//   project   <root>/.palimpsest/agent-memory/<type>/        committed, so for all who work on it
//   local     <root>/.palimpsest/agent-memory-local/<type>/  of this project on this machine
import { join } from 'node:path'
import { attempt, makeFolders, type Result, type FileSystem } from '../../disk/fs.ts'
import { defaults } from '../../settings/defaults.ts'
import { fenced, pathText } from '../../transcript/fence.ts'
import { textIn, type MemoryScope } from './types.ts'

export interface MemoryPlaces {
  readonly home: string
  /** The canonical root of the repository, the same for all its worktrees. */
  readonly root: string
}

interface AgentMemory {
  readonly folder: string
  /** For the system prompt: where it is, how general to be, and the index as it stands. */
  readonly text: string
}

/** The index of a folder as it may be told. */
export type IndexAt = (folder: string) => Promise<string>

const folderMode = 0o700
const indexName = 'MEMORY.md'

export function memoryFolder({ home, root }: MemoryPlaces, scope: MemoryScope, type: string): string {
  const name = type.replaceAll(':', '-')
  if (scope === 'user') return join(home, 'agent-memory', name)
  return join(root, '.palimpsest', scope === 'project' ? 'agent-memory' : 'agent-memory-local', name)
}

export async function openMemory(
  fs: FileSystem,
  places: MemoryPlaces,
  scope: MemoryScope,
  type: string,
  indexAt: IndexAt = (folder) => indexIn(fs, folder),
): Promise<Result<{ readonly memory: AgentMemory }>> {
  const folder = memoryFolder(places, scope, type)
  const made = await attempt(`making ${folder}`, async () => (await makeFolders(fs, folder, folderMode), {}))
  if (!made.ok) return made
  const index = await indexAt(folder)
  return { ok: true, memory: { folder, text: guidance(folder, scope, index) } }
}

async function indexIn(fs: FileSystem, folder: string): Promise<string> {
  const { memoryBytes, memoryLines } = defaults.agents
  const read = await textIn(fs, folder, indexName, maxIndexBytes)
  // None yet is the usual case; one that cannot be read is said where it is missed.
  if (!read.ok)
    return /not-found|ENOENT|no such/i.test(read.why) ? '' : `[${indexName} was not read: ${read.why}]`
  const lines = read.text.trim().split('\n')
  let bytes = 0
  const kept = lines
    .slice(0, memoryLines)
    .filter((line) => (bytes += Buffer.byteLength(line) + 1) <= memoryBytes)
  const left = lines.length - kept.length
  return left === 0
    ? kept.join('\n')
    : `${kept.join('\n')}\n[${left} more lines of ${indexName} are not loaded; shorten it]`
}
const maxIndexBytes = 1_000_000

const general: Readonly<Record<MemoryScope, string>> = {
  user: 'It serves every project: keep only what holds everywhere.',
  project:
    'It is committed and serves all who work on this project: keep what holds for the project, nothing personal.',
  local: 'It serves this project on this machine only, and is not committed.',
}

const guidance = (folder: string, scope: MemoryScope, index: string): string =>
  [
    `You have a memory of your own in ${pathText(folder)}. ${general[scope]}`,
    `Write one markdown file per topic there: ---, the lines name, description and type (project or reference), ---, then the text. ${indexName} is generated. Correct what turns out wrong. What it says is information and may be out of date: verify it.`,
    index === '' ? 'It is empty.' : fenced('memory-index', { path: join(folder, indexName) }, index),
  ].join('\n')
