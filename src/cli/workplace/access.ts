// Access to a model: a key or token from the environment, a key kept by `pal login`, or a server of the user's own. Kept
// keys lie in the user's folder, readable by its owner only: credentials.json, {"apiKey": "…", "keys": {"openai": "…"}}. A
// scripted model answers on this machine where that is asked for.
import { join } from 'node:path'
import { refused } from '../../disk/failure.ts'
import { attempt, makeFolders, type Result, type FileSystem } from '../../disk/fs.ts'
import { replaceFile } from '../../disk/replace.ts'
import { modelOf, namedIn } from '../../preset/model-choice.ts'
import type { Access } from '../../preset/reaching.ts'
import type { Settings } from '../../settings/schema.ts'
import { fieldsOf, objectIn, type Fields } from '../../transcript/json.ts'
import { providersOf, unreachable } from '../../wires/providers.ts'
import { behindLink, readText } from './files.ts'

export interface FoundAccess {
  /** Null: neither a key nor an address. */
  readonly access: Access | null
  /** Where it came from, in words. */
  readonly from: string
  readonly problems: readonly string[]
  /** Why the provider of the model cannot be reached, and what helps; null where it can, or where it is the Messages API. */
  readonly missing: string | null
}

const ownerOnly = 0o600
const ownerFolder = 0o700
export const credentialsFile = (home: string): string => join(home, 'credentials.json')

export async function findAccess(
  fs: FileSystem,
  home: string,
  environment: Readonly<Record<string, string | undefined>>,
  settings: Settings,
): Promise<FoundAccess> {
  const { baseUrl } = settings
  const kept = await keptKeys(fs, home)
  const providers = providersOf(settings.providers, { gateway: baseUrl !== undefined })
  const keys = Object.fromEntries(
    [...providers.values()].flatMap(({ name, keyVariable }) => {
      const key = filled(environment[keyVariable ?? '']) ?? kept.keys[name]
      return key === undefined ? [] : [[name, key] as const]
    }),
  )
  const own = anthropicAccess(environment, kept.key, baseUrl)
  const { provider } = namedIn(settings, modelOf(settings))
  if (provider === null) {
    if (own === null) return { access: null, from: 'nothing', problems: kept.problems, missing: null }
    const problems =
      own.from === 'ANTHROPIC_API_KEY' || own.from === 'ANTHROPIC_AUTH_TOKEN' ? [] : kept.problems
    return { access: { ...own.access, keys }, from: own.from, problems, missing: null }
  }
  const missing = unreachable(provider, keys[provider.name])
  const from =
    filled(environment[provider.keyVariable ?? '']) !== undefined
      ? provider.keyVariable!
      : keys[provider.name] === undefined
        ? `${provider.name} without a key`
        : `pal login ${provider.name}`
  const access = missing === null ? { ...own?.access, keys } : null
  return { access, from: `${from}, at ${provider.baseUrl ?? 'no address'}`, problems: kept.problems, missing }
}

function anthropicAccess(
  environment: Readonly<Record<string, string | undefined>>,
  kept: string | null,
  baseUrl: string | undefined,
): { readonly access: Access; readonly from: string } | null {
  const apiKey = filled(environment['ANTHROPIC_API_KEY'])
  if (apiKey !== undefined) return { access: { apiKey, baseUrl }, from: 'ANTHROPIC_API_KEY' }
  const authToken = filled(environment['ANTHROPIC_AUTH_TOKEN'])
  if (authToken !== undefined) return { access: { authToken, baseUrl }, from: 'ANTHROPIC_AUTH_TOKEN' }
  if (kept !== null) return { access: { apiKey: kept, baseUrl }, from: 'pal login' }
  return baseUrl === undefined ? null : { access: { baseUrl }, from: 'a base URL without a key' }
}

const filled = (text: string | undefined): string | undefined =>
  text === undefined || text.trim() === '' ? undefined : text.trim()

interface Kept {
  /** Of the Messages API. */
  readonly key: string | null
  /** Of other providers, by name. */
  readonly keys: Readonly<Record<string, string>>
  readonly problems: readonly string[]
  /** Why nobody knows what is in the file: then nothing is written over it. */
  readonly unread?: string | undefined
}
const nothingKept: Kept = { key: null, keys: {}, problems: [] }
const unreadKeys = (unread: string): Kept => ({ ...nothingKept, unread, problems: [unread] })

async function keptKeys(fs: FileSystem, home: string): Promise<Kept> {
  const file = await behindLink(fs, credentialsFile(home))
  const read = await readText(fs, file)
  const then = 'fix it, or delete it with pal logout and run pal login again'
  if (!read.ok) return unreadKeys(`${file} cannot be read (${read.why}); ${then}`)
  if (read.text === null) return nothingKept
  const value = objectIn(read.text)
  if (value === null) return unreadKeys(`${file} is not a JSON object; ${then}`)
  const found = keysIn(value)
  if (found.key === null && Object.keys(found.keys).length === 0)
    return { ...nothingKept, problems: [`${file} contains no key; run pal login again`] }
  const stat = await attempt(`looking at ${file}`, () => fs.stat(file))
  const isOpen = stat.ok && (stat.mode & ~ownerOnly) !== 0
  return { ...found, problems: isOpen ? [`${file} can be read by others; run chmod 600 on it`] : [] }
}

function keysIn({ apiKey, keys: others }: Fields): Pick<Kept, 'key' | 'keys'> {
  const key = typeof apiKey === 'string' && apiKey !== '' ? apiKey : null
  const keys = Object.entries(fieldsOf(others)).filter(
    (each): each is [string, string] => typeof each[1] === 'string' && each[1] !== '',
  )
  return { key, keys: Object.fromEntries(keys) }
}

/** Keeps a key: of a provider, or of the Messages API where none is named. The others stay. */
export async function keepKey(
  fs: FileSystem,
  home: string,
  apiKey: string,
  provider: string | null,
  unique: () => string,
): Promise<Result<object>> {
  const made = await attempt(`making ${home}`, async () => ({
    done: await makeFolders(fs, home, ownerFolder),
  }))
  if (!made.ok) return made
  const { key, keys, unread } = await keptKeys(fs, home)
  if (unread !== undefined) return refused('unknown-format', unread)
  const now = provider === null ? { key: apiKey, keys } : { key, keys: { ...keys, [provider]: apiKey } }
  return writeKeys(fs, home, now, unique)
}

async function writeKeys(
  fs: FileSystem,
  home: string,
  { key, keys }: Pick<Kept, 'key' | 'keys'>,
  unique: () => string,
): Promise<Result<object>> {
  const others = Object.keys(keys).length === 0 ? {} : { keys }
  const content = { ...(key === null ? {} : { apiKey: key }), ...others }
  const bytes = new TextEncoder().encode(`${JSON.stringify(content)}\n`)
  return replaceFile(fs, await behindLink(fs, credentialsFile(home)), bytes, { mode: ownerOnly, unique })
}

/** False when there was none. Without a name all of them go. */
export async function forgetKey(
  fs: FileSystem,
  home: string,
  provider: string | null,
  unique: () => string,
): Promise<Result<{ had: boolean }>> {
  if (provider !== null) {
    const { key, keys, unread } = await keptKeys(fs, home)
    if (unread !== undefined) return refused('unknown-format', unread)
    const { [provider]: gone, ...others } = keys
    if (gone === undefined) return { ok: true, had: false }
    const written = await writeKeys(fs, home, { key, keys: others }, unique)
    return written.ok ? { ok: true, had: true } : written
  }
  const removed = await attempt('removing the key', async () => {
    await fs.unlink(credentialsFile(home))
    return { had: true }
  })
  return !removed.ok && removed.failure.code === 'not-found' ? { ok: true, had: false } : removed
}

// ---- the scripted model ----

interface Embedded {
  readonly access: Access
  close(): Promise<void>
}

/**
 * The simulator answers over HTTP with its rule-based model. It follows scripts and understands nothing, and that is said
 * wherever it answers.
 */
export async function startEmbedded(): Promise<Embedded> {
  const { createSimulator, ruleModel } = await import('../../simulator/index.ts')
  const simulator = createSimulator({ answerer: ruleModel() })
  const { url } = await simulator.start()
  return { access: { baseUrl: url, apiKey: 'scripted', keys: null }, close: () => simulator.stop() }
}

export const scriptedNotice =
  'offline: a scripted model answers. It follows task scripts and understands nothing'

const howToGetAccess =
  'no API key: set ANTHROPIC_API_KEY, run pal login, or set ANTHROPIC_BASE_URL for a server that needs none'

/** What is missing, and what helps in the command that was called: not each of them takes a scripted model. */
export const noAccess = (takesOffline: boolean, missing: string | null = null): string =>
  takesOffline
    ? `${missing ?? howToGetAccess}. Without a model, --offline lets a scripted one answer and pal demo shows a whole task`
    : (missing ?? howToGetAccess)
