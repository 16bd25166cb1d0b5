// The memory tool of the Messages API (`memory_20250818`) over a store of memories: six commands in the tool's own words. A path
// `/memories/NAME` is a memory of the store; its head stands outside of what the tool shows, so that a view returns what was
// written. What it saves is data, unless the host names a session whose readings decide. Never throws: a refusal is an
// answer that the model reads.
import type { OrWhy } from '../../disk/failure.ts'
import { defaults } from '../../settings/defaults.ts'
import { readMemoryText } from '../format/frontmatter.ts'
import { sessionless, type Memory } from '../memory.ts'
import type { MemoryStore } from '../memory-store.ts'
import { derive, type Lineage } from '../trust/lineage.ts'

/** A command as the API sends it; other fields are passed over. */
export type MemoryToolCommand =
  | { readonly command: 'view'; readonly path: string; readonly view_range?: readonly number[] | undefined }
  | { readonly command: 'create'; readonly path: string; readonly file_text: string }
  | {
      readonly command: 'str_replace'
      readonly path: string
      readonly old_str: string
      readonly new_str?: string | undefined
    }
  | {
      readonly command: 'insert'
      readonly path: string
      readonly insert_line: number
      readonly insert_text: string
    }
  | { readonly command: 'delete'; readonly path: string }
  | { readonly command: 'rename'; readonly old_path: string; readonly new_path: string }

export type MemoryToolHandlers = {
  readonly [Name in MemoryToolCommand['command']]: (
    command: Extract<MemoryToolCommand, { command: Name }>,
  ) => Promise<string>
}

export interface MemoryToolOptions {
  /** What was typed and read in the session that calls; left out, what is saved is data. */
  readonly lineage?: (() => Lineage) | undefined
  readonly now?: (() => number) | undefined
}

const root = '/memories'
const limits = defaults.serving

/** For `betaMemoryTool` of the SDK, or any loop that carries out the tool's calls. */
export function memoryToolHandlers(store: MemoryStore, options: MemoryToolOptions = {}): MemoryToolHandlers {
  const tool = new MemoryTool(store, options)
  return {
    view: ({ path, view_range: range }) => texts({ path }, () => tool.view(path, range)),
    create: ({ path, file_text: text }) => texts({ path, file_text: text }, () => tool.create(path, text)),
    str_replace: ({ path, old_str: old, new_str: by = '' }) =>
      texts({ path, old_str: old, new_str: by }, () => tool.replace(path, old, by)),
    insert: ({ path, insert_line: line, insert_text: text }) =>
      texts({ path, insert_text: text }, () => tool.insert(path, line, text)),
    delete: ({ path }) => texts({ path }, () => tool.remove(path)),
    rename: ({ old_path: from, new_path: to }) =>
      texts({ old_path: from, new_path: to }, () => tool.rename(from, to)),
  }
}

/** A model sends what it likes: what should be a text and is none is answered, not thrown. */
async function texts(
  fields: Readonly<Record<string, unknown>>,
  work: () => Promise<string>,
): Promise<string> {
  const wrong = Object.entries(fields).find(([, value]) => typeof value !== 'string')
  return wrong === undefined ? await work() : `Error: \`${wrong[0]}\` must be a text. Nothing was done`
}

interface Found {
  readonly memory: Memory
  /** What stands before the text that the tool shows. */
  readonly head: string
  readonly body: string
}

class MemoryTool {
  readonly #store: MemoryStore
  readonly #options: MemoryToolOptions
  /** The bytes of each file as they were shown or written last. */
  readonly #seen = new Map<string, string>()

  constructor(store: MemoryStore, options: MemoryToolOptions) {
    this.#store = store
    this.#options = options
  }

  async view(path: string, range?: readonly number[]): Promise<string> {
    if (path === root || path === `${root}/`) return await this.#folder()
    const found = await this.#find(path)
    if (typeof found === 'string') return found
    this.#seen.set(found.memory.file, found.memory.sha256)
    const lines = found.body.split('\n')
    const [first = 1, last = -1] = Array.isArray(range) ? range : []
    if (range !== undefined && !(Array.isArray(range) && [first, last].every(Number.isSafeInteger)))
      return `Error: Invalid \`view_range\` parameter: ${JSON.stringify(range)}. It should be two line numbers`
    const end = last === -1 ? lines.length : Math.min(last, lines.length)
    const shown = lines
      .slice(Math.max(1, first) - 1, end)
      .map((line, at) => numbered(line, Math.max(1, first) + at))
    const text = shown.join('\n')
    const rest =
      text.length > limits.openChars
        ? '\n[cut here; view_range shows the rest, as [first line, last line]]'
        : ''
    return `Here's the content of ${path} with line numbers:\n${text.slice(0, limits.openChars).toWellFormed()}${rest}`
  }

  async create(path: string, text: string): Promise<string> {
    const file = fileAt(path)
    if (!file.ok) return file.why
    if ((await this.#store.read(file.file)).ok) return `Error: File ${path} already exists`
    return await this.#save(
      file.file,
      headOf(file.file, text),
      text,
      null,
      `File created successfully at: ${path}`,
    )
  }

  async replace(path: string, old: string, by: string): Promise<string> {
    const found = await this.#toEdit(path)
    if (typeof found === 'string') return found
    const { memory, head, body } = found
    const count = old === '' ? 0 : body.split(old).length - 1
    if (count === 0)
      return `No replacement was performed, old_str \`${old}\` did not appear verbatim in ${path}.`
    if (count > 1)
      return `No replacement was performed. Multiple occurrences of old_str \`${old}\` in lines: ${linesOf(body, old).join(', ')}. Please ensure it is unique`
    const at = body.indexOf(old)
    const changed = `${body.slice(0, at)}${by}${body.slice(at + old.length)}`
    const line = body.slice(0, at).split('\n').length
    const snippet = changed
      .split('\n')
      .slice(Math.max(0, line - 1 - around), line + by.split('\n').length - 1 + around)
      .map((one, index) => numbered(one, Math.max(1, line - around) + index))
    return await this.#save(
      memory.file,
      head,
      changed,
      memory.sha256,
      `The memory file has been edited.\n${snippet.join('\n')}`,
    )
  }

  async insert(path: string, line: number, text: string): Promise<string> {
    const found = await this.#toEdit(path)
    if (typeof found === 'string') return found
    const { memory, head, body } = found
    const lines = body.split('\n')
    if (!Number.isSafeInteger(line) || line < 0 || line > lines.length)
      return `Error: Invalid \`insert_line\` parameter: ${line}. It should be within the range of lines of the file: [0, ${lines.length}]`
    const added = [...lines.slice(0, line), text.replace(/\n$/u, ''), ...lines.slice(line)].join('\n')
    return await this.#save(memory.file, head, added, memory.sha256, `The file ${path} has been edited.`)
  }

  async remove(path: string): Promise<string> {
    if (path === root || path === `${root}/`) return `Error: Cannot delete ${root} itself`
    const found = await this.#toEdit(path)
    return typeof found === 'string'
      ? found
      : await this.#change(found.memory.file, null, found.memory.sha256, `Successfully deleted ${path}`)
  }

  async rename(from: string, to: string): Promise<string> {
    const target = fileAt(to)
    if (!target.ok) return target.why
    const found = await this.#toEdit(from)
    if (typeof found === 'string') return found
    if ((await this.#store.read(target.file)).ok) return `Error: The destination ${to} already exists`
    const { memory, head, body } = found
    // What nobody watched takes no trusted memory away, so it does not begin to either.
    if (this.#options.lineage === undefined && memory.standing === 'open')
      return `Error: the user has to agree before ${from} is renamed; save a memory of another name instead`
    const done = `Successfully renamed ${from} to ${to}`
    const made = await this.#save(target.file, head, body, null, done)
    if (made !== done) return made
    return await this.#change(memory.file, null, memory.sha256, done)
  }

  async #folder(): Promise<string> {
    const listed = await this.#store.list(limits.looked)
    if (!listed.ok) return `Error: the memories cannot be read: ${listed.failure.message}`
    const shown = listed.memories.filter(({ standing }) => standing !== 'held')
    const total = shown.reduce((sum, { bytes }) => sum + bytes, 0)
    const rows = shown.map(({ file, bytes }) => `${sizeOf(bytes)}\t${pathOf(file)}`).toSorted()
    return `Here're the files and directories up to 2 levels deep in ${root}, excluding hidden items and node_modules:\n${[`${sizeOf(total)}\t${root}`, ...rows].join('\n')}`
  }

  /** What a path names, or why it names nothing. What waits for the user is not there. */
  async #find(path: string): Promise<Found | string> {
    const file = fileAt(path)
    if (!file.ok) return file.why
    const read = await this.#store.read(file.file)
    if (!read.ok || read.memory.standing === 'held')
      return `The path ${path} does not exist. Please provide a valid path.`
    const { body } = readMemoryText(read.text)
    return { memory: read.memory, head: read.text.slice(0, read.text.length - body.length), body }
  }

  /** The same, as it was when it was shown last. */
  async #toEdit(path: string): Promise<Found | string> {
    const found = await this.#find(path)
    if (typeof found === 'string') return found
    const seen = this.#seen.get(found.memory.file)
    return seen === undefined || seen === found.memory.sha256
      ? found
      : `Error: ${path} has changed since you read it; view it again first`
  }

  #save(file: string, head: string, body: string, expected: string | null, done: string): Promise<string> {
    return this.#change(file, `${head}${body}`, expected, done)
  }

  async #change(file: string, text: string | null, expected: string | null, done: string): Promise<string> {
    const now = (this.#options.now ?? Date.now)()
    const lineage = this.#options.lineage?.()
    const by =
      lineage === undefined
        ? sessionless('tool', 'data', now, ['memory-tool'])
        : derive(lineage, text ?? '', now).by
    const saved = await this.#store.save({ file, text, expected }, by, { via: 'session' })
    if (!saved.ok) return `Error: ${pathOf(file)} was not changed: ${saved.failure.message}`
    const { kind, why } = saved.applied
    if (kind === 'refused') return `Error: ${pathOf(file)} was not changed: ${why}`
    if (kind === 'held') return `Error: the user has to agree to this change of ${pathOf(file)} first: ${why}`
    const read = await this.#store.read(file)
    if (read.ok) this.#seen.set(file, read.memory.sha256)
    else this.#seen.delete(file)
    return done
  }
}

const around = 2

const numbered = (line: string, number: number): string => `${String(number).padStart(numberWidth)}\t${line}`
const numberWidth = 6

const linesOf = (body: string, old: string): readonly number[] => {
  const lines: number[] = []
  for (let at = body.indexOf(old); at !== -1; at = body.indexOf(old, at + old.length))
    lines.push(body.slice(0, at).split('\n').length)
  return lines
}

type FileAt = OrWhy<{ readonly file: string }>

/** The file of a path; anything that could lead elsewhere is refused as it is written. */
function fileAt(path: string): FileAt {
  const refused = (why: string): FileAt => ({ ok: false, why: `Error: ${JSON.stringify(path)} ${why}` })
  if (!path.startsWith(`${root}/`)) return refused(`is not a path below ${root}`)
  const name = path.slice(root.length + 1)
  if (name.includes('/')) return refused(`is in a folder; memories lie directly in ${root}`)
  if (name === '' || name.startsWith('.') || /[%\\\p{Cc}]/u.test(name))
    return refused('is no plain name of a file')
  return { ok: true, file: name.toLowerCase().endsWith('.md') ? name : `${name}.md` }
}

/** A file that was created as `notes.txt` is shown as that. */
const pathOf = (file: string): string =>
  `${root}/${/\.[^.]+\.md$/iu.test(file) ? file.slice(0, -'.md'.length) : file}`

function headOf(file: string, text: string): string {
  const first = text.split('\n').find((line) => line.trim() !== '') ?? file
  const about = first
    .replace(/^#+\s*/u, '')
    .trim()
    .slice(0, defaults.memory.indexLineChars)
    .toWellFormed()
  const name = file.replace(/\.md$/iu, '')
  return `---\nname: ${JSON.stringify(name)}\ndescription: ${JSON.stringify(about === '' ? name : about)}\ntype: reference\n---\n`
}

const kilo = 1024
const sizeOf = (bytes: number): string => (bytes < kilo ? String(bytes) : `${(bytes / kilo).toFixed(1)}K`)
