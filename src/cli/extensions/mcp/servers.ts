// Which servers of tools there are: `mcp.json` in the user's folder and, where its content is approved, `.mcp.json` at
// the root of the project; a program in the project that a command names has to be approved by its content as well.
// Format: {"mcpServers": {NAME: {"command", "args"?, "env"?} or {"url", "headers"?}}}. `${NAME}` and `${NAME:-else}` stand
// for variables of the environment; a project may not name the keys of this program, so that it cannot send them away.
import { fieldsOf, jsonIn } from '../../../transcript/json.ts'
import { join, resolve } from 'node:path'
import * as z from 'zod/mini'
import { attempt, type FileSystem } from '../../../disk/fs.ts'
import { isInside } from '../../../disk/under-root.ts'
import { defaults } from '../../../settings/defaults.ts'
import { keyVariables, type ProvidersByName } from '../../../wires/providers.ts'
import type { Gate } from '../../trust/gate.ts'
import { readWhole } from '../../workplace/files.ts'

export type Server = { readonly name: string; readonly from: string } & (
  | {
      readonly kind: 'command'
      readonly command: string
      readonly args: readonly string[]
      readonly environment: Readonly<Record<string, string>>
      /** Why its program in the project may not run now, or null. Asked before each start. */
      readonly refusal?: (() => Promise<string | null>) | undefined
    }
  | { readonly kind: 'address'; readonly url: string; readonly headers: Readonly<Record<string, string>> }
)

export interface Servers {
  readonly servers: readonly Server[]
  /** What is wrong with the files, one sentence each. */
  readonly problems: readonly string[]
}

export interface ServersPlace {
  readonly fs: FileSystem
  readonly home: string
  /** Its root. */
  readonly project: string
  /** Where commands are started. */
  readonly cwd: string
  /** Asked before anything of a project acts. */
  readonly gate: Gate
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Those of the settings, over the ones that are known. */
  readonly providers?: ProvidersByName | undefined
}

const texts = z.record(z.string(), z.string())
const file = z.object({ mcpServers: z.record(z.string(), z.unknown()) })
const byCommand = z.object({
  command: z.string().check(z.minLength(1)),
  args: z.optional(z.array(z.string())),
  env: z.optional(texts),
})
const byAddress = z.object({
  url: z.string().check(z.regex(/^https?:\/\/[^\s]+$/u)),
  headers: z.optional(texts),
})
/** Part of the name of every tool of the server, which the wire bounds; `__` ends it there, so it cannot hold that. */
const goodName = /^(?!.*__)[A-Za-z0-9_-]{1,24}(?<!_)$/

/** What this program is let in by: its own variables and the key of every provider. */
function ownKeys(providers: ProvidersByName | undefined): (name: string) => boolean {
  const keys = keyVariables(providers)
  return (name) => /^(?:ANTHROPIC_|PALIMPSEST_)/.test(name) || keys.has(name)
}

/** The user's own come first: a project cannot take the name of one of theirs. */
export async function findServers(place: ServersPlace): Promise<Servers> {
  const own = await serversIn(place, join(place.home, 'mcp.json'), false)
  const theirs = await serversIn(place, join(place.project, '.mcp.json'), true)
  const names = new Set(own.servers.map(({ name }) => name))
  const taken = theirs.servers.filter(({ name }) => names.has(name))
  return {
    servers: [...own.servers, ...theirs.servers.filter(({ name }) => !names.has(name))],
    problems: [
      ...own.problems,
      ...theirs.problems,
      ...taken.map(({ name, from }) => `${from}: ${name} is also one of your own servers; yours is used`),
    ],
  }
}

async function serversIn(place: ServersPlace, path: string, isProject: boolean): Promise<Servers> {
  const read = await readWhole(place.fs, path, defaults.cli.settingsBytes)
  if (!read.ok) return { servers: [], problems: [`${path}: ${read.why}; its servers are ignored`] }
  if (read.bytes === null) return { servers: [], problems: [] }
  if (isProject && place.gate.refusal('MCP servers', path, read.bytes) !== null)
    return { servers: [], problems: [] }
  const parsed = z.safeParse(file, jsonIn(new TextDecoder().decode(read.bytes)))
  if (!parsed.success)
    return { servers: [], problems: [`${path} is no {"mcpServers": {…}}; its servers are ignored`] }
  const servers: Server[] = []
  const problems: string[] = []
  const isKept = isProject ? ownKeys(place.providers) : () => false
  for (const [name, given] of Object.entries(parsed.data.mcpServers)) {
    const server = serverOf(name, given, path, expanding(place.environment, isKept))
    if (typeof server === 'string') problems.push(`${path}: ${name}: ${server}; it is left out`)
    else if (!isProject || server.kind !== 'command') servers.push(server)
    else {
      const refusal = (): Promise<string | null> => programRefusal(place, server)
      const refused = await refusal()
      if (refused === null) servers.push({ ...server, refusal })
      else problems.push(`${path}: ${name}: ${refused}; it is left out`)
    }
  }
  return { servers, problems }
}

type Expand = (text: string) => string

function serverOf(name: string, given: unknown, from: string, expand: Expand): Server | string {
  if (!goodName.test(name))
    return 'its name must be 1 to 24 letters, digits, - or single _, and not end with _'
  const command = z.safeParse(byCommand, given)
  const address = z.safeParse(byAddress, given)
  try {
    if (command.success) {
      const { args = [], env = {} } = command.data
      return {
        name,
        from,
        kind: 'command',
        command: expand(command.data.command),
        args: args.map(expand),
        environment: expandedAll(env, expand),
      }
    }
    if (address.success) {
      const { url, headers = {} } = address.data
      return { name, from, kind: 'address', url: expand(url), headers: expandedAll(headers, expand) }
    }
  } catch (error) {
    if (error instanceof Unset) return error.message
    throw error
  }
  return 'it has neither a "command" nor a "url" that begins with http'
}

const expandedAll = (given: Readonly<Record<string, string>>, expand: Expand): Record<string, string> =>
  Object.fromEntries(Object.entries(given).map(([key, value]) => [key, expand(value)]))

class Unset extends Error {}

const expanding =
  (environment: ServersPlace['environment'], isKept: (name: string) => boolean): Expand =>
  (text) =>
    text.replaceAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g, (_, name: string, other?: string) => {
      if (isKept(name)) throw new Unset(`a project may not name ${name}`)
      const value = environment[name] ?? other
      if (value === undefined) throw new Unset(`${name} is not set in the environment`)
      return value
    })

// ---- the programs of a project that a command names ----

/** Larger ones cannot be looked at, so they are not started. */
const mostBytes = 32 * 1024 * 1024

/**
 * The files of a project that the command of a server names (`./server.js`, `node tools/server`, `node .`), itself or in a
 * variable it sets (`NODE_OPTIONS`), are approved by their content before the command runs, at each start. What such a
 * file loads in its turn, packages that a command fetches (`npx name`) and what scripts of package managers run cannot be
 * named here and is not covered.
 */
async function programRefusal(
  { fs, project, cwd, gate }: Pick<ServersPlace, 'fs' | 'project' | 'cwd' | 'gate'>,
  { command, args, environment }: Extract<Server, { kind: 'command' }>,
): Promise<string | null> {
  // A command without a slash is looked for in PATH, never in the folder.
  const words = [...args, ...Object.values(environment)].flatMap((word) => [word, ...word.split(parting)])
  const named = [...(/[/\\]/.test(command) ? [command] : []), ...words.flatMap(pathsIn)]
  const isCode = runsFolders.test(command)
  for (const name of new Set(named)) {
    if (name === '' || name.includes('\0')) continue
    for (const path of await filesMeant(fs, resolve(cwd, name), isCode)) {
      if (!isInside(project, path)) continue
      const read = await readWhole(fs, path, mostBytes)
      if (!read.ok) return `${path} cannot be checked: ${read.why}`
      const refused = read.bytes === null ? null : gate.refusal('MCP program', path, read.bytes)
      if (refused !== null) return `${path} ${refused}`
    }
  }
  return null
}

/** A word may be a script of a shell, or a list. */
const parting = /[\s:;,&|()<>"'`]+/
/** Others may be handed a folder to work in. */
const runsFolders = /(?:^|[/\\])(?:node(?:js)?|bun|deno|tsx|ts-node|python[\d.]*|pypy\d*)$/

/** `--import=./hook.js`, `-r./hook.js` and `file:///…` name a file too. */
function pathsIn(word: string): readonly string[] {
  const [, long, short] = /^--?[\w-]+=(.+)$|^-[A-Za-z](.+)$/s.exec(word) ?? []
  return [word, long, short].flatMap((name) => {
    if (name === undefined) return []
    return name.startsWith('file:') && URL.canParse(name) ? [plainPath(new URL(name))] : [name]
  })
}

const plainPath = ({ pathname }: URL): string => {
  const bytes = pathname.replaceAll(/%([0-9a-f]{2})/gi, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  )
  return Buffer.from(bytes, 'latin1').toString()
}

/** What programs put behind a name that is none yet, and what they begin with in a folder. */
const endings = ['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts', '.json', '.node', '.py']
const begins = ['package.json', '__main__.py', ...endings.map((ending) => `index${ending}`)]

/** The files that a path stands for, by their real paths. */
async function filesMeant(fs: FileSystem, path: string, isCode: boolean): Promise<readonly string[]> {
  const kind = await kindAt(fs, path)
  if (kind?.kind === 'file') return [kind.real]
  const isFolder = kind?.kind === 'folder'
  if (isFolder && !isCode) return []
  const others = isFolder
    ? [...begins.map((name) => join(path, name)), ...(await mainOf(fs, path))]
    : endings.map((ending) => `${path}${ending}`)
  const found = await Promise.all(others.map((one) => kindAt(fs, one)))
  return found.flatMap((one) => (one?.kind === 'file' ? [one.real] : []))
}

async function mainOf(fs: FileSystem, folder: string): Promise<readonly string[]> {
  const read = await readWhole(fs, join(folder, 'package.json'), defaults.cli.settingsBytes)
  const main = read.ok && read.bytes !== null ? fieldsOf(jsonIn(read.bytes.toString()))['main'] : undefined
  if (typeof main !== 'string' || main.includes('\0')) return []
  return ['', ...endings, ...endings.map((ending) => `/index${ending}`)].map((end) =>
    join(folder, `${main}${end}`),
  )
}

async function kindAt(fs: FileSystem, path: string): Promise<{ real: string; kind: string } | null> {
  const found = await attempt('looking', async () => {
    const real = await fs.realPath(path)
    return { real, kind: (await fs.stat(real)).kind }
  })
  return found.ok ? found : null
}
