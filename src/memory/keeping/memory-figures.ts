// What became of memories, counted from their ledger: how many were saved, wait, were taken back, forgotten, or are doubtful.
import type { Ledger } from './ledger.ts'

export interface MemoryFigures {
  /** Versions that were written, without those that brought an older one back. */
  readonly saved: number
  /** Wait for the user now. */
  readonly held: number
  readonly reverted: number
  /** Times that something was forgotten. */
  readonly forgotten: number
  /** Stand there now with a doubt. */
  readonly doubtful: number
}

/** The ledger must be fresh. */
export function figuresOf(ledger: Ledger): MemoryFigures {
  const records = ledger.records()
  const written = records.filter((record) => record.do === 'write')
  const reverted = written.filter(({ via }) => via === 'revert').length
  return {
    saved: written.length - reverted,
    held: ledger.held().length,
    reverted,
    forgotten: records.filter((record) => record.do === 'forget').length,
    doubtful: ledger.standing().filter(({ head }) => head.doubtful !== undefined).length,
  }
}
