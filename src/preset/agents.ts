// Agents as the preset wires them: which tools and permissions one has in a folder of its own, where worktrees and
// mailboxes lie, and who is asked what it is at.
import { join } from 'node:path'
import type { FileSystem } from '../disk/fs.ts'
import { machineProcesses } from '../disk/processes.ts'
import { findProgram } from '../disk/programs.ts'
import { locateUnder } from '../disk/under-root.ts'
import type { Emit } from '../engine/live.ts'
import { builtInTypes, cheapestModel, gitIn, AgentRegistry, type AgentType } from '../forks/agents/index.ts'
import type { AgentTools } from '../forks/agents/workspace.ts'
import { createDirectory, type Directory } from '../forks/mailbox/directory.ts'
import { loadIndex } from '../memory/keeping/index-keeping.ts'
import { openFolderStore, type FolderStore } from '../memory/keeping/folder-store.ts'
import { indexName } from '../memory/memory.ts'
import { agentPlaceAt, remoteVariable } from '../memory/place.ts'
import type { ModelTable } from '../model/models.ts'
import { guardedTools, pathIn } from '../tools/files/guard.ts'
import { standardTools } from '../tools/index.ts'
import { actingDoubt } from '../tools/git/settings.ts'
import type { Permission } from '../tools/permission/permission.ts'
import { judgedCall } from '../tools/permission/pipeline.ts'
import { commandEnvironment, readOnlyEnvironment } from '../tools/shell/environment.ts'
import type { BackgroundTasks } from '../tools/shell/background-tasks.ts'
import type { Tool } from '../tools/tool.ts'
import type { Clock, Ids } from '../transcript/ids.ts'
import { memoryGuard } from './memory/guard.ts'
import { withheldIn } from './memory/withheld.ts'
import { homeOf, sandboxOf, type PermissionSetup } from './permission.ts'

export interface RegistrySetup extends PermissionSetup {
  readonly home: string
  readonly fs: FileSystem
  readonly clock: Clock
  readonly ids: Ids
  readonly models: ModelTable
  readonly modelId: string
  readonly permission: Permission
  readonly backgroundTasks: BackgroundTasks
  /** The folder of the project's sessions, where large results of agents are kept too. */
  readonly sessions: string
  readonly trusted?: boolean | undefined
  readonly types?: readonly AgentType[] | undefined
  readonly mail?: Directory | undefined
  /** Whether anything is remembered here: where memory is off no agent has one either. */
  readonly remembers: boolean
  readonly listen?: Emit | undefined
  readonly tools: () => readonly Tool[]
  /** Memories of the conversation that wait for the user. */
  readonly withheld: (real: string) => Promise<ReadonlySet<string>>
}

/** Switched off by a setting, or by where it runs. */
export const isMemoryOff = (
  { memory }: RegistrySetup['settings'],
  environment: RegistrySetup['environment'],
): boolean => memory === false || (environment[remoteVariable] ?? '').trim() !== ''

/** Where the messages for the sessions of a project wait. */
const mailFolder = (home: string, slug: string): string => join(home, 'projects', slug, 'mail')

export function agentRegistry(setup: RegistrySetup): AgentRegistry {
  const { home, project, fs, ids, clock, listen } = setup
  const unique = (): ReturnType<Ids['uuid']> => ids.uuid()
  const now = (): number => clock.now()
  return new AgentRegistry({
    types: (setup.types ?? builtInTypes).map((type) => (setup.remembers ? type : { ...type, memory: null })),
    fs,
    git: gitIn(commandEnvironment(setup.environment), [project.root, project.cwd]),
    places: { home, root: project.shared?.root ?? project.root },
    cwd: project.cwd,
    worktrees: join(home, 'worktrees', project.slug),
    worktreeRefusal: () => worktreeRefusal(setup),
    tools: setup.tools,
    toolsIn: (root, openFolders) => toolsIn(setup, root, openFolders),
    changes: async (sent, tool) => {
      const { call } = judgedCall(sent, tool)
      return (await setup.permission.judge(call, tool.policy.readOnly, 'plan')).kind === 'deny'
    },
    memoryIndex: (folder) => agentIndex(keeperAt(setup, folder)),
    unique,
    now,
    directory:
      setup.mail ??
      createDirectory(mailFolder(home, project.slug), { fs, now, unique, processes: machineProcesses }),
    listen,
    // A phrase is for whoever looks; where nobody does, nothing is asked.
    progressModel: listen === undefined ? null : cheapestModel(setup.models, setup.modelId),
  })
}

/** A worktree is checked out, and that runs the filters a repository's own configuration names. */
async function worktreeRefusal({ fs, project, trusted, environment }: RegistrySetup): Promise<string | null> {
  const own = readOnlyEnvironment(environment, [project.root, project.cwd])
  const program = trusted === true ? null : findProgram('git', own['PATH'], [project.root])
  const acts =
    program === null ? null : await actingDoubt(fs, project.root, project.cwd, { program, environment: own })
  return acts === null
    ? null
    : `no worktree is made: ${acts}, and the project is not trusted. ` +
        'Look at that file; `pal trust` lets the project count, or start the agent without a worktree'
}

/** The same rules and the same mode, judged from another folder; the agent's memory is its own to keep. */
function toolsIn(setup: RegistrySetup, root: string, openFolders: readonly string[]): AgentTools {
  const { fs, project, permission, environment, ids } = setup
  const here = root === project.cwd ? project : { ...project, cwd: root, root }
  const own = permission.at({
    root: here.root,
    cwd: here.cwd,
    open: async ({ name, input }) => {
      const path = ['Read', 'Write', 'Edit'].includes(name) ? pathIn(input, root, homeOf(setup)) : null
      return path !== null && (await liesIn(fs, openFolders, path)) ? 'it is the memory of the agent' : null
    },
  })
  const keepers = openFolders.map((folder) => keeperAt(setup, folder))
  const standard = standardTools({
    fs,
    backgroundTasks: setup.backgroundTasks,
    grants: own.grants,
    // A worktree keeps its commits in the repository it came from.
    sandbox: sandboxOf({ ...setup, project: here }, fs, here === project ? [] : [join(project.root, '.git')]),
    environment,
    unique: () => ids.uuid(),
    roots: [here.root],
    readRoots: [...openFolders, setup.sessions],
    withheld: async (real) =>
      new Set([...(await setup.withheld(real)), ...(await withheldIn(fs, keepers)(real))]),
    home: homeOf(setup),
  })
  const guard = memoryGuard({ stores: keepers, diary: null })
  return { ...standard, tools: guardedTools(standard.tools, guard, homeOf(setup)), judges: own.judges }
}

/** What an agent keeps passes the same gate as every memory. */
const keeperAt = ({ home, fs, clock, ids }: RegistrySetup, folder: string): FolderStore =>
  openFolderStore(agentPlaceAt(home, folder), {
    fs,
    clock,
    unique: () => ids.uuid(),
    processes: machineProcesses,
  })

async function agentIndex(keeper: FolderStore): Promise<string> {
  const index = await loadIndex(keeper)
  return index.ok ? index.text.trim() : `[${indexName} was not read: ${index.failure.message}]`
}

async function liesIn(fs: FileSystem, folders: readonly string[], path: string): Promise<boolean> {
  for (const folder of folders) if ((await locateUnder(fs, folder, path)).ok) return true
  return false
}
