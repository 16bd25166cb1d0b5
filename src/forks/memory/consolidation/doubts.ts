// Which memories no longer hold, as far as the project itself can show it. What a memory names and the project had, after the
// memory was written, and has no longer makes it doubtful, with the day and the reason; it is said with its doubt and not
// removed, since people decide. What holds again is doubted no more.
//
// Format. `claims.json` beside the ledger: {"v":1,"seen":{"path:src/a.ts":1794700000000}}, when each claim last held. A file
// that is gone or cannot be read costs doubts that would have been, never a false one.
import { localDay } from '../../../memory/format/day.ts'
import { replaceFile } from '../../../disk/replace.ts'
import type { Result } from '../../../disk/failure.ts'
import { claimsFile, type Keeper } from '../../../memory/keeping/keeper.ts'
import { readSmall } from '../../../disk/small-file.ts'
import { defaults } from '../../../settings/defaults.ts'
import { claimsIn, keyOf, lossOf, lookAt, type Claim, type Looked } from './project-look.ts'
import type { Snapshot } from './snapshot.ts'

/** By file: the doubt it is to bear, or null for none. Files that are left out stay as they are. */
export type Doubts = ReadonlyMap<string, string | null>

/** Looks at the project, notes what holds, and says what no longer does. */
export async function doubtsAbout(
  keeper: Keeper,
  root: string,
  world: Snapshot,
): Promise<Result<{ doubts: Doubts; note: () => Promise<Result<object>> }>> {
  const claims = new Map<string, readonly Claim[]>()
  for (const [file, { text }] of world.memories) {
    const own = claimsIn(text)
    if (own.length > 0) claims.set(file, own)
  }
  const nothing = () => Promise.resolve({ ok: true as const })
  if (claims.size === 0) return { ok: true, doubts: new Map(), note: nothing }
  const seen = await readSeen(keeper)
  if (!seen.ok) return seen
  const all = [...claims.values()].flat()
  const looked = await lookAt(keeper.fs, root, all)
  const now = keeper.clock.now()
  const doubts = new Map<string, string | null>()
  for (const [file, own] of claims) {
    const known = world.memories.get(file)!
    const doubt = doubtOf(own, looked, seen.seen, known.by.at, known.memory.doubtful ?? null, now)
    if (doubt !== undefined) doubts.set(file, doubt)
  }
  const next: Record<string, number> = {}
  for (const key of all.map(keyOf)) {
    const at = looked.confirmed.has(key) ? now : seen.seen[key]
    if (at !== undefined) next[key] = at
  }
  return { ok: true, doubts, note: () => writeSeen(keeper, next) }
}

/** Undefined where nothing is to be changed. */
function doubtOf(
  claims: readonly Claim[],
  { confirmed, isWhole }: Looked,
  seen: Readonly<Record<string, number>>,
  writtenAt: number,
  doubt: string | null,
  now: number,
): string | null | undefined {
  // Where not everything was read, only what is looked up by itself is known to be gone.
  const isSure = ({ kind }: Claim): boolean =>
    isWhole || kind === 'path' || kind === 'script' || kind === 'package'
  const gone = claims.filter((claim) => !confirmed.has(keyOf(claim)) && seen[keyOf(claim)] !== undefined)
  if (doubt !== null) return gone.length === 0 ? null : undefined
  const lost = gone.find((claim) => isSure(claim) && (seen[keyOf(claim)] ?? 0) >= writtenAt)
  return lost === undefined ? undefined : `since ${localDay(now)}: ${lossOf(lost)}`
}

async function readSeen(keeper: Keeper): Promise<Result<{ seen: Readonly<Record<string, number>> }>> {
  const read = await readSmall(keeper.fs, claimsFile(keeper), defaults.consolidation.claimsBytes)
  if (!read.ok) return read.failure.code === 'not-found' ? { ok: true, seen: {} } : read
  try {
    const value = JSON.parse(read.bytes.toString('utf8')) as {
      readonly seen?: Record<string, unknown>
    } | null
    const entries = Object.entries(value?.seen ?? {}).filter(([, at]) => typeof at === 'number')
    return { ok: true, seen: Object.fromEntries(entries) as Record<string, number> }
  } catch (error) {
    if (error instanceof SyntaxError) return { ok: true, seen: {} }
    throw error
  }
}

const writeSeen = (keeper: Keeper, seen: Readonly<Record<string, number>>): Promise<Result<object>> =>
  replaceFile(keeper.fs, claimsFile(keeper), Buffer.from(`${JSON.stringify({ v: 1, seen })}\n`), {
    mode: defaults.memory.fileMode,
    unique: keeper.unique,
  })
