// Sockets of programs outside, as the one of a container engine in the user's home. Whoever may open one has that program
// act for it, without any network, and a file system that is read-only does not keep a socket from being opened.
import { constants } from 'node:fs'
import { access, readFile, realpath, stat } from 'node:fs/promises'

/** The real paths of those that somebody listens on and we may open; none on systems that do not list them. */
export async function openSockets(list = '/proc/net/unix'): Promise<readonly string[]> {
  const text = await readFile(list, 'utf8').catch(() => '')
  const named = text.split('\n').flatMap((line) => /^(?:\S+\s+){7}(\/.+)$/.exec(line)?.[1] ?? [])
  const found = await Promise.all([...new Set(named)].map(openSocket))
  return [...new Set(found.flatMap((path) => path ?? []))]
}

/** Null where nobody could open it, or it is gone: what is not there cannot be covered either. */
async function openSocket(path: string): Promise<string | null> {
  try {
    const real = await realpath(path)
    await access(real, constants.W_OK)
    return (await stat(real)).isSocket() ? real : null
  } catch {
    return null
  }
}
