// The files below a folder of somebody else's. Links are followed, and each folder is entered once, however many links lead
// to it; one that cannot be entered costs itself alone.
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

export interface Tree {
  /** Below the folder, in a fixed order. */
  readonly names: readonly string[]
  /** Folders that could not be entered, with the code of the system. */
  readonly unread: readonly { readonly folder: string; readonly why: string }[]
}

/** Null where there is no such folder. */
export async function filesUnder(root: string): Promise<Tree | null> {
  const names: string[] = []
  const unread: Tree['unread'][number][] = []
  const entered = new Set<string>()
  const folders = ['']
  // Behind the folders that are really there: what two names lead to goes by its own.
  const linked: string[] = []
  for (let below = folders.pop(); below !== undefined; below = folders.pop() ?? linked.shift()) {
    const folder = join(root, below)
    const entries = await entriesOf(folder, entered)
    if (entries === 'ENOENT' && below === '') return null
    if (typeof entries === 'string') {
      unread.push({ folder, why: entries })
      continue
    }
    for (const entry of entries) {
      const name = join(below, entry.name)
      if (entry.isDirectory()) folders.push(name)
      else if (entry.isSymbolicLink() && (await isFolder(join(root, name)))) linked.push(name)
      else names.push(name)
    }
  }
  return { names: names.sort(), unread }
}

/** What a folder holds, nothing where it was entered before, or why it cannot be. */
async function entriesOf(folder: string, entered: Set<string>) {
  try {
    const { dev, ino } = await stat(folder)
    const identity = `${dev}:${ino}`
    if (entered.has(identity)) return []
    entered.add(identity)
    return (await readdir(folder, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown'
  }
}

const isFolder = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => null))?.isDirectory() ?? false
