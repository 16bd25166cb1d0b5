// The default engine: which store, tools, words, hooks and layers belong together. It reads no file of settings and no
// environment of its own; whoever calls it brings the settings in force (law N1).
import { join } from 'node:path'
import { machineFileSystem, type FileSystem } from './disk/fs.ts'
import { createEngine, type Engine } from './engine/engine.ts'
import { commandHooks } from './engine/hook-commands.ts'
import type { Emit } from './engine/live.ts'
import { policiesOf } from './engine/options.ts'
import { anthropicModel } from './model/anthropic.ts'
import type { Model } from './model/model.ts'
import { modelTable, type ModelTable } from './model/models.ts'
import type { WireThinking } from './model/wire.ts'
import { agentTools, attending, type AgentType, type Office } from './forks/agents/index.ts'
import { officeOf } from './preset/agents.ts'
import { jobsOf } from './preset/jobs.ts'
import { asMeant, noExtensions, planning, type Extensions } from './preset/extensions.ts'
import { sectionDefinitions } from './preset/sections.ts'
import { guidanceOf, permissionOf, sandboxOf, type PermissionSetup } from './preset/permission.ts'
import { memoryDesk, type MemoryDesk } from './preset/memory/desk.ts'
import { recallingDesk } from './preset/memory/recalling.ts'
import type { Project } from './preset/project.ts'
import type { Layer } from './projection/layer.ts'
import { standardLayers, type LayerOptions } from './projection/layers/index.ts'
import { createSections } from './request/sections.ts'
import { defaults } from './settings/defaults.ts'
import type { Settings } from './settings/schema.ts'
import { fileStore } from './stores/index.ts'
import type { Permission } from './tools/permission/index.ts'
import { snipTool, standardTools } from './tools/index.ts'
import { commandEnvironment } from './tools/shell/environment.ts'
import type { Tool } from './tools/tool.ts'
import { systemClock, systemIds, type Clock, type Ids } from './transcript/ids.ts'
import type { Store } from './transcript/store.ts'

export interface Access {
  readonly apiKey?: string | undefined
  readonly authToken?: string | undefined
  readonly baseUrl?: string | undefined
}

export interface PresetOptions extends PermissionSetup {
  /** The user's folder of this program. */
  readonly home: string
  /** How to reach the provider, or a model of the caller's own. Left out where nothing is asked. */
  readonly model: Model | Access | undefined
  /** Hears what is said outside of a turn. */
  readonly listen?: Emit | undefined
  /** Replaces the system prompt whole. */
  readonly system?: string | undefined
  /** Switches of the standard layers, or layers of the caller's own. */
  readonly layers?: LayerOptions | readonly Layer[] | undefined
  /** Whether the user trusts the project's folder: then its instructions and the team's memories count. */
  readonly trusted?: boolean | undefined
  /** Types of agents; left out, those that are built in. */
  readonly agentTypes?: readonly AgentType[] | undefined
  readonly store?: Store | undefined
  readonly fs?: FileSystem | undefined
  readonly clock?: Clock | undefined
  readonly ids?: Ids | undefined
  readonly random?: (() => number) | undefined
  readonly platform?: string | undefined
  /** Tools, words and reminders from outside the house. */
  readonly extensions?: Extensions | undefined
}

export interface Preset {
  readonly engine: Engine
  readonly store: Store
  readonly tools: readonly Tool[]
  readonly modelId: string
  readonly models: ModelTable
  readonly permission: Permission
  readonly agents: Office
  readonly memory: MemoryDesk
  /** Stops what the tools left running. */
  close(): Promise<void>
}

/** Where the sessions of a project lie. */
export const sessionsFolder = (home: string, project: Project): string =>
  join(home, 'projects', project.slug, 'sessions')

export const modelOf = (settings: Settings): string => settings.model ?? defaults.preset.model

export function tableOf(settings: Settings): ModelTable {
  return modelTable(
    (settings.models ?? []).map(({ prices, ...row }) => ({ ...row, ...(prices && { prices }) })),
  )
}

export function projectStore(options: Pick<PresetOptions, 'home' | 'project' | 'settings'>): Store {
  const { sync } = options.settings
  const root = sessionsFolder(options.home, options.project)
  return fileStore({ root, ...(sync === undefined ? {} : { fsync: sync }) })
}

export function createPreset(options: PresetOptions): Preset {
  const { project, settings, environment, fs = machineFileSystem, clock = systemClock } = options
  const ids = options.ids ?? systemIds(clock)
  const modelId = modelOf(settings)
  const models = tableOf(settings)
  const store = options.store ?? projectStore(options)
  const sessions = sessionsFolder(options.home, project)
  const permission = permissionOf({ ...options, sessions }, fs)
  const memory = memoryDesk({ ...options, fs, clock, unique: () => ids.uuid() })
  const recalling = recallingDesk({ desk: memory, store, settings, models, modelId, fs, clock })
  const standard = standardTools({
    fs,
    grants: permission.grants,
    sandbox: sandboxOf(options, fs),
    environment,
    unique: () => ids.uuid(),
    roots: [project.root],
    readRoots: [...memory.readRoots, sessions],
    home: environment['HOME'],
  })
  const switches = { ...switchesOf(settings), ...givenSwitches(options.layers) }
  const snips = switches.snip !== false && switches.automaticRemoval !== false
  const office = officeOf({
    ...options,
    fs,
    clock,
    ids,
    models,
    modelId,
    permission,
    types: options.agentTypes,
    tools: () => tools,
  })
  const others = settings.agents === false ? [] : agentTools(office)
  const extensions = options.extensions ?? noExtensions
  const tools: readonly Tool[] = [
    ...memory.tools(standard.tools),
    planning(options.askUser, () => permission),
    ...recalling.tools,
    ...others,
    ...(snips ? [snipTool()] : []),
    ...extensions.tools,
  ]
  const sections = createSections(
    [
      ...sectionDefinitions({
        cwd: project.cwd,
        isGit: project.isGit,
        platform: options.platform ?? process.platform,
        modelId,
        now: clock.now(),
        guidance: guidanceOf(options),
        memory: memory.guidance,
      }),
      ...extensions.sections,
    ],
    { ownPrompt: options.system },
  )
  const bare = createEngine({
    store,
    modelId,
    model: modelIn(options),
    listen: options.listen,
    system: sections.render(),
    tools,
    companion: office.companion,
    formerTools: snips ? [] : [snipTool()],
    layers: layersOf(options.layers, switches, tools),
    automaticRemoval: switches.automaticRemoval,
    nativeClearing: switches.native,
    hooks: memory.hooks(
      commandHooks(settings.hooks ?? {}, {
        cwd: project.cwd,
        environment: commandEnvironment(environment),
      }),
    ),
    ...jobsOf({
      ...options,
      sessions: options.store === undefined ? sessions : null,
      hasModel: options.model !== undefined,
      compactsByItself: switches.autocompact !== false && switches.automaticRemoval !== false,
      fs,
      unique: () => ids.uuid(),
    }),
    mayRun: asMeant(extensions, memory.mayRun(permission)),
    reminder: memory.reminder,
    recall: recalling.recall,
    restoration: {
      files: settings.restoreFiles === undefined ? undefined : settings.restoreFiles > 0,
      fileCount: settings.restoreFiles,
      fileTokens: settings.restoreFileTokens,
      restorers: extensions.restorers,
    },
    caps: { dollars: settings.maxCost, tokens: settings.maxTokens },
    cwd: project.cwd,
    models,
    window: settings.window,
    threshold: settings.threshold,
    thrift: thriftOf(settings),
    pressureClearing: settings.pressureClearing,
    maxOutputTokens: settings.maxOutputTokens,
    thinking: thinkingOf(settings),
    effort: settings.effort,
    cacheLifetime: settings.cacheLifetime === 'off' ? null : settings.cacheLifetime,
    clock,
    ids,
  })
  const engine = settings.agents === false ? bare : attending(bare, office)
  const close = async (): Promise<void> => {
    await office.close()
    await standard.close()
  }
  return { engine, store, tools, modelId, models, permission, agents: office, memory, close }
}

function layersOf(
  given: PresetOptions['layers'],
  switches: LayerOptions,
  tools: readonly Tool[],
): readonly Layer[] {
  if (given !== undefined && isList(given)) return given
  return standardLayers({ policyOf: policiesOf(tools), ...switches })
}

/** A place of the dial by its name. */
function thriftOf({ thrift }: Settings): number | undefined {
  return typeof thrift === 'string' ? defaults.dial.names[thrift] : thrift
}

/** The switches as the settings name them. */
const switchesOf = (settings: Settings): LayerOptions => ({
  automaticRemoval: settings.automaticRemoval,
  budget: settings.budget,
  snip: settings.snip,
  microcompact: settings.microcompact,
  timeBased: settings.timeClearing,
  cached: settings.cachedClearing,
  native: settings.nativeClearing,
  collapse: settings.collapse,
  autocompact: settings.autocompact,
  pressure: settings.pressureClearing,
  thrift: thriftOf(settings),
  asksModel: settings.modelSummary !== false,
  keep: settings.keepResults,
  digestChars: settings.digestChars,
})

/** Layers of the caller's own bring their switches with them. */
const givenSwitches = (given: PresetOptions['layers']): LayerOptions =>
  given === undefined || isList(given) ? {} : given
const isList = (given: LayerOptions | readonly Layer[]): given is readonly Layer[] => Array.isArray(given)

function modelIn(options: PresetOptions): Model | undefined {
  const { model } = options
  return model === undefined || 'stream' in model ? model : reached(model, options)
}

/** A server of one's own may want no key; the adapter sends one in any case. */
function reached(access: Access, options: PresetOptions): Model {
  const { apiKey, authToken, baseUrl } = access
  const key = apiKey ?? (authToken === undefined && baseUrl !== undefined ? 'none' : undefined)
  return anthropicModel({
    apiKey: key,
    authToken,
    baseUrl,
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
  })
}

export function thinkingOf(settings: Settings): WireThinking | undefined {
  const { thinking } = settings
  if (thinking === undefined) return undefined
  if (typeof thinking === 'number') return { type: 'enabled', budget_tokens: thinking }
  return { type: thinking === 'off' ? 'disabled' : 'adaptive' }
}
