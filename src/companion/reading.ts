// Recorded turns as the audit of our own compaction reads them: who said what, and which call had which outcome.
import type { Answer, Call, Outcome, Reading, Said } from '../compaction/span-reading.ts'
import { countLines } from '../compaction/span-reading.ts'
import { endsOf } from '../compaction/phrases.ts'
import { isResult, isTypedWhileBusy, type RecordedBlock, type RecordedTurn } from '../lab/recording.ts'
import { seq, type Seq } from '../transcript/ids.ts'
import { withoutOwnText } from './own-text.ts'

/** What a person said, as far as the file tells: not what a program wrote in their place, and not what we said. */
export function personsText(recorded: RecordedBlock): string | null {
  const { block, kind } = recorded
  if (block.type !== 'text' || !('text' in block)) return null
  if (kind !== undefined && !isTypedWhileBusy(recorded)) return null
  const text = withoutOwnText(block.text).trim()
  return text === '' ? null : text
}

export function readingOf(turns: readonly RecordedTurn[]): Reading {
  const outcomes = outcomesIn(turns)
  const inputs: Said[] = []
  const answers: Answer[] = []
  const calls: Call[] = []
  const injected: Said[] = []
  for (const [index, { role, content }] of turns.entries()) {
    const at = seq(index)
    if (role === 'user') {
      for (const recorded of content) {
        const { block } = recorded
        if (block.type !== 'text' || !('text' in block)) continue
        const said = personsText(recorded)
        if (said === null) injected.push({ at, text: endsOf(block.text) })
        else inputs.push({ at, text: said })
      }
      continue
    }
    const after = calls.length
    calls.push(...callsIn(content, at, outcomes))
    const text = content.flatMap(({ block }) =>
      block.type === 'text' && 'text' in block ? [endsOf(block.text)] : [],
    )
    const made = calls.length - after
    if (text.length > 0) answers.push({ at, text: text.join('\n'), isFinal: made === 0, calls: made, after })
  }
  return { inputs, answers, calls, earlier: [], injected }
}

function callsIn(
  content: readonly RecordedBlock[],
  at: Seq,
  outcomes: ReadonlyMap<string, Outcome>,
): readonly Call[] {
  return content.flatMap(({ block }) =>
    block.type === 'tool_use' && 'input' in block
      ? [{ at, name: block.name, input: block.input, outcome: outcomes.get(block.id) ?? null }]
      : [],
  )
}

function outcomesIn(turns: readonly RecordedTurn[]): ReadonlyMap<string, Outcome> {
  const outcomes = new Map<string, Outcome>()
  for (const [index, { content }] of turns.entries())
    for (const { block } of content) {
      if (!isResult(block)) continue
      const text = block.content.flatMap((one) => (one.type === 'text' ? [one.text] : [])).join('\n')
      outcomes.set(block.tool_use_id, {
        at: seq(index),
        text: endsOf(text),
        lines: countLines(text),
        isError: block.is_error,
      })
    }
  return outcomes
}

/** Everything that turns show, as one text. */
export const shownIn = (turns: readonly RecordedTurn[]): string =>
  turns
    .flatMap(({ content }) =>
      content.map(({ block }) => {
        if (isResult(block))
          return block.content.map((one) => (one.type === 'text' ? one.text : '')).join('\n')
        if (block.type === 'text' && 'text' in block) return block.text
        return block.type === 'tool_use' && 'input' in block ? JSON.stringify(block.input) : ''
      }),
    )
    .join('\n')
