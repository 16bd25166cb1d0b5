// What an agent works with: its folder, its tools, its memory. Made before it starts and cleared away when it has ended.
import type { EngineOptions } from '../../engine/options.ts'
import type { Session } from '../../engine/session.ts'
import { type FileSystem, type OrWhy } from '../../disk/fs.ts'
import type { StandardTools } from '../../tools/index.ts'
import type { Judge } from '../../tools/permission/pipeline.ts'
import type { Tool } from '../../tools/tool.ts'
import type { ToolUseBlock } from '../../transcript/content.ts'
import { openMemory, type IndexAt, type MemoryPlaces } from './agent-memory.ts'
import { addWorktree, endWorktree, type Git, type Worktree } from './worktree.ts'
import { agentSections } from './texts.ts'
import { type AgentType } from './types.ts'

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

type WorkspaceOutcome = OrWhy<{ readonly workspace: Workspace }>

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
