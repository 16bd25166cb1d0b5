// Where the companion and the agents it serves keep their files, and the few things install and uninstall do there.
import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rm, rmdir, stat } from 'node:fs/promises'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { hookClients, type HookClient } from '../../../companion/hook/options.ts'
import { type InstallPlace } from '../../../companion/install/plan.ts'
import { foldersAbove, parseInstallRecord, type InstallRecord } from '../../../companion/install/record.ts'
import { errorText } from '../../../disk/failure.ts'
import { attempt, machineFileSystem, type Result } from '../../../disk/fs.ts'
import { isTemporaryName, replaceFile } from '../../../disk/replace.ts'
import { utf8In } from '../../../disk/small-file.ts'
import { exits, refuse, type Refusal } from '../../exit-codes.ts'
import type { Io } from '../../terminal/io.ts'
import { readWhole } from '../../workplace/files.ts'
import { homeOf } from '../../workplace/workplace.ts'

const titles: Readonly<Record<string, string>> = {
  claude: 'Claude Code',
  codex: 'Codex',
  opencode: 'opencode',
  qwen: 'Qwen Code',
  gemini: 'Gemini CLI',
}
export const titleOf = (client: string): string => titles[client] ?? client

/** Those whose hooks we know well enough; the others are refused in words. */
export function installable(client: string): HookClient | Refusal {
  const known = hookClients.find((one) => one === client)
  return (
    known ??
    refuse(
      exits.usage,
      `${titleOf(client)} gets the audit alone for now: its hooks cannot bring text into the request after a compaction. Run pal companion audit`,
    )
  )
}

export const companionRoot = (io: Io): string => join(homeOf(io), 'companion')
export const recordPath = (root: string, client: HookClient): string => join(root, `installed-${client}.json`)

const folderIn = (io: Io, variable: string, otherwise: string): string => {
  const named = io.environment[variable]
  return named === undefined || !isAbsolute(named) ? otherwise : named
}

/** The files that were bundled with `pal`. */
export interface Bundled {
  readonly hook: string
  readonly opencode: string
}

export async function bundledFiles(pal: string | undefined): Promise<Bundled | Refusal> {
  const folder = pal === undefined || !existsSync(pal) ? null : dirname(realpathSync(pal))
  try {
    if (folder === null) throw new Error('started without a file')
    const [hook, opencode] = await Promise.all(
      ['companion-hook.cjs', 'companion-opencode.js'].map((name) => readFile(join(folder, name), 'utf8')),
    )
    return { hook: hook!, opencode: opencode! }
  } catch {
    return refuse(
      exits.failed,
      'the files of the companion are missing beside pal. Install pal again, or run npm run build in its repository',
    )
  }
}

export function installPlace(io: Io, bundled: Bundled, pal: string | undefined): InstallPlace {
  const real = pal === undefined || !existsSync(pal) ? null : realpathSync(pal)
  return {
    root: companionRoot(io),
    claude: folderIn(io, 'CLAUDE_CONFIG_DIR', join(io.userHome, '.claude')),
    codex: folderIn(io, 'CODEX_HOME', join(io.userHome, '.codex')),
    opencode: join(folderIn(io, 'XDG_CONFIG_HOME', join(io.userHome, '.config')), 'opencode'),
    node: process.execPath,
    pal: real === null || /[/\\]_npx[/\\]/.test(real) ? null : real,
    opencodePlugin: bundled.opencode,
  }
}

export async function textAt(path: string): Promise<string | null> {
  // Not as a pipe is read: nobody may ever write into it.
  const read = await readWhole(machineFileSystem, behindLinks(path), mostBytes)
  if (!read.ok) throw new Error(`${path}: ${read.why}`)
  if (read.bytes === null) return null
  const text = utf8In(read.bytes)
  // What cannot be written back byte for byte is not touched.
  if (text === null) throw new Error(`${path} is not UTF-8`)
  return text
}
const mostBytes = 64 * 1024 * 1024

/** What an earlier install noted; null where there was none. */
export async function recordIn(root: string, client: HookClient): Promise<InstallRecord | null | Refusal> {
  try {
    return parseInstallRecord(await textAt(recordPath(root, client)), client)
  } catch (error) {
    return refuse(exits.failed, `nothing was changed: ${errorText(error)}`)
  }
}

/** Another program may write its files while the question stands: what was not shown is not overwritten. */
export const changedMeanwhile = (path: string, command: string): Refusal =>
  refuse(
    exits.failed,
    `nothing was changed: ${path} was changed by something else after it was shown. Run ${command} again`,
  )

const ownerOnly = 0o600
const ownerFolder = 0o700

/** Writes a file whole, where a link leads too, with the mode it had; says which folders it made. */
export async function writeText(
  path: string,
  text: string,
): Promise<Result<{ readonly folders: readonly string[] }>> {
  const missing = foldersAbove(path).filter((folder) => !existsSync(folder))
  try {
    await mkdir(dirname(path), { recursive: true, mode: ownerFolder })
    const real = behindLinks(path)
    const mode = existsSync(real) ? (await stat(real)).mode & modeBits : ownerOnly
    const unique = (): string => randomUUID()
    const done = await replaceFile(machineFileSystem, real, Buffer.from(text), { mode, unique })
    return done.ok ? { ok: true, folders: missing } : done
  } catch (error) {
    const { message } = error as Error
    return { ok: false, failure: { code: 'io-error', message: `writing ${path} failed: ${message}` } }
  }
}
const modeBits = 0o777

/** What a link leads to is removed, and the link stays. */
export const removeText = (path: string): Promise<Result<object>> =>
  attempt(`removing ${path}`, async () => {
    await rm(behindLinks(path), { force: true })
    return {}
  })

/** Where a path really leads, also where nothing is there yet: a link of somebody's to a file still to come. */
function behindLinks(path: string): string {
  let real = path
  for (
    let links = 0;
    links < mostLinks && lstatSync(real, { throwIfNoEntry: false })?.isSymbolicLink();
    links++
  )
    real = resolve(dirname(real), readlinkSync(real))
  return existsSync(real) ? realpathSync(real) : real
}
const mostLinks = 40

/** What a killed install or uninstall was about to put in place. */
export async function removeTemporary(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => [])
  for (const name of names.filter(isTemporaryName)) await rm(join(folder, name), { force: true })
}

/** Folders that an install made, where nothing else is in them now. */
export async function removeFolders(folders: readonly string[]): Promise<void> {
  for (const folder of folders.toSorted((a, b) => b.length - a.length)) await rmdir(folder).catch(() => {})
}
