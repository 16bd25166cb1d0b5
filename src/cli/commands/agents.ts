// `pal agents` and `pal tasks`: the agents of a session, and everything under way for it, read from outside: from its
// transcript and from the file of its background commands.
import { machineFileSystem } from '../../disk/fs.ts'
import { machineProcesses } from '../../disk/processes.ts'
import { nothingInBackground, type AgentRow } from '../../engine/background/agent-rows.ts'
import { totalOf } from '../../engine/limits/spend.ts'
import { resume } from '../../engine/opening/resume.ts'
import { builtInTypes, type AgentType } from '../../forks/agents/index.ts'
import { projectStore, sessionsFolder, tableOf } from '../../preset.ts'
import { jobsFile } from '../../preset/jobs.ts'
import { readJobs, type JobRow } from '../../tools/shell/background-tasks.ts'
import type { SessionId } from '../../transcript/ids.ts'
import type { Store } from '../../transcript/store.ts'
import { print, complain, exits, fail, type Exit } from '../exit-codes.ts'
import { typesFor } from '../extensions/load.ts'
import { newestSession, shortId, showSession } from '../session-lookup.ts'
import type { Io } from '../terminal/io.ts'
import { dollars, moment, prose, table, whole, wraps, left, right } from '../terminal/tables.ts'
import { openWorkplace, type ProjectFlags, type Workplace } from '../workplace/workplace.ts'

/** Where no session is named and there is none yet, the types alone: a new type file can be checked before it is used. */
export async function agents(io: Io, id: string | undefined, flags: ProjectFlags): Promise<Exit> {
  if (id !== undefined) return showSession(io, id, flags, showAgents)
  const place = await openWorkplace(io, { cwd: flags.cwd })
  if (!place.ok) return complain(io, place)
  const store = projectStore(place)
  const newest = await newestSession(store)
  if (newest.ok) return showAgents(place, store, newest.session, flags.json ?? false)
  if (newest.exit !== exits.session) return complain(io, newest)
  return showTypes(place, flags.json ?? false, { session: null, agents: [] }, 'no session yet\n')
}

/** The agents of a session, and the types that can be started. */
async function showAgents(place: Workplace, store: Store, session: SessionId, json: boolean): Promise<Exit> {
  const rows = await rowsOf(place, store, session)
  if (rows === null) return exits.failed
  return showTypes(
    place,
    json,
    { session, agents: rows },
    `session ${session}\n${agentTable(rows, place.io.columns)}`,
  )
}

/** The types behind what is known of a session, as JSON or as text. */
async function showTypes(place: Workplace, json: boolean, known: object, text: string): Promise<Exit> {
  const { types, problems } = await typesFor(place)
  for (const problem of problems) fail(place.io, exits.failed, problem)
  const listed = types.map(({ name, description, from }) => ({ name, description, from }))
  return print(place.io, json, { ...known, types: listed }, () =>
    prose(`${text}\n${typeTable(types, place.io.columns)}`, place.io.columns),
  )
}

async function rowsOf(
  place: Workplace,
  store: Store,
  session: SessionId,
): Promise<readonly AgentRow[] | null> {
  const found = await resume(store, session, tableOf(place.settings))
  if (found.ok) return withSpent(place, store, (found.latest.background ?? nothingInBackground).agents)
  fail(place.io, exits.failed, found.failure.message)
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
  room: number,
  phrases: ReadonlyMap<string, string> = new Map(),
): string {
  if (rows.length === 0) return 'no agents\n'
  return table(
    [
      'agent',
      wraps('label'),
      left('type', 3),
      left('mode', 2),
      left('started', 1),
      wraps('state'),
      right('tokens'),
      right('cost'),
    ],
    rows.map((row) => [
      shortId(row.child),
      row.name === undefined ? row.label : `${row.label} (${row.name})`,
      row.forked === true ? `${row.agent}, forked` : row.agent,
      row.mode,
      moment(row.since),
      stateOf(row, phrases.get(row.child)),
      row.spent === undefined ? '' : whole(row.spent.tokens),
      row.spent === undefined ? '' : dollars(row.spent.dollars),
    ]),
    room,
  )
}

function stateOf(row: AgentRow, phrase: string | undefined): string {
  const branch = row.worktree === undefined ? '' : `, branch ${row.worktree.branch}`
  if (row.state === 'running') return `${phrase ?? 'running'}${branch}`
  return `${row.state}${row.collected ? '' : ', not delivered yet'}${branch}`
}

export const typeTable = (types: readonly AgentType[] = builtInTypes, room: number): string =>
  table(
    ['type', wraps('for'), wraps('from', 1)],
    types.map(({ name, description, from }) => [name, description, from]),
    room,
  )

// ---- tasks: agents that have not ended or were not handed on, background commands that run or whose end is unread ----

/** One thing under way; of an agent also what its row says. */
type Task = {
  readonly kind: 'agent' | 'job'
  readonly id: string
  readonly what: string
  readonly state: string
  readonly since: number
  /** Of a job that an agent started: the agent's session. */
  readonly agent?: string | undefined
  readonly spent?: { readonly tokens: number; readonly dollars: number } | undefined
}

export const tasks = (io: Io, id: string | undefined, flags: ProjectFlags): Promise<Exit> =>
  showSession(io, id, flags, showTasks)

async function showTasks(place: Workplace, store: Store, session: SessionId, json: boolean): Promise<Exit> {
  const rows = await rowsOf(place, store, session)
  if (rows === null) return exits.failed
  const jobs = new Map<string, readonly JobRow[]>()
  const ports = { fs: machineFileSystem, processes: machineProcesses }
  for (const each of [session, ...rows.map(({ child }) => child)]) {
    const read = await readJobs(ports, jobsFile(sessionsFolder(place.home, place.project), each))
    if (read.ok) jobs.set(each, read.rows)
    else fail(place.io, exits.failed, read.failure.message)
  }
  const found = tasksOf(session, rows, (each) => jobs.get(each) ?? [])
  return print(place.io, json, { session, tasks: found }, () =>
    prose(`session ${session}\n${taskTable(found, place.io.columns)}`, place.io.columns),
  )
}

/** What is under way for a session. `phrases` says what running agents are at, where somebody knows. */
export function tasksOf(
  session: string,
  agents: readonly AgentRow[],
  jobsOf: (session: string) => readonly JobRow[],
  phrases: ReadonlyMap<string, string> = new Map(),
): readonly Task[] {
  const labels = new Map(agents.map(({ child, label }) => [child as string, label]))
  const open = agents
    .filter(({ collected }) => !collected)
    .map((row) => ({
      kind: 'agent' as const,
      id: row.child,
      what: row.name === undefined ? row.label : `${row.label} (${row.name})`,
      state: stateOf(row, phrases.get(row.child)),
      since: row.since,
      ...(row.spent === undefined ? {} : { spent: row.spent }),
    }))
  const jobs = [session, ...labels.keys()].flatMap((each) =>
    jobsOf(each)
      .filter(({ end, looked }) => end === null || !looked)
      .map(({ id, command, since, end, pid, orphaned }) => ({
        kind: 'job' as const,
        id,
        what: each === session ? command : `${command} (of ${labels.get(each)})`,
        state: jobState(end, pid, orphaned),
        since,
        ...(each === session ? {} : { agent: each }),
      })),
  )
  return [...open, ...jobs]
}

function jobState(end: string | null, pid: number, orphaned = false): string {
  if (end !== null) return `${end}, output not read yet`
  return orphaned ? `still running as process ${pid}, although pal has exited` : 'running'
}

/** `more`: the table of what else runs, below it. */
export function taskTable(tasks: readonly Task[], room: number, more = ''): string {
  if (tasks.length === 0) return more === '' ? 'no background tasks\n' : more
  const own = table(
    ['task', 'kind', wraps('what'), left('started', 1), wraps('state'), right('tokens'), right('cost')],
    tasks.map(({ id, kind, what, since, state, spent }) => [
      kind === 'agent' ? shortId(id) : id,
      kind,
      what,
      moment(since),
      state,
      spent === undefined ? '' : whole(spent.tokens),
      spent === undefined ? '' : dollars(spent.dollars),
    ]),
    room,
  )
  return `${own}${more}`
}
