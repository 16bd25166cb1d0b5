// The disk as it was when a command was first looked at: a chain of commands names the same places again and again, and
// each is asked for once (PM35).
import type { FileSystem } from '../../disk/fs.ts'

export function rememberingFs(fs: FileSystem): FileSystem {
  return {
    ...fs,
    realPath: once((path) => fs.realPath(path)),
    stat: once((path) => fs.stat(path)),
    names: once((path) => fs.names(path)),
    entries: once((path) => fs.entries(path)),
  }
}

/** A failure is remembered too. */
function once<T>(ask: (path: string) => Promise<T>): (path: string) => Promise<T> {
  const answers = new Map<string, Promise<T>>()
  return (path) => {
    const known = answers.get(path)
    if (known !== undefined) return known
    const answer = ask(path)
    answers.set(path, answer)
    return answer
  }
}
