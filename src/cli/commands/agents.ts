// `pal agents`: the agents of a session as its transcript tells, looked at from outside.
import { nothingInBackground, type AgentRow } from '../../engine/background/agent-rows.ts'
import { totalOf } from '../../engine/limits/spend.ts'
import { resume } from '../../engine/opening/resume.ts'
import { builtInTypes, type AgentType } from '../../forks/agents/index.ts'
import { projectStore, tableOf } from '../../preset.ts'
import type { SessionId } from '../../transcript/ids.ts'
import type { Store } from '../../transcript/store.ts'
import { exits, refuse, type Exit } from '../exit-codes.ts'
import { complain } from '../headless.ts'
import { lookAt, type LookFlags } from '../look-at.ts'
import { newestSession } from '../session-lookup.ts'
import { typesFor } from '../workplace/agents.ts'
import { openWorkplace, type Workplace } from '../workplace/workplace.ts'
import type { Io } from '../terminal/io.ts'
import { safeJson } from '../terminal/safe-text.ts'
import { dollars, moment, table, whole } from '../terminal/tables.ts'

/** Where no session is named and there is none yet, the types alone: a new type file can be checked before it is used. */
export async function agents(io: Io, id: string | undefined, flags: LookFlags): Promise<Exit> {
  if (id !== undefined) return lookAt(io, id, flags, showAgents)
  const place = await openWorkplace(io, { cwd: flags.cwd })
  if (!place.ok) return complain(io, place)
  const store = projectStore(place)
  const newest = await newestSession(store)
  if (newest.ok) return showAgents(place, store, newest.session, flags.json ?? false)
  if (newest.exit !== exits.session) return complain(io, newest)
  return showTypes(place, flags.json ?? false, { session: null, agents: [] }, 'no session yet\n')
}

/** The agents of a session, and the types that can be started. */
export async function showAgents(
  place: Workplace,
  store: Store,
  session: SessionId,
  json: boolean,
): Promise<Exit> {
  const rows = await rowsOf(place, store, session)
  if (rows === null) return exits.failed
  return showTypes(place, json, { session, agents: rows }, `session ${session}\n${agentTable(rows)}`)
}

/** The types behind what is known of a session, as JSON or as text. */
async function showTypes(place: Workplace, json: boolean, known: object, text: string): Promise<Exit> {
  const { types, problems } = await typesFor(place)
  for (const problem of problems) complain(place.io, refuse(exits.failed, problem))
  const listed = types.map(({ name, description, from }) => ({ name, description, from }))
  if (json) place.io.out(`${safeJson({ ...known, types: listed }, 2)}\n`)
  else place.io.out(`${text}\n${typeTable(types)}`)
  return exits.done
}

export async function rowsOf(
  place: Workplace,
  store: Store,
  session: SessionId,
): Promise<readonly AgentRow[] | null> {
  const found = await resume(store, session, tableOf(place.settings))
  if (found.ok) return withSpent(place, store, (found.latest.beside ?? nothingInBackground).agents)
  complain(place.io, refuse(exits.failed, found.failure.message))
  return null
}

/** What running ones have taken so far, as their own transcripts tell; their end will say it for good. */
export function withSpent(
  place: Workplace,
  store: Store,
  rows: readonly AgentRow[],
): Promise<readonly AgentRow[]> {
  return Promise.all(
    rows.map(async (row) => {
      if (row.state !== 'running') return row
      const own = await resume(store, row.child, tableOf(place.settings))
      return own.ok ? { ...row, spent: totalOf(own.spent) } : row
    }),
  )
}

/** `phrases` says what the running ones are at, where somebody knows. */
export function agentTable(
  rows: readonly AgentRow[],
  phrases: ReadonlyMap<string, string> = new Map(),
): string {
  if (rows.length === 0) return 'no agents\n'
  return table(
    [
      { title: 'agent' },
      { title: 'label' },
      { title: 'type' },
      { title: 'mode' },
      { title: 'since' },
      { title: 'state' },
      { title: 'tokens', right: true },
      { title: 'cost', right: true },
    ],
    rows.map((row) => [
      row.child,
      row.name === undefined ? row.label : `${row.label} (${row.name})`,
      row.forked === true ? `${row.agent}, forked` : row.agent,
      row.mode,
      moment(row.since),
      stateOf(row, phrases.get(row.child)),
      row.spent === undefined ? '' : whole(row.spent.tokens),
      row.spent === undefined ? '' : dollars(row.spent.dollars),
    ]),
  )
}

export function stateOf(row: AgentRow, phrase: string | undefined): string {
  const branch = row.worktree === undefined ? '' : `, branch ${row.worktree.branch}`
  if (row.state === 'running') return `${phrase ?? 'running'}${branch}`
  return `${row.state}${row.collected ? '' : ', not handed on yet'}${branch}`
}

export const typeTable = (types: readonly AgentType[] = builtInTypes): string =>
  table(
    [{ title: 'type' }, { title: 'for' }, { title: 'from' }],
    types.map(({ name, description, from }) => [name, description, from]),
  )
