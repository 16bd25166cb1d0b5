// The second wall around commands, where the machine has one: bubblewrap. The rules decide what runs; the wall bounds
// what a command can do that turns out to be another than it seemed. Inside it
//
// - the project can be written, apart from what git, this program or others obey later (`guarded`); everything else is
//   read-only;
// - keys by custom, our own folder, sockets of programs outside and what others keep in temporary folders are not there;
// - there is no network unless it is allowed;
// - processes live in a space of their own and end with the command, also those that left its group.
import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { realOr, type FileSystem } from '../../disk/fs.ts'
import { isInside } from '../../disk/under-root.ts'
import { findProgram } from '../../disk/programs.ts'
import { defaults } from '../../settings/defaults.ts'
import { sweepOwnFolders } from '../../disk/own-folders.ts'
import { gitlinkReader, type ReadGitlinks } from '../git/gitlinks.ts'
import { shieldFolder } from '../git/shield.ts'
import { emptied, hiding } from './hidden.ts'
import { guardOf, nestedGuard, together, withoutLinked, mountArguments } from './guarded.ts'
import { findNested, block, watch, type Watched } from './watched.ts'
import { createPlaceholders, wordsNaming, type Placed, type Placeholders } from './placeholders.ts'

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
  /** Where it is written down what stands in for missing files while commands run; a temporary folder when left out. */
  readonly state?: string | undefined
  /** Where the program is looked for, folders of the project apart. */
  readonly path?: string | undefined
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
  /** What was found and blocked since the last time, one line each. */
  notices(): readonly string[]
  /** A line about the wall where it explains a failure, else null. */
  explains(output: string): string | null
}

/** Where names are looked up, which a network needs. */
const nameServices = ['/run/systemd/resolve', '/run/resolvconf', '/run/NetworkManager']

/** A second wall around commands, where the machine has one. */
export function createSandbox(options: SandboxOptions): Sandbox {
  const program =
    options.program ?? findProgram('bwrap', options.path ?? process.env['PATH'], [options.root]) ?? null
  const placeholders = createPlaceholders(stateFolder(options.state))
  const gitlinks = gitlinkReader(findProgram('git', options.path ?? process.env['PATH'], [options.root]))
  let tried: Promise<string | null> | undefined
  const state = (): Promise<string | null> =>
    (tried ??= options.mode === 'off' ? Promise.resolve('it is switched off') : probe(program, sweep))
  const blocked: string[] = []
  const sweep = async (): Promise<void> => {
    blocked.push(...(await swept(placeholders, gitlinks)))
  }
  const running = new Set<Watched>()
  // Those that still run too: what one of them made is blocked before the next command meets it.
  const look = async (): Promise<void> => {
    for (const watched of running) blocked.push(...(await block(watched, gitlinks)))
  }
  return {
    state,
    async around(cwd, shown = []) {
      const why = await state()
      if (why !== null && options.mode === 'require')
        return { ok: false, why: `the settings require the sandbox, and it does not work here: ${why}` }
      if (why !== null || program === null) return { ok: true, before: [], end: () => Promise.resolve() }
      await look()
      const { words, placed, watched } = await wordsFor(options, cwd, shown, { placeholders, gitlinks })
      running.add(watched)
      const end = async (): Promise<void> => {
        await look()
        running.delete(watched)
        await placed.release()
      }
      return { ok: true, before: [program, ...words], end }
    },
    notices: () => blocked.splice(0).map((line) => `[the sandbox: ${line}]`),
    explains: (output) =>
      (options.network ? readOnly : readOnlyOrOffline).test(output)
        ? `[it ran in the sandbox: ${options.network ? '' : 'no network, '}only the project can be written, and there not what is obeyed later: ${guardedText}. The user can change that (sandbox, sandboxNetwork, sandboxWrite in the settings)]`
        : null,
  }
}

const stateFolder = (given: string | undefined): string =>
  given ?? join(tmpdir(), `pal-sandbox-${process.getuid?.() ?? 0}`)

/**
 * What commands of processes that were killed have left is taken away or blocked; one line each about the latter. Called
 * at the start, before anything in the project acts.
 */
export async function sweepSandbox(
  options: Pick<SandboxOptions, 'state' | 'path' | 'root'>,
): Promise<readonly string[]> {
  const git = findProgram('git', options.path, [options.root])
  return swept(createPlaceholders(stateFolder(options.state)), gitlinkReader(git))
}

async function swept(placeholders: Placeholders, gitlinks: ReadGitlinks): Promise<readonly string[]> {
  const lines: string[] = []
  await placeholders.sweep(async (watched) => void lines.push(...(await block(watched, gitlinks))))
  await sweepOwnFolders(shieldFolder)
  return lines
}

const readOnly = /Read-only file system|EROFS|Device or resource busy/
const readOnlyOrOffline =
  /Read-only file system|EROFS|Device or resource busy|EAI_AGAIN|ENETUNREACH|ENOTFOUND|Could not resolve host|Temporary failure in name resolution|Network is unreachable/

const guardedText =
  '.git/config, hooks, info and modules, a new .git, .palimpsest, .mcp.json, AGENTS.md and the like'

/** What bubblewrap is told, in order: a later word stands over an earlier one. */
async function wordsFor(
  options: SandboxOptions,
  cwd: string,
  shown: readonly string[],
  { placeholders, gitlinks }: { placeholders: Placeholders; gitlinks: ReadGitlinks },
): Promise<{ words: readonly string[]; placed: Placed; watched: Watched }> {
  const { fs, root, home } = options
  // A mount over a link fails.
  const opened = await Promise.all(options.writable.map((folder) => realOr(fs, folder)))
  const writable = [root, ...(isInside(root, cwd) ? [] : [cwd]), ...opened]
  const secret = await hiding(fs, home, options.hidden, writable)
  const isInProject = (path: string): boolean => writable.some((folder) => isInside(folder, path))
  const words = [
    '--ro-bind',
    '/',
    '/',
    '--dev',
    '/dev',
    '--proc',
    '/proc',
    ...emptied.flatMap((folder) => ['--tmpfs', folder]),
    ...(options.network ? nameServices.flatMap((path) => ['--ro-bind-try', path, path]) : ['--unshare-net']),
    ...secret.filter(({ path }) => !isInProject(path)).flatMap(({ words: hide }) => hide),
    ...writable.flatMap((folder) => ['--bind-try', folder, folder]),
    ...shown.flatMap((folder) => ['--ro-bind', folder, folder]),
    ...secret.filter(({ path }) => isInProject(path) && path !== root).flatMap(({ words: hide }) => hide),
  ]
  const owned = new Set([root, cwd])
  const { nested } = await findNested(writable, gitlinks)
  // What is hidden cannot be written either, and a mount over it would show it again.
  const reached = nested.filter(({ entry }) => !secret.some(({ path }) => isInside(path, entry)))
  const guards = await Promise.all(
    writable.map((folder) => guardOf(folder, owned.has(folder), options.hidden)),
  )
  const guard = await withoutLinked(together([...guards, await nestedGuard(reached, writable)]), writable)
  const watched = watch(writable, guard, nested)
  const placed = await placeholders.hold(guard.placeholders, watched)
  const all = [
    ...words,
    ...mountArguments(guard),
    ...wordsNaming(placed.id),
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
  return { words: all, placed, watched }
}

/** Null when a command runs inside. */
async function probe(program: string | null, sweep: () => Promise<void>): Promise<string | null> {
  if (process.platform !== 'linux') return `there is none for ${process.platform} yet`
  if (program === null) return 'bubblewrap (bwrap) is not installed'
  await sweep()
  const words = '--ro-bind / / --dev /dev --proc /proc --unshare-pid --unshare-net --cap-drop ALL true'.split(
    ' ',
  )
  return new Promise((resolve) => {
    const how = { timeout: defaults.permission.sandboxProbeMs, env: { PATH: '/usr/bin:/bin' } }
    execFile(program, words, how, (error, _out, err) => {
      if (error === null) return resolve(null)
      const isMissing = 'code' in error && error.code === 'ENOENT'
      resolve(
        isMissing ? `${program} (bubblewrap) is not installed` : err.trim().split('\n')[0] || error.message,
      )
    })
  })
}
