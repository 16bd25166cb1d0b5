// Programs by name, found the way a shell finds them but never in folders that somebody else fills: a project that brings
// its own `git`, `ls` or `bwrap` must not have it run because a folder of it stands in PATH.
import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import { isInside } from './under-root.ts'

/** PATH without relative folders and without those in the folders given, by their names and by where they lead. */
export const pathOutside = (path: string, folders: readonly string[]): string =>
  path
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !folders.some((one) => leadsInto(one, folder)))
    .join(delimiter)

/** The whole path of a program, or null. */
export function findProgram(
  name: string,
  path: string | undefined,
  folders: readonly string[],
): string | null {
  const endings = process.platform === 'win32' ? ['.exe'] : ['']
  for (const folder of pathOutside(path ?? '', folders).split(delimiter)) {
    if (folder === '') continue
    for (const ending of endings) {
      const file = join(folder, `${name}${ending}`)
      if (isProgram(file) && !folders.some((one) => leadsInto(one, file))) return file
    }
  }
  return null
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}

const leadsInto = (folder: string, path: string): boolean =>
  isInside(folder, path) || isInside(realOf(folder), realOf(path))

function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
