// Git for commands that run unasked: an environment in which nothing that a repository says about itself makes git run a
// program, read another file or connect. Git is told where the repository lies, and in place of the folder that holds its
// configuration and hooks it is shown one of ours: the objects and references are links to the real ones, the
// configuration is the harmless part of the real one (`settings`), and hooks, attributes, includes and the
// configuration of a worktree are not there. So there is nothing to overlook, however the real files are written.
//
// Git looks into submodules by starting itself there, without this environment. It is told not to, and where it would all
// the same it finds a program of ours in place of itself, which refuses.
import { chmod, mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { errorText, type OrWhy } from '../../disk/failure.ts'
import { makeOwnFolder } from '../../disk/own-folders.ts'
import { configText, isKnownSetting, type GitSetting, listSettings, type GitProgram } from './settings.ts'
import type { Repository } from './repository.ts'

export type Shield = OrWhy<{
  readonly environment: Readonly<Record<string, string>>
  /** Must be there for the command to read. */
  readonly folder: string
  /** What of the repository's configuration does not count, by name. */
  readonly leftOut: readonly string[]
  end(): Promise<void>
}>

/** What its temporary folders are called. */
export const shieldFolder = 'pal-git'

/** The environment given is that of the command. */
export async function openShield(repository: Repository | null, git: GitProgram): Promise<Shield> {
  const { program, environment } = git
  const folder = await makeOwnFolder(shieldFolder)
  const end = (): Promise<void> => rm(folder, { recursive: true, force: true })
  try {
    const base = { ...environment, ...closed(folder) }
    if (repository === null)
      return { ok: true, environment: { ...base, GIT_DIR: join(folder, 'none') }, folder, leftOut: [], end }
    const [own, modules, users] = await Promise.all([
      listSettings(git, join(repository.commonFolder, 'config')),
      listSettings(git, join(repository.worktree, '.gitmodules')).catch(() => []),
      listSettings(git),
    ])
    const common = own.filter(({ key }) => isKnownSetting(key))
    const settings = [
      ...users.filter(({ key }) => isKnownSetting(key) || key === 'core.excludesfile'),
      ...common,
      ...modules.flatMap(({ key }) => quietModule(key)),
    ]
    await build(folder, repository, program, configText(settings))
    const leftOut = own
      .filter((one) => !common.includes(one) && one.key !== 'core.bare')
      .map(({ key }) => key)
    return { ok: true, environment: { ...base, ...placed(folder, repository) }, folder, leftOut, end }
  } catch (error) {
    await end()
    return { ok: false, why: errorText(error) }
  }
}

/** Over everything else: for git itself, and for any git that it starts. */
const switches: readonly (readonly [key: string, value: string])[] = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['core.pager', 'cat'],
  ['core.alternateRefsCommand', 'true'],
  ['diff.ignoreSubmodules', 'dirty'],
  ['submodule.recurse', 'false'],
  ['status.submoduleSummary', 'false'],
  ['protocol.allow', 'never'],
  ['safe.bareRepository', 'explicit'],
]

/** Nothing outside of the folder given says what git does. */
export const closed = (folder: string): Readonly<Record<string, string>> => ({
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_CONFIG_COUNT: String(switches.length),
  ...Object.fromEntries(
    switches.flatMap(([key, value], at) => [
      [`GIT_CONFIG_KEY_${at}`, key],
      [`GIT_CONFIG_VALUE_${at}`, value],
    ]),
  ),
  GIT_EXEC_PATH: join(folder, 'programs'),
  GIT_PAGER: 'cat',
  GIT_EDITOR: 'false',
  GIT_ASKPASS: 'false',
  GIT_SSH_COMMAND: 'false',
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_LAZY_FETCH: '1',
  GIT_PROTOCOL_FROM_USER: '0',
})

const placed = (folder: string, repository: Repository): Readonly<Record<string, string>> => ({
  GIT_DIR: repository.gitFolder,
  GIT_COMMON_DIR: join(folder, 'common'),
  GIT_WORK_TREE: repository.worktree,
})

/** A submodule may ask to be looked into; what stands in the configuration beats what stands in its own file. */
const quietModule = (key: string): readonly GitSetting[] => {
  const name = /^submodule\.(.+)\.path$/s.exec(key)?.[1]
  return name === undefined ? [] : [{ key: `submodule.${name}.ignore`, value: 'dirty' }]
}

/** Read, never written, in the folder that worktrees share. */
const shared = ['objects', 'refs', 'packed-refs', 'reftable', 'logs', 'shallow', 'worktrees']

async function build(folder: string, repository: Repository, program: string, config: string): Promise<void> {
  const common = join(folder, 'common')
  const programs = join(folder, 'programs')
  await mkdir(join(common, 'info'), { recursive: true })
  await mkdir(programs)
  const links = [...shared, join('info', 'exclude')]
  await Promise.all(links.map((name) => symlink(join(repository.commonFolder, name), join(common, name))))
  await writeFile(join(common, 'config'), config)
  // Some of git's commands start others of the same repository; nothing else is let through.
  const stand = join(programs, 'git')
  await writeFile(
    stand,
    `#!/bin/sh\n[ "$GIT_COMMON_DIR" = ${quoted(common)} ] && exec ${quoted(program)} "$@"\n` +
      `echo 'git is not started in another repository here' >&2\nexit 1\n`,
  )
  await chmod(stand, 0o700)
}

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`
