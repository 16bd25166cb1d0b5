// The recordings that a path on the command line names: a file, or every one below a folder.
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { exits, refuse, type Refusal } from '../exit-codes.ts'

/** In a fixed order, so that the same sessions are held out wherever they lie. */
export async function recordingsAt(path: string): Promise<readonly string[] | Refusal> {
  try {
    if (!(await stat(path)).isDirectory()) return [path]
    const found = await readdir(path, { recursive: true })
    const names = found.filter((name) => /\.jsonl(?:\.gz)?$/.test(name)).sort()
    if (names.length === 0)
      return refuse(exits.usage, `${path} contains no recording (*.jsonl or *.jsonl.gz)`)
    return names.map((name) => join(path, name))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const why = code === 'ENOENT' ? 'there is no such file or folder' : message
    return refuse(exits.usage, `${path} cannot be read: ${why}. Name a session file, or a folder of them`)
  }
}
