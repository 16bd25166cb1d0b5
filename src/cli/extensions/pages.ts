// Markdown files with a head, as users write them for skills, styles and commands: in their own folder and, where their
// content is approved, in the project's `.palimpsest`. The project's wins over the user's of the same name. A file that
// cannot be followed is said and left out.
import { join } from 'node:path'
import type * as yaml from 'yaml'
import { attempt, systemCode, type FileSystem } from '../../disk/fs.ts'
import { textIn } from '../../forks/agents/type-files.ts'
import { defaults } from '../../settings/defaults.ts'
import type { Gate } from '../trust/gate.ts'

export interface Page {
  readonly name: string
  readonly head: Readonly<Record<string, unknown>>
  readonly body: string
  /** The file. */
  readonly path: string
}

export interface PagesPlace {
  readonly fs: FileSystem
  /** The user's folder of this program. */
  readonly home: string
  /** The project; null where it has no part in this. */
  readonly project: string | null
  /** Asked before anything of a project acts. */
  readonly gate: Gate
}

export interface Pages {
  readonly pages: readonly Page[]
  readonly problems: readonly string[]
}

/** `inFolder`: each page is a folder that holds this file; left out, each is a file that ends with .md. */
export async function pagesIn(
  place: PagesPlace,
  kind: keyof typeof contentKind,
  inFolder?: string,
): Promise<Pages> {
  const found = new Map<string, Page>()
  const problems: string[] = []
  const roots = [
    { root: place.home, below: kind },
    ...(place.project === null ? [] : [{ root: place.project, below: join('.palimpsest', kind) }]),
  ]
  for (const { root, below } of roots) {
    const names = await namesIn(place.fs, join(root, below), inFolder !== undefined)
    if (typeof names === 'string') problems.push(names)
    else
      for (const name of names) {
        const file = join(below, ...(inFolder === undefined ? [`${name}.md`] : [name, inFolder]))
        const read = await textIn(place.fs, root, file, defaults.extensions.pageBytes)
        if (read.ok && root === place.project && refused(place.gate, kind, join(root, file), read.bytes))
          continue
        const page = read.ok ? await pageOf(name, read.text, join(root, file)) : read.why
        if (typeof page === 'string') problems.push(`${join(root, file)}: ${page}; it is left out`)
        else found.set(name, page)
      }
  }
  return { pages: [...found.values()], problems }
}

const contentKind = { skills: 'skill', 'output-styles': 'output style', commands: 'command' } as const
const refused = (gate: Gate, kind: keyof typeof contentKind, path: string, bytes: Uint8Array): boolean =>
  gate.refusal(contentKind[kind], path, bytes) !== null

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
export async function pageOf(name: string, text: string, path: string): Promise<Page | string> {
  const match = /^\uFEFF?---\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)([\s\S]*)$/.exec(text)
  if (match === null) return { name, head: {}, body: text.trim(), path }
  // The reader of YAML is large: whoever has no such file does not load it.
  const reader = await import('../../disk/yaml.ts')
  const document = reader.parseDocument(match[1]!, { logLevel: 'silent' })
  const error = document.errors[0]
  if (error !== undefined) return `its frontmatter is not valid YAML: ${error.message.split('\n')[0] ?? ''}`
  // A few lines could otherwise stand for millions.
  if (hasAlias(reader, document)) return 'its frontmatter contains an alias, which is not supported'
  const head: unknown = document.toJS()
  const isMap = typeof head === 'object' && head !== null && !Array.isArray(head)
  return { name, head: isMap ? (head as Page['head']) : {}, body: match[2]!.trim(), path }
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
