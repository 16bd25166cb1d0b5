// What counting is judged by: for each two neighbouring requests of a recorded session, how much the context really
// grew and what had been added. Shared by the fit of the weights and by the measurement.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { importFile } from '../src/lab/importers/import-file.ts'
import { contextOf, type Recording } from '../src/lab/recording.ts'
import type { ViewBlock } from '../src/projection/view.ts'

export interface GrowthSample {
  readonly model: string
  /** Growth of the request, as the provider counted it. */
  readonly grown: number
  /** The part that was known before sending: the reported output of the response before. */
  readonly known: number
  /** The response before and what came after it. Where `known` is 0 the response has to be estimated as well. */
  readonly answer: readonly ViewBlock[]
  readonly added: readonly ViewBlock[]
}

export interface SampledSession {
  readonly name: string
  readonly client: string
  /** Milliseconds. */
  readonly started: number
  readonly samples: readonly GrowthSample[]
  /** Every third session takes no part in the fit. */
  readonly heldOut: boolean
}

const HELD_OUT_EVERY = 3
export const BIG_GROWTH_TOKENS = 1000

/** What of a sample has to be estimated. */
export const unknownPart = (sample: GrowthSample): readonly ViewBlock[] =>
  sample.known > 0 ? sample.added : [...sample.answer, ...sample.added]

export async function sampledSessions(folder: string): Promise<readonly SampledSession[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.jsonl.gz')).sort()
  const sessions: SampledSession[] = []
  for (const name of names) {
    const imported = await importFile(join(folder, name))
    if (!imported.ok) throw new Error(imported.failure.message)
    const { recording } = imported
    const samples = samplesOf(recording)
    if (samples.length === 0) continue
    sessions.push({
      name: recording.name,
      client: recording.client.split(' ')[0] ?? recording.client,
      started: recording.turns[0]?.at ?? 0,
      samples,
      heldOut: sessions.length % HELD_OUT_EVERY === HELD_OUT_EVERY - 1,
    })
  }
  return sessions
}

// A compaction by the client replaces the context, and a change of model counts all of it anew: neither is a growth.
function samplesOf(recording: Recording): readonly GrowthSample[] {
  const samples: GrowthSample[] = []
  let last: { readonly context: number; readonly output: number; readonly model: string } | null = null
  let answer: ViewBlock[] = []
  let added: ViewBlock[] = []
  let compacted = false
  for (const turn of recording.turns) {
    const model = turn.model ?? recording.model
    if (turn.role === 'assistant' && turn.usage !== undefined) {
      const context = contextOf(turn.usage)
      if (last !== null && !compacted && last.model === model) {
        samples.push({ model, grown: context - last.context, known: last.output, answer, added })
      }
      last = { context, output: recording.outputCounts === 'final' ? turn.usage.output : 0, model }
      answer = []
      added = []
      compacted = false
    }
    for (const { block, kind } of turn.content) {
      if (kind === 'compact_summary') compacted = true
      if (turn.role === 'assistant') answer.push(block)
      else added.push(block)
    }
  }
  return samples
}
