// `pal edits N --why`: which lines and pieces a compaction kept and which it left, each with its score and what speaks for it.
import {
  explainBoundary,
  type Explained,
  type ExplainedLine,
  type ExplainedPiece,
} from '../../compaction/explained.ts'
import { Fold } from '../../projection/fold.ts'
import { isEditing, isKnown, type StoredEntry, type SummaryEdit } from '../../transcript/fact.ts'
import type { SessionId } from '../../transcript/ids.ts'
import { lineageOf, readLine } from '../../transcript/lineage.ts'
import type { Store } from '../../transcript/store.ts'
import { print, complain, exits, fail, refuse, type Exit, type Refusal } from '../exit-codes.ts'
import { showSession } from '../session-lookup.ts'
import type { Io } from '../terminal/io.ts'
import { safeLine } from '../terminal/safe-text.ts'
import { prose, table, right, wraps, left } from '../terminal/tables.ts'
import type { ProjectFlags } from '../workplace/workplace.ts'

export function editsWhy(
  io: Io,
  number: string | undefined,
  session: string | undefined,
  flags: ProjectFlags,
): Promise<Exit> | Exit {
  const place = /^#?(\d+)$/.exec(number ?? '')?.[1]
  if (place === undefined)
    return fail(
      io,
      exits.usage,
      '--why needs the number of a compaction: pal edits N --why; pal edits lists them',
    )
  return showSession(io, session, flags, async (workplace, store, id, json) => {
    const found = await explainedAt(store, id, Number(place))
    if ('exit' in found) return complain(workplace.io, found)
    const { columns } = workplace.io
    return print(workplace.io, json, { session: id, edit: Number(place), ...found }, () =>
      prose(asText(found, columns), columns),
    )
  })
}

async function explainedAt(store: Store, session: SessionId, place: number): Promise<Explained | Refusal> {
  const line = await lineageOf(store, session)
  if (!line.ok) return refuse(exits.failed, line.failure.message)
  const fold = new Fold()
  for await (const item of readLine(store, line.links, {})) {
    if (item.kind === 'failed') return refuse(exits.failed, item.failure.message)
    if (item.kind !== 'entry') continue
    if (item.entry.seq === place) {
      const edit = summaryIn(item.entry)
      return edit === null
        ? refuse(exits.usage, `#${place} is no compaction; pal edits lists what was removed`)
        : explainBoundary(fold, edit)
    }
    fold.push(item.entry)
  }
  return refuse(exits.usage, `session ${session} has no #${place}; pal edits lists what was removed`)
}

/** Of several the last has the lines. */
function summaryIn(entry: StoredEntry): SummaryEdit | null {
  if (!isKnown(entry) || !isEditing(entry.fact)) return null
  return entry.fact.edits.findLast((edit) => edit.kind === 'summary') ?? null
}

function asText({ kept, left, pieces, weights }: Explained, room: number): string {
  const groups = [
    kept.length === 0
      ? 'No single lines were kept by their score at this compaction: it was made without them, or nothing was worth a line.\n'
      : `Lines kept (${kept.length})\n${listOf(kept, room)}`,
    left.length === 0 ? '' : `Lines left, what would have come next\n${listOf(left, room)}`,
    pieces.kept.length === 0
      ? 'No pieces of older messages were kept by their score at this compaction.\n'
      : `Pieces kept (${pieces.kept.length})\n${piecesOf(pieces.kept, room)}`,
    pieces.left.length === 0 ? '' : `Pieces left, what would have come next\n${piecesOf(pieces.left, room)}`,
  ]
  return `${groups.filter((group) => group !== '').join('\n')}
Needed: how likely a later call uses the name before it is seen again. Helps: how likely the line then says what the use is about.
Quoted: how likely an edit replaces text of the piece before it is shown again. Names: how many names in it later calls are likely to use.
Worth: what it adds for a thousand tokens. Weights: ${weights}.
`
}

const percent = (share: number): string => `${(100 * share).toFixed(0)}%`

function listOf(lines: readonly ExplainedLine[], room: number): string {
  return table(
    [
      right('worth'),
      right('needed'),
      right('helps'),
      'name',
      wraps('line'),
      left('in', 2),
      wraps('because', 1),
    ],
    lines.map(({ worth, need, help, name, line, subject, at, because }) => [
      worth.toFixed(1),
      percent(need),
      percent(help),
      safeLine(name),
      safeLine(line),
      safeLine(`${subject} [${at}]`),
      reasonsOf(because),
    ]),
    room,
  )
}

const reasonsOf = (because: ExplainedLine['because']): string =>
  because
    .map(({ feature, weighs }) => `${feature} ${weighs < 0 ? '−' : '+'}${Math.abs(weighs).toFixed(1)}`)
    .join(', ')

function piecesOf(pieces: readonly ExplainedPiece[], room: number): string {
  return table(
    [
      right('worth'),
      right('quoted'),
      right('names'),
      right('tokens'),
      wraps('begins'),
      wraps('in'),
      wraps('because', 1),
    ],
    pieces.map(({ worth, quoted, names, tokens, begins, subject, at, lines: [first, last], because }) => [
      worth.toFixed(1),
      percent(quoted),
      names.toFixed(1),
      String(tokens),
      safeLine(begins),
      safeLine(`${subject} [${at}], lines ${first}–${last}`),
      reasonsOf(because),
    ]),
    room,
  )
}
