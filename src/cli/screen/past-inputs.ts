// What was typed before in this project, for the up key: one JSON string a line, the newest last, in a file only the
// user can read. Losing it loses nothing else, so a failure is a notice and never an error.
import { join } from 'node:path'
import { attempt, makeFolders, type FileSystem } from '../../disk/fs.ts'
import { replaceFile } from '../../disk/replace.ts'
import { defaults } from '../../settings/defaults.ts'
import { readText } from '../workplace/files.ts'

export interface PastInputsPlace {
  readonly fs: FileSystem
  /** The project's folder in the user's own. */
  readonly folder: string
  readonly unique: () => string
}

const ownerOnly = 0o600
const ownerFolder = 0o700
const fileOf = ({ folder }: PastInputsPlace): string => join(folder, 'inputs.jsonl')

/** Oldest first; nothing where there is no file or it cannot be read. */
export async function pastInputs(place: PastInputsPlace): Promise<readonly string[]> {
  const read = await readText(place.fs, fileOf(place), defaults.screen.pastInputBytes)
  if (!read.ok || read.text === null) return []
  return read.text.split('\n').flatMap(inputIn).slice(-defaults.screen.pastInputs)
}

/** Null when it was kept, else why not. Another process may have added its own meanwhile: they stay. */
export async function keepInput(place: PastInputsPlace, input: string): Promise<string | null> {
  const before = (await pastInputs(place)).filter((past) => past !== input)
  const lines = [...before, input].slice(-defaults.screen.pastInputs).map((past) => JSON.stringify(past))
  const made = await attempt('keeping what was typed', async () => {
    await makeFolders(place.fs, place.folder, ownerFolder)
    return {}
  })
  if (!made.ok) return made.failure.message
  const bytes = new TextEncoder().encode(`${withinBytes(lines).join('\n')}\n`)
  const kept = await replaceFile(place.fs, fileOf(place), bytes, { mode: ownerOnly, unique: place.unique })
  return kept.ok ? null : kept.failure.message
}

/** A huge paste must not make the file unreadable for the next time: the oldest go. */
function withinBytes(lines: readonly string[]): readonly string[] {
  let bytes = 0
  const from = lines.findLastIndex((line) => {
    bytes += Buffer.byteLength(line) + 1
    return bytes > defaults.screen.pastInputBytes
  })
  return lines.slice(from + 1)
}

function inputIn(line: string): readonly string[] {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'string' && value !== '' ? [value] : []
  } catch {
    return []
  }
}
