// Markdown files with a head, as people write them for skills, styles and commands. Of two with one name that of the later
// folder counts: a project's comes after the user's. A file that cannot be followed is said and left out.
import { join, relative } from 'node:path'
import type * as yaml from 'yaml'
import { attempt, systemCode, type FileSystem } from '../disk/fs.ts'
import { textIn } from '../forks/agents/types.ts'
import { defaults } from '../settings/defaults.ts'

export interface Page {
  readonly name: string
  readonly head: Readonly<Record<string, unknown>>
  readonly body: string
  /** The file. */
  readonly path: string
  readonly folder: PageFolder
}

/** Where pages lie: a folder below a root that no link may lead out of. */
export interface PageFolder {
  readonly root: string
  readonly below: string
  /** Asked with the bytes before a page acts; left out, all of them may. */
  readonly mayAct?: ((path: string, bytes: Uint8Array) => boolean) | undefined
}

export interface Pages {
  readonly pages: readonly Page[]
  readonly problems: readonly string[]
}

/** `inFolder`: each page is a folder that holds this file; left out, each is a file that ends with .md. */
export async function pagesIn(
  fs: FileSystem,
  folders: readonly PageFolder[],
  inFolder?: string,
): Promise<Pages> {
  const found = new Map<string, Page>()
  const problems: string[] = []
  for (const folder of folders) {
    const { root, below } = folder
    const names = await namesIn(fs, join(root, below), inFolder !== undefined)
    if (typeof names === 'string') problems.push(names)
    else
      for (const name of names) {
        const file = join(below, ...(inFolder === undefined ? [`${name}.md`] : [name, inFolder]))
        const page = await readPage(fs, folder, name, join(root, file))
        if (typeof page === 'string') problems.push(`${join(root, file)}: ${page}; it is left out`)
        else if (page !== null) found.set(name, page)
      }
  }
  return { pages: [...found.values()], problems }
}

/** A page as it is now; null where it may not act, or why it cannot be followed. */
export async function readPage(
  fs: FileSystem,
  folder: PageFolder,
  name: string,
  path: string,
): Promise<Page | string | null> {
  const read = await textIn(fs, folder.root, relative(folder.root, path), defaults.extensions.pageBytes)
  if (!read.ok) return read.why
  if (folder.mayAct?.(path, read.bytes) === false) return null
  const page = await pageOf(read.text)
  return typeof page === 'string' ? page : { name, path, folder, ...page }
}

const goodName = /^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$/

async function namesIn(
  fs: FileSystem,
  folder: string,
  areFolders: boolean,
): Promise<readonly string[] | string> {
  const listed = await attempt(`listing ${folder}`, async () => {
    try {
      return { names: await fs.names(folder) }
    } catch (error) {
      if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return { names: [] }
      throw error
    }
  })
  if (!listed.ok) return listed.failure.message
  return listed.names
    .flatMap((name) => (areFolders ? [name] : name.endsWith('.md') ? [name.slice(0, -'.md'.length)] : []))
    .filter((name) => goodName.test(name))
    .toSorted()
    .slice(0, defaults.extensions.pages)
}

/** A head is not needed: without one the whole file is the body. */
async function pageOf(text: string): Promise<Pick<Page, 'head' | 'body'> | string> {
  const match = /^\uFEFF?---\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)([\s\S]*)$/.exec(text)
  if (match === null) return { head: {}, body: text.trim() }
  // The reader of YAML is large: whoever has no such file does not load it.
  const reader = await import('../disk/yaml.ts')
  const document = reader.parseDocument(match[1]!, { logLevel: 'silent' })
  const error = document.errors[0]
  if (error !== undefined) return `its frontmatter is not valid YAML: ${error.message.split('\n')[0] ?? ''}`
  // A few lines could otherwise stand for millions.
  if (hasAlias(reader, document)) return 'its frontmatter contains an alias, which is not supported'
  const head: unknown = document.toJS()
  const isMap = typeof head === 'object' && head !== null && !Array.isArray(head)
  return { head: isMap ? (head as Page['head']) : {}, body: match[2]!.trim() }
}

function hasAlias({ visit }: Pick<typeof yaml, 'visit'>, document: yaml.Document): boolean {
  let isFound = false
  visit(document, {
    Alias: () => {
      isFound = true
      return visit.BREAK
    },
  })
  return isFound
}

export const aboutOf = ({ head, body }: Page): string => {
  const about = head['description']
  const text = typeof about === 'string' ? about : (body.split('\n').find((line) => line.trim() !== '') ?? '')
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, defaults.extensions.aboutChars).toWellFormed()
}
