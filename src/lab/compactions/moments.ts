// The places of a recording at which a compaction is judged: where its client really made one, and others in between.
// What came before is a recording of its own; what came after, up to the next real one, is the future it is judged by.
import { defaults } from '../../settings/defaults.ts'
import {
  isResult,
  isAttached,
  isSummary,
  type RecordedBlock,
  type RecordedTurn,
  type Recording,
} from '../recording.ts'

export interface CompactionMoment {
  /** Everything before it, without the texts that stood for it and without counts. */
  readonly before: Recording
  readonly after: readonly RecordedTurn[]
  /** What the client put in its place, with what it attached; null where that cannot be read, or where there was none. */
  readonly vendor: string | null
  /** The number of the turn. */
  readonly turn: number
  readonly isRecorded: boolean
}

/** Where the client compacted. */
export function recordedMoments(recording: Recording): readonly CompactionMoment[] {
  const places = recording.turns.flatMap(({ content }, index) => (content.some(isSummary) ? [index] : []))
  return places.map((turn, index) => {
    const { content } = recording.turns[turn]!
    const summary = content.findIndex(isSummary)
    const behind = content.slice(summary + 1)
    const text = [content[summary]!, ...behind.filter(isAttached)].map(textIn).join('\n\n')
    return {
      before: {
        ...recording,
        turns: plain([
          ...recording.turns.slice(0, turn),
          { ...recording.turns[turn]!, content: content.slice(0, summary) },
        ]),
      },
      after: plain([
        { ...recording.turns[turn]!, content: behind.filter((one) => !isAttached(one)) },
        ...recording.turns.slice(turn + 1, places[index + 1] ?? recording.turns.length),
      ]),
      // One that is sealed says nothing.
      vendor: text.length < defaults.lab.compactions.leastTextChars ? null : text,
      turn,
      isRecorded: true,
    }
  })
}

/** Others, evenly apart: before a request, with as much future as a real one has. */
export function simulatedMoments(recording: Recording, most: number): readonly CompactionMoment[] {
  const { everyTurns, futureTurns, leastTurns } = defaults.lab.compactions
  const last = recording.turns.length - leastTurns
  const every = Math.max(everyTurns, Math.ceil((last - leastTurns) / Math.max(1, most)))
  const moments: CompactionMoment[] = []
  for (let at = leastTurns; at <= last && moments.length < most; at += every) {
    const turn = recording.turns.findIndex(({ role }, index) => index >= at && role === 'assistant')
    if (turn < 0) break
    moments.push({
      before: { ...recording, turns: plain(recording.turns.slice(0, turn)) },
      after: plain(recording.turns.slice(turn, turn + futureTurns)),
      vendor: null,
      turn,
      isRecorded: false,
    })
  }
  return moments
}

/** Without the clients' own summaries and without counts, so that sizes are by our estimate alone. */
const plain = (turns: readonly RecordedTurn[]): readonly RecordedTurn[] =>
  turns.map(({ role, at, content }) => ({ role, at, content: content.filter((one) => !isSummary(one)) }))

const textIn = ({ block }: RecordedBlock): string =>
  block.type === 'text' && 'text' in block
    ? block.text
    : isResult(block)
      ? block.content.map((inner) => (inner.type === 'text' ? inner.text : '')).join('\n')
      : ''
