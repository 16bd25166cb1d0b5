// Many recordings shared among processes of this same command. Each worker gets the job as its first line, then one
// recording after the other as soon as it is free, and prints what comes out as lines of JSON; `done` ends a recording.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { playOne, type BatchOptions, type Outcome, type Source } from '../../lab/index.ts'

/** What a worker is told first: everything but the recordings. */
export type Job = BatchOptions

type Said = Outcome | { readonly kind: 'done' }

export interface Shared {
  readonly outcomes: AsyncIterable<Outcome>
  /** Why something is missing, once all have ended. */
  failure(): string | null
}

/** The other side: plays what comes in until the input ends. */
export async function work(lines: AsyncIterable<string>, out: (text: string) => void): Promise<void> {
  let job: Job | null = null
  for await (const line of lines) {
    if (job === null) {
      job = JSON.parse(line) as Job
      continue
    }
    const { source, file } = JSON.parse(line) as { readonly source: Source; readonly file: number }
    for await (const outcome of playOne(source, file, job)) out(`${JSON.stringify(outcome)}\n`)
    out('{"kind":"done"}\n')
  }
}

export interface SharedOptions {
  readonly sources: readonly Source[]
  readonly job: Job
  readonly workers: number
  /** How the command calls itself. */
  readonly self: readonly string[]
  /** Asked before each recording: the rest is left out. */
  readonly isOver?: (() => boolean) | undefined
}

export function share({ sources, job, workers, self, isOver = () => false }: SharedOptions): Shared {
  const [command, ...args] = self
  const queue = sources.map((source, file) => ({ source, file }))
  let failure: string | null = null
  const waiting: Outcome[] = []
  const state = { running: workers, wake: (): void => undefined }
  const begin = (): void => {
    const child = spawn(command!, [...args, 'replay', '--worker'], { stdio: ['pipe', 'pipe', 'inherit'] })
    const next = (): void => {
      const task = isOver() ? undefined : queue.shift()
      if (task === undefined) child.stdin.end()
      else child.stdin.write(`${JSON.stringify(task)}\n`)
    }
    // A worker that has died does not listen any more; its exit says so.
    child.stdin.on('error', () => undefined)
    child.stdin.write(`${JSON.stringify(job)}\n`)
    next()
    createInterface({ input: child.stdout }).on('line', (line) => {
      const said = JSON.parse(line) as Said
      if (said.kind === 'done') next()
      else waiting.push(said)
      state.wake()
    })
    child.on('error', (error) => (failure = `a worker could not be started: ${error.message}`))
    child.on('close', (code) => {
      if (code !== 0) failure ??= `a worker ended with ${code}; try again with --jobs 1`
      state.running -= 1
      state.wake()
    })
  }
  async function* outcomes(): AsyncGenerator<Outcome> {
    for (let count = 0; count < workers; count++) begin()
    while (state.running > 0 || waiting.length > 0) {
      yield* waiting.splice(0)
      if (state.running > 0 && waiting.length === 0)
        await new Promise<void>((resolve) => (state.wake = resolve))
    }
  }
  return { outcomes: outcomes(), failure: () => failure }
}
