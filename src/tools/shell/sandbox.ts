// The second wall around commands, where the machine has one: bubblewrap. The rules decide what runs; the wall bounds
// what a command can do that turns out to be another than it seemed. Inside it
//
// - the project can be written, its hooks, its git configuration and our settings apart; everything else is read-only;
// - keys by custom, our own folder, sockets and what others keep in temporary folders are not there;
// - there is no network unless it is allowed;
// - processes live in a space of their own and end with the command, also those that left its group.
//
// A read-only settings folder that does not exist yet is covered too, so that none can be planted; the empty folder that
// this needs is taken away when the last command has ended.
import { execFile } from 'node:child_process'
import { basename, join } from 'node:path'
import { attempt, type FileSystem } from '../../disk/fs.ts'
import { isInside } from '../../disk/under-root.ts'
import { defaults } from '../../settings/defaults.ts'

export type SandboxMode = 'auto' | 'off' | 'require'

export interface SandboxOptions {
  readonly fs: FileSystem
  readonly mode: SandboxMode
  readonly network: boolean
  /** The project. */
  readonly root: string
  /** Further folders that may be written. */
  readonly writable: readonly string[]
  /** The user's home, where keys lie. */
  readonly home: string | undefined
  /** Folders that must not be seen: our own. */
  readonly hidden: readonly string[]
  /** The program; looked for on the path when left out. */
  readonly program?: string | undefined
}

export type Wall =
  /** Words that stand before the command; none where there is no wall. `end` is called when the command is over. */
  | { readonly ok: true; readonly before: readonly string[]; readonly end: () => Promise<void> }
  | { readonly ok: false; readonly why: string }

export interface Sandbox {
  /** Null where the wall works, else why it does not. */
  state(): Promise<string | null>
  /** `shown`: folders to read that would be hidden with other temporary files. */
  around(cwd: string, shown?: readonly string[]): Promise<Wall>
  /** A line about the wall where it explains a failure, else null. */
  explains(output: string): string | null
}

const secretFolders = [
  '.ssh',
  '.gnupg',
  '.aws',
  '.azure',
  '.kube',
  '.config/gh',
  '.config/gcloud',
  '.password-store',
]
const secretFiles = [
  '.netrc',
  '.pgpass',
  '.git-credentials',
  '.pypirc',
  '.npmrc',
  '.docker/config.json',
  '.config/git/credentials',
]
/** What git would run or obey later: read-only, also where the repository itself is the folder that may be written. */
const guarded = (folder: string): readonly string[] => {
  const git = basename(folder) === '.git' ? folder : join(folder, '.git')
  return [join(git, 'hooks'), join(git, 'config')]
}
const settingsFolder = '.palimpsest'
/** Where names are looked up, which a network needs. */
const nameServices = ['/run/systemd/resolve', '/run/resolvconf', '/run/NetworkManager']

export function createSandbox(options: SandboxOptions): Sandbox {
  const program = options.program ?? 'bwrap'
  let tried: Promise<string | null> | undefined
  const state = (): Promise<string | null> =>
    (tried ??= options.mode === 'off' ? Promise.resolve('it is switched off') : probe(program))
  const running = { count: 0, made: false }
  return {
    state,
    async around(cwd, shown = []) {
      const why = await state()
      if (why !== null && options.mode === 'require')
        return { ok: false, why: `the settings require the sandbox, and it does not work here: ${why}` }
      if (why !== null) return { ok: true, before: [], end: () => Promise.resolve() }
      const settings = join(options.root, settingsFolder)
      if (running.count === 0) running.made = !(await isThere(options.fs, settings))
      running.count++
      const before = [program, ...(await wordsFor(options, cwd, shown))]
      return { ok: true, before, end: () => ended(options.fs, settings, running) }
    },
    explains: (output) =>
      (options.network ? readOnly : readOnlyOrOffline).test(output)
        ? `[it ran in the sandbox: ${options.network ? '' : 'no network, '}only the project can be written. The user can change that (sandbox, sandboxNetwork, sandboxWrite in the settings)]`
        : null,
  }
}

const readOnly = /Read-only file system|EROFS|Device or resource busy/
const readOnlyOrOffline =
  /Read-only file system|EROFS|Device or resource busy|EAI_AGAIN|ENETUNREACH|ENOTFOUND|Could not resolve host|Temporary failure in name resolution|Network is unreachable/

async function ended(
  fs: FileSystem,
  settings: string,
  running: { count: number; made: boolean },
): Promise<void> {
  running.count--
  if (running.count > 0 || !running.made) return
  // Not empty, or gone already: then it is not ours to take away.
  await attempt('removing the empty folder', async () => {
    await fs.removeFolder(settings)
    return {}
  })
}

/** What bubblewrap is told, in order: a later word stands over an earlier one. */
async function wordsFor(
  options: SandboxOptions,
  cwd: string,
  shown: readonly string[],
): Promise<readonly string[]> {
  const { fs, root, home } = options
  const writable = [root, ...(isInside(root, cwd) ? [] : [cwd]), ...options.writable]
  const secret = await hiding(fs, home, options.hidden)
  const isInProject = (path: string): boolean => writable.some((folder) => isInside(folder, path))
  const words = [
    '--ro-bind',
    '/',
    '/',
    '--dev',
    '/dev',
    '--proc',
    '/proc',
    ...['/tmp', '/var/tmp', '/run'].flatMap((folder) => ['--tmpfs', folder]),
    ...(options.network ? nameServices.flatMap((path) => ['--ro-bind-try', path, path]) : ['--unshare-net']),
    ...secret.filter(({ path }) => !isInProject(path)).flatMap(({ words: hide }) => hide),
    ...writable.flatMap((folder) => ['--bind-try', folder, folder]),
    ...shown.flatMap((folder) => ['--ro-bind', folder, folder]),
    ...secret.filter(({ path }) => isInProject(path) && path !== root).flatMap(({ words: hide }) => hide),
  ]
  for (const path of writable.flatMap(guarded))
    if (await isThere(fs, path)) words.push('--ro-bind', path, path)
  const settings = join(root, settingsFolder)
  if (!options.hidden.includes(settings)) {
    if (await isThere(fs, join(settings, '.'))) words.push('--ro-bind', settings, settings)
    else words.push('--tmpfs', settings, '--remount-ro', settings)
  }
  return [
    ...words,
    '--unshare-pid',
    '--unshare-ipc',
    '--unshare-uts',
    '--die-with-parent',
    '--cap-drop',
    'ALL',
    '--chdir',
    cwd,
    '--',
  ]
}

interface Hidden {
  readonly path: string
  readonly words: readonly string[]
}

async function hiding(
  fs: FileSystem,
  home: string | undefined,
  folders: readonly string[],
): Promise<readonly Hidden[]> {
  const atHome = (names: readonly string[]) =>
    home === undefined ? [] : names.map((name) => join(home, name))
  const covered = [
    ...[...folders, ...atHome(secretFolders)].map((path) => ({ path, words: ['--tmpfs', path] })),
    ...atHome(secretFiles).map((path) => ({ path, words: ['--ro-bind', '/dev/null', path] })),
  ]
  const there = await Promise.all(covered.map(({ path }) => isThere(fs, path)))
  return covered.filter((_, at) => there[at] === true)
}

async function isThere(fs: FileSystem, path: string): Promise<boolean> {
  return (await attempt('looking', () => fs.stat(path))).ok
}

/** Null when a command runs inside. */
function probe(program: string): Promise<string | null> {
  const words = [
    '--ro-bind',
    '/',
    '/',
    '--dev',
    '/dev',
    '--proc',
    '/proc',
    '--unshare-pid',
    '--unshare-net',
    '--cap-drop',
    'ALL',
    'true',
  ]
  return new Promise((resolve) => {
    execFile(program, words, { timeout: defaults.permission.sandboxProbeMs }, (error, _out, err) => {
      if (error === null) return resolve(null)
      const isMissing = 'code' in error && error.code === 'ENOENT'
      resolve(
        isMissing ? `${program} (bubblewrap) is not installed` : err.trim().split('\n')[0] || error.message,
      )
    })
  })
}
