// `pal edits`: everything that left the view of a session, by whom and why, what it freed and was expected to save, and
// the number by which it is taken back.
import { EditList, type DeclinedRow, type EditRow } from '../../projection/edit-list.ts'
import type { SessionId } from '../../transcript/ids.ts'
import { lineageOf, readLine } from '../../transcript/lineage.ts'
import type { Result, Store } from '../../transcript/store.ts'
import { print, exits, fail, type Exit } from '../exit-codes.ts'
import { showSession } from '../session-lookup.ts'
import type { Io } from '../terminal/io.ts'
import { dollars, moment, prose, table, whole, right, left, wraps } from '../terminal/tables.ts'
import type { ProjectFlags } from '../workplace/workplace.ts'

export interface EditsFlags extends ProjectFlags {
  readonly why?: boolean | undefined
}

/** With --why the first argument is the number of a compaction, and the second the session. */
export async function edits(
  io: Io,
  id: string | undefined,
  session: string | undefined,
  flags: EditsFlags,
): Promise<Exit> {
  if (flags.why === true) return (await import('./edits-why.ts')).editsWhy(io, id, session, flags)
  return showSession(io, id, flags, (place, store, found, json) => showEdits(place.io, store, found, json))
}

export async function showEdits(io: Io, store: Store, session: SessionId, json: boolean): Promise<Exit> {
  const read = await removalsOf(store, session)
  if (!read.ok) return fail(io, exits.failed, read.failure.message)
  const { rows, declined } = read
  return print(io, json, { session, edits: rows, declined }, () =>
    prose(asTable(session, rows, io.columns) + declinedText(declined), io.columns),
  )
}

/** Every removal of a session, and what was left for its price. */
export async function removalsOf(
  store: Store,
  session: SessionId,
): Promise<Result<{ readonly rows: readonly EditRow[]; readonly declined: readonly DeclinedRow[] }>> {
  const line = await lineageOf(store, session)
  if (!line.ok) return line
  const list = new EditList()
  for await (const item of readLine(store, line.links, {})) {
    if (item.kind === 'failed') return { ok: false, failure: item.failure }
    if (item.kind === 'entry') list.push(item.entry)
  }
  return { ok: true, rows: list.rows(), declined: list.declined() }
}

/** What was left alone for its price, in a sentence; `--json` has every choice with its numbers. */
export function declinedText(declined: readonly DeclinedRow[]): string {
  const last = declined.at(-1)
  if (last === undefined) return ''
  const times = declined.length === 1 ? 'Once' : `${declined.length} times`
  return `\n${times} a removal was considered and not worth its price; last (request ${last.seq}): ${whole(last.tokens)} tokens, ${pricedAs(last.price)}.\n`
}

function pricedAs(price: DeclinedRow['price']): string {
  if (price === undefined) return 'price unknown'
  const { saves, costs } = price
  return `${dollars(saves)} saved for ${dollars(costs)} of cache writes`
}

export function asTable(session: string, rows: readonly EditRow[], room: number): string {
  if (rows.length === 0) return `session ${session}: nothing was removed from context.\n`
  const list = table(
    [
      right('edit'),
      left('when', 3),
      'layer',
      left('by', 2),
      left('what', 4),
      right('tokens'),
      right('saves', 1),
      'state',
      wraps('why'),
    ],
    rows.map((row) => [
      `#${row.seq}`,
      moment(row.at),
      row.layer,
      row.asked === 'automatic' ? '–' : row.asked,
      row.does.map(({ kind, count }) => `${count} ${deeds[kind]}`).join(', '),
      whole(row.tokensFreed),
      row.saved === null ? '–' : dollars(row.saved),
      row.hold === undefined ? row.state : `${row.state}, stays until #${row.hold} is released`,
      row.why,
    ]),
    room,
  )
  return `session ${session}\n\n${list}\nSavings are what was expected when the choice was made.\n`
}

const deeds = {
  stub: 'replaced by a stub',
  drop: 'removed',
  summary: 'summarised',
  remote: 'removed by the provider',
  spill: 'moved to a file',
} as const
