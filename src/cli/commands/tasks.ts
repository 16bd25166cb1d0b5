// `pal tasks` and what `/tasks` shows: agents that have not ended or were not handed on, and commands in the background
// that run or whose end nobody has looked at. From outside, a session's jobs are those its file tells of.
import { machineFileSystem } from '../../disk/fs.ts'
import { machineProcesses } from '../../disk/processes.ts'
import type { AgentRow } from '../../engine/background/agent-rows.ts'
import { sessionsFolder } from '../../preset.ts'
import { jobsFile } from '../../preset/jobs.ts'
import type { SessionId } from '../../transcript/ids.ts'
import type { Store } from '../../transcript/store.ts'
import { readJobs, type JobRow } from '../../tools/shell/job-board.ts'
import { exits, refuse, type Exit } from '../exit-codes.ts'
import { complain } from '../headless.ts'
import { lookAt, type LookFlags } from '../look-at.ts'
import type { Workplace } from '../workplace/workplace.ts'
import type { Io } from '../terminal/io.ts'
import { safeJson } from '../terminal/safe-text.ts'
import { dollars, moment, table, whole } from '../terminal/tables.ts'
import { rowsOf, stateOf } from './agents.ts'

/** One thing under way; of an agent also what its row says. */
export type Task = {
  readonly kind: 'agent' | 'job'
  readonly id: string
  readonly what: string
  readonly state: string
  readonly since: number
  /** Of a job that an agent started: the agent's session. */
  readonly agent?: string | undefined
  readonly spent?: { readonly tokens: number; readonly dollars: number } | undefined
}

export const tasks = (io: Io, id: string | undefined, flags: LookFlags): Promise<Exit> =>
  lookAt(io, id, flags, showTasks)

async function showTasks(place: Workplace, store: Store, session: SessionId, json: boolean): Promise<Exit> {
  const rows = await rowsOf(place, store, session)
  if (rows === null) return exits.failed
  const jobs = new Map<string, readonly JobRow[]>()
  const ports = { fs: machineFileSystem, processes: machineProcesses }
  for (const each of [session, ...rows.map(({ child }) => child)]) {
    const read = await readJobs(ports, jobsFile(sessionsFolder(place.home, place.project), each))
    if (read.ok) jobs.set(each, read.rows)
    else complain(place.io, refuse(exits.failed, read.failure.message))
  }
  const found = tasksOf(session, rows, (each) => jobs.get(each) ?? [])
  if (json) place.io.out(`${safeJson({ session, tasks: found }, 2)}\n`)
  else place.io.out(`session ${session}\n${taskTable(found)}`)
  return exits.done
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
  if (end !== null) return `${end}, not looked at yet`
  return orphaned ? `running as process ${pid}, though its program is gone` : 'running'
}

export function taskTable(tasks: readonly Task[]): string {
  if (tasks.length === 0) return 'nothing is under way\n'
  return table(
    [
      { title: 'task' },
      { title: 'kind' },
      { title: 'what' },
      { title: 'since' },
      { title: 'state' },
      { title: 'tokens', right: true },
      { title: 'cost', right: true },
    ],
    tasks.map(({ id, kind, what, since, state, spent }) => [
      id,
      kind,
      what,
      moment(since),
      state,
      spent === undefined ? '' : whole(spent.tokens),
      spent === undefined ? '' : dollars(spent.dollars),
    ]),
  )
}
