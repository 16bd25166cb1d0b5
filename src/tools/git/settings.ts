// Settings of git: which are left in force when it runs unasked, and how they are read. In force are those that say how a repository is laid out, where its
// branches come from and how text is shown. A list of what is known to be harmless, since nobody can list all that makes
// git run a program, read a file or connect: what is not here does not count.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { errorText } from '../../disk/failure.ts'
import type { FileSystem } from '../../disk/fs.ts'
import { defaults } from '../../settings/defaults.ts'
import { repositoryOf } from './repository.ts'

export interface GitSetting {
  /** As git writes it: section and name in small letters, what stands between as it is. */
  readonly key: string
  /** Null where only the name stands, which means yes. */
  readonly value: string | null
}

const plain = new Set(
  `core.repositoryformatversion core.filemode core.ignorecase core.precomposeunicode core.symlinks core.autocrlf core.eol
  core.quotepath core.abbrev core.sparsecheckout core.sparsecheckoutcone core.protecthfs core.protectntfs
  core.logallrefupdates core.trustctime core.checkstat core.bigfilethreshold core.whitespace
  core.preloadindex core.splitindex core.untrackedcache core.commitgraph core.multipackindex core.deltabasecachelimit
  extensions.objectformat extensions.refstorage extensions.preciousobjects extensions.noop
  user.name user.email user.useconfigonly init.defaultbranch
  status.showuntrackedfiles status.short status.branch status.relativepaths status.showstash status.aheadbehind
  status.renames status.renamelimit
  log.date log.decorate log.abbrevcommit log.follow log.mailmap log.showroot
  diff.algorithm diff.renames diff.renamelimit diff.context diff.interhunkcontext diff.mnemonicprefix diff.noprefix
  diff.indentheuristic diff.suppressblankempty diff.statgraphwidth diff.wserrorhighlight diff.colormoved
  blame.date blame.showemail blame.showroot tag.sort branch.sort
  i18n.commitencoding i18n.logoutputencoding feature.manyfiles index.version
  pull.rebase pull.ff push.default merge.conflictstyle fetch.prune rerere.enabled
  gc.auto gc.autodetach maintenance.auto`.split(/\s+/),
)
const ofNamed =
  /^(?:remote\..+\.(?:url|pushurl|fetch|tagopt)|branch\..+\.(?:remote|merge|rebase|description)|advice\.[a-z]+)$/s

export const isKnownSetting = (key: string): boolean => plain.has(key) || ofNamed.test(key)

/** What `git config --list --null` prints. */
const settingsIn = (listed: string): readonly GitSetting[] =>
  listed
    .split('\0')
    .filter((record) => record !== '')
    .map((record) => {
      const at = record.indexOf('\n')
      return at < 0 ? { key: record, value: null } : { key: record.slice(0, at), value: record.slice(at + 1) }
    })

/** A configuration file of these settings, in their order. */
export const configText = (settings: readonly GitSetting[]): string =>
  settings
    .map(lineOf)
    .filter((line) => line !== null)
    .join('')

function lineOf({ key, value }: GitSetting): string | null {
  const match = /^([a-z0-9-]+)(?:\.(.+))?\.([a-z][a-z0-9-]*)$/s.exec(key)
  if (match === null) return null
  const [, section, named, name] = match
  if (named !== undefined && /[\n\0]/.test(named)) return null
  const head = named === undefined ? `[${section}]` : `[${section} "${named.replace(/["\\]/g, '\\$&')}"]`
  return `${head}\n\t${name}${value === null ? '' : ` = "${escaped(value)}"`}\n`
}

const escaped = (value: string): string =>
  value.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\t', '\\t').replaceAll('\b', '\\b')

// ---- settings in a file of git's, read by git itself, which alone knows how they are written ----
// Git is kept from any repository while it reads, and follows no include out of a file that may be anybody's.

export interface GitProgram {
  /** By its whole path. */
  readonly program: string
  /** Without any variable of git's. */
  readonly environment: Readonly<Record<string, string>>
}

/** Of one file (none where it is missing), or without one those of the user and the system. Rejects where git cannot. */
export function listSettings(git: GitProgram, file?: string): Promise<readonly GitSetting[]> {
  if (file !== undefined && !existsSync(file)) return Promise.resolve([])
  const from = file === undefined ? [] : ['--file', file, '--no-includes']
  return new Promise((done, failed) => {
    execFile(
      git.program,
      ['config', ...from, '--list', '--null'],
      {
        cwd: '/',
        env: { ...git.environment, GIT_DIR: noRepository, LC_ALL: 'C' },
        timeout: defaults.permission.gitConfigMs,
        maxBuffer: defaults.permission.gitConfigBytes,
      },
      (error, out, err) =>
        error === null
          ? done(settingsIn(out))
          : failed(
              new Error(`git cannot read ${file ?? 'its configuration'}: ${err.trim() || error.message}`),
            ),
    )
  })
}
const noRepository = '/dev/null'

/** Why git, at work in this folder with the repository's own configuration, may run a program of it; null: it does not. */
export async function actingDoubt(
  fs: FileSystem,
  root: string,
  folder: string,
  git: GitProgram,
): Promise<string | null> {
  const found = await repositoryOf(fs, root, folder)
  if (!found.ok) return found.why
  if (found.repository === null) return null
  const { gitFolder, commonFolder, worktree } = found.repository
  for (const file of [join(commonFolder, 'config'), join(gitFolder, 'config.worktree')]) {
    try {
      const acting = (await listSettings(git, file)).find(({ key }) => !isKnownSetting(key) && !isLayout(key))
      if (acting !== undefined) return `${file} sets ${acting.key}, which may make git run programs`
    } catch (error) {
      return errorText(error)
    }
  }
  const modules = join(worktree, '.gitmodules')
  return existsSync(modules) ? `${modules} names submodules, each with a configuration of its own` : null
}

/** Said by git itself of every new repository, and harmless where it is the one that was looked at. */
const isLayout = (key: string): boolean => key === 'core.bare' || key === 'extensions.worktreeconfig'
