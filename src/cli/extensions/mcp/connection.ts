// One server: reached once, asked for its tools, and called. Never throws: what goes wrong is a text. A server that is gone
// is reached again at the next call; its error stream is kept in part, to say why it would not start.
import type { Client } from '@modelcontextprotocol/client'
import { errorText } from '../../../disk/failure.ts'
import { defaults } from '../../../settings/defaults.ts'
import { failed } from '../../../tools/outcome.ts'
import { commandEnvironment } from '../../../tools/shell/environment.ts'
import type { ToolOutcome } from '../../../tools/tool.ts'
import type { UserBlock } from '../../../transcript/content.ts'
import { fieldsOf } from '../../../transcript/json.ts'
import type { Server } from './servers.ts'

/** A tool as its server describes it; nothing of it is believed but its shape. */
export interface ServerTool {
  readonly name: string
  readonly description: string
  readonly schema: Readonly<Record<string, unknown>>
}

export type Reached =
  | { readonly ok: true; readonly tools: readonly ServerTool[]; readonly instructions: string }
  | { readonly ok: false; readonly why: string }

export interface Connection {
  readonly server: Server
  /** The same answer each time, as long as the server is there. */
  reach(): Promise<Reached>
  call(tool: string, input: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<ToolOutcome>
  close(): Promise<void>
}

export interface ConnectOptions {
  readonly cwd: string
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** Put in when the command is bundled. */
declare const PAL_VERSION: string | undefined
const version = typeof PAL_VERSION === 'string' ? PAL_VERSION : '0'

interface Open {
  readonly client: Client
  readonly reached: Extract<Reached, { ok: true }>
}

export function connectionTo(server: Server, options: ConnectOptions): Connection {
  let opening: Promise<Open | string> | null = null
  const open = (): Promise<Open | string> => {
    opening ??= start(server, options, () => {
      opening = null
    }).then((made) => {
      // A failed start is tried again at the next call.
      if (typeof made === 'string') opening = null
      return made
    })
    return opening
  }
  return {
    server,
    reach: async () => {
      const made = await open()
      return typeof made === 'string' ? { ok: false, why: made } : made.reached
    },
    call: async (tool, input, signal) => {
      const made = await open()
      if (typeof made === 'string') return failed(`The server ${server.name} cannot be reached: ${made}`)
      try {
        const result = await made.client.callTool(
          { name: tool, arguments: { ...input } },
          { signal, timeout: defaults.mcp.callMs },
        )
        return toolOutcomeOf(result)
      } catch (error) {
        return failed(`${server.name} failed: ${errorText(error)}`)
      }
    },
    close: async () => {
      const made = await opening
      opening = null
      if (made !== null && typeof made !== 'string') await made.client.close().catch(() => undefined)
    },
  }
}

async function start(server: Server, options: ConnectOptions, gone: () => void): Promise<Open | string> {
  const refused = server.kind === 'command' ? ((await server.refusal?.()) ?? null) : null
  if (refused !== null) return refused
  const sdk = await import('@modelcontextprotocol/client')
  const client = new sdk.Client({ name: 'palimpsest', version })
  const said: string[] = []
  try {
    const transport =
      server.kind === 'address'
        ? new sdk.StreamableHTTPClientTransport(new URL(server.url), {
            requestInit: { headers: { ...server.headers }, redirect: 'error' },
          })
        : await commandTransport(server, options, said)
    Object.assign(client, { onclose: gone })
    await client.connect(transport, { timeout: defaults.mcp.connectMs })
    const { tools } = await client.listTools(undefined, { timeout: defaults.mcp.connectMs })
    return {
      client,
      reached: {
        ok: true,
        instructions: client.getInstructions() ?? '',
        tools: tools.map(({ name, description = '', inputSchema }) => ({
          name,
          description,
          schema: inputSchema as Readonly<Record<string, unknown>>,
        })),
      },
    }
  } catch (error) {
    await client.close().catch(() => undefined)
    const heard = said.join('').trim().slice(-defaults.mcp.errorChars)
    return `${errorText(error)}${heard === '' ? '' : `; it says: ${heard}`}`
  }
}

async function commandTransport(
  server: Extract<Server, { kind: 'command' }>,
  { cwd, environment }: ConnectOptions,
  said: string[],
) {
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio')
  const transport = new StdioClientTransport({
    command: server.command,
    args: [...server.args],
    cwd,
    // Without our keys: a server gets what its own entry names.
    env: { ...plain(commandEnvironment(environment)), ...server.environment },
    stderr: 'pipe',
  })
  transport.stderr?.on('data', (piece: Buffer) => {
    said.push(piece.toString())
    if (said.length > defaults.mcp.errorPieces) said.shift()
  })
  return transport
}

const plain = (environment: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environment).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  )

interface ServerResult {
  readonly content?: readonly unknown[]
  readonly structuredContent?: unknown
  readonly isError?: boolean | undefined
}

/** Text, and pictures that can be sent, as they are; everything else as the JSON it came as. */
export function toolOutcomeOf(result: ServerResult): ToolOutcome {
  const blocks = (result.content ?? []).map(blockOf)
  const isBare = blocks.length === 0 && result.structuredContent !== undefined
  const content = isBare ? [asText(JSON.stringify(result.structuredContent))] : blocks
  return { content, isError: result.isError ?? false }
}

const asText = (text: string): UserBlock => ({ type: 'text', text })

/** What the provider refuses would stand in every later request, and end the session. */
const isPicture = (mimeType: string, data: string): boolean =>
  /^image\/(?:png|jpeg|gif|webp)$/.test(mimeType) &&
  data.length <= (defaults.tools.imageBytes / 3) * 4 &&
  /^[A-Za-z0-9+/]{4,}={0,2}$/.test(data)

function blockOf(given: unknown): UserBlock {
  const { type, text, data, mimeType, resource } = fieldsOf(given)
  if (type === 'text' && typeof text === 'string') return asText(text)
  if (type === 'image' && typeof data === 'string' && typeof mimeType === 'string')
    return !isPicture(mimeType, data)
      ? asText(`[a picture (${mimeType.slice(0, 40)}, ${data.length} characters) that cannot be shown]`)
      : { type: 'image', source: { type: 'base64', media_type: mimeType, data } }
  const inner = fieldsOf(resource)
  if (type === 'resource' && typeof inner['text'] === 'string')
    return asText(`${String(inner['uri'])}\n${inner['text']}`)
  return asText(JSON.stringify(given))
}
