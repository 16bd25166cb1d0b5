// The end of a transcript, looked at when somebody becomes its writer. A torn end, as a crash in the middle of a write
// leaves it, is copied to `damage/`, then cut off, so that the next entry begins on a line of its own (law T1). What is
// whole in a torn line is kept. Damage before the end is only reported. Only the end is read, however long the file.
import { closing, readAt, unlessMissing, writeAll, type OpenFile } from '../../disk/fs.ts'
import { blocksOf, replaceIn } from '../../disk/replace.ts'
import { folderUnder } from '../../disk/under-root.ts'
import { defaults } from '../../settings/defaults.ts'
import { after, seq, type Seq } from '../../transcript/ids.ts'
import type { Damage, Failure } from '../../transcript/store.ts'
import { lineFeed } from './line-frame.ts'
import { damageAt } from './line-order.ts'
import { damageFolder, fileMode, folderMode, transcriptName, type Layout } from './layout.ts'
import { linesBack } from './line-split.ts'
import type { Machine } from './machine.ts'
import { lineOptions } from './line-reading.ts'
import { piecesOf, type Piece } from './line-split.ts'

export interface Tail {
  readonly next: Seq | null
  /** Where the next entry begins. */
  readonly end: number
  readonly damage: readonly Damage[]
}
export type TailOutcome = ({ readonly ok: true } & Tail) | { readonly ok: false; readonly failure: Failure }

export async function openTail(file: OpenFile, layout: Layout, machine: Machine): Promise<TailOutcome> {
  const bytes = (await file.stat()).bytes
  const isWhole = bytes === 0 || (await readAt(file, bytes - 1, 1))[0] === lineFeed
  const repaired = isWhole ? null : await repair(file, bytes, layout, machine)
  if (repaired !== null && !repaired.ok) return repaired
  const end = (await file.stat()).bytes
  const { next, damage } = await lastPlace(file, end)
  return { ok: true, next, end, damage: repaired === null ? damage : [...damage, repaired.damage] }
}

type Repaired =
  | { readonly ok: true; readonly damage: Damage }
  | { readonly ok: false; readonly failure: Failure }

async function repair(file: OpenFile, bytes: number, layout: Layout, machine: Machine): Promise<Repaired> {
  const { keep, endsInEntry } = await wholePart(file, bytes)
  const torn = bytes - keep
  const place = { file: transcriptName, line: 0, offset: keep }
  let done = 'the missing line end was added'
  if (torn > 0) {
    const kept = await keepTorn(file, keep, bytes, layout, machine)
    if (!kept.ok) return kept
    await file.truncate(keep)
    done = `cut off, the bytes are kept in ${kept.name}`
  }
  if (endsInEntry) await writeAll(file, Buffer.from([lineFeed]))
  await file.datasync()
  return { ok: true, damage: damageAt(place, 'the last line was cut short', done) }
}

/** How far the last, unended line can be kept, and whether an entry ends there. */
async function wholePart(file: OpenFile, bytes: number): Promise<{ keep: number; endsInEntry: boolean }> {
  for await (const [line] of linesBack(file, bytes, lineOptions)) {
    if (line === undefined) continue
    const pieces = line.bytes === null ? [] : piecesOf(line.bytes)
    const last = pieces.findLast((piece) => piece.kind === 'entry')
    if (last === undefined) return { keep: line.at, endsInEntry: false }
    return { keep: line.at + last.at + last.bytes, endsInEntry: true }
  }
  return { keep: 0, endsInEntry: false }
}

async function keepTorn(
  file: OpenFile,
  from: number,
  to: number,
  layout: Layout,
  machine: Machine,
): Promise<{ ok: true; name: string } | { ok: false; failure: Failure }> {
  const opened = await folderUnder(machine.fs, layout.folder, damageFolder, folderMode)
  if (!opened.ok) return opened
  const name = `torn-at-${from}-${machine.unique()}`
  const parts = blocksOf(file, defaults.store.blockBytes, from, to)
  const options = { mode: fileMode, unique: machine.unique }
  await closing(opened.folder, (folder) => replaceIn(machine.fs, folder, name, parts, options))
  return { ok: true, name: `${damageFolder}/${name}` }
}

/**
 * The next free place, and the damage after the last entry. A few entries more are looked at, because two writers of
 * the past may have left a lower place behind a higher one.
 */
async function lastPlace(
  file: OpenFile,
  end: number,
): Promise<{ next: Seq | null; damage: readonly Damage[] }> {
  const damage: Damage[] = []
  const checked: number[] = []
  const unchecked: number[] = []
  for await (const lines of linesBack(file, end, lineOptions)) {
    for (const line of lines) {
      const pieces = line.bytes === null ? [tooLong(line.length)] : piecesOf(line.bytes)
      for (const piece of [...pieces].reverse()) {
        if (piece.kind === 'entry') (piece.checked ? checked : unchecked).push(piece.entry.seq)
        else if (checked.length + unchecked.length === 0) damage.push(skipped(line.at + piece.at, piece.why))
      }
    }
    if (checked.length + unchecked.length > 0)
      return { next: after(seq(highestOf(checked, unchecked))), damage: damage.reverse() }
  }
  return { next: null, damage: damage.reverse() }
}

/** Nobody vouches for the place of a line without checksum: one that lies far from all others does not count. */
function highestOf(checked: readonly number[], unchecked: readonly number[]): number {
  const rising = unchecked.toSorted((a, b) => a - b)
  const base = checked.length === 0 ? rising[0]! : Math.max(...checked)
  return rising.reduce(
    (highest, place) => (place <= highest + defaults.store.uncheckedGap ? Math.max(highest, place) : highest),
    base,
  )
}

const tooLong = (bytes: number): Piece => ({
  kind: 'bad',
  why: 'a line longer than any that is written',
  at: 0,
  bytes,
})
const skipped = (offset: number, what: string): Damage =>
  damageAt({ file: transcriptName, line: 0, offset }, what, 'skipped, the bytes stay where they are')

/** Opens the transcript for its writer; null when there is none yet. */
export const openTranscript = (machine: Machine, layout: Layout): Promise<OpenFile | null> =>
  unlessMissing(machine.fs.open(layout.transcript, 'append'))
