// Rules that are for some files alone: `paths:` in the frontmatter of a rules file, as globs below the folder that the rules
// belong to. Such a rule is told when a file it is for is touched.

export interface Scoped {
  /** Null where it is for everything. */
  readonly paths: readonly string[] | null
  /** Without the frontmatter. */
  readonly text: string
}

const fence = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/u

/** What a rules file is for. Frontmatter without `paths` is passed over; one that cannot be read leaves the file as it is. */
export async function scopeOf(text: string): Promise<Scoped> {
  const front = fence.exec(text)
  if (front === null) return { paths: null, text }
  // The reader of YAML is large, and few files have such a head.
  const { parse } = await import('yaml')
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
export const isFor = (globs: readonly string[], path: string): boolean =>
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
