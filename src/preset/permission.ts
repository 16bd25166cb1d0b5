// Permissions as the preset wires them: rules and mode from the settings, paths from the project.
import { join } from 'node:path'
import { localDay } from '../memory/format/day.ts'
import { machineFileSystem, type FileSystem } from '../disk/fs.ts'
import type { GivenRule } from '../settings/rule-list.ts'
import { ruleLists } from '../settings/rule-list.ts'
import type { Settings } from '../settings/schema.ts'
import { createSandbox, sweepSandbox, type Sandbox } from '../tools/shell/sandbox.ts'
import { createPermission, type Permission, type PermissionOptions } from '../tools/permission/permission.ts'
import type { PermissionMode } from '../tools/permission/pipeline.ts'
import { fenced } from '../transcript/fence.ts'
import type { Project } from './project.ts'

export interface PermissionSetup extends Pick<PermissionOptions, 'askUser' | 'keep'> {
  readonly project: Project
  readonly settings: Settings
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The user's home on this machine; left out, the one the environment names. */
  readonly userHome?: string | undefined
  /** With who gave each; left out, those of the settings count as flags. */
  readonly rules?: readonly GivenRule[] | undefined
}

/** With the folder of the project's sessions, whose kept outputs may be read. */
export type Placed = PermissionSetup &
  Pick<PermissionOptions, 'open'> & { readonly sessions?: string | undefined }

/** One home for rules, tools, sandbox and memory; unknown only where nobody names it. */
export const homeOf = ({
  userHome,
  environment,
}: Pick<PermissionSetup, 'userHome' | 'environment'>): string | undefined =>
  userHome ?? (environment['HOME'] === '' ? undefined : environment['HOME'])

export function permissionOf(options: Placed, fs: FileSystem): Permission {
  const { project, settings } = options
  return createPermission({
    fs,
    root: project.root,
    cwd: project.cwd,
    home: homeOf(options),
    sessions: options.sessions,
    rules: options.rules ?? rulesIn(settings),
    mode: settings.permissionMode ?? 'default',
    askUser: options.askUser,
    keep: options.keep,
    open: options.open,
  })
}

/** The second wall around commands, as the settings want it. */
export function sandboxOf(
  options: PermissionSetup & { readonly home: string },
  fs: FileSystem,
  more: readonly string[] = [],
): Sandbox {
  const { project, settings, home } = options
  return createSandbox({
    fs,
    mode: settings.sandbox ?? 'auto',
    network: settings.sandboxNetwork ?? false,
    root: project.root,
    writable: [...(settings.sandboxWrite ?? []), ...more],
    home: homeOf(options),
    hidden: [home],
    state: stateOf(home),
    path: options.environment['PATH'],
  })
}

const stateOf = (home: string): string => join(home, 'sandbox')

/** What runs that were killed have left behind the wall, taken away or blocked; one line for each that was blocked. */
export const sweepSandboxOf = ({
  home,
  project,
  environment,
}: Pick<PermissionSetup, 'project' | 'environment'> & { readonly home: string }): Promise<
  readonly string[]
> => sweepSandbox({ state: stateOf(home), root: project.root, path: environment['PATH'] })

/** One line for a person: that there is no wall, and what follows from it. */
export const withoutSandbox = (why: string): string =>
  `no sandbox (${why}): a command that is allowed can do whatever you can`

/** The same at the start of a conversation, unless the wall stands or the user does not want it. */
export async function missingSandbox(
  place: Omit<PermissionSetup, 'environment'> & { readonly home: string },
  environment: PermissionSetup['environment'],
  say: (line: string) => void,
): Promise<void> {
  if (place.settings.sandbox === 'off') return
  const why = await sandboxOf({ ...place, environment }, machineFileSystem).state()
  if (why !== null) say(withoutSandbox(why))
}

const rulesIn = (settings: Settings): readonly GivenRule[] =>
  ruleLists.flatMap((list) =>
    (settings[list] ?? []).map((text): GivenRule => ({ list, text, source: 'flag' })),
  )

/** What the model is told about it for good: it names no mode and no rule, for both may change. */
export const permissionGuidance =
  'Read-only calls run at once; others may need approval. Write commands plainly, one step each. The latest <mode> block says what is allowed now, whether anyone can answer, folder and date.'

const modeTexts: Readonly<Record<PermissionMode, string>> = {
  default: 'Calls that may change something are shown to the user, who may deny them.',
  acceptEdits:
    'Edits of files in the project run at once; other calls that may change something are shown to the user, who may deny them.',
  plan: 'Plan mode: read-only calls only. Investigate, then call Plan with the full plan; approval ends this mode.',
  dontAsk:
    'Calls that may change something run only where a rule of the user allows them, and are denied otherwise.',
  bypass: 'All calls run without approval.',
}
const unasked: Readonly<Partial<Record<PermissionMode, string>>> = {
  default: modeTexts.dontAsk,
  acceptEdits:
    'Edits of files in the project run at once; other calls run only where a rule of the user allows them, and are denied otherwise.',
  plan: 'Plan mode: read-only calls only. Investigate, then end your reply with the full plan.',
}

export interface Situation {
  readonly mode: PermissionMode
  readonly canAnswer: boolean
  readonly cwd: string
  readonly modelId: string
  readonly now: number
}

/** What holds now and may change while a session lasts, or between two openings of it. */
export function modeBlock({ mode, canAnswer, cwd, modelId, now }: Situation): string {
  const may = canAnswer ? modeTexts[mode] : (unasked[mode] ?? modeTexts[mode])
  const who = canAnswer ? '' : ' Nobody can answer questions now.'
  const date = localDay(now)
  return fenced('mode', { name: mode, folder: cwd, date, model: modelId }, `${may}${who}`)
}
