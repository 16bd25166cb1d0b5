// What `pal doctor` looks at of the machine itself: everything that containers, bare users and small images leave out.
import { accessSync, constants, existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { attempt, machineFileSystem } from '../../disk/fs.ts'
import { findProgram } from '../../disk/programs.ts'
import { removeIfThere, replaceFile } from '../../disk/replace.ts'
import { uniqueText, type Workplace } from '../workplace/workplace.ts'

/** One thing that `pal doctor` looked at. */
export interface Check {
  readonly what: string
  readonly state: 'good' | 'note' | 'bad'
  readonly found: string
  /** What to do; null where nothing has to be done. */
  readonly fix: string | null
}

export const good = (what: string, found: string): Check => ({ what, state: 'good', found, fix: null })
export const note = (what: string, found: string, fix: string): Check => ({ what, state: 'note', found, fix })
export const bad = (what: string, found: string, fix: string): Check => ({ what, state: 'bad', found, fix })

export async function machineChecks(place: Workplace): Promise<readonly Check[]> {
  return [
    user(place),
    workingFolder(place),
    await temporaryFolder(),
    bash(place),
    ...openFiles(),
    ...locale(place.io.environment),
    ...proxy(place.io.environment),
  ]
}

function user({ io, home }: Workplace): Check {
  const id = process.getuid?.()
  let name: string | null = null
  try {
    name = userInfo().username
  } catch {
    // No entry in the user database, as in a container that was started with a bare number.
  }
  const homeText = `home ${io.userHome}, state in ${home}`
  return name === null
    ? good('user', `id ${id ?? 'unknown'} has no name here; ${homeText}`)
    : good('user', `${name}; ${homeText}`)
}

function workingFolder({ project }: Workplace): Check {
  const isWritable = allows(project.cwd, constants.W_OK)
  return isWritable
    ? good('working folder', project.cwd)
    : note('working folder', `${project.cwd} is read-only`, 'work in a copy if files are to be changed')
}

async function temporaryFolder(): Promise<Check> {
  const made = await attempt(`writing to ${tmpdir()}`, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pal-probe-'))
    await rm(folder, { recursive: true })
    return {}
  })
  return made.ok
    ? good('temporary files', tmpdir())
    : bad('temporary files', made.failure.message, 'set TMPDIR to a folder you can write to')
}

function bash({ io, project }: Workplace): Check {
  const found = findProgram('bash', io.environment['PATH'], [project.root, project.cwd])
  return found === null
    ? bad(
        'bash',
        'not found on the PATH: the agent cannot run commands',
        'install bash (apk add bash, apt install bash)',
      )
    : good('bash', found)
}

function openFiles(): readonly Check[] {
  if (process.platform !== 'linux' || existsSync('/proc/self/fd')) return []
  return [
    note(
      '/proc',
      'missing: a crashed process is recognised by its number alone, and commands run without a sandbox',
      'mount /proc in this container',
    ),
  ]
}

/** Only a locale that names another character set: `C` and none at all say nothing about the terminal. */
function locale(environment: Workplace['io']['environment']): readonly Check[] {
  const set =
    ['LC_ALL', 'LC_CTYPE', 'LANG'].map((key) => environment[key] ?? '').find((value) => value !== '') ?? ''
  const charset = /\.([^@]+)/.exec(set)?.[1]
  if (charset === undefined || /^utf-?8$/i.test(charset)) return []
  return [
    note('locale', `${set}: pal reads and writes UTF-8 all the same`, 'use a UTF-8 locale such as C.UTF-8'),
  ]
}

function proxy(environment: Workplace['io']['environment']): readonly Check[] {
  const names = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy']
  const set = names.find((name) => (environment[name] ?? '') !== '')
  if (set === undefined) return []
  return [
    note(
      'proxy',
      `${set} is set, and pal does not use it`,
      'set baseUrl to a gateway that can be reached directly',
    ),
  ]
}

/** Whether a file there can get a second name: locks are made of that. */
export async function hardLinks(folder: string): Promise<Check | null> {
  const [one, two] = [1, 2].map(() => join(folder, `.pal-probe-${uniqueText()}`)) as [string, string]
  const written = await replaceFile(machineFileSystem, one, new Uint8Array(1), {
    mode: 0o600,
    unique: uniqueText,
  })
  if (!written.ok) return null
  const linked = await attempt(`creating a hard link in ${folder} a second name`, async () => ({
    done: await machineFileSystem.link(one, two),
  }))
  for (const file of [one, two]) await removeIfThere(machineFileSystem, file)
  return linked.ok
    ? null
    : bad(
        'locks',
        `${linked.failure.message}: this file system has no hard links, so no session can be opened for writing`,
        'set PALIMPSEST_HOME to a folder on a local disk',
      )
}

function allows(path: string, mode: number): boolean {
  try {
    accessSync(path, mode)
    return true
  } catch {
    return false
  }
}
