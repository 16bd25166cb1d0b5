// The files of a recording as a compaction finds them: what a reading call showed last, or a writing call wrote. A later
// edit moves a file to the front and does not change its text, which is close enough for its size.
import { deedOf, fileOf } from '../../compaction/files.ts'
import type { FileSource, ReadNow } from '../../engine/restoring/restorer.ts'
import { contentText } from '../measuring/texts.ts'
import type { Step } from './script.ts'

export class RecordedFiles implements FileSource {
  readonly #texts = new Map<string, string>()
  readonly #reads = new Map<string, string>()

  /** Results of calls that were asked before. */
  results({ results }: Step): void {
    for (const { id, content, isError } of results) {
      const path = this.#reads.get(id)
      if (path !== undefined && !isError) this.#touch(path, contentText(content))
    }
  }

  calls({ answer }: Step): void {
    for (const block of answer.content) {
      if (block.type !== 'tool_use' || !('input' in block)) continue
      const path = fileOf(block)
      if (path === null) continue
      const written = block.input['content'] ?? block.input['file_text']
      if (deedOf(block) === 'read') this.#reads.set(block.id, path)
      else if (typeof written === 'string') this.#touch(path, written)
      else if (this.#texts.has(path)) this.#touch(path, this.#texts.get(path)!)
    }
  }

  recent(): readonly string[] {
    return [...this.#texts.keys()].toReversed()
  }

  read(paths: readonly string[]): Promise<ReadonlyMap<string, ReadNow>> {
    const known = paths.flatMap((path) => {
      const text = this.#texts.get(path)
      return text === undefined ? [] : [[path, { text, file: null }] as const]
    })
    return Promise.resolve(new Map(known))
  }

  #touch(path: string, text: string): void {
    this.#texts.delete(path)
    this.#texts.set(path, text)
  }
}
