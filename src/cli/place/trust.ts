// Which folders the user trusts: their settings are read. Kept in the user's folder as trusted.json,
// {"folders": ["/real/path"]}; a folder counts by its real path and only itself.
import { join } from 'node:path'
import { attempt, makeFolders, type DiskResult, type FileSystem } from '../../disk/fs.ts'
import { replaceFile } from '../../disk/replace.ts'
import { readText } from './files.ts'

const ownerOnly = 0o600
const ownerFolder = 0o700
export const trustFile = (home: string): string => join(home, 'trusted.json')

export async function trustedFolders(
  fs: FileSystem,
  home: string,
): Promise<{ readonly folders: readonly string[]; readonly problem: string | null }> {
  const read = await readText(fs, trustFile(home))
  if (!read.ok) return { folders: [], problem: `${trustFile(home)}: ${read.why}; no folder is trusted` }
  if (read.text === null) return { folders: [], problem: null }
  const folders = foldersIn(read.text)
  return folders === null
    ? {
        folders: [],
        problem: `${trustFile(home)} is no list of folders; no folder is trusted. Run pal trust again`,
      }
    : { folders, problem: null }
}

function foldersIn(text: string): readonly string[] | null {
  try {
    const value = JSON.parse(text) as { readonly folders?: unknown } | null
    const folders = value?.folders
    return Array.isArray(folders) && folders.every((one) => typeof one === 'string') ? folders : null
  } catch {
    return null
  }
}

export async function setTrust(
  fs: FileSystem,
  home: string,
  folder: string,
  trusted: boolean,
  unique: () => string,
): Promise<DiskResult<object>> {
  const { folders } = await trustedFolders(fs, home)
  const others = folders.filter((one) => one !== folder)
  const made = await attempt(`making ${home}`, async () => {
    await makeFolders(fs, home, ownerFolder)
    return {}
  })
  if (!made.ok) return made
  const text = `${JSON.stringify({ folders: trusted ? [...others, folder] : others }, null, 2)}\n`
  return replaceFile(fs, trustFile(home), new TextEncoder().encode(text), { mode: ownerOnly, unique })
}
