// What the default boundary of the dial keeps, at boundaries nobody made: of the texts that later edits replace and of the
// details that later calls use, both not shown again until then, and how many answers would have had to look something up.
// A quick look at what a choice of what to keep is worth; what it costs is the replay's to say.
import { plan, type PlanOptions } from '../../src/compaction/ladder.ts'
import { blockWords } from '../../src/projection/folding/render.ts'
import type { ViewBlock } from '../../src/projection/view.ts'
import { replacedBy } from '../../src/lab/measuring/needs.ts'
import { textOf, withoutLineNumbers } from '../../src/lab/measuring/texts.ts'
import type { RecordedTurn, Recording } from '../../src/lab/recording.ts'
import { added } from '../../src/lab/stats/gains.ts'
import { wantedAt } from '../../src/lab/compactions/details.ts'
import { judgedBy } from '../../src/lab/compactions/judge.ts'
import { simulatedMoments, type CompactionMoment } from '../../src/lab/compactions/moments.ts'
import { foldOf, roomFor, withEdits } from '../../src/lab/compactions/ours.ts'

/** Boundaries that are simulated in a session, turns until the next would come, and the least view. */
const [perSession, futureTurns, leastTokens] = [4, 120, 45_000]

/** Sums, so that sessions add up. */
export const nothingAtDial = {
  boundaries: 0,
  tokens: 0,
  edits: 0,
  ready: 0,
  details: 0,
  company: 0,
  answers: 0,
  rounds: 0,
}
export type AtDial = Readonly<typeof nothingAtDial>

/** All boundaries of a recording at which there is enough to put away. */
export function atDial(recording: Recording, options: Partial<PlanOptions> = {}): AtDial {
  return simulatedMoments(recording, perSession)
    .map((moment) => keptAt({ ...moment, after: moment.after.slice(0, futureTurns) }, options))
    .reduce<AtDial>(added, nothingAtDial)
}

function keptAt(moment: CompactionMoment, options: Partial<PlanOptions>): AtDial {
  const fold = foldOf(moment.before)
  const room = roomFor(fold)
  if (fold.view().tokens < leastTokens || !room.ok) return nothingAtDial
  const made = plan(fold, room.room, { trigger: 'auto', ...options })
  if (!made.ok) return nothingAtDial
  const parts = [...withEdits(fold, made.plan.edits).parts()]
  const texts = parts.flatMap(({ blocks }) => blocks.map(plainOf))
  const before = plainText(moment.before.turns)
  const quotes = quotesIn(moment.after).filter(({ text }) => before.includes(text))
  const judged = judgedBy(texts.join('\n\n'), wantedAt(moment).details)
  const missed = quotes.filter(({ text }) => !texts.some((kept) => kept.includes(text)))
  const forgotten = judged.filter(({ company }) => !company)
  return {
    boundaries: 1,
    tokens: parts.reduce((sum, { estimate }) => sum + estimate, 0),
    edits: quotes.length,
    ready: quotes.length - missed.length,
    details: judged.length,
    company: judged.length - forgotten.length,
    answers: moment.after.filter(({ role }) => role === 'assistant').length,
    rounds: new Set([...missed.map(({ turn }) => turn), ...forgotten.map(({ detail }) => detail.turn)]).size,
  }
}

const plainOf = (block: ViewBlock): string =>
  withoutLineNumbers(
    block.type === 'tool_use' && 'input' in block
      ? textOf({ type: 'tool_use', name: block.name, input: block.input })
      : blockWords(block),
  )

const plainText = (turns: readonly RecordedTurn[]): string =>
  withoutLineNumbers(
    turns.flatMap(({ content }) => content.map(({ block }) => textOf({ ...block }))).join('\n\n'),
  )

export interface Quote {
  readonly text: string
  /** The place of the edit among the turns that follow. */
  readonly turn: number
}

/** Texts that later edits replace, where nothing showed them in between. */
export function quotesIn(after: readonly RecordedTurn[]): readonly Quote[] {
  const quotes: Quote[] = []
  let shown = ''
  for (const [turn, recorded] of after.entries()) {
    if (recorded.role === 'assistant')
      for (const { block } of recorded.content)
        if (block.type === 'tool_use' && 'input' in block)
          for (const text of replacedBy(block.input)) if (!shown.includes(text)) quotes.push({ text, turn })
    shown += `${plainText([recorded])}\n`
  }
  return quotes
}
