// Restoration: what a compaction gives back beside its summary, and the read-file table it leaves.
// Gathered before the append, so that boundary and attachments are one change; what stands comes before files, and all of
// it stays below what the compaction had to reach.
import type { Plan } from '../../compaction/ladder.ts'
import { headWithin, sharesOf } from '../../compaction/restoring.ts'
import type { Room } from '../../projection/budget.ts'
import { pointOf } from '../../projection/dial.ts'
import { estimateBlocks, estimateText } from '../../projection/tokens.ts'
import { defaults } from '../../settings/defaults.ts'
import type { ReadFile } from '../../tools/tool.ts'
import { attachmentOf, type Entry, type FactOf } from '../../transcript/fact.ts'
import { closed } from '../../transcript/fence.ts'
import { agentsRestorer } from '../background/deliver.ts'
import type { Core, Slice } from '../core.ts'
import { attachmentRef } from './read-through.ts'
import { partlyVisibleFiles, restoreFiles, visibleFiles, type RestoredFile } from './files.ts'
import { readThrough } from './read-through.ts'
import { builtIn, type Restorer, type RestoreContext } from './restorer.ts'

export interface Restoration {
  readonly facts: readonly FactOf<'attachment'>[]
  readonly tokens: number
  /** For each fact the file it shows. */
  readonly files: readonly (RestoredFile | null)[]
  /** Files that the messages that stay still show, whole or in lines. */
  readonly visible: ReadonlySet<string>
}

export const nothingRestored: Restoration = { facts: [], tokens: 0, files: [], visible: new Set() }

export async function restoration(
  core: Core,
  made: Plan,
  room: Room,
  signal: AbortSignal,
): Promise<Restoration> {
  if (made.source === null) return nothingRestored
  const { restoration: options = {}, reminder, cwd } = core.options
  const view = core.view()
  // A provider may have counted more than we do; what is given back is counted as it would.
  const factor = view.factor * (made.tokensBefore / Math.max(1, view.tokens))
  const context = { session: core.session, kept: made.partsKept, gone: made.partsGone, signal }
  const most = made.tokensBefore * (1 - defaults.compaction.leastSavedShare)
  const below = room.threshold - defaults.compaction.gapShare * room.room
  const standing = await standingFacts(
    [agentsRestorer(core), ...builtIn, ...(options.restorers ?? [])],
    context,
    Math.min(below, most) - made.tokensAfter,
    factor,
  )
  const visible = visibleFiles(made.partsKept, made.edits, cwd)
  // The dial says what files may take where nobody else does.
  const filesTokens = options.filesTokens ?? pointOf(core.options.thrift).filesTokens
  const files = await restoreFiles({
    options: { ...options, filesTokens },
    source: options.source ?? readThrough(core),
    context,
    cwd,
    visible,
    reminded: typeof reminder === 'object' ? (reminder.filesIn?.(view.reminder) ?? null) : null,
    tokens: Math.min(room.target, most) - made.tokensAfter - costOf(standing, factor),
    factor,
  })
  const facts = [...standing, ...files.facts]
  const shown = [...standing.map(() => null), ...files.files]
  const partly = partlyVisibleFiles(made.partsGone, made.edits, cwd)
  return { facts, tokens: costOf(facts, factor), files: shown, visible: new Set([...visible, ...partly]) }
}

/** After the append: the table holds what is in sight or was read again, for the model has lost sight of the others. */
export function resetReadFiles(
  core: Slice<'readFiles'>,
  { files, visible }: Restoration,
  attached: readonly Entry[],
): void {
  const seen = core.readFiles.entries().filter(([path]) => visible.has(path))
  const again = files.flatMap((one, index): readonly (readonly [string, ReadFile])[] => {
    const entry = attached[index]
    if (one === null || entry === undefined) return []
    return [[one.path, { ...one.file, callId: one.isWhole ? attachmentRef(entry.seq) : '' }]]
  })
  core.readFiles.replace([...seen, ...again])
}

async function standingFacts(
  restorers: readonly Restorer[],
  context: RestoreContext,
  room: number,
  factor: number,
): Promise<readonly FactOf<'attachment'>[]> {
  const cost = (text: string): number => Math.ceil(factor * estimateText(text))
  const say = async (restorer: Restorer, tokens: number): Promise<string> =>
    (await restorer.restore(context, { tokens, cost })) ?? ''
  const most = ({ isWhole, tokens = defaults.restoration.standingTokens }: Restorer): number =>
    isWhole === true ? Math.max(0, room) : Math.min(tokens, Math.max(0, room))
  const said = await Promise.all(
    restorers.map(async (restorer) => ({ restorer, text: await say(restorer, most(restorer)) })),
  )
  const spoken = said.filter(({ text }) => text.trim() !== '')
  const sizes = (isWhole: boolean): readonly number[] =>
    spoken.map(({ restorer, text }) =>
      (restorer.isWhole === true) === isWhole ? Math.min(cost(text), most(restorer)) : 0,
    )
  const first = sharesOf(sizes(true), room)
  const rest = sharesOf(sizes(false), room - first.reduce((sum, tokens) => sum + tokens, 0))
  const facts = spoken.map(async ({ restorer, text }, index): Promise<readonly FactOf<'attachment'>[]> => {
    const share = first[index]! + rest[index]!
    const fitting = cost(text) <= share ? text : await say(restorer, share)
    const head = headWithin(fitting, share, cost)
    if (head.text === '') return []
    const cut = head.linesLeft === 0 ? '' : `\n[${head.linesLeft} more lines are left out to save room]`
    return [attachmentOf(restorer.name, closed(`${head.text}${cut}`), { restored: true })]
  })
  return (await Promise.all(facts)).flat()
}

function costOf(facts: readonly FactOf<'attachment'>[], factor: number): number {
  let estimate = 0
  for (const { content } of facts) estimate += estimateBlocks(content)
  return Math.round(factor * estimate)
}
