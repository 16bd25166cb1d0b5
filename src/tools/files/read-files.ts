// The files read in this session, the least recently touched forgotten first. A fork gets a copy of its own.
import { defaults } from '../../settings/defaults.ts'
import type { ReadFile, ReadFiles } from '../tool.ts'

/** The files read in a session and how they were then. */
export function createReadFiles(
  entries: Iterable<readonly [path: string, file: ReadFile]> = [],
  most: number = defaults.tools.readFiles,
): ReadFiles {
  // A map keeps the order of insertion: the first key is the one touched longest ago.
  const files = new Map<string, ReadFile>()
  const touch = (path: string, file: ReadFile) => {
    files.delete(path)
    files.set(path, file)
    for (const oldest of files.keys()) {
      if (files.size <= most) break
      files.delete(oldest)
    }
  }
  for (const [path, file] of entries) touch(path, file)
  return {
    get(path) {
      const file = files.get(path)
      if (file !== undefined) touch(path, file)
      return file
    },
    set: touch,
    entries: () => [...files],
    copy: () => createReadFiles(files, most),
    replace: (wanted) => {
      const all = [...wanted]
      files.clear()
      for (const [path, file] of all) touch(path, file)
    },
  }
}
