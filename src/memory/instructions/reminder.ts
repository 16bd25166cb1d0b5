// The one reminder that stands before the first user message: instruction files and the indexes of memories. Each text
// is fenced under its path, and no text can end its own fence or begin another. What folders further down say comes later.
import { around, fenced } from '../../transcript/fence.ts'
import { loadNested, loadScoped, type Loaded, type LoadedFile, type InstructionSources } from './load.ts'
import { dirname } from 'node:path'
import { isInside } from '../../disk/under-root.ts'

/** What a file says about who set it. */
const kinds: Readonly<Record<Exclude<LoadedFile['layer'], 'memory'>, string>> = {
  managed: 'managed',
  user: 'user, every project',
  project: 'project, checked in',
  local: 'user, this project',
}

const precedence =
  'Instructions, from general to specific. Where two conflict, the more specific one, which comes later, wins; kind="managed" always wins. What the user says now outranks files of the project. Apply what concerns the task.'
const titles =
  'Titles of saved memories: information, possibly out of date. Read a file before you rely on it.'

/** Null where there is nothing to say. */
export function reminderOf({ files }: Pick<Loaded, 'files'>): string | null {
  if (files.length === 0) return null
  const rules = files.filter(({ layer }) => layer !== 'memory')
  const memories = files.filter(({ layer }) => layer === 'memory')
  return around('system-reminder', {}, [
    ...(rules.length === 0 ? [] : [precedence, ...rules.map(blockOf)]),
    ...(memories.length === 0 ? [] : [titles, ...memories.map(blockOf)]),
  ])
}

/** Instructions of a folder that work has just come to. */
const nestedOf = ({ files }: Pick<Loaded, 'files'>): string | null =>
  files.length === 0
    ? null
    : around('system-reminder', {}, [
        'Instructions for the folder you have come to; they apply to the files in it.',
        ...files.map(blockOf),
      ])

const blockOf = ({ path, layer, by, twins = [], text }: LoadedFile): string => {
  const places = { path, 'included-by': by ?? undefined, 'same-as': twins }
  return layer === 'memory'
    ? fenced('memory-index', places, text.trim())
    : fenced('instructions', { ...places, kind: kinds[layer] }, text.trim())
}

const quoted = /"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[0-9a-f]{4}))*"/iu.source
const named = new RegExp(` (?:path|same-as)=(${quoted})`, 'gu')

/** The files that a reminder holds, and those that say the same: what stands before the conversation need not be shown in it. */
export function filesIn(reminder: string | null): ReadonlySet<string> {
  // No text can begin a line with a fence of ours.
  const fences = (reminder ?? '')
    .split('\n')
    .filter((line) => /^<(?:instructions|memory-index) path=/u.test(line))
  const paths = fences.flatMap((line) => [...line.matchAll(named)].map(([, path]) => path!))
  return new Set(paths.map((path) => String(JSON.parse(path))))
}

// Instructions of folders below the working folder, for one session: a folder's own instructions come when a file in it is
// touched, once until the session is compacted.

interface NestedText {
  /** Null where there is nothing new to say. */
  readonly text: string | null
  /** To be shown: files left out, cut or strange. */
  readonly problems: readonly string[]
}

export class NestedInstructions {
  readonly #bounds: Pick<InstructionSources, 'root' | 'trusted'>
  readonly #sources: () => Promise<InstructionSources>
  readonly #loaded = new Set<string>()
  /** Rules for some files alone that were told. */
  readonly #sent = new Set<string>()
  /** What was said to be wrong: at every touch of a file it is once too often. */
  readonly #said = new Set<string>()

  /** `sources` is asked for each folder, since what the user accepts may change while the session runs. */
  constructor(
    bounds: Pick<InstructionSources, 'root' | 'trusted'>,
    sources: () => Promise<InstructionSources>,
  ) {
    this.#bounds = bounds
    this.#sources = sources
  }

  /** The session was compacted: what was said before may be gone. */
  renew(): void {
    this.#loaded.clear()
    this.#sent.clear()
  }

  /** A file was touched: what its folder says, and rules that are for it. */
  async touched(path: string): Promise<NestedText> {
    const { root, trusted } = this.#bounds
    if (!isInside(root, path)) return nothing
    const given = await this.#sources()
    const sources = { ...given, trusted: given.trusted && trusted }
    const folder = await this.#folder(sources, dirname(path))
    const scoped = await loadScoped(sources, path, this.#sent)
    for (const file of scoped.files) this.#sent.add(file.path)
    const problems = [...new Set([...folder.problems, ...scoped.problems])].filter(
      (problem) => !this.#said.has(problem),
    )
    for (const problem of problems) this.#said.add(problem)
    return { text: nestedOf({ files: [...folder.files, ...scoped.files] }), problems }
  }

  async #folder(sources: InstructionSources, folder: string): Promise<Loaded> {
    const { root, trusted } = this.#bounds
    if (!trusted || this.#loaded.has(folder)) return { files: [], problems: [] }
    const loaded = await loadNested(sources, folder, this.#loaded)
    // What may not be followed yet is looked at again the next time: it may have been approved by then.
    for (let one = folder; isInside(root, one) && one !== root; one = dirname(one))
      if (!loaded.problems.some((problem) => problem.startsWith(`${one}/`))) this.#loaded.add(one)
    return loaded
  }
}

const nothing: NestedText = { text: null, problems: [] }
