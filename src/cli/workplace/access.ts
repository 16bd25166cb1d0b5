// Access to a model: a key or token from the environment, a key kept by `pal login`, or a server of the user's own. The kept
// key lies in the user's folder, readable by its owner only: credentials.json, {"apiKey": "…"}. A
// scripted model answers on this machine where that is asked for.
import { join } from 'node:path'
import { attempt, makeFolders, type Result, type FileSystem } from '../../disk/fs.ts'
import { replaceFile } from '../../disk/replace.ts'
import type { Access } from '../../preset.ts'
import type { Settings } from '../../settings/schema.ts'
import { readText } from './files.ts'

export interface FoundAccess {
  /** Null: neither a key nor an address. */
  readonly access: Access | null
  /** Where it came from, in words. */
  readonly from: string
  readonly problems: readonly string[]
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
  const apiKey = filled(environment['ANTHROPIC_API_KEY'])
  if (apiKey !== undefined) return found({ apiKey, baseUrl }, 'ANTHROPIC_API_KEY')
  const authToken = filled(environment['ANTHROPIC_AUTH_TOKEN'])
  if (authToken !== undefined) return found({ authToken, baseUrl }, 'ANTHROPIC_AUTH_TOKEN')
  const kept = await keptKey(fs, home)
  if (kept.key !== null)
    return { ...found({ apiKey: kept.key, baseUrl }, 'pal login'), problems: kept.problems }
  if (baseUrl !== undefined)
    return { ...found({ baseUrl }, 'a base URL without a key'), problems: kept.problems }
  return { access: null, from: 'nothing', problems: kept.problems }
}

const found = (access: Access, from: string): FoundAccess => ({ access, from, problems: [] })
const filled = (text: string | undefined): string | undefined =>
  text === undefined || text.trim() === '' ? undefined : text.trim()

async function keptKey(fs: FileSystem, home: string): Promise<{ key: string | null; problems: string[] }> {
  const file = credentialsFile(home)
  const read = await readText(fs, file)
  if (!read.ok) return { key: null, problems: [`${file} cannot be read (${read.why}); run pal login again`] }
  if (read.text === null) return { key: null, problems: [] }
  const key = keyIn(read.text)
  if (key === null) return { key, problems: [`${file} contains no key; run pal login again`] }
  const stat = await attempt(`looking at ${file}`, () => fs.stat(file))
  const isOpen = stat.ok && (stat.mode & ~ownerOnly) !== 0
  return { key, problems: isOpen ? [`${file} can be read by others; run chmod 600 on it`] : [] }
}

function keyIn(text: string): string | null {
  try {
    const value = JSON.parse(text) as { readonly apiKey?: unknown } | null
    return typeof value?.apiKey === 'string' && value.apiKey !== '' ? value.apiKey : null
  } catch {
    return null
  }
}

export async function keepKey(
  fs: FileSystem,
  home: string,
  apiKey: string,
  unique: () => string,
): Promise<Result<object>> {
  const made = await attempt(`making ${home}`, async () => {
    await makeFolders(fs, home, ownerFolder)
    return {}
  })
  if (!made.ok) return made
  const bytes = new TextEncoder().encode(`${JSON.stringify({ apiKey })}\n`)
  return replaceFile(fs, credentialsFile(home), bytes, { mode: ownerOnly, unique })
}

/** False when there was none. */
export async function forgetKey(fs: FileSystem, home: string): Promise<Result<{ had: boolean }>> {
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
  return { access: { baseUrl: url, apiKey: 'scripted' }, close: () => simulator.stop() }
}

export const scriptedNotice =
  'offline: a scripted model answers. It follows task scripts and understands nothing'

const howToGetAccess =
  'no API key: set ANTHROPIC_API_KEY, run pal login, or set ANTHROPIC_BASE_URL for a server that needs none'

/** What is missing, and what helps in the command that was called: not each of them takes a scripted model. */
export const noAccess = (takesOffline: boolean): string =>
  takesOffline
    ? `${howToGetAccess}. Without a model, --offline lets a scripted one answer and pal demo shows a whole task`
    : howToGetAccess
