// How settings are merged: the managed file beats flags, which beat the environment, which beats the local, the project's
// and the user's file; lists of rules are gathered from all of them. Of a project only content that a person approved
// counts, and no project file decides where data goes or what runs. What is wrong with a file is said with file and
// key; the rest of it counts. Where what cannot be understood may have held something back, every call is asked about.
import { join } from 'node:path'
import { ruleLists, splitRules, type GivenRule, type RuleList } from './rule-list.ts'
import { check, isKey, isUsersOnly, keys, retired, type Key, type Settings } from './schema.ts'

export type Scope = 'user' | 'project' | 'local' | 'environment' | 'flag' | 'managed'

export interface SettingsProblem {
  readonly file: string
  readonly key: string | null
  readonly message: string
}

export interface SettingsFiles {
  /** Null when there is no such file. */
  read(path: string): Promise<ReadSettings>
  /** Of a project: null too where its content may not act. */
  readOfProject(path: string): Promise<ReadSettings>
}
type ReadSettings =
  | {
      readonly ok: true
      readonly text: string | null
      /** Of a trusted project, and not yet looked at as it is now: only what denies or asks counts. */
      readonly waits?: boolean | undefined
    }
  | { readonly ok: false; readonly why: string }

export interface SettingsSources {
  readonly files: SettingsFiles
  /** The user's folder. */
  readonly home: string
  /** The project's folder. */
  readonly project: string
  /** The file of whoever looks after the machine. */
  readonly managed?: string | undefined
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly flags: Settings
}

export interface LoadedSettings {
  readonly settings: Settings
  /** Who set a key. */
  readonly from: ReadonlyMap<Key, Scope>
  /** The rules of permission, each with who gave it. */
  readonly rules: readonly GivenRule[]
  readonly problems: readonly SettingsProblem[]
}

export const projectFolderName = '.palimpsest'
export const settingsName = 'settings.json'
export const localSettingsName = 'settings.local.json'

export async function loadSettings(sources: SettingsSources): Promise<LoadedSettings> {
  const { files, home, project } = sources
  const problems: SettingsProblem[] = []
  const found = new Map<Key, { readonly scope: Scope; readonly value: unknown }>()
  const rules: GivenRule[] = []
  const closing: GivenRule[] = []
  const closes = (scope: Scope): void => void closing.push({ list: 'ask', text: '*', source: scope })
  const take = (scope: Scope, values: readonly (readonly [Key, unknown])[]): void => {
    for (const [key, value] of values) {
      found.set(key, { scope, value })
      if (isRuleList(key) && isTexts(value))
        rules.push(...value.map((text) => ({ list: key, text, source: scope })))
    }
  }
  const taken = async (scope: FileScope, path: string): Promise<void> =>
    take(scope, await readFile(files, path, scope, problems, () => closes(scope)))
  await taken('user', join(home, settingsName))
  for (const [scope, name] of [
    ['project', settingsName],
    ['local', localSettingsName],
  ] as const) {
    const path = join(project, projectFolderName, name)
    // The user's own folder can be a project too; its file is the user's then and has been read.
    if (path === join(home, settingsName)) continue
    await taken(scope, path)
  }
  take(
    'environment',
    fromEnvironment(sources.environment, problems, () => closes('environment')),
  )
  take(
    'flag',
    Object.entries(sources.flags).flatMap(([key, value]) =>
      isKey(key) && value !== undefined ? [[key, value] as const] : [],
    ),
  )
  if (sources.managed !== undefined) await taken('managed', sources.managed)
  return {
    settings: {
      ...Object.fromEntries([...found].map(([key, { value }]) => [key, value])),
      ...gathered(rules),
    },
    rules: [...rules, ...closing],
    from: new Map([...found].map(([key, { scope }]) => [key, scope])),
    problems,
  }
}

type FileScope = Exclude<Scope, 'environment' | 'flag'>

/** What hold something back: where one of them is not understood, nobody knows what. */
const holdBack: ReadonlySet<Key> = new Set<Key>(['deny', 'ask', 'hooks', 'sandbox'])
const untilFixed = 'Until it is fixed, every call is asked about'

/** `closes` is called where something that may forbid is not understood. */
async function readFile(
  files: SettingsFiles,
  file: string,
  scope: FileScope,
  problems: SettingsProblem[],
  closes: () => void,
): Promise<readonly (readonly [Key, unknown])[]> {
  const bad = (key: string | null, message: string): void => void problems.push({ file, key, message })
  const isProjects = scope === 'project' || scope === 'local'
  const read = await (isProjects ? files.readOfProject(file) : files.read(file))
  if (!read.ok) {
    // Of a project nobody has approved what cannot be read: it does nothing at all.
    if (!isProjects) closes()
    bad(null, `cannot be read (${read.why}); the file is ignored${isProjects ? '' : `. ${untilFixed}`}`)
    return []
  }
  if (read.text === null) return []
  const parsed = objectIn(read.text)
  if (read.waits === true) return typeof parsed === 'string' ? [] : denialsIn(parsed)
  if (typeof parsed === 'string') {
    closes()
    bad(null, `${parsed}; the file is ignored. Write one JSON object such as {"model": "…"}. ${untilFixed}`)
    return []
  }
  const values: (readonly [Key, unknown])[] = []
  for (const [key, value] of Object.entries(parsed)) {
    if (isProjects && isUsersOnly(key))
      bad(key, `may not be set by a project and is ignored; set it in the user's own settings if you want it`)
    else if (!isKey(key) && Object.hasOwn(retired, key)) bad(key, retired[key]!)
    else if (!isKey(key)) bad(key, `is not a setting. The settings are: ${Object.keys(keys).join(', ')}`)
    else if (isNotFor(key, value, isProjects))
      bad(key, `may not be ${JSON.stringify(value)} here and is ignored; it may be ${keys[key].expected}`)
    else {
      const checked = check(key, value)
      const mayForbid = holdBack.has(key)
      if (checked.ok) values.push([key, checked.value])
      else
        bad(
          checked.where,
          `is invalid and ignored; ${key} must be ${keys[key].expected}${mayForbid ? `. ${untilFixed}` : ''}`,
        )
      if (!checked.ok && mayForbid) closes()
    }
  }
  return values
}

/** Whoever changed a project's rules may forbid more at once, and allow nothing before somebody looked. */
function denialsIn(parsed: Readonly<Record<string, unknown>>): readonly (readonly [Key, unknown])[] {
  return (['deny', 'ask'] as const).flatMap((key) => {
    const checked = check(key, parsed[key])
    return checked.ok && parsed[key] !== undefined ? [[key, checked.value] as const] : []
  })
}

/** Some values count only behind a flag, and a project may set only those that tighten. */
const isNotFor = (key: Key, value: unknown, isProjects: boolean): boolean =>
  keys[key].onlyFlag?.includes(value) === true ||
  (isProjects && keys[key].fromProject?.includes(value) === false)

const isRuleList = (key: string): key is RuleList => ruleLists.some((list) => list === key)
const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string')

/** The lists as settings, for those who do not ask where a rule came from. */
function gathered(rules: readonly GivenRule[]): Pick<Settings, RuleList> {
  const texts = (list: RuleList): string[] =>
    rules.filter((rule) => rule.list === list).map(({ text }) => text)
  return Object.fromEntries(
    ruleLists.map((list) => [list, texts(list)]).filter(([, given]) => given!.length > 0),
  )
}

function objectIn(text: string): Readonly<Record<string, unknown>> | string {
  try {
    // Editors of other systems begin a file with a mark that JSON does not know.
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''))
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>
    return 'is not a JSON object'
  } catch (error) {
    return `is not valid JSON (${error instanceof Error ? error.message : String(error)})`
  }
}

function fromEnvironment(
  environment: SettingsSources['environment'],
  problems: SettingsProblem[],
  closes: () => void,
): readonly (readonly [Key, unknown])[] {
  const values: (readonly [Key, unknown])[] = []
  for (const [key, { variable, expected }] of Object.entries(keys)) {
    const text = variable === undefined ? undefined : environment[variable]
    if (variable === undefined || text === undefined || text.trim() === '' || !isKey(key)) continue
    const value = valueIn(key, text.trim())
    const checked = check(key, value)
    if (checked.ok && !isNotFor(key, value, false)) values.push([key, checked.value])
    else {
      const mayForbid = holdBack.has(key)
      if (mayForbid) closes()
      const message = `is invalid and ignored; it must be ${expected}${mayForbid ? `. ${untilFixed}` : ''}`
      problems.push({ file: 'environment', key: variable, message })
    }
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
  if (keys[key].isList === true) return splitRules(text)
  if (keys[key].isSwitch === true) return switchWords.get(text.toLowerCase()) ?? text
  if (key === 'model' || key === 'effort' || key === 'baseUrl') return text
  return /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : text
}
