// opencode keeps its conversations in a database of its own and exports one of them as JSON; the messages are the same in both.
import { join } from 'node:path'
import { fieldsOf, numberOf, stringOrNull, timeOf, type Fields } from '../importers/lines.ts'
import { exportIn, opencodeUsage } from '../importers/opencode.ts'
import type { Homes } from '../own/find.ts'
import type { BilledRequest } from './totals.ts'

/** Where opencode keeps its sessions. */
export const opencodeDatabase = ({ userHome, environment }: Homes): string =>
  join(environment['XDG_DATA_HOME'] ?? join(userHome, '.local', 'share'), 'opencode', 'opencode.db')

/** The messages of an export, or null where it is none. */
export const exportedMessages = (value: unknown): readonly Fields[] | null =>
  exportIn(value)?.messages.map((message) => fieldsOf(message['info'])) ?? null

/** The requests of a session that opencode exported, with its counts. */
export function opencodeRequests(name: string, messages: readonly Fields[]): readonly BilledRequest[] {
  return messages.flatMap((message): readonly BilledRequest[] => {
    const usage = opencodeUsage(message['tokens'])
    const isCounted = numberOf(fieldsOf(message['tokens'])['output']) !== null
    if (message['role'] !== 'assistant' || usage === undefined || !isCounted) return []
    const session = stringOrNull(message['sessionID']) ?? name
    const id = stringOrNull(message['id'])
    return [
      {
        program: 'opencode',
        session,
        chain: `${name} ${session}`,
        project: stringOrNull(fieldsOf(message['path'])['cwd']),
        model: stringOrNull(message['modelID']) ?? 'unknown',
        at: timeOf(fieldsOf(message['time'])['created']),
        isAgent: false,
        usage,
        output: usage.output,
        id: id === null ? null : `opencode ${id}`,
      },
    ]
  })
}

/** What the database holds, or why it cannot be read. It is only looked into. */
export async function opencodeRows(
  file: string,
): Promise<
  { readonly ok: true; readonly messages: readonly Fields[] } | { readonly ok: false; readonly why: string }
> {
  // Comes with Node from 22.5 on.
  const sqlite = await import('node:sqlite').catch(() => null)
  if (sqlite === null)
    return {
      ok: false,
      why: `${file}: sessions of opencode are in a database that Node 22.5 or newer can read; run pal with that, or name what "opencode export ID" prints`,
    }
  try {
    const database = new sqlite.DatabaseSync(file, { readOnly: true })
    try {
      const rows = database.prepare('select id, session_id, data from message order by time_created').all()
      const messages = rows.map((row) => {
        const { id, session_id: session, data } = row as Fields
        return { ...fieldsOf(JSON.parse(String(data))), id, sessionID: session }
      })
      return { ok: true, messages }
    } finally {
      database.close()
    }
  } catch (error) {
    return { ok: false, why: `${file} cannot be read (${(error as Error).message})` }
  }
}
