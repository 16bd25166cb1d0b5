// The background jobs of the sessions of this process, and a file beside each session so that others can look:
//
//   <session's folder>/jobs.json   {"v":1,"by":{"host":"…","pid":6,"start":"…","boot":"…"},"jobs":[{"id":"job-1",
//                                  "command":"…","since":1763200000000,"pid":7,"start":"…","end":null,"looked":false}]}
//
// The file only tells; nothing is done by it. Whether a job still runs is asked of the machine, so one that outlived its
// program is shown for what it is.
import { dirname } from 'node:path'
import * as z from 'zod/mini'
import {
  attempt,
  makeFolders,
  readAt,
  reading,
  unlessMissing,
  type Failure,
  type Result,
  type FileSystem,
} from '../../disk/fs.ts'
import { ownerState, type Processes } from '../../disk/processes.ts'
import { replaceFile } from '../../disk/replace.ts'
import { defaults } from '../../settings/defaults.ts'
import { jsonIn } from '../../transcript/json.ts'

export interface JobRow {
  readonly id: string
  readonly command: string
  /** When it was started, in milliseconds. */
  readonly since: number
  readonly pid: number
  /** How it ended, or null. */
  readonly end: string | null
  /** The model has been told of its end. */
  readonly looked: boolean
  /** The program that started it is gone, and nobody will stop it. */
  readonly orphaned?: boolean | undefined
}

export interface BackgroundTasks {
  /** A job has begun or changed. */
  note(session: string, row: JobRow, stop: () => Promise<unknown>): void
  rows(session: string): readonly JobRow[]
  /** Stops it and waits until it is gone. False when no such job runs. */
  stop(session: string, id: string): Promise<boolean>
  /** Until what was noted is written. */
  settled(): Promise<void>
}

export interface BackgroundTaskPorts {
  readonly fs: FileSystem
  readonly processes: Processes
  readonly unique: () => string
  /** Where the jobs of a session are told. */
  readonly fileOf: (session: string) => string
  /** No store makes the folder of a session there, so it is made with the first job. */
  readonly makesFolders: boolean
  readonly complain: (failure: Failure) => void
}

interface Noted {
  readonly row: JobRow
  readonly stop: () => Promise<unknown>
}

export function createBackgroundTasks(ports: BackgroundTaskPorts): BackgroundTasks {
  const noted = new Map<string, Map<string, Noted>>()
  // One write after the other, each with what is then so.
  let writing: Promise<void> = Promise.resolve()
  const rows = (session: string): readonly JobRow[] =>
    [...(noted.get(session)?.values() ?? [])].map(({ row }) => row)
  return {
    note(session, row, stop) {
      const own = noted.get(session) ?? new Map<string, Noted>()
      noted.set(session, own.set(row.id, { row, stop }))
      forgetOldest(own, ({ row }) => row.end !== null)
      writing = writing.then(() => write(ports, ports.fileOf(session), rows(session)))
    },
    rows,
    async stop(session, id) {
      const found = noted.get(session)?.get(id)
      if (found === undefined || found.row.end !== null) return false
      await found.stop()
      return true
    },
    settled: () => writing,
  }
}

const fileMode = 0o600
const folderMode = 0o700

async function write(ports: BackgroundTaskPorts, path: string, rows: readonly JobRow[]): Promise<void> {
  const by = await ports.processes.self()
  const jobs = await Promise.all(
    rows.map(async (row) => ({ ...row, start: (await ports.processes.look(row.pid))?.start ?? null })),
  )
  const bytes = new TextEncoder().encode(`${JSON.stringify({ v: 1, by, jobs })}\n`)
  if (ports.makesFolders) {
    const made = await attempt(`making the folder of ${path}`, () =>
      makeFolders(ports.fs, dirname(path), folderMode),
    )
    if (!made.ok) return ports.complain(made.failure)
  }
  const written = await replaceFile(ports.fs, path, bytes, { mode: fileMode, unique: ports.unique })
  // A session that was deleted meanwhile has no jobs to tell of.
  if (!written.ok && written.failure.code !== 'not-found') ports.complain(written.failure)
}

const fileShape = z.looseObject({
  v: z.literal(1),
  by: z.looseObject({
    host: z.string(),
    pid: z.number(),
    start: z.nullable(z.string()),
    boot: z.nullable(z.string()),
  }),
  jobs: z.array(
    z.looseObject({
      id: z.string(),
      command: z.string(),
      since: z.number(),
      pid: z.number(),
      start: z.nullable(z.string()),
      end: z.nullable(z.string()),
      looked: z.boolean(),
    }),
  ),
})

/** The jobs a file tells of, as they are now: all as long as their program runs, then those that outlived it. */
export async function readJobs(
  { fs, processes }: Pick<BackgroundTaskPorts, 'fs' | 'processes'>,
  path: string,
): Promise<Result<{ readonly rows: readonly JobRow[] }>> {
  return attempt(`reading ${path}`, async () => {
    const found = await readJobsFile(fs, path)
    const owner = found === null ? 'elsewhere' : await ownerState(processes, found.by)
    // What another machine runs cannot be seen from here.
    if (found === null || owner === 'elsewhere') return { rows: [] }
    const lives = async (job: { readonly pid: number; readonly start: string | null }): Promise<boolean> =>
      (await ownerState(processes, { ...found.by, ...job })) === 'running'
    const orphaned = owner === 'gone'
    const rows: JobRow[] = []
    for (const { start, ...job } of found.jobs) {
      const row = { ...job, end: job.end, looked: job.looked }
      const runs = job.end === null && (await lives({ pid: job.pid, start }))
      if (orphaned ? runs : runs || job.end !== null) rows.push(orphaned ? { ...row, orphaned } : row)
    }
    return { rows }
  })
}

/** A file that is missing or was written by a later version tells nothing. */
async function readJobsFile(fs: FileSystem, path: string): Promise<z.infer<typeof fileShape> | null> {
  const bytes = await unlessMissing(
    reading(fs, path, (file) => readAt(file, 0, defaults.tools.jobsFileBytes)),
  )
  const parsed = fileShape.safeParse(jsonIn(bytes?.toString('utf8') ?? ''))
  return parsed.success ? parsed.data : null
}

/** What ended is remembered for a while, not for ever. */
export function forgetOldest<T>(all: Map<string, T>, hasEnded: (one: T) => boolean): void {
  for (const [id, one] of all) {
    if (all.size <= 2 * defaults.tools.backgroundJobs) return
    if (hasEnded(one)) all.delete(id)
  }
}
