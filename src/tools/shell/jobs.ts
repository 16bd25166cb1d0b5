// Commands that go on in the background: started by Bash, looked at and stopped through Jobs. Of each only the newest
// output is kept. They end with the session: whoever made them calls `close`. A list for others to look at is kept where one is given.
import { forOthers } from '../../disk/redact.ts'
import { redactingStream } from '../../disk/redact-stream.ts'
import { defaults } from '../../settings/defaults.ts'
import { tailOf } from '../outcome.ts'
import { startGroup, type Group, type GroupEnd, type GroupOptions } from './group.ts'
import { forgetOldest, type BackgroundTasks } from './background-tasks.ts'

export interface JobLook {
  readonly id: string
  readonly command: string
  readonly end: GroupEnd | null
  /** What it said since the last look, and how many characters of it were no longer there. */
  readonly text: string
  readonly missed: number
}

export interface JobAbout {
  /** Whose it is, and when it was asked for. */
  readonly session?: string | undefined
  readonly since: number
  /** Called once when it is over, or could not be started. */
  readonly ended: () => Promise<void>
}

export interface Jobs {
  start(
    command: string,
    options: GroupOptions,
    about: JobAbout,
  ): Promise<{ readonly ok: true; readonly id: string } | { readonly ok: false; readonly why: string }>
  /** New output; with `waitMs` it waits that long for some, or for the end. */
  look(id: string, waitMs: number, signal: AbortSignal): Promise<JobLook | null>
  /** Stops it and waits until it is gone. False when there is no such job. */
  stop(id: string): Promise<boolean>
  list(): readonly { readonly id: string; readonly command: string; readonly end: GroupEnd | null }[]
  close(): Promise<void>
}

interface Job {
  readonly id: string
  readonly command: string
  readonly group: Group
  readonly about: JobAbout
  end: GroupEnd | null
  /** Its end has been told. */
  looked: boolean
  followed: Promise<void>
  kept: string
  /** Characters ever said, and how many of them were looked at. */
  said: number
  seen: number
  changed: () => void
}

/** Keeps the commands that run in the background. */
export function createJobs(backgroundTasks: BackgroundTasks | null = null): Jobs {
  const jobs = new Map<string, Job>()
  let count = 0
  const running = () => [...jobs.values()].filter((job) => job.end === null)
  const tell = (job: Job): void => {
    const { id, group, about, looked } = job
    const command = firstLine(forOthers(job.command))
    const end = job.end === null ? null : endOf(job.end)
    const row = { id, command, since: about.since, pid: group.pid, end, looked }
    if (about.session !== undefined) backgroundTasks?.note(about.session, row, () => stopped(job))
  }
  const noteEnd = (job: Job): void => {
    if (job.end === null || job.looked) return
    job.looked = true
    tell(job)
  }
  return {
    async start(command, options, about) {
      const { ended } = about
      if (running().length >= defaults.tools.backgroundJobs) {
        await ended()
        return {
          ok: false,
          why: `${defaults.tools.backgroundJobs} background jobs are running already; stop one first`,
        }
      }
      const started = await startGroup(command, options)
      if (!started.ok) await ended()
      if (!started.ok) return started
      const job: Job = {
        id: `job-${++count}`,
        command,
        group: started.group,
        about,
        end: null,
        looked: false,
        followed: Promise.resolve(),
        kept: '',
        said: 0,
        seen: 0,
        changed: () => {},
      }
      jobs.set(job.id, job)
      forgetOldest(jobs, ({ end }) => end !== null)
      tell(job)
      job.followed = follow(job).then(() => (tell(job), ended()))
      return { ok: true, id: job.id }
    },
    async look(id, waitMs, signal) {
      const job = jobs.get(id)
      if (job === undefined) return null
      if (waitMs > 0 && job.said === job.seen && job.end === null) await somethingNew(job, waitMs, signal)
      const fresh = job.said - job.seen
      const text = tailOf(job.kept, Math.min(fresh, defaults.tools.backgroundReadChars))
      job.seen = job.said
      noteEnd(job)
      return {
        id,
        command: job.command,
        end: job.end,
        text: fresh === 0 ? '' : text,
        missed: fresh - text.length,
      }
    },
    async stop(id) {
      const job = jobs.get(id)
      if (job === undefined) return false
      await stopped(job)
      noteEnd(job)
      return true
    },
    list() {
      for (const job of jobs.values()) noteEnd(job)
      return [...jobs.values()].map(({ id, command, end }) => ({ id, command, end }))
    },
    async close() {
      await Promise.all(running().map(stopped))
    },
  }
}

/** Also its last words have been taken then. */
async function stopped(job: Job): Promise<void> {
  job.group.stop()
  await job.followed
}

export const endOf = ({ code, signal }: GroupEnd): string =>
  signal === null ? `ended with code ${code}` : `ended by ${signal}`

/** As much of a command as a list shows. */
export const firstLine = (command: string): string =>
  command.split('\n')[0]!.slice(0, defaults.tools.jobListChars)

async function follow(job: Job): Promise<void> {
  const decoder = new TextDecoder()
  const redacting = redactingStream()
  const take = (text: string) => {
    job.kept = tailOf(job.kept + text, defaults.tools.backgroundJobChars)
    job.said += text.length
    if (text !== '') job.changed()
  }
  for await (const bytes of job.group.output) {
    // A look must show what is there, so whole lines are not held back for more; a key over several lines is.
    take(redacting.push(decoder.decode(bytes, { stream: true })) + redacting.flushLines())
  }
  take(redacting.push(decoder.decode()) + redacting.end())
  job.end = await job.group.ended
  job.changed()
}

function somethingNew(job: Job, waitMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      job.changed = () => {}
      resolve()
    }
    const timer = setTimeout(done, waitMs)
    signal.addEventListener('abort', done, { once: true })
    job.changed = done
  })
}
