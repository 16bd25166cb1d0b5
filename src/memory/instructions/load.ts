// Which instruction files there are, weakest first, so that what comes later wins:
//
//   managed   /etc/palimpsest/AGENTS.md
//   user      AGENTS.md and rules/*.md in the user's folder of this program
//   project   AGENTS.md, CLAUDE.md, .palimpsest/AGENTS.md, .palimpsest/rules/*.md, from the root down to the working folder
//   local     AGENTS.local.md, CLAUDE.local.md, in the same folders
//
// A rules file with `paths` in its head is told only when a file it is for is touched (`scopeOf`).
//
// A folder that is not trusted gives none of its own. A file that appeared while the session ran is
// left out until the next one, or until the user accepts it: a package that is installed must not instruct.
import { basename, dirname, join, relative } from 'node:path'
import { attempt, type FileSystem } from '../../disk/fs.ts'
import { isInside } from '../../disk/under-root.ts'
import { defaults } from '../../settings/defaults.ts'
import {
  includeRoom,
  includesOf,
  foldersDown,
  readBelow,
  readOwn,
  type ContentRefusal,
  type IncludeRoom,
  type IncludeScope,
  type InstructionText,
} from './read.ts'
import type { Pins } from './pins.ts'

export type Layer = 'managed' | 'user' | 'project' | 'local' | 'memory'

export interface LoadedFile {
  readonly path: string
  readonly layer: Layer
  readonly text: string
  /** The file that included it. */
  readonly by: string | null
  /** Files that say the same, and are left out. */
  readonly twins?: readonly string[] | undefined
  readonly sha256: string
  /** Characters nobody sees, taken out. */
  readonly hidden: number
}
export interface Loaded {
  readonly files: readonly LoadedFile[]
  /** One line each: what was left out, cut or strange. */
  readonly problems: readonly string[]
}

export interface InstructionSources {
  readonly fs: FileSystem
  readonly managed: string
  /** The user's folder of this program, and the user's own. */
  readonly home: string
  readonly userHome: string
  readonly root: string
  readonly cwd: string
  readonly trusted: boolean
  readonly isSecret: (path: string) => boolean
  /** What was seen at the start of the session; null accepts what is there. */
  readonly pins: Pins | null
  /** Files from outside that the user allows to be included. */
  readonly approved: ReadonlySet<string>
  /** Why the content of a project's file may not be followed, or null; left out, all of a trusted folder may. */
  readonly refusal?: ContentRefusal | undefined
  /** Rules for some files alone count as well, whatever is touched: for whoever lists all that may be told. */
  readonly isWhole?: boolean | undefined
}

interface Gathering {
  readonly sources: InstructionSources
  /** A file that was touched: then rules for some files alone count, if they are for it; else they do not. */
  readonly touched: string | null
  readonly files: LoadedFile[]
  readonly problems: string[]
  readonly room: IncludeRoom
}

export async function loadInstructions(sources: InstructionSources): Promise<Loaded> {
  const gathering = gatheringOf(sources, null)
  await takeOwn(gathering, 'managed', sources.managed)
  await takeOwn(gathering, 'user', join(sources.home, 'AGENTS.md'))
  await takeUserRules(gathering)
  const folders = foldersDown(sources.root, sources.cwd)
  for (const folder of folders) await takeFolder(gathering, folder, 'project')
  for (const folder of folders) await takeFolder(gathering, folder, 'local')
  return finished(gathering)
}

const gatheringOf = (sources: InstructionSources, touched: string | null): Gathering => ({
  sources,
  touched,
  files: [],
  problems: [],
  room: includeRoom(),
})

/** Rules for some files alone that are for this one, on the way to it and of the user; those already told are left out. */
export async function loadScoped(
  sources: InstructionSources,
  touched: string,
  known: ReadonlySet<string>,
): Promise<Loaded> {
  const gathering = gatheringOf(sources, touched)
  await takeUserRules(gathering)
  if (sources.trusted)
    for (const folder of foldersDown(sources.root, dirname(touched)))
      for (const name of await rulesIn(sources.fs, join(folder, rulesFolder))) {
        const read = await readBelow(sources.fs, sources.root, join(folder, rulesFolder, name))
        if (read.ok) await takeRules(gathering, 'project', read, sources.root, folder)
      }
  const { files, problems } = finished(gathering)
  return { files: files.filter(({ path }) => !known.has(path)), problems }
}

/** The files of folders below the working folder that something was done in; those already told are left out. */
export async function loadNested(
  sources: InstructionSources,
  folder: string,
  known: ReadonlySet<string>,
): Promise<Loaded> {
  const gathering = gatheringOf(sources, null)
  const above = new Set(foldersDown(sources.root, sources.cwd))
  const fresh = foldersDown(sources.root, folder).filter((one) => !above.has(one) && !known.has(one))
  for (const one of fresh) await takeFolder(gathering, one, 'project')
  for (const one of fresh) await takeFolder(gathering, one, 'local')
  return finished(gathering)
}

/** Identical text comes once: the last, which is the strongest. */
function finished({ files, problems }: Gathering): Loaded {
  const last = new Map(files.map((file) => [file.text.trim(), file]))
  const isLast = (file: LoadedFile): boolean => last.get(file.text.trim()) === file
  const twinsOf = ({ text, path }: LoadedFile): readonly string[] =>
    files
      .filter((other) => other.text.trim() === text.trim() && other.path !== path)
      .map((other) => other.path)
  return {
    files: files
      .filter((file) => isLast(file) && file.text.trim() !== '')
      .map((file) => (twinsOf(file).length === 0 ? file : { ...file, twins: twinsOf(file) })),
    problems,
  }
}

async function takeFolder(gathering: Gathering, folder: string, layer: 'project' | 'local'): Promise<void> {
  const { fs, root, trusted } = gathering.sources
  const paths =
    layer === 'local'
      ? ['AGENTS.local.md', 'CLAUDE.local.md']
      : [
          'AGENTS.md',
          'CLAUDE.md',
          '.palimpsest/AGENTS.md',
          ...(await rulesIn(fs, join(folder, rulesFolder))).map((name) => join(rulesFolder, name)),
        ]
  for (const name of paths) {
    const path = join(folder, name)
    if (!trusted) {
      const there = await attempt('looking', () => fs.stat(path))
      if (there.ok)
        gathering.problems.push(
          `${path} was not read: this folder is not trusted. Look at it, then run pal trust`,
        )
      continue
    }
    const read = await readBelow(fs, root, path)
    if (!read.ok) {
      if (read.failure.code !== 'not-found')
        gathering.problems.push(`${path} was not read: ${read.failure.message}`)
    } else if (name.startsWith(rulesFolder)) await takeRules(gathering, layer, read, root, folder)
    else await take(gathering, layer, read, root)
  }
}

const rulesFolder = join('.palimpsest', 'rules')

async function takeUserRules(gathering: Gathering): Promise<void> {
  const { fs, home, root } = gathering.sources
  const folder = join(home, 'rules')
  for (const name of await rulesIn(fs, folder)) {
    const read = await readOwn(fs, join(folder, name))
    if (read.ok) await takeRules(gathering, 'user', read, folder, root)
    else gathering.problems.push(`${join(folder, name)} was not read: ${read.failure.message}`)
  }
}

/** Of a rules file without its head: for all work, or for files below a folder where `paths` says so. */
async function takeRules(
  gathering: Gathering,
  layer: Layer,
  read: InstructionText,
  root: string,
  below: string,
): Promise<void> {
  const { touched, sources, problems } = gathering
  // Of a file that may not be followed nothing is understood, its head no more than the rest.
  const refused = layer === 'user' ? null : refusalOf(sources, read)
  if (refused !== null) {
    problems.push(refused)
    return
  }
  const { paths, text } = await scopeOf(read.text)
  const isWanted =
    touched === null
      ? paths === null || sources.isWhole === true
      : paths !== null &&
        isInside(below, touched) &&
        isFor(paths, relative(below, touched).replaceAll('\\', '/'))
  if (isWanted) await take(gathering, layer, { ...read, text }, root)
}

async function rulesIn(fs: FileSystem, folder: string): Promise<readonly string[]> {
  const read = await attempt('listing', async () => ({ names: await fs.names(folder) }))
  if (!read.ok) return []
  return read.names
    .filter((name) => name.endsWith('.md') && !name.startsWith('.'))
    .sort()
    .slice(0, defaults.memory.rulesFiles)
}

async function takeOwn(gathering: Gathering, layer: 'managed' | 'user', path: string): Promise<void> {
  const read = await readOwn(gathering.sources.fs, path)
  if (read.ok) await take(gathering, layer, read, join(read.path, '..'))
  else if (read.failure.code !== 'not-found')
    gathering.problems.push(`${path} was not read: ${read.failure.message}`)
}

function refusalOf({ refusal, pins }: InstructionSources, read: InstructionText): string | null {
  const why = refusal?.(read, 'inside') ?? null
  return why === null ? (pins?.refusal(read) ?? null) : `${read.path} ${why}`
}

async function take(gathering: Gathering, layer: Layer, read: InstructionText, root: string): Promise<void> {
  const { sources, problems, room } = gathering
  const isProjects = layer === 'project' || layer === 'local'
  const refused = isProjects ? refusalOf(sources, read) : null
  if (refused !== null) {
    problems.push(refused)
    return
  }
  room.seen.add(read.path)
  keep(gathering, layer, read, null)
  const scope: IncludeScope = {
    root,
    userHome: sources.userHome,
    isApproved: (path) => sources.approved.has(path),
    isSecret: sources.isSecret,
    refusal: isProjects ? sources.refusal : undefined,
  }
  const included = await includesOf(sources.fs, read, scope, room)
  problems.push(...included.problems)
  for (const file of included.files) keep(gathering, layer, file, file.by)
}

function keep({ files, problems }: Gathering, layer: Layer, read: InstructionText, by: string | null): void {
  const { path, text, sha256, hidden } = read
  if (hidden > 0) problems.push(`${path} held ${hidden} hidden characters, which were removed`)
  if (text.length > defaults.memory.instructionChars)
    problems.push(
      `${basename(path)} has ${text.length} characters; above ${defaults.memory.instructionChars} it crowds out the work (${path})`,
    )
  files.push({ path, layer, text, by, sha256, hidden })
}

// Rules that are for some files alone: `paths:` in the frontmatter of a rules file, as globs below the folder that the rules
// belong to. Such a rule is told when a file it is for is touched.

interface Scoped {
  /** Null where it is for everything. */
  readonly paths: readonly string[] | null
  /** Without the frontmatter. */
  readonly text: string
}

const fence = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/u

/** What a rules file is for. Frontmatter without `paths` is passed over; one that cannot be read leaves the file as it is. */
async function scopeOf(text: string): Promise<Scoped> {
  const front = fence.exec(text)
  if (front === null) return { paths: null, text }
  // The reader of YAML is large, and few files have such a head.
  const { parse } = await import('../../disk/yaml.ts')
  let head: unknown
  try {
    head = parse(front[1]!)
  } catch (error) {
    if (error instanceof Error && error.name.startsWith('YAML')) return { paths: null, text }
    throw error
  }
  const named: unknown = typeof head === 'object' && head !== null && 'paths' in head ? head.paths : null
  const listed = Array.isArray(named) ? named : typeof named === 'string' ? named.split(',') : []
  const paths = listed.filter((one): one is string => typeof one === 'string').map((one) => one.trim())
  return { paths: paths.length === 0 ? null : paths, text: text.slice(front[0].length) }
}

/** Whether a path below the folder, with slashes, is one of these. A glob without a slash is for every folder. */
const isFor = (globs: readonly string[], path: string): boolean =>
  globs.some((glob) => patternOf(glob.includes('/') ? glob : `**/${glob}`).test(path))

/** `**` any folders, `*` and `?` within one name, `{a,b}` one of these; everything else as it stands. */
function patternOf(glob: string): RegExp {
  const plain = glob.replace(/^\.?\//u, '')
  let depth = 0
  const source = plain.replaceAll(/\*\*\/|\*\*|\*|\?|\{|\}|,|[.+^$()|[\]\\]/gu, (piece) => {
    switch (piece) {
      case '**/':
        return '(?:[^/]+/)*'
      case '**':
        return '.*'
      case '*':
        return '[^/]*'
      case '?':
        return '[^/]'
      case '{':
        depth += 1
        return '(?:'
      case '}':
        depth -= 1
        return depth < 0 ? '\\}' : ')'
      case ',':
        return depth > 0 ? '|' : ','
      default:
        return `\\${piece}`
    }
  })
  // One that is not closed is for nothing.
  return depth === 0 ? new RegExp(`^${source}$`, 'u') : /(?!)/u
}
