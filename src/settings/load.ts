// The settings in force: flags beat the environment, which beats the local, the project's and the user's file. Law: of a
// folder that is not trusted no byte is read, and no project file decides where data goes or what runs (TRUST A7). What
// is wrong with a file is said with file and key; the rest of it counts.
import { join } from 'node:path'
import { check, isKey, isUsersOnly, keys, type Key, type Settings } from './schema.ts'

export type Scope = 'user' | 'project' | 'local' | 'environment' | 'flag'

export interface SettingsProblem {
  readonly file: string
  readonly key: string | null
  readonly message: string
}

export interface SettingsFiles {
  /** Null when there is no such file. */
  read(
    path: string,
  ): Promise<
    { readonly ok: true; readonly text: string | null } | { readonly ok: false; readonly why: string }
  >
  exists(path: string): Promise<boolean>
}

export interface SettingsSources {
  readonly files: SettingsFiles
  /** The user's folder. */
  readonly home: string
  /** The project's folder. */
  readonly project: string
  readonly trusted: boolean
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly flags: Settings
}

export interface LoadedSettings {
  readonly settings: Settings
  /** Who set a key. */
  readonly from: ReadonlyMap<Key, Scope>
  readonly problems: readonly SettingsProblem[]
  /** Project files that are there and were left unread, since the folder is not trusted. */
  readonly unread: readonly string[]
}

export const projectFolderName = '.palimpsest'
export const settingsName = 'settings.json'
export const localSettingsName = 'settings.local.json'

export async function loadSettings(sources: SettingsSources): Promise<LoadedSettings> {
  const { files, home, project, trusted } = sources
  const problems: SettingsProblem[] = []
  const unread: string[] = []
  const found = new Map<Key, { readonly scope: Scope; readonly value: unknown }>()
  const take = (scope: Scope, values: readonly (readonly [Key, unknown])[]): void => {
    for (const [key, value] of values) found.set(key, { scope, value })
  }
  take('user', await readFile(files, join(home, settingsName), 'user', problems))
  for (const [scope, name] of [
    ['project', settingsName],
    ['local', localSettingsName],
  ] as const) {
    const path = join(project, projectFolderName, name)
    // The user's own folder can be a project too; its file is the user's then and has been read.
    if (path === join(home, settingsName)) continue
    if (trusted) take(scope, await readFile(files, path, scope, problems))
    else if (await files.exists(path)) unread.push(path)
  }
  take('environment', fromEnvironment(sources.environment, problems))
  take(
    'flag',
    Object.entries(sources.flags).flatMap(([key, value]) =>
      isKey(key) && value !== undefined ? [[key, value] as const] : [],
    ),
  )
  return {
    settings: Object.fromEntries([...found].map(([key, { value }]) => [key, value])),
    from: new Map([...found].map(([key, { scope }]) => [key, scope])),
    problems,
    unread,
  }
}

async function readFile(
  files: SettingsFiles,
  file: string,
  scope: 'user' | 'project' | 'local',
  problems: SettingsProblem[],
): Promise<readonly (readonly [Key, unknown])[]> {
  const bad = (key: string | null, message: string): void => void problems.push({ file, key, message })
  const read = await files.read(file)
  if (!read.ok) {
    bad(null, `cannot be read (${read.why}); nothing of it counts`)
    return []
  }
  if (read.text === null) return []
  const parsed = objectIn(read.text)
  if (typeof parsed === 'string') {
    bad(null, `${parsed}; nothing of it counts. Write one JSON object, as {"model": "…"}`)
    return []
  }
  const values: (readonly [Key, unknown])[] = []
  for (const [key, value] of Object.entries(parsed)) {
    if (scope !== 'user' && isUsersOnly(key))
      bad(key, `may not be set by a project and is ignored; set it in the user's own settings if you want it`)
    else if (!isKey(key)) bad(key, `is no setting. The settings are: ${Object.keys(keys).join(', ')}`)
    else {
      const checked = check(key, value)
      if (checked.ok) values.push([key, checked.value])
      else bad(checked.where, `does not fit and is ignored; ${key} must be ${keys[key].expected}`)
    }
  }
  return values
}

function objectIn(text: string): Readonly<Record<string, unknown>> | string {
  try {
    // Editors of other systems begin a file with a mark that JSON does not know.
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''))
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>
    return 'holds no object'
  } catch (error) {
    return `is no JSON (${error instanceof Error ? error.message : String(error)})`
  }
}

function fromEnvironment(
  environment: SettingsSources['environment'],
  problems: SettingsProblem[],
): readonly (readonly [Key, unknown])[] {
  const values: (readonly [Key, unknown])[] = []
  for (const [key, { variable, expected }] of Object.entries(keys)) {
    const text = variable === undefined ? undefined : environment[variable]
    if (variable === undefined || text === undefined || text.trim() === '' || !isKey(key)) continue
    const checked = check(key, valueIn(key, text.trim()))
    if (checked.ok) values.push([key, checked.value])
    else
      problems.push({
        file: 'environment',
        key: variable,
        message: `does not fit and is ignored; it must be ${expected}`,
      })
  }
  return values
}

const switchWords: ReadonlyMap<string, boolean> = new Map([
  ['on', true],
  ['true', true],
  ['1', true],
  ['off', false],
  ['false', false],
  ['0', false],
])

/** A variable holds text; lists are separated by commas, and what looks like a number is one. */
function valueIn(key: Key, text: string): unknown {
  if (key === 'allow')
    return text
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '')
  if (keys[key].isSwitch === true) return switchWords.get(text.toLowerCase()) ?? text
  if (key === 'model' || key === 'effort' || key === 'baseUrl') return text
  return /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : text
}
