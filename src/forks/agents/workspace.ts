// What an agent works with: its folder, its tools, its memory. Made before it starts and cleared away when it has ended.
import type { EngineOptions } from '../../engine/options.ts'
import type { Session } from '../../engine/session.ts'
import { attempt, makeFolders, type FileSystem, type Result } from '../../disk/fs.ts'
import type { StandardTools } from '../../tools/index.ts'
import type { Judge } from '../../tools/permission/pipeline.ts'
import type { Tool } from '../../tools/tool.ts'
import type { ToolUseBlock } from '../../transcript/content.ts'
import { addWorktree, endWorktree, type Git, type Worktree } from './worktree.ts'
import { agentSections } from './texts.ts'
import { textIn, type AgentType, type MemoryScope } from './types.ts'
import { join } from 'node:path'
import { defaults } from '../../settings/defaults.ts'
import { fenced, pathText } from '../../transcript/fence.ts'

/** A set of tools for another folder, with the permission that goes with it. */
export interface AgentTools extends StandardTools {
  readonly judges: readonly Judge[]
}

export interface WorkspacePorts {
  readonly fs: FileSystem
  readonly git: Git
  readonly places: MemoryPlaces
  /** Where the session works; its commit is where worktrees begin. */
  readonly cwd: string
  /** Folder for worktrees. */
  readonly worktrees: string
  /** Why no worktree may be made: git would run what the repository's own configuration names. Null: it may. */
  readonly worktreeRefusal?: (() => Promise<string | null>) | undefined
  /** The tools of the session, those of agents included. */
  readonly tools: () => readonly Tool[]
  /** A set of its own for another folder, or one with folders that are open to it. */
  readonly toolsIn: (root: string, openFolders: readonly string[]) => AgentTools
  /** Whether a call would change something; left out, whatever its tool does not say to be only looking. */
  readonly changes?: ((call: ToolUseBlock, tool: Tool) => Promise<boolean>) | undefined
  /** The index of an agent's memory as it may be told; left out, what stands in the file. */
  readonly memoryIndex?: IndexAt | undefined
}

interface WorkspaceRequest {
  readonly type: AgentType
  readonly label: string
  readonly name: string | null
  readonly isTeammate: boolean
  readonly wantsWorktree: boolean
  readonly plans: boolean
  /** Text for a name nobody else has. */
  readonly unique: string
}

export interface Workspace {
  readonly options: Partial<EngineOptions>
  readonly worktree: Worktree | undefined
  /** Ends what was left running and keeps what was changed. What is to be said of it, or null. */
  clear(): Promise<string | null>
}

type WorkspaceOutcome =
  | { readonly ok: true; readonly workspace: Workspace }
  | { readonly ok: false; readonly why: string }

/** Tools that only a session that talks with the user has. */
const notForAgents = new Set(['Agent', 'Agents', 'Plan'])

export async function prepareWorkspace(
  ports: WorkspacePorts,
  parent: Session,
  ask: WorkspaceRequest,
): Promise<WorkspaceOutcome> {
  const { type, label, name, isTeammate } = ask
  const listed = ports.tools().filter(({ spec }) => !notForAgents.has(spec.name))
  const missing = (type.tools ?? []).filter((tool) => !ports.tools().some(({ spec }) => spec.name === tool))
  if (missing.length > 0)
    return no(`the agent type ${type.name} wants tools that are not here: ${missing.join(', ')}`)
  const memory =
    type.memory === null
      ? null
      : await openMemory(ports.fs, ports.places, type.memory, type.name, ports.memoryIndex)
  if (memory !== null && !memory.ok) return no(memory.failure.message)
  const refusal = ask.wantsWorktree ? ((await ports.worktreeRefusal?.()) ?? null) : null
  if (refusal !== null) return no(refusal)
  const made = ask.wantsWorktree ? await addWorktree(ports.git, ports.cwd, ports.worktrees, ask.unique) : null
  if (made !== null && !made.ok) return no(made.why)
  const cwd = made === null ? ports.cwd : made.worktree.path
  const openFolders = memory === null ? [] : [memory.memory.folder]
  const own = made === null && openFolders.length === 0 ? null : ports.toolsIn(cwd, openFolders)
  const tools = withOwn(listed, own).filter(
    ({ spec }) =>
      type.tools === null || type.tools.includes(spec.name) || (isTeammate && spec.name === 'SendMessage'),
  )
  const { reminder } = parent.view()
  const { tokens, dollars } = type.limits
  return {
    ok: true,
    workspace: {
      worktree: made?.worktree,
      options: {
        cwd,
        tools,
        formerTools: [],
        caps: { tokens, dollars },
        ...(own === null ? {} : { judges: own.judges }),
        reminder: type.instructions && reminder !== null ? reminder : undefined,
        ...(type.model === null ? {} : { modelId: type.model }),
        system: agentSections({
          type,
          cwd,
          name,
          isWorktree: made !== null,
          isTeammate,
          plans: ask.plans,
          memory: memory?.memory.text ?? null,
        }),
      },
      async clear() {
        await own?.close()
        if (made === null) return null
        const ended = await endWorktree(ports.git, ports.cwd, made.worktree, made.base, label)
        return worktreeText(made.worktree, ended)
      },
    },
  }
}

/** Why a call of one whose plan is not approved may not run, or null. */
export async function unplanned(
  ports: WorkspacePorts,
  call: ToolUseBlock,
  tool: Tool,
): Promise<string | null> {
  const changes =
    ports.changes === undefined
      ? !tool.policy.readOnly && tool.spec.name !== 'SendMessage'
      : await ports.changes(call, tool)
  return changes
    ? `${call.name} was denied: nothing may be changed before your plan is approved. Send it to "leader" with kind plan-approval-request, end your turn, and wait for the answer.`
    : null
}

/** The same list in the same order; where the agent has a set of its own, its hands are those. */
function withOwn(listed: readonly Tool[], own: StandardTools | null): readonly Tool[] {
  const others = new Map((own?.tools ?? []).map((tool) => [tool.spec.name, tool]))
  return listed.map((tool) => others.get(tool.spec.name) ?? tool)
}

function worktreeText(
  { path, branch }: Worktree,
  { files, why }: Awaited<ReturnType<typeof endWorktree>>,
): string {
  if (why !== null) return `[Its worktree ${path} (branch ${branch}) could not be cleared away: ${why}]`
  if (files.length === 0) return '[It changed no file.]'
  return `[Its changes to ${files.length} files are committed on the branch ${branch}; git merge ${branch} takes them over: ${files.join(', ')}]`
}

const no = (why: string) => ({ ok: false, why }) as const

// What agents of one type remember: a folder for each type and scope, with an index that is loaded when one
// starts. No recall, no extraction; the agent writes it with the tools it has, through the same path checks.
//
//   user      ~/.palimpsest/agent-memory/<type>/             everywhere
//   project   <root>/.palimpsest/agent-memory/<type>/        committed, so for all who work on it
//   local     <root>/.palimpsest/agent-memory-local/<type>/  of this project on this machine

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
type IndexAt = (folder: string) => Promise<string>

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
