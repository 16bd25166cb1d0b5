// `pal mcp serve-memory`: the memories of this user, and of a project where it is named, for another agent. On standard input
// and output until the client closes them, or with --http until it is interrupted.
import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import type { McpServer } from '@modelcontextprotocol/server'
import { errorText } from '../../../disk/failure.ts'
import { machineFileSystem } from '../../../disk/fs.ts'
import { isInside } from '../../../disk/under-root.ts'
import type { FolderStore } from '../../../memory/keeping/folder-store.ts'
import { forget } from '../../../memory/keeping/forget.ts'
import type { Ledger } from '../../../memory/keeping/ledger.ts'
import type { MemoryScope } from '../../../memory/memory.ts'
import { MemoryIndex } from '../../../memory/recall/memory-index.ts'
import { MemorySearch, type TurnHit } from '../../../memory/recall/search.ts'
import { MemoryService, type Caller, type WriteCount } from '../../../memory/serving/memory-service.ts'
import { projectStore } from '../../../preset.ts'
import { defaults } from '../../../settings/defaults.ts'
import { systemClock } from '../../../transcript/ids.ts'
import { withMemories } from './open.ts'
import { complain, exits, refuse, type Exit } from '../../exit-codes.ts'
import { interrupted, type Io } from '../../terminal/io.ts'
import { safeLine } from '../../terminal/safe-text.ts'
import { openWorkplace, type Workplace } from '../../workplace/workplace.ts'
import { listen, instructionsOf, memoryServer } from './server.ts'

export interface ServeFlags {
  readonly cwd?: string | undefined
  readonly http?: boolean | undefined
  readonly port?: number | undefined
}

const tokenVariable = 'PALIMPSEST_MCP_TOKEN'

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
  const ended = new Promise<void>((resolve) => void process.stdin.once('end', resolve))
  const closed = Promise.race([ended, interrupted(io)])
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
    refuse(exits.failed, `it cannot listen (${errorText(error)}); choose another --port`),
  )
  if ('exit' in started) return complain(io, started)
  io.out(`${started.url}\n`)
  io.err(
    given === token
      ? `pal: memories are served; the token is that of ${tokenVariable}. Press Ctrl-C to stop\n`
      : `pal: memories are served. Clients send the header Authorization: Bearer ${token}. Press Ctrl-C to stop\n`,
  )
  await interrupted(io)
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
  /** By the name that a client claims. */
  readonly #writes = new Map<string, WriteCount>()
  readonly #search: MemorySearch

  constructor(place: Workplace, keepers: readonly FolderStore[], isNamed: boolean) {
    this.#place = place
    this.#keepers = keepers
    this.#isNamed = isNamed
    this.#search = new MemorySearch(new MemoryIndex([]), projectStore(place))
  }

  /** Told before a client has said which folders it works in: of the user alone, unless the project was named. */
  titles(): Promise<string> {
    return this.#service({ name: 'unknown', scopes: this.#scopes(this.#isNamed) }, null).titles(
      defaults.serving.instructionChars / 2,
    )
  }

  async serviceFor(server: McpServer): Promise<MemoryService> {
    const scopes = this.#scopes(this.#isNamed || (await this.#hasRoot(server)))
    const name = plainName(server.server.getClientVersion()?.name ?? 'unknown')
    const canAsk = server.server.getClientCapabilities()?.elicitation !== undefined
    return this.#service({ name, scopes }, canAsk ? (question) => asked(server, question) : null)
  }

  #scopes(isProject: boolean): ReadonlySet<MemoryScope> {
    return new Set(this.#keepers.map(({ scope }) => scope).filter((scope) => isProject || scope === 'user'))
  }

  #service(caller: Caller, confirm: ((question: string) => Promise<boolean>) | null): MemoryService {
    const stores = this.#keepers
    return new MemoryService({
      stores,
      caller,
      confirm,
      writes: this.#writesOf(caller.name),
      now: () => systemClock.now(),
      typed: (quote) => this.#typed(quote),
      waiting: async () => (await this.#ledgers()).reduce((sum, ledger) => sum + ledger.held().length, 0),
      savedSince: async (time) =>
        (await this.#ledgers()).reduce((sum, ledger) => sum + savedBy(ledger, caller.name, time), 0),
      forget: async (store, file) => {
        const keeper = stores.find((one) => one === store)
        const done = keeper === undefined ? null : await forget(keeper, { file })
        return done === null ? 'it is not kept here' : done.ok ? null : done.failure.message
      },
      around: (ref, turns) => this.#around(ref, turns),
      kept: (hash, offset, length) => this.#kept(hash, offset, length),
      newest: async () => {
        const found = await this.#search.newest(defaults.serving.resumeTurns)
        return found.ok && found.hits.length > 0 ? turnsText(found.hits) : null
      },
    })
  }

  #writesOf(name: string): WriteCount {
    const known = this.#writes.get(name) ?? { at: [] }
    this.#writes.set(name, known)
    return known
  }

  async #ledgers() {
    await Promise.all(this.#keepers.map(({ ledger }) => ledger.refresh()))
    return this.#keepers.map(({ ledger }) => ledger)
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
    return { ok: true, text: turnsText(found.hits) }
  }

  async #kept(
    hash: string,
    offset: number,
    length: number,
  ): Promise<{ readonly ok: boolean; readonly text: string }> {
    const read = await this.#search.kept(hash, { offset, length }, new AbortController().signal)
    if (!read.ok) return { ok: false, text: read.failure.message }
    const end = offset + length
    const rest = end < read.totalBytes ? `\n[${read.totalBytes} bytes in all; offset ${end} goes on]` : ''
    return { ok: true, text: `${read.text}${rest}` }
  }
}

const turnsText = (hits: readonly TurnHit[]): string =>
  hits.map(({ ref, speaker, text }) => `${ref} ${speaker}: ${text}`).join('\n')

/** What a caller of this name has saved or has waiting since a time. */
const savedBy = (ledger: Ledger, name: string, time: number): number =>
  ledger
    .records()
    .filter(
      (one) =>
        (one.do === 'write' || one.do === 'hold') && one.at > time && one.by.from.includes(`mcp:${name}`),
    ).length

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
