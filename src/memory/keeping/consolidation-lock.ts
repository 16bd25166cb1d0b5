// The lock of consolidation. Format: `.consolidation` in the folder of memories. Its time of change is when
// the last consolidation began; its body is empty, or while one runs who runs it and the time before:
//
//   {"host":"…","pid":7,"start":"12345","boot":"…","token":"…","earlier":1763200000000}
//
// It is only changed while the folder is locked for changes, which only one process can, so two takers never meet. Ended
// well, the body is emptied and the time stays; ended badly or killed, the earlier time comes back. An owner that is dead
// counts as ended badly at once; a body that cannot be read, and an owner that cannot be seen from here, after a while.
import { join } from 'node:path'
import { closing, attempt, type Result, type OpenFile } from '../../disk/fs.ts'
import { ownerState, type ProcessIdentity } from '../../disk/processes.ts'
import { removeIfThere } from '../../disk/replace.ts'
import { writeUnder } from '../../disk/under-root.ts'
import { objectIn } from '../../transcript/json.ts'
import { readBytes } from '../files.ts'
import { alone } from './alone.ts'
import { fileMode, type Keeper } from './keeper.ts'
import { defaults } from '../../settings/defaults.ts'

export const lockName = '.consolidation'

interface ConsolidationLock {
  readonly token: string
  readonly since: number
  /** When the one before began; 0 for none. */
  readonly earlier: number
}

interface Body extends ProcessIdentity {
  readonly token: string
  readonly earlier: number
}
type State =
  | { readonly kind: 'free'; readonly last: number }
  | { readonly kind: 'owned'; readonly body: Body; readonly modifiedMs: number }
  | { readonly kind: 'unreadable'; readonly modifiedMs: number }

/** When the last consolidation that counts began; 0 for never. Looks only. */
export async function lastConsolidation(keeper: Keeper): Promise<Result<{ at: number }>> {
  const found = await look(keeper)
  return found.ok ? { ok: true, at: timeOf(found.state) } : found
}

/** Null: somebody else is at it, and nothing was changed. */
export async function takeConsolidationLock(
  keeper: Keeper,
): Promise<Result<{ lock: ConsolidationLock | null }>> {
  return await alone(keeper, async () => {
    const found = await look(keeper)
    if (!found.ok) return found
    if (await isTaken(keeper, found.state)) return { ok: true, lock: null }
    const lock = { token: keeper.unique(), since: keeper.clock.now(), earlier: timeOf(found.state) }
    const body: Body = { ...(await keeper.processes.self()), token: lock.token, earlier: lock.earlier }
    const written = await writeUnder(
      keeper.fs,
      keeper.place.root,
      lockName,
      Buffer.from(JSON.stringify(body)),
      {
        mode: fileMode(keeper.place),
        unique: keeper.unique,
      },
    )
    if (!written.ok) return written
    const set = await change(keeper, (file) => file.setModified(lock.since))
    return set.ok ? { ok: true, lock } : set
  })
}

/** Gives it back if it is still ours. */
export async function releaseConsolidationLock(
  keeper: Keeper,
  lock: ConsolidationLock,
  how: 'done' | 'failed',
): Promise<Result<object>> {
  return await alone(keeper, async () => {
    const found = await look(keeper)
    if (!found.ok) return found
    const isMine = found.state.kind === 'owned' && found.state.body.token === lock.token
    if (!isMine) return { ok: true }
    const time = how === 'done' ? lock.since : lock.earlier
    if (time === 0)
      return await attempt(
        'giving the lock back',
        async () => void (await removeIfThere(keeper.fs, pathOf(keeper))),
      )
    return await change(keeper, async (file) => {
      await file.truncate(0)
      await file.setModified(time)
    })
  })
}

const pathOf = ({ place }: Keeper): string => join(place.root, lockName)

async function change(keeper: Keeper, work: (file: OpenFile) => Promise<void>): Promise<Result<object>> {
  return await attempt(`changing ${lockName}`, async () =>
    closing(await keeper.fs.open(pathOf(keeper), 'append'), async (file) => {
      await work(file)
      await file.sync()
    }),
  )
}

async function look(keeper: Keeper): Promise<Result<{ state: State }>> {
  const read = await readBytes(keeper.fs, keeper.place.root, lockName)
  if (!read.ok)
    return read.failure.code === 'not-found' ? { ok: true, state: { kind: 'free', last: 0 } } : read
  const { modifiedMs } = read.stat
  if (read.bytes.length === 0) return { ok: true, state: { kind: 'free', last: modifiedMs } }
  return { ok: true, state: stateIn(read.bytes.toString('utf8'), modifiedMs) }
}

function stateIn(text: string, modifiedMs: number): State {
  const body: Partial<Body> | null = objectIn(text)
  return typeof body?.host === 'string' &&
    Number.isSafeInteger(body.pid) &&
    typeof body.token === 'string' &&
    typeof body.earlier === 'number'
    ? { kind: 'owned', body: { start: null, boot: null, ...body } as Body, modifiedMs }
    : { kind: 'unreadable', modifiedMs }
}

/** What of a state counts as the last one: what an owner has begun does not until it has ended well. */
const timeOf = (state: State): number =>
  state.kind === 'free' ? state.last : state.kind === 'owned' ? state.body.earlier : 0

async function isTaken(keeper: Keeper, state: State): Promise<boolean> {
  if (state.kind === 'free') return false
  const isRecent = Math.abs(keeper.clock.now() - state.modifiedMs) <= defaults.consolidation.staleLockMs
  if (state.kind === 'unreadable') return isRecent
  const owner = await ownerState(keeper.processes, state.body)
  return owner === 'running' || (owner === 'elsewhere' && isRecent)
}
