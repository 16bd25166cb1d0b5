// What opening a session takes in memory. Everything that no edit has removed from context is held, and a process that runs out
// of memory is ended by the system without a word: so it is counted while it is read, and ends with a failure before that.
import { getHeapStatistics } from 'node:v8'
import { MB } from '../../settings/units.ts'
import { defaults } from '../../settings/defaults.ts'
import type { SessionId } from '../../transcript/ids.ts'
import type { Failure, ReadItem } from '../../transcript/store.ts'

export class MemoryRoom {
  readonly #session: SessionId
  readonly #heap = getHeapStatistics()
  #bytes = 0

  constructor(session: SessionId) {
    this.#session = session
  }

  /** What was held before is out of context now and forgotten. */
  clear(): void {
    this.#bytes = 0
  }

  /** Counts what is read; a failure when holding it would take more than there is. */
  take(item: ReadItem): Failure | null {
    if (item.kind !== 'entry' || item.bytes === undefined) return null
    this.#bytes += item.bytes
    // Texts take up to two bytes for each one on the disk, beside what the program holds already and works with.
    const needed = 2 * this.#bytes + this.#heap.used_heap_size + defaults.engine.workingMemoryBytes
    return needed <= this.#heap.heap_size_limit ? null : this.#failure()
  }

  #failure(): Failure {
    const [held, limit] = [this.#bytes, this.#heap.heap_size_limit].map((bytes) => Math.floor(bytes / MB))
    return {
      code: 'no-memory',
      message:
        `session ${this.#session} holds more than ${held} MB that nothing has removed from context, too much for the ${limit} MB of memory ` +
        `this process may use. Open it once with more, NODE_OPTIONS=--max-old-space-size=MEGABYTES with about three times the size of its ` +
        'transcript, and compact it there (/compact, or pal compact); nothing was changed',
    }
  }
}
