// Commands that go on in the background: started by Bash, looked at and stopped through Jobs. Of each only the newest
// output is kept. They end with the session: whoever made them calls `close`. A list for others to look at is kept where one is given.
import type { OrWhy } from '../../disk/failure.ts'
import { forOthers } from '../../disk/redact.ts'
import { redactingStream } from '../../disk/redact-stream.ts'
import { defaults } from '../../settings/defaults.ts'
import { tailOf, failed, succeeded } from '../outcome.ts'
import { startGroup, type Group, type GroupEnd, type GroupOptions } from './group.ts'
import { forgetOldest, type BackgroundTasks } from './background-tasks.ts'
import { choice, optional, text, whole, toolWith, type InputOf } from '../input.ts'
import type { Tool, ToolOutcome } from '../tool.ts'

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
  start(command: string, options: GroupOptions, about: JobAbout): Promise<OrWhy<{ readonly id: string }>>
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

const endOf = ({ code, signal }: GroupEnd): string =>
  signal === null ? `ended with code ${code}` : `ended by ${signal}`

/** As much of a command as a list shows. */
const firstLine = (command: string): string => command.split('\n')[0]!.slice(0, defaults.tools.jobListChars)

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

// ---- Jobs: the model's hand on them ----

const fields = {
  action: choice('', ['read', 'stop', 'list']),
  job: optional(text('', 64)),
  wait: optional(whole('For read: milliseconds to wait', 0, defaults.tools.backgroundWaitMs)),
}

/** Reads and stops commands in the background. */
export function jobsTool(jobs: Jobs): Tool<InputOf<typeof fields>> {
  return toolWith(fields, {
    name: 'Jobs',
    description: 'Background commands started by Bash: read new output of one, stop one, or list them.',
    policy: { readOnly: false, results: 'clear', maxResultChars: defaults.tools.maxResultChars },
    async run({ action, job = '', wait = 0 }, _env, signal) {
      if (action === 'list') {
        const lines = jobs
          .list()
          .map(({ id, command, end }) => `${id} ${stateOf(end)}: ${firstLine(command)}`)
        return succeeded(lines.length === 0 ? 'There are no background jobs.' : lines.join('\n'))
      }
      if (action === 'stop')
        return (await jobs.stop(job)) ? succeeded(`${job} is stopped.`) : unknown(jobs, job)
      const look = await jobs.look(job, wait, signal)
      if (look === null) return unknown(jobs, job)
      const missed = look.missed > 0 ? `[${look.missed} earlier characters are gone]\n` : ''
      return succeeded(
        `[${look.id} ${stateOf(look.end)}]\n${missed}${look.text === '' ? '(nothing new)' : look.text}`,
      )
    },
  })
}

const stateOf = (end: GroupEnd | null): string => (end === null ? 'running' : endOf(end))

function unknown(jobs: Jobs, id: string): ToolOutcome {
  const known = jobs.list().map((job) => job.id)
  return failed(
    `There is no job ${JSON.stringify(id)}. ${known.length === 0 ? 'None was started.' : `There are: ${known.join(', ')}.`}`,
  )
}
