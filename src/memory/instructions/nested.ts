// Instructions of folders below the working folder, for one session: a folder's own instructions come when a file in it is
// touched, once until the session is compacted.
import { dirname } from 'node:path'
import { isInside } from '../../disk/under-root.ts'
import { loadNested, loadScoped, type InstructionSources, type Loaded } from './load.ts'
import { nestedOf } from './reminder.ts'

export interface NestedText {
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
    const problems = [...new Set([...folder.problems, ...scoped.problems])]
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
