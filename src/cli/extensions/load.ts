// Everything users added, loaded once when the program starts. A project's own counts only where its content is approved.
// What is wrong with a file is said, and the rest works.
import { join } from 'node:path'
import { machineFileSystem } from '../../disk/fs.ts'
import { loadTypes, type LoadedTypes } from '../../forks/agents/types.ts'
import { windowOf } from '../../model/models.ts'
import { createPreset, modelOf, tableOf, type Preset, type PresetOptions } from '../../preset.ts'
import type { Extensions } from '../../preset/extensions.ts'
import { pagesIn, type Page, type PageFolder } from '../../preset/pages.ts'
import { loadSkills } from '../../preset/skills.ts'
import type { SectionDefinition } from '../../request/sections.ts'
import { defaults } from '../../settings/defaults.ts'
import { withoutKeys } from '../../wires/providers.ts'
import type { Gate } from '../trust/gate.ts'
import type { Workplace } from '../workplace/workplace.ts'
import { findServers } from './mcp/servers.ts'
import { toolSource, type ServerState } from './mcp/tools.ts'

export interface LoadedExtensions {
  readonly extensions: Extensions
  /** Commands of the user's own, said with a slash. */
  readonly commands: readonly Page[]
  readonly servers: readonly ServerState[]
  readonly problems: readonly string[]
  close(): Promise<void>
}

export interface LoadOptions {
  /** False for commands that ask no model: what serves only a turn is not started. */
  readonly servers?: boolean | undefined
  /** Somebody waits at a screen: a server that is late is not waited for. */
  readonly interactive?: boolean | undefined
}

/** The preset of a command: with everything users added but servers, which serve only a turn. */
export async function commandPreset(place: Workplace, more: Partial<PresetOptions> = {}): Promise<Preset> {
  const { io } = place
  const { extensions } = await loadExtensions(place, { servers: false })
  return createPreset({
    ...place,
    environment: io.environment,
    userHome: io.userHome,
    model: undefined,
    extensions,
    ...more,
  })
}

export async function loadExtensions(place: Workplace, options: LoadOptions = {}): Promise<LoadedExtensions> {
  const fs = machineFileSystem
  const { settings, io, home, project } = place
  const { gate } = place
  const at = { fs, home, project: project.root, cwd: project.cwd, gate, environment: io.environment }
  const [skills, styles, commands, found] = await Promise.all([
    loadSkills({ fs, folders: pageFolders(at, 'skills') }),
    pagesIn(fs, pageFolders(at, 'output-styles')),
    pagesIn(fs, pageFolders(at, 'commands')),
    options.servers === false
      ? { servers: [], problems: [] }
      : findServers({ ...at, providers: settings.providers }),
  ])
  const window = windowOf({ model: modelOf(settings), table: tableOf(settings), override: settings.window })
  const source = await toolSource(found.servers, {
    cwd: project.cwd,
    environment: withoutKeys(io.environment, settings.providers),
    window: window.tokens,
    patienceMs: options.interactive === true ? defaults.mcp.startMs : null,
  })
  const style = styles.pages.find(({ name }) => name === settings.outputStyle)
  return {
    extensions: {
      tools: [...source.tools, ...skills.tools],
      sections: [
        section('output-style', style?.body ?? ''),
        section('mcp-instructions', source.instructions),
        ...skills.sections,
      ],
      restorers: skills.restorers,
    },
    commands: commands.pages,
    servers: source.states,
    problems: [
      ...skills.problems,
      ...styles.problems,
      ...commands.problems,
      ...found.problems,
      ...source.states.flatMap(({ name, state, why }) =>
        state === 'failed' ? [`the server ${name} cannot be reached: ${why ?? 'no reason given'}`] : [],
      ),
      ...(settings.outputStyle === undefined || style !== undefined
        ? []
        : [
            `unknown output style ${settings.outputStyle}; there are: ${styles.pages.map(({ name }) => name).join(', ') || 'none'}`,
          ]),
    ],
    close: () => source.close(),
  }
}

const section = (name: 'output-style' | 'mcp-instructions', text: string): SectionDefinition => ({
  name,
  side: 'dynamic',
  compute: () => text,
})

/** The user's own, and those of the project where their content is approved. */
export const pageFolders = (
  { home, project, gate }: { readonly home: string; readonly project: string; readonly gate: Gate },
  kind: keyof typeof contentKind,
): readonly PageFolder[] => [
  { root: home, below: kind },
  {
    root: project,
    below: join('.palimpsest', kind),
    mayAct: (path, bytes) => gate.refusal(contentKind[kind], path, bytes) === null,
  },
]
const contentKind = { skills: 'skill', 'output-styles': 'output style', commands: 'command' } as const

/** What a command of the user's own says: its page, with the arguments put in where it asks for them. */
export function commandPrompt(command: Page, rest: string): string {
  const args = rest.trim() === '' ? [] : rest.trim().split(/\s+/)
  const takes = /\$(?:ARGUMENTS|\d)/.test(command.body)
  const filled = command.body.replaceAll(/\$(?:ARGUMENTS|([1-9]))/g, (_, at?: string) =>
    at === undefined ? rest.trim() : (args[Number(at) - 1] ?? ''),
  )
  return takes || rest.trim() === '' ? filled : `${filled}\n\n${rest.trim()}`
}

/** The agent types there are. A project's own count where their content is approved. */
export const typesFor = ({
  home,
  project,
  gate,
}: Pick<Workplace, 'home' | 'project' | 'gate'>): Promise<LoadedTypes> =>
  loadTypes(machineFileSystem, {
    home,
    project: project.root,
    mayAct: (path, bytes) => gate.refusal('agent type', path, bytes) === null,
  })
