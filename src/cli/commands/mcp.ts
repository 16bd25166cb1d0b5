// `pal mcp` and `/mcp`: the MCP servers in use, whether they answer, and what their tools take of every request.
import { complain, exits, fail, type Exit } from '../exit-codes.ts'
import { loadExtensions } from '../extensions/load.ts'
import type { ServerState } from '../extensions/mcp/tools.ts'
import type { Io } from '../terminal/io.ts'
import { safeJson } from '../terminal/safe-text.ts'
import { shortPath, prose, table, whole, right, wraps } from '../terminal/tables.ts'
import { openWorkplace, showProblems, type ProjectFlags } from '../workplace/workplace.ts'

/** Starts them as a session would, and closes them. */
export async function mcp(io: Io, flags: ProjectFlags): Promise<Exit> {
  const place = await openWorkplace(io, { cwd: flags.cwd })
  if (!place.ok) return complain(io, place)
  showProblems(place)
  const loaded = await loadExtensions(place)
  try {
    if (flags.json === true) io.out(`${safeJson(loaded.servers, 2)}\n`)
    else io.out(serverTable(loaded.servers, io))
    const failed = loaded.servers.filter(({ state }) => state === 'failed')
    return failed.length === 0
      ? exits.done
      : fail(
          io,
          exits.failed,
          `${failed.length} of ${loaded.servers.length} MCP servers cannot be reached: ${failed.map(({ name }) => name).join(', ')}`,
        )
  } finally {
    await loaded.close()
  }
}

export function serverTable(
  servers: readonly ServerState[],
  { columns: room, userHome }: Pick<Io, 'columns' | 'userHome'>,
): string {
  if (servers.length === 0)
    return prose(
      'No MCP servers. Add them to ~/.palimpsest/mcp.json, or to .mcp.json of a trusted project: {"mcpServers": {"NAME": {"command": "…", "args": []}}}\n',
      room,
    )
  const isNoted = servers.some((server) => noteOf(server) !== '')
  return table(
    [
      'server',
      'state',
      right('tools'),
      right('tokens', 2),
      wraps('from', 3),
      ...(isNoted ? [wraps('note')] : []),
    ],
    servers.map(({ name, state, tools, tokens, from, why, isDeferred }) => [
      name,
      state === 'late' ? 'connecting' : state,
      String(tools),
      whole(tokens),
      shortPath(from, userHome),
      ...(isNoted ? [noteOf({ why, isDeferred })] : []),
    ]),
    room,
  )
}

const noteOf = ({ why, isDeferred }: Pick<ServerState, 'why' | 'isDeferred'>): string =>
  why ?? (isDeferred ? 'tools are looked up when needed' : '')
