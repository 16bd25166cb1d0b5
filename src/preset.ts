// The default engine: which store, tools, words, hooks and layers belong together. It reads no file of settings and no
// environment of its own; whoever calls it brings the settings in force.
import { release, type } from 'node:os'
import { join } from 'node:path'
import { machineFileSystem, type FileSystem } from './disk/fs.ts'
import { EngineError } from './engine/api.ts'
import { createEngine, type Engine } from './engine/engine.ts'
import { commandHooks } from './engine/hook-commands.ts'
import type { SectionSource } from './engine/options.ts'
import type { Emit } from './engine/live.ts'
import type { Model } from './model/model.ts'
import { lookUp, type ModelTable } from './model/models.ts'
import { agentTools, attending, type AgentRegistry, type AgentType } from './forks/agents/index.ts'
import type { Directory } from './forks/mailbox/directory.ts'
import { agentRegistry, isMemoryOff } from './preset/agents.ts'
import { modelOf, tableOf } from './preset/model-choice.ts'
import { modelIn, wireIn, type Access } from './preset/reaching.ts'
import { choicesOf, isList, restorationOf, switchesOf, type GivenLayers } from './preset/choices.ts'
import { backgroundTasksOf, jobsOf, type SessionFiles } from './preset/jobs.ts'
import { noExtensions, planning, type Extensions } from './preset/extensions.ts'
import { gitState } from './preset/git-state.ts'
import { sectionDefinitions } from './preset/sections.ts'
import {
  modeBlock,
  permissionGuidance,
  homeOf,
  permissionOf,
  sandboxOf,
  type PermissionSetup,
} from './preset/permission.ts'
import type { ContentRefusal } from './memory/instructions/read.ts'
import { hasSets, type MemoryStore } from './memory/memory-store.ts'
import { memoryWiring, type MemoryWiring } from './preset/memory/wiring.ts'
import { memoryJobsOf, type MemoryJobs } from './preset/memory/jobs.ts'
import { recallWiring } from './preset/memory/recalling.ts'
import type { Project } from './preset/project.ts'
import { renderSections } from './request/sections.ts'
import { defaults } from './settings/defaults.ts'
import { fileStore } from './stores/index.ts'
import type { Permission } from './tools/permission/permission.ts'
import { snipTool, standardTools } from './tools/index.ts'
import { commandEnvironment } from './tools/shell/environment.ts'
import type { BackgroundTasks } from './tools/shell/background-tasks.ts'
import type { Tool } from './tools/tool.ts'
import { systemClock, systemIds, type Clock } from './transcript/ids.ts'
import type { Section } from './transcript/fact.ts'
import type { Store } from './transcript/store.ts'
import { withoutKeys } from './wires/providers.ts'

export type { Access }
export { modelOf, tableOf }

export interface PresetOptions extends PermissionSetup {
  /** The user's folder of this program. */
  readonly home: string
  /** How to reach the provider, or a model of the caller's own. Left out where nothing is asked. */
  readonly model: Model | Access | undefined
  /** Hears what is said outside of a turn. */
  readonly listen?: Emit | undefined
  /** A person sits before it: then what was said is looked through for memories where no setting says otherwise. */
  readonly interactive?: boolean | undefined
  /** Replaces the system prompt whole. */
  readonly system?: string | undefined
  readonly layers?: GivenLayers
  /** Whether the user trusts the project's folder: then its instructions and the team's memories count. */
  readonly trusted?: boolean | undefined
  /** Why the content of an instruction file of the project may not be followed; left out, trust is for the folder. */
  readonly instructionRefusal?: ContentRefusal | undefined
  /** Types of agents; left out, those that are built in. */
  readonly agentTypes?: readonly AgentType[] | undefined
  readonly store?: Store | undefined
  /** Puts something around the store, whichever it is: what is written through it is then seen there. */
  readonly observe?: ((store: Store) => Store) | undefined
  /**
   * Who keeps memories, in place of the folders of files: read, saved, recalled, searched, extracted into and, where it
   * makes change sets, consolidated through the port. Diaries and the commands of `pal memory` are of the folders alone.
   */
  readonly memoryStores?: readonly MemoryStore[] | undefined
  /** Where messages between sessions wait, in place of the project's folder. */
  readonly mail?: Directory | undefined
  readonly fs?: FileSystem | undefined
  readonly clock?: Clock | undefined
  /** Tools, words and reminders from outside the house. */
  readonly extensions?: Extensions | undefined
}

export interface Preset {
  /** Its models may speak different wires: what a session's `request()` gives is that of the wire of its model. */
  readonly engine: Engine
  readonly store: Store
  readonly tools: readonly Tool[]
  readonly modelId: string
  readonly models: ModelTable
  readonly permission: Permission
  readonly agents: AgentRegistry
  /** Commands in the background, of sessions and of their agents. */
  readonly backgroundTasks: BackgroundTasks
  readonly memory: MemoryWiring
  /** What is done for memories in the background. */
  readonly memoryJobs: MemoryJobs
  /** Stops what the tools left running. */
  close(): Promise<void>
}

/** Where the sessions of a project lie. */
export const sessionsFolder = (home: string, project: Project): string =>
  join(home, 'projects', project.slug, 'sessions')

export function projectStore(options: Pick<PresetOptions, 'home' | 'project' | 'settings'>): Store {
  const { sync } = options.settings
  const root = sessionsFolder(options.home, options.project)
  return fileStore({ root, ...(sync === undefined ? {} : { fsync: sync }) })
}

/** Callers without a compiler forget some. */
function missingOption(given: Partial<PresetOptions> | undefined): string | null {
  const needed = {
    home: "the user's folder of this program, such as join(homedir(), '.palimpsest')",
    project: 'what projectOf(machineFileSystem, folder) finds',
    settings: 'an object, {} for the defaults',
    environment: 'the variables commands are started with, such as process.env',
  } as const
  const name = (Object.keys(needed) as (keyof typeof needed)[]).find((key) => given?.[key] === undefined)
  return name === undefined ? null : `\`${name}\` is missing: ${needed[name]}`
}

/** The whole agent as `pal` has it: tools, permissions, memory, agents and layers, from settings. */
export function createPreset(given: PresetOptions): Preset {
  const missing = missingOption(given)
  if (missing !== null) throw new EngineError({ code: 'bad-options', message: `createPreset: ${missing}` })
  // Hooks, commands and git are started with what is left.
  const options = { ...given, environment: withoutKeys(given.environment, given.settings.providers) }
  const parts = partsOf(options)
  sayWhatIsOff(options)
  const {
    registry,
    standard,
    backgroundTasks,
    store,
    tools,
    modelId,
    models,
    permission,
    memory,
    memoryJobs,
  } = parts
  const bare = createEngine({
    ...choicesOf(options.settings),
    ...portsOf(options, parts),
    system: promptOf(options, parts),
  })
  const engine = options.settings.agents === false ? bare : attending(bare, registry)
  const close = async (): Promise<void> => {
    await registry.close()
    await standard.close()
    await backgroundTasks.settled()
    await parts.recalling.close()
  }
  const kept = { store, tools, modelId, models, permission, backgroundTasks, memory, memoryJobs }
  return { engine, agents: registry, ...kept, close }
}

function sayWhatIsOff({ memoryStores, settings, listen }: PresetOptions): void {
  if (memoryStores === undefined) return
  const off = [
    ...(settings.diary === true ? ['diaries need the folders of memories'] : []),
    ...(settings.dream === true && !memoryStores.every(hasSets)
      ? ['consolidation needs a store of memories that makes change sets']
      : []),
  ]
  const message = `${off.join(', and ')}: with the stores given it is off`
  if (off.length > 0) listen?.({ type: 'notice', code: 'memory-stores', message })
}

/** What the engine is made of, each made once and handed on. */
function partsOf(options: PresetOptions) {
  const { home, project, settings, environment, listen, trusted, interactive } = options
  const { fs = machineFileSystem, clock = systemClock } = options
  const setup = permissionSetup(options)
  const ids = systemIds(clock)
  const unique = (): string => ids.uuid()
  const modelId = modelOf(settings)
  const models = tableOf(settings)
  const kept = options.store ?? projectStore(options)
  const store = options.observe?.(kept) ?? kept
  const sessions = sessionsFolder(home, project)
  const files = sessionFiles(options)
  const { instructionRefusal, memoryStores } = options
  const given = { home, trusted, instructionRefusal, memoryStores, interactive }
  const memory = memoryWiring({ ...setup, ...given, fs, clock, unique })
  const permission = permissionOf({ ...setup, sessions, open: memory.open }, fs)
  const recalling = recallWiring({ ...setup, interactive, memory, store, models, modelId, fs, clock })
  const backgroundTasks = backgroundTasksOf({ files, fs, unique, listen })
  const standard = standardTools({
    fs,
    backgroundTasks,
    grants: permission.grants,
    sandbox: sandboxOf({ ...setup, home }, fs),
    environment,
    unique,
    roots: [project.root],
    readRoots: [...memory.readRoots, sessions],
    withheld: memory.withheld,
    home: homeOf(options),
  })
  const switches = switchesOf(settings, options.layers)
  const snips = switches.snip !== false && switches.automaticRemoval !== false
  const { withheld } = memory
  const shared = { fs, clock, ids, models, modelId, permission, backgroundTasks, withheld }
  const registry = agentRegistry({
    ...setup,
    ...shared,
    home,
    trusted,
    listen,
    sessions,
    types: options.agentTypes,
    mail: options.mail,
    remembers: memory.stores.length > 0 || !isMemoryOff(settings, environment),
    tools: () => tools,
  })
  const extensions = options.extensions ?? noExtensions
  const tools: readonly Tool[] = [
    ...memory.tools(standard.tools),
    planning(options.askUser, () => permission),
    ...recalling.tools,
    ...(settings.agents === false ? [] : agentTools(registry, settings.teammates === true)),
    ...(snips ? [snipTool()] : []),
    ...extensions.tools,
  ]
  const used = { fs, clock, store, memory, permission }
  const memoryJobs = memoryJobsOf({ ...setup, ...used, interactive, tools: () => tools })
  return {
    ...shared,
    unique,
    store,
    files,
    memory,
    memoryJobs,
    recalling,
    standard,
    switches,
    snips,
    registry,
    extensions,
    tools,
  }
}

/** What judges calls, here and for whoever works in another folder. */
const permissionSetup = ({
  project,
  settings,
  environment,
  userHome,
  rules,
  askUser,
  keep,
}: PresetOptions): PermissionSetup => ({ project, settings, environment, userHome, rules, askUser, keep })

/** Beside the transcripts of our own store; sessions of any other have a folder in the user's folder of this program. */
const sessionFiles = ({ home, project, store }: PresetOptions): SessionFiles =>
  store === undefined
    ? { folder: sessionsFolder(home, project), isStores: true }
    : { folder: join(home, 'projects', project.slug, 'session-files'), isStores: false }

type Parts = ReturnType<typeof partsOf>

/** Made anew for each session: day, branch and settings are those of its beginning. */
function promptOf(options: PresetOptions, parts: Parts): SectionSource {
  const { project, settings, environment } = options
  const { modelId, clock, memory, extensions, models, fs } = parts
  const { maxOutputTokens = defaults.engine.maxOutputTokens } = settings
  const { gitStatusMs, gitPatientMs } = defaults.preset
  const patienceMs = options.interactive === true ? gitStatusMs : gitPatientMs
  const load = async (): Promise<readonly Section[]> => {
    const own = sectionDefinitions({
      isGit: project.isGit,
      system: `${process.platform} (${type()} ${release()})`,
      shell: environment['SHELL'] ?? null,
      git: options.system === undefined ? await gitState(fs, project, environment, patienceMs) : null,
      language: settings.language,
      maxOutputTokens: Math.min(maxOutputTokens, lookUp(models, modelId)?.maxOutput ?? Infinity),
      now: clock.now(),
      guidance: permissionGuidance,
      memory: memory.guidance,
    })
    return renderSections([...own, ...extensions.sections], { ownPrompt: options.system })
  }
  return { load }
}

/** Everything that does something, and everything it works on. */
function portsOf(options: PresetOptions, parts: Parts) {
  const { project, settings, environment } = options
  const { switches, snips, tools, memory, extensions } = parts
  const hooks = commandHooks(settings.hooks ?? {}, {
    cwd: project.cwd,
    environment: commandEnvironment(environment),
  })
  return {
    store: parts.store,
    modelId: parts.modelId,
    models: parts.models,
    model: modelIn(options),
    wire: wireIn(options, parts.models),
    clock: parts.clock,
    ids: parts.ids,
    cwd: project.cwd,
    listen: options.listen,
    tools,
    companion: parts.registry.companion,
    formerTools: snips ? [] : [snipTool()],
    layers: options.layers !== undefined && isList(options.layers) ? options.layers : switches,
    automaticRemoval: switches.automaticRemoval,
    nativeClearing: switches.nativeClearing,
    // Whoever stands behind an address of the user's own may not know it.
    cacheDiagnostics: settings.cacheDiagnostics ?? settings.baseUrl === undefined,
    keepResults: switches.keepResults,
    hooks,
    folderInstructions: memory.folderInstructions,
    ...jobsOf({
      settings,
      home: options.home,
      files: parts.files,
      hasModel: options.model !== undefined,
      compactsByItself: switches.autocompact !== false && switches.automaticRemoval !== false,
      fs: parts.fs,
      unique: parts.unique,
    }),
    judges: parts.permission.judges,
    situation: (modelId: string) =>
      modeBlock({
        mode: parts.permission.mode(),
        canAnswer: options.askUser !== undefined && parts.permission.mode() !== 'dontAsk',
        cwd: project.cwd,
        modelId,
        now: parts.clock.now(),
      }),
    reminder: memory.reminder,
    recall: parts.recalling.recall,
    afterTurn: options.model === undefined ? undefined : parts.memoryJobs.watcher,
    restoration: { ...restorationOf(settings), restorers: extensions.restorers },
  }
}
