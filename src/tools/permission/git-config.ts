// Whether a repository's own configuration makes git run programs when it merely looks (TRUST A21). A folder that came as
// an archive brings its `.git/config` with it, and `git status` would obey it.
import { dirname, isAbsolute, join, resolve, sep } from 'node:path'
import { attempt, type FileSystem } from '../../disk/fs.ts'
import { defaults } from '../../settings/defaults.ts'

const acting =
  /^\s*(?:\[\s*(?:include|includeif|filter|pager|gpg)\b[^\]]*\]|(?:fsmonitor|sshcommand|pager|editor|askpass|hookspath|external|textconv|command|program|difffilter|gitproxy|worktree|uploadpack|receivepack|attributesfile|alternaterefscommand|promisor|partialclone)\s*(?:=|$))/im
const harmless = /^\s*fsmonitor\s*=\s*(?:false|true)\s*$/gim

/** The file that decides and why, or null where git only looks. */
export async function gitActs(fs: FileSystem, folder: string): Promise<string | null> {
  // From inside a repository's own folder git obeys files of other names.
  if (folder.split(sep).includes('.git')) return `${folder} belongs to git itself`
  for (const git of await gitFoldersOf(fs, folder)) {
    const acts = await repositoryActs(fs, git)
    if (acts !== null) return acts
  }
  return null
}

async function repositoryActs(fs: FileSystem, git: string): Promise<string | null> {
  const files = [join(git, 'config'), join(git, 'config.worktree'), ...(await moduleConfigs(fs, git))]
  const common = (await textOf(fs, join(git, 'commondir')))?.trim()
  if (common !== undefined && common !== '') files.push(join(resolve(git, common), 'config'))
  for (const file of files) {
    if (file === tooMany) return `${git} holds more submodules than are looked at`
    const text = await textOf(fs, file)
    if (text === null) continue
    // A setting may stand behind its section, and a line may go on in the next.
    const lines = text
      .replace(/\\\r?\n/g, '')
      .replace(/\]/g, ']\n')
      .replace(harmless, '')
    if (acting.test(lines)) return `${file} tells git to run programs`
  }
  return null
}

/** Of submodules too, whose names may hold slashes: a folder without a configuration is looked into. */
async function moduleConfigs(fs: FileSystem, git: string): Promise<readonly string[]> {
  const found: string[] = []
  const open = [join(git, 'modules')]
  for (let looked = 0; open.length > 0 && looked < defaults.permission.gitModules; looked++) {
    const folder = open.shift()!
    const listed = await attempt('looking', async () => ({ names: await fs.names(folder) }))
    const names = listed.ok ? listed.names : []
    if (names.includes('config')) found.push(join(folder, 'config'))
    open.push(
      ...(names.includes('config') ? names.filter((name) => name === 'modules') : names).map((name) =>
        join(folder, name),
      ),
    )
  }
  // More than are looked at: then nobody knows what they say.
  return open.length > 0 ? [...found, tooMany] : found
}
const tooMany = ''

/** All on the way up: a folder of this name that is no repository is passed over by git. */
async function gitFoldersOf(fs: FileSystem, from: string): Promise<readonly string[]> {
  const found: string[] = []
  for (let folder = from; ; folder = dirname(folder)) {
    const path = join(folder, '.git')
    const stat = await attempt('looking', () => fs.stat(path))
    if (stat.ok && stat.kind === 'file') {
      const to = /^gitdir:\s*(.+?)\s*$/m.exec((await textOf(fs, path)) ?? '')?.[1]
      return [...found, to === undefined ? path : isAbsolute(to) ? to : resolve(folder, to)]
    }
    if (stat.ok) found.push(path)
    if (dirname(folder) === folder) return found
  }
}

/** Null when there is none. One that cannot be looked through (too long, a link, closed to us) is one that acts. */
async function textOf(fs: FileSystem, path: string): Promise<string | null> {
  const read = await attempt('reading', async () => {
    const file = await fs.open(path, 'read')
    try {
      const { bytes, kind } = await file.stat()
      if (kind !== 'file') return { text: unknown }
      if (bytes > defaults.permission.gitConfigBytes) return { text: unknown }
      const into = new Uint8Array(bytes)
      const count = await file.read(into, 0)
      return { text: new TextDecoder().decode(into.subarray(0, count)) }
    } finally {
      await file.close()
    }
  })
  if (read.ok) return read.text
  return read.failure.code === 'not-found' ? null : unknown
}
const unknown = '[include]'
