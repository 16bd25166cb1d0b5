// The jobs beside the talk that the settings switch on: who writes summaries, and who keeps notes; and who tells of
// commands in the background.
import { join } from 'node:path'
import type { FileSystem } from '../disk/fs.ts'
import { machineProcesses } from '../disk/processes.ts'
import { safeName } from '../disk/safe-name.ts'
import type { Emit } from '../engine/live.ts'
import type { EngineOptions } from '../engine/options.ts'
import { sessionNotes } from '../forks/notes/session-notes.ts'
import { modelSummary } from '../forks/summary/model-summary.ts'
import type { Settings } from '../settings/schema.ts'
import { createJobBoard, type JobBoard } from '../tools/shell/job-board.ts'

export interface JobClues {
  readonly settings: Settings
  /** The user's folder of this program. */
  readonly home: string
  /** Where the sessions lie; null where a store of the caller's own keeps them. */
  readonly sessions: string | null
  readonly hasModel: boolean
  readonly compactsByItself: boolean
  readonly fs: FileSystem
  readonly unique: () => string
}

/** Without a model there is nobody to do them. */
export function jobsOf(clues: JobClues): Pick<EngineOptions, 'summariser' | 'notes' | 'notesAsSummary'> {
  const { settings, home, sessions, fs, unique } = clues
  if (!clues.hasModel) return {}
  const keepsNotes = settings.notes !== false && clues.compactsByItself && sessions !== null
  return {
    ...(settings.modelSummary === false
      ? {}
      : { summariser: modelSummary({ modelId: settings.summaryModel }) }),
    ...(keepsNotes
      ? {
          notes: sessionNotes({
            fs,
            folderOf: (session) => join(sessions, session),
            configFolder: join(home, 'session-memory', 'config'),
            unique,
          }),
          notesAsSummary: settings.notesAsSummary,
        }
      : {}),
  }
}

/** Where a session's commands in the background are told. */
export const jobsFile = (sessions: string, session: string): string =>
  join(sessions, safeName(session), 'jobs.json')

export function boardOf({
  sessions,
  fs,
  unique,
  listen,
}: Pick<JobClues, 'sessions' | 'fs' | 'unique'> & { readonly listen?: Emit | undefined }): JobBoard {
  return createJobBoard({
    fs,
    unique,
    processes: machineProcesses,
    fileOf: (session) => (sessions === null ? null : jobsFile(sessions, session)),
    complain: (failure) => listen?.({ type: 'notice', ...failure }),
  })
}
