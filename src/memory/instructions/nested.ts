// Instructions of folders below the working folder, for one session: a folder's own instructions come when a file in it is
// touched, once until the session is compacted.
import { dirname } from 'node:path'
import { isInside } from '../../disk/under-root.ts'
import { loadNested, type InstructionSources } from './load.ts'
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
  }

  /** A file was touched. */
  async touched(path: string): Promise<NestedText> {
    const { root, trusted } = this.#bounds
    const folder = dirname(path)
    if (!trusted || !isInside(root, path) || this.#loaded.has(folder)) return nothing
    const loaded = await loadNested(await this.#sources(), folder, this.#loaded)
    // What may not be followed yet is looked at again the next time: it may have been approved by then.
    for (let one = folder; isInside(root, one) && one !== root; one = dirname(one))
      if (!loaded.problems.some((problem) => problem.startsWith(`${one}/`))) this.#loaded.add(one)
    return { text: nestedOf(loaded), problems: loaded.problems }
  }
}

const nothing: NestedText = { text: null, problems: [] }
