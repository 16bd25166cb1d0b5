// Where the border between read, written and plain input lay in a request, and what an estimated token on each side of it
// cost. The provider gives three sums and no places; the prompt is cached from its beginning, so the sums are the borders. What a
// piece cost is its share of the sum it lies in: the pieces of a request cost together what the request did.
import type { Price } from '../../model/models.ts'
import type { View } from '../../projection/view.ts'
import type { Usage } from '../../transcript/fact.ts'

export interface PromptPrices {
  /** The last entry that was read from the cache, and the last that was written to it; −1 for none. */
  readonly readTo: number
  readonly writtenTo: number
  /** Dollars for one estimated token that was read, written or plain. */
  readonly perRead: number
  readonly perWritten: number
  readonly perInput: number
}

export const noPrices: PromptPrices = {
  readTo: -1,
  writtenTo: -1,
  perRead: Number.NaN,
  perWritten: Number.NaN,
  perInput: Number.NaN,
}

/** `paid` null: the places are known, the prices are not. */
export function promptPrices(view: View, usage: Usage, paid: Price | null): PromptPrices {
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite
  if (prompt === 0 || view.estimate === 0) return noPrices
  const scale = view.estimate / prompt
  const inputFrom = view.estimate - usage.input * scale
  const writtenFrom = usage.cacheRead * scale
  let end = view.estimate
  let [input, written] = [0, 0]
  let [readTo, writtenTo] = [-1, -1]
  // From the end: what is new is short, what was read is not looked at.
  walk: for (let index = view.messages.length - 1; index >= 0; index--) {
    const { parts } = view.messages.at(index)!
    for (let at = parts.length - 1; at >= 0; at--) {
      const part = parts[at]!
      const size = part.estimate - part.clearedEstimate
      const begin = end - size
      // A piece across a border counts where it begins.
      if (begin >= inputFrom - slack) input += size
      else {
        writtenTo = Math.max(writtenTo, part.to)
        if (begin < writtenFrom - slack) {
          readTo = part.to
          break walk
        }
        written += size
      }
      end = begin
    }
  }
  // Tools and system stand first: they go with what was read, or with what was written where nothing was.
  const rest = view.estimate - input - written
  const read = usage.cacheRead > 0 ? rest : 0
  const plain = usage.cacheRead === 0 && usage.cacheWrite === 0
  const price = (dollars: number | undefined, estimate: number): number =>
    dollars === undefined ? Number.NaN : estimate === 0 ? 0 : dollars / estimate
  return {
    readTo,
    writtenTo: Math.max(writtenTo, readTo),
    perRead: price(paid?.read, read),
    perWritten: price(paid?.write, written + (read === 0 && !plain ? rest : 0)),
    perInput: price(paid?.fresh, input + (plain ? rest : 0)),
  }
}

/** Estimates are whole numbers, borders are not. */
const slack = 0.5
