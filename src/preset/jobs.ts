// The background jobs that the settings switch on: who writes summaries, and who keeps notes; and who tells of
// commands in the background.
import { join } from 'node:path'
import type { FileSystem } from '../disk/fs.ts'
import { machineProcesses } from '../disk/processes.ts'
import { safeName } from '../disk/safe-name.ts'
import type { Emit } from '../engine/live.ts'
import type { EngineOptions } from '../engine/options.ts'
import type { SessionSummariser } from '../engine/ports.ts'
import { sessionNotes } from '../forks/notes/session-notes.ts'
import { modelSummary } from '../forks/summary/model-summary.ts'
import type { Settings } from '../settings/schema.ts'
import { createBackgroundTasks, type BackgroundTasks } from '../tools/shell/background-tasks.ts'

/** Where files of a session lie that are no part of its transcript: its notes, the list of its background commands. */
export interface SessionFiles {
  readonly folder: string
  /** Whether the store of sessions makes a folder for each there; whoever writes first makes it where it does not. */
  readonly isStores: boolean
}

export interface JobClues {
  readonly settings: Settings
  /** The user's folder of this program. */
  readonly home: string
  readonly files: SessionFiles
  readonly hasModel: boolean
  readonly compactsByItself: boolean
  readonly fs: FileSystem
  readonly unique: () => string
}

/** Without a model there is nobody to do them. */
export function jobsOf(clues: JobClues): Pick<EngineOptions, 'summariser' | 'notes' | 'notesAsSummary'> {
  const { settings, home, files, fs, unique } = clues
  if (!clues.hasModel) return {}
  // Kept for whoever asks: played over recorded sessions they cost more than they save, and keep less than an extracted text.
  const keepsNotes = clues.compactsByItself && (settings.notes ?? settings.notesAsSummary === true)
  return {
    ...(settings.modelSummary === false ? {} : { summariser: summariserOf(settings) }),
    ...(keepsNotes
      ? {
          notes: sessionNotes({
            fs,
            folderOf: (session) => join(files.folder, safeName(session)),
            configFolder: join(home, 'session-memory', 'config'),
            unique,
          }),
          notesAsSummary: settings.notesAsSummary,
        }
      : {}),
  }
}

// Played over recorded sessions a model's text costs more than the extracted one and keeps less of what is needed later;
// what somebody wishes of a summary only a model can follow. Whoever names a model for summaries wants them.
function summariserOf({ modelSummary: isOn, summaryModel: modelId }: Settings): SessionSummariser {
  return modelSummary({ modelId, onlyWithInstructions: !(isOn ?? modelId !== undefined) })
}

/** Where a session's commands in the background are told. */
export const jobsFile = (sessions: string, session: string): string =>
  join(sessions, safeName(session), 'jobs.json')

export function backgroundTasksOf({
  files,
  fs,
  unique,
  listen,
}: Pick<JobClues, 'files' | 'fs' | 'unique'> & { readonly listen?: Emit | undefined }): BackgroundTasks {
  return createBackgroundTasks({
    fs,
    unique,
    processes: machineProcesses,
    fileOf: (session) => jobsFile(files.folder, session),
    makesFolders: !files.isStores,
    complain: (failure) => listen?.({ type: 'notice', ...failure }),
  })
}
