// What a command in the sandbox does not see: keys by custom in the user's home, our own folder, and sockets of programs
// outside. Everything is covered where it really lies: a mount over a link fails, and with it the command.
import { join } from 'node:path'
import { attempt, realOr, type FileSystem } from '../../disk/fs.ts'
import { isInside } from '../../disk/under-root.ts'
import { isCertificateName, isSecretPath } from '../files/protected-names.ts'
import { openSockets } from './sockets.ts'

export interface Hidden {
  readonly path: string
  /** For bubblewrap. */
  readonly words: readonly string[]
}

/** Temporary files of others, and the sockets of those who serve the machine. */
export const emptied = ['/tmp', '/var/tmp', '/run']

/** Of a home, wherever it is. */
const always =
  `.ssh .gnupg .aws .azure .kube .config/gh .config/gcloud .password-store .netrc .pgpass .git-credentials .pypirc .npmrc
  .docker/config.json .config/git/credentials .local/share/keyrings .claude/.credentials.json .codex/auth.json
  .gemini/oauth_creds.json .local/share/opencode/auth.json`.split(/\s+/)

/** Folders of a home in which whatever is asked about by its name before it is read is hidden too. */
const places = ['.', '.config', '.config/containers', '.cargo', '.docker', '.gem', '.m2']

/** `folders`: our own. What lies in a folder that can be written is the command's to see: sockets, and keys that a link of the home leads to. */
export async function hiding(
  fs: FileSystem,
  userHome: string | undefined,
  folders: readonly string[],
  writable: readonly string[],
): Promise<readonly Hidden[]> {
  const home = userHome === undefined ? undefined : await realOr(fs, userHome)
  const isOpen = (path: string): boolean => writable.some((folder) => isInside(folder, path))
  const own = await Promise.all(folders.map((path) => cover(fs, path, () => false)))
  const keys =
    home === undefined
      ? []
      : [
          ...always.map((name) => cover(fs, join(home, name), isOpen)),
          ...(await keysIn(fs, home)).filter((path) => !isOpen(path)).map((path) => cover(fs, path, isOpen)),
        ]
  const covered = [...own, ...(await Promise.all(keys))].flatMap((one) => one ?? [])
  const unique = [...new Map(covered.map((one) => [one.path, one])).values()]
  const gone = [...emptied, '/dev', '/proc', ...unique.map(({ path }) => path)]
  const isGone = (path: string): boolean => gone.some((folder) => isInside(folder, path))
  const sockets = (await openSockets()).filter((path) => !isGone(path) && !isOpen(path))
  return [...unique, ...sockets.map(asFile)]
}

async function keysIn(fs: FileSystem, home: string): Promise<readonly string[]> {
  const found = places.map(async (place) => {
    const listed = await attempt('looking', async () => ({ names: await fs.names(join(home, place)) }))
    const names = listed.ok ? listed.names.map((name) => join(place, name)) : []
    // Certificates of one's own are often what a build needs to connect.
    return names.filter((name) => isSecretPath(name) && !isCertificateName(name))
  })
  return (await Promise.all(found)).flat().map((name) => join(home, name))
}

/** Null where nothing lies: a link that leads nowhere hides nothing, and one to an open place nothing that is not open. */
async function cover(
  fs: FileSystem,
  path: string,
  isOpen: (real: string) => boolean,
): Promise<Hidden | null> {
  const found = await attempt('looking', async () => {
    const real = await fs.realPath(path)
    return { real, kind: (await fs.stat(real)).kind }
  })
  if (!found.ok || (found.real !== path && isOpen(found.real))) return null
  const { real, kind } = found
  return kind === 'folder' ? { path: real, words: ['--tmpfs', real] } : asFile(real)
}

const asFile = (path: string): Hidden => ({ path, words: ['--ro-bind', '/dev/null', path] })
