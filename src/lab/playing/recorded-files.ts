// The files of a recording as a compaction finds them: what a call that read a whole file showed last, or a call wrote,
// with the edits since. Where the text of an edit is not found, the file stays as it was: close enough for its size.
import { deedOf, fileOf } from '../../compaction/files.ts'
import type { FileSource, ReadNow } from '../../engine/restoring/restorer.ts'
import { contentText } from '../measuring/texts.ts'
import type { Step } from './script.ts'

type Input = Readonly<Record<string, unknown>>

export class RecordedFiles implements FileSource {
  readonly #texts = new Map<string, string>()
  readonly #reads = new Map<string, { readonly path: string; readonly isWhole: boolean }>()

  /** Results of calls that were asked before. */
  results({ results }: Step): void {
    for (const { id, content, isError } of results) {
      const read = this.#reads.get(id)
      if (read === undefined || isError) continue
      const known = this.#texts.get(read.path)
      if (read.isWhole) this.#touch(read.path, withoutNumbers(contentText(content)))
      else if (known !== undefined) this.#touch(read.path, known)
    }
  }

  calls({ answer }: Step): void {
    for (const block of answer.content) {
      if (block.type !== 'tool_use' || !('input' in block)) continue
      const path = fileOf(block)
      if (path === null) continue
      const { input } = block
      const written = input['content'] ?? input['file_text']
      const known = this.#texts.get(path)
      if (deedOf(block) === 'read') this.#reads.set(block.id, { path, isWhole: isWhole(input) })
      else if (typeof written === 'string') this.#touch(path, written)
      else if (known !== undefined) this.#touch(path, changed(known, input))
    }
  }

  recent(): readonly string[] {
    return [...this.#texts.keys()].toReversed()
  }

  /** As Read shows it. */
  read(paths: readonly string[]): Promise<ReadonlyMap<string, ReadNow>> {
    const known = paths.flatMap((path) => {
      const text = this.#texts.get(path)
      return text === undefined ? [] : [[path, { text: withNumbers(text), file: null }] as const]
    })
    return Promise.resolve(new Map(known))
  }

  #touch(path: string, text: string): void {
    this.#texts.delete(path)
    this.#texts.set(path, text)
  }
}

const isWhole = (input: Input): boolean => input['offset'] === undefined && input['limit'] === undefined

const numbered = /^\s*\d+[\t→|:]/

function withoutNumbers(text: string): string {
  const lines = text.split('\n')
  const isNumbered = numbered.test(lines[0] ?? '')
  return isNumbered ? lines.map((line) => line.replace(numbered, '')).join('\n') : text
}

const withNumbers = (text: string): string =>
  text
    .split('\n')
    .map((line, index) => `${index + 1}\t${line}`)
    .join('\n')

/** One edit, or a list of them. */
function changed(text: string, input: Input): string {
  const list: unknown = Array.isArray(input['edits']) ? input['edits'] : [input]
  return (list as readonly Input[]).reduce((now, edit) => {
    const out = edit['old_string'] ?? edit['old_str'] ?? edit['oldText']
    const into = edit['new_string'] ?? edit['new_str'] ?? edit['newText']
    if (typeof out !== 'string' || typeof into !== 'string' || out === '') return now
    const at = now.indexOf(out)
    return at < 0 ? now : `${now.slice(0, at)}${into}${now.slice(at + out.length)}`
  }, text)
}
