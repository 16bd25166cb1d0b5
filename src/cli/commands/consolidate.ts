// `pal consolidate`: memories put in order across sessions, now; shown first, or taken back whole.
import { join } from 'node:path'
import { createTwoFilesPatch } from 'diff'
import { lockName } from '../../memory/keeping/consolidation-lock.ts'
import { consolidate, type Consolidated } from '../../forks/memory/consolidation/consolidate.ts'
import { textOf } from '../../memory/keeping/revert.ts'
import type { Keeper } from '../../memory/keeping/keeper.ts'
import { undoSet } from '../../memory/keeping/change-sets.ts'
import { inMemoryStore } from '../../stores/index.ts'
import { exits, fail, refuse, type Exit } from '../exit-codes.ts'
import { withPreset } from '../headless.ts'
import { uniqueText } from '../workplace/workplace.ts'
import type { Io } from '../terminal/io.ts'
import { safeJson, safeLine, safeText } from '../terminal/safe-text.ts'
import { show, withMemories, type MemoryFlags } from './memory/open.ts'

export interface ConsolidateFlags extends MemoryFlags {
  readonly dryRun?: boolean | undefined
  readonly undo?: boolean | undefined
}

export function runConsolidate(io: Io, flags: ConsolidateFlags): Promise<Exit> {
  const scope = flags.scope ?? 'project'
  return flags.undo === true ? undo(io, { ...flags, scope }) : now(io, flags, scope)
}

function now(io: Io, flags: ConsolidateFlags, scope: string): Promise<Exit> {
  const { cwd } = flags
  const options = { isVerbose: false, continue: false, forkSession: false, settings: {}, cwd, offline: null }
  // Nobody goes on from it, so nothing of it lies among the sessions.
  return withPreset(io, options, { store: inMemoryStore() }, async ({ preset: { engine, memoryJobs } }) => {
    const keeper = memoryJobs.options.keepers.find(({ place }) => place.scope === scope)
    if (keeper === undefined) return fail(io, exits.usage, `there are no memories of scope ${scope} here`)
    const session = await engine.open()
    const job = memoryJobs.list.start('dream', session.id, Date.now())
    const stopListening = io.onInterrupt(() => job.stop())
    try {
      const isDry = flags.dryRun === true
      const dreamt = await consolidate(memoryJobs.options, keeper, session, job, { isDry, isAsked: true })
      return await report(io, keeper, dreamt, flags.json === true)
    } finally {
      stopListening()
      await session.close()
    }
  })
}

async function report(io: Io, keeper: Keeper, dreamt: Consolidated, json: boolean): Promise<Exit> {
  if (dreamt.kind === 'taken')
    return fail(
      io,
      exits.failed,
      `another process is consolidating these memories, says ${join(keeper.place.root, lockName)}; ` +
        'if that process runs on another machine, its lock expires an hour after it began',
    )
  if ('why' in dreamt)
    return fail(io, dreamt.kind === 'killed' ? exits.interrupted : exits.failed, dreamt.why)
  const { kind, set, report, dropped, read, changes } = dreamt
  const files = changes.map(({ file, text, by }) => ({ file, removed: text === null, trust: by.trust }))
  if (json) {
    io.out(`${safeJson({ kind, set, read, changes: files, report, dropped }, 2)}\n`)
    return exits.done
  }
  for (const line of report) io.out(`${safeLine(line)}\n`)
  if (kind === 'shown') {
    for (const change of changes) io.out(safeText(await patchOf(keeper, change), { reveal: true }))
    io.out('nothing was written; pal consolidate applies it\n')
  } else if (kind === 'nothing') io.out(`${read} memories need no changes\n`)
  else io.out(`${changes.length} memories were changed; pal consolidate --undo reverts all of it\n`)
  if (dropped.length > 0) io.out(`${dropped.length} memories have no room in the index\n`)
  return exits.done
}

async function patchOf(
  keeper: Keeper,
  { file, text }: { file: string; text: string | null },
): Promise<string> {
  const current = keeper.ledger.current(file)
  const before = current === null ? null : await textOf(keeper, current)
  return createTwoFilesPatch(file, file, before?.ok === true ? (before.text ?? '') : '', text ?? '')
}

const undo = (io: Io, flags: MemoryFlags): Promise<Exit> =>
  withMemories(io, flags, async (room) => {
    const undone = await undoSet(room.keepers[0]!, uniqueText())
    if (!undone.ok) return refuse(exits.failed, undone.failure.message)
    const files = undone.set.changes.map(({ file }) => file)
    return show(room, { undone: undone.set.undoes, files }, () =>
      safeLine(`reverted: ${files.join(', ')}`).concat('\n'),
    )
  })
