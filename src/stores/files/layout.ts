// Where things lie. Per session one folder under the store's root, readable by its owner only:
//
//   <session>/transcript.jsonl       the entries, one line each (line-frame.ts)
//   <session>/first-line             a copy of its first line (first-line.ts)
//   <session>/tool-results/<n>.txt   blobs, written once
//   <session>/checkpoint.json        derived; may be deleted at any time (checkpoint.ts)
//   <session>/lock/                  who writes (disk/lock.ts)
//   <session>/damage/                bytes that were cut off when a torn end was repaired
import { join } from 'node:path'
import { safeName } from '../../disk/safe-name.ts'
import type { SessionId } from '../../transcript/ids.ts'

export const fileMode = 0o600
export const folderMode = 0o700
export const transcriptName = 'transcript.jsonl'
export const blobFolder = 'tool-results'
export const damageFolder = 'damage'

export interface Layout {
  readonly folder: string
  readonly transcript: string
  readonly firstLine: string
  readonly checkpoint: string
  readonly lock: string
}

export function layoutOf(root: string, session: SessionId): Layout {
  const folder = join(root, safeName(session))
  return {
    folder,
    transcript: join(folder, transcriptName),
    firstLine: join(folder, 'first-line'),
    checkpoint: join(folder, 'checkpoint.json'),
    lock: join(folder, 'lock'),
  }
}

export const blobEnding = '.txt'
export const blobFile = (blob: string): string => `${safeName(blob)}${blobEnding}`
