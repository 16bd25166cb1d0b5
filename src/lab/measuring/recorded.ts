// What a client was charged when the session was recorded, in the words and prices of the measures. Counted by the
// provider's own tokenizer, so it stands beside a replay and is not its equal.
import { price, type ModelInfo } from '../../model/models.ts'
import { noFigures, type Figures } from '../measures.ts'
import { contextOf, type Recording } from '../recording.ts'

/** Null where the recording has no counts of reads and writes. Money is that of the model the replay is charged for. */
export function recordedFigures(recording: Recording, info: ModelInfo | null): Figures | null {
  if (recording.usageKind !== 'anthropic') return null
  let figures: Figures = { ...noFigures, sessions: 1, dollars: info === null ? null : 0 }
  for (const { usage } of recording.turns) {
    if (usage === undefined) continue
    const long = usage.cacheWrite1h ?? 0
    const paid = info === null ? null : price(info, { ...usage, output: 0 })
    figures = {
      ...figures,
      requests: figures.requests + 1,
      fresh: figures.fresh + usage.input,
      read: figures.read + usage.cacheRead,
      written5m: figures.written5m + usage.cacheWrite - long,
      written1h: figures.written1h + long,
      largest: Math.max(figures.largest, contextOf(usage)),
      dollars: paid === null || figures.dollars === null ? null : figures.dollars + paid.total,
    }
  }
  return figures.requests === 0 ? null : figures
}
