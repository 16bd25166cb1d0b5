// Jobs on memories, as `/tasks` shows and stops them.
import type { JobLook } from '../../forks/memory/index.ts'
import { exits, type Exit } from '../exit-codes.ts'
import { safeLine } from '../terminal/safe-text.ts'
import { moment } from '../terminal/tables.ts'
import type { Scene } from './context.ts'

const names = { extraction: 'memory extraction', dream: 'memory consolidation' } as const

/** One block a job: what it is and does, what it called, what it changed, and what it said last. */
export function memoryJobTable(jobs: readonly JobLook[]): string {
  return jobs.map(blockOf).join('')
}

function blockOf({
  id,
  kind,
  since,
  state,
  phase,
  tools,
  refused,
  files,
  told,
  turns,
  tokens,
}: JobLook): string {
  const calls = Object.entries(tools).map(([name, count]) => `${name} ${count}`)
  const now = state === 'running' ? `running, ${phase}` : state
  return [
    `${id}: ${names[kind]}, ${now}, since ${moment(since)}, ${tokens} tokens`,
    ...(calls.length === 0
      ? []
      : [`  calls: ${calls.join(', ')}${refused.length === 0 ? '' : `; ${refused.length} refused`}`]),
    ...(files.length === 0 ? [] : [`  files: ${files.join(', ')}`]),
    ...told.map((line) => `  ${line}`),
    ...turns.slice(-1).flatMap((said) => (said === '' ? [] : [`  said: ${said}`])),
  ]
    .map((line) => `${safeLine(line)}\n`)
    .join('')
}

export function stopMemoryJob({ place, preset }: Scene, id: string): Promise<Exit> {
  const isStopped = preset.memoryJobs.board.stop(id)
  if (isStopped) place.io.out(`${safeLine(id)} is being stopped; nothing it had not written yet is written\n`)
  else place.io.err(`pal: no job ${safeLine(id)} is running; /tasks lists them\n`)
  return Promise.resolve(isStopped ? exits.done : exits.usage)
}
