// `pal mcp serve-memory`: the memories of this user, and of a project where it is named, for another agent. On standard input
// and output until the client closes them, or with --http until it is interrupted.
import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import type { McpServer } from '@modelcontextprotocol/server'
import { machineFileSystem } from '../../disk/fs.ts'
import { isInside } from '../../disk/under-root.ts'
import type { FolderStore } from '../../memory/keeping/folder-store.ts'
import { forget } from '../../memory/keeping/forget.ts'
import { MemoryIndex } from '../../memory/recall/memory-index.ts'
import { MemorySearch } from '../../memory/recall/search.ts'
import { MemoryService, type WriteCount } from '../../memory/serving/memory-service.ts'
import { projectStore } from '../../preset.ts'
import { defaults } from '../../settings/defaults.ts'
import { systemClock } from '../../transcript/ids.ts'
import { withMemories } from '../commands/memory/open.ts'
import { complain, exits, refuse, type Exit } from '../exit-codes.ts'
import type { Io } from '../terminal/io.ts'
import { safeLine } from '../terminal/safe-text.ts'
import { openWorkplace, type Workplace } from '../workplace/workplace.ts'
import { listen } from './http.ts'
import { instructionsOf, memoryServer } from './server.ts'

export interface ServeFlags {
  readonly cwd?: string | undefined
  readonly http?: boolean | undefined
  readonly port?: number | undefined
}

export const tokenVariable = 'PALIMPSEST_MCP_TOKEN'

declare const PAL_VERSION: string | undefined
const version = typeof PAL_VERSION === 'string' ? PAL_VERSION : '0'

export async function serveMemory(io: Io, flags: ServeFlags): Promise<Exit> {
  const place = await openWorkplace(io, { cwd: flags.cwd })
  if (!place.ok) return complain(io, place)
  return await withMemories(io, { cwd: flags.cwd }, async ({ keepers }) => {
    const serving = new Serving(place, keepers, flags.cwd !== undefined)
    const instructions = instructionsOf(await serving.titles())
    const make = (): McpServer =>
      memoryServer({ version, instructions, service: (server) => serving.serviceFor(server) })
    return flags.http === true ? await overHttp(io, flags, make) : await overStdio(io, make)
  })
}

async function overStdio(io: Io, make: () => McpServer): Promise<Exit> {
  const { StdioServerTransport } = await import('@modelcontextprotocol/server/stdio')
  const server = make()
  const closed = new Promise<void>((resolve) => {
    process.stdin.once('end', resolve)
    const stop = io.onInterrupt(() => {
      stop()
      resolve()
    })
  })
  await server.connect(new StdioServerTransport())
  await closed
  await server.close()
  return exits.done
}

async function overHttp(io: Io, { port = 0 }: ServeFlags, make: () => McpServer): Promise<Exit> {
  const given = io.environment[tokenVariable]
  const token = given === undefined || given === '' ? randomBytes(tokenBytes).toString('base64url') : given
  const problem = (why: string): void => io.err(`pal: ${safeLine(why)}\n`)
  const started = await listen({ port, token, server: make, problem }).catch((error: unknown) =>
    refuse(
      exits.failed,
      `it cannot listen (${error instanceof Error ? error.message : String(error)}); choose another --port`,
    ),
  )
  if ('exit' in started) return complain(io, started)
  io.out(`${started.url}\n`)
  io.err(
    given === token
      ? `pal: memories are served; the token is that of ${tokenVariable}. Press Ctrl-C to stop\n`
      : `pal: memories are served. Clients send the header Authorization: Bearer ${token}. Press Ctrl-C to stop\n`,
  )
  await new Promise<void>((resolve) => {
    const stop = io.onInterrupt(() => {
      stop()
      resolve()
    })
  })
  await started.close()
  return exits.done
}

const tokenBytes = 24

/** What all clients of one process share, and what each may see. */
class Serving {
  readonly #place: Workplace
  readonly #keepers: readonly FolderStore[]
  /** Whoever wrote the command line named the project. */
  readonly #isNamed: boolean
  readonly #writes: WriteCount = { at: [] }
  readonly #search: MemorySearch

  constructor(place: Workplace, keepers: readonly FolderStore[], isNamed: boolean) {
    this.#place = place
    this.#keepers = keepers
    this.#isNamed = isNamed
    this.#search = new MemorySearch(new MemoryIndex([]), projectStore(place))
  }

  /** Told before a client has said which folders it works in: of the user alone, unless the project was named. */
  titles(): Promise<string> {
    return this.#service(this.#isNamed, 'unknown', null).titles(defaults.serving.instructionChars / 2)
  }

  async serviceFor(server: McpServer): Promise<MemoryService> {
    const isProject = this.#isNamed || (await this.#hasRoot(server))
    const caller = server.server.getClientVersion()?.name ?? 'unknown'
    const canAsk = server.server.getClientCapabilities()?.elicitation !== undefined
    return this.#service(isProject, plainName(caller), canAsk ? (question) => asked(server, question) : null)
  }

  #service(isProject: boolean, caller: string, confirm: ((question: string) => Promise<boolean>) | null) {
    const stores = this.#keepers.filter(({ scope }) => isProject || scope === 'user')
    return new MemoryService({
      stores,
      caller,
      confirm,
      writes: this.#writes,
      now: () => systemClock.now(),
      typed: (quote) => (isProject ? this.#typed(quote) : Promise.resolve(null)),
      waiting: async () => {
        await Promise.all(stores.map(({ ledger }) => ledger.refresh()))
        return stores.reduce((sum, { ledger }) => sum + ledger.held().length, 0)
      },
      forget: async (store, file) => {
        const keeper = stores.find((one) => one === store)
        const done = keeper === undefined ? null : await forget(keeper, { file })
        return done === null ? 'it is not kept here' : done.ok ? null : done.failure.message
      },
      around: (ref, turns) =>
        isProject
          ? this.#around(ref, turns)
          : Promise.resolve({
              ok: false,
              text: 'sessions are served only for a project that is named with --cwd or as a root',
            }),
    })
  }

  /** Whether the client works in this project, by the folders it names. A client that names none sees the user's alone. */
  async #hasRoot({ server }: McpServer): Promise<boolean> {
    if (server.getClientCapabilities()?.roots === undefined) return false
    const listed = await server.listRoots().catch(() => null)
    const paths = await Promise.all(
      (listed?.roots ?? []).flatMap(({ uri }) => (uri.startsWith('file://') ? [realPathOf(uri)] : [])),
    )
    const { root } = this.#place.project
    return paths.some((path) => path !== null && isInside(root, path))
  }

  /** Words that the user typed in a session of this project. */
  async #typed(quote: string): Promise<{ readonly session: string; readonly text: string } | null> {
    const { signal } = new AbortController()
    const found = await this.#search.turns(quote, defaults.serving.hits, signal)
    for (const hit of found.ok ? found.hits : []) {
      const whole = hit.speaker === 'user' ? await this.#search.around(hit.ref, 0, signal) : null
      const text = whole?.ok === true ? (whole.hits.find(({ isHit }) => isHit)?.text ?? '') : ''
      if (text.includes(quote.trim())) return { session: hit.session, text }
    }
    return null
  }

  async #around(ref: string, turns: number): Promise<{ readonly ok: boolean; readonly text: string }> {
    const found = await this.#search.around(ref, turns, new AbortController().signal)
    if (!found.ok) return { ok: false, text: found.failure.message }
    return {
      ok: true,
      text: found.hits.map(({ ref: at, speaker, text }) => `${at} ${speaker}: ${text}`).join('\n'),
    }
  }
}

const realPathOf = (uri: string): Promise<string | null> =>
  Promise.resolve()
    .then(() => machineFileSystem.realPath(fileURLToPath(uri)))
    .catch(() => null)

/** A claimed name becomes a part of an origin, so it holds nothing that could be taken for more. */
const plainName = (name: string): string =>
  name.replaceAll(/[^\w.-]+/gu, '_').slice(0, nameChars) || 'unknown'
const nameChars = 40

async function asked({ server }: McpServer, question: string): Promise<boolean> {
  const answer = await server
    .elicitInput({ message: question, requestedSchema: { type: 'object', properties: {} } })
    .catch(() => null)
  return answer?.action === 'accept'
}
