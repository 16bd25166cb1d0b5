// Asking the process that has a session open: a wish is a file in a folder of the user, its answer another beside it. The holder
// acts through its own session, so its screen, its view and its lock stay its own.
import { objectIn } from '../transcript/json.ts'
import { join } from 'node:path'
import { errorText } from '../disk/failure.ts'
import { EngineError, type Session } from '../engine/session.ts'
import { attempt, makeFolders, systemCode, type FileSystem } from '../disk/fs.ts'
import { replaceFile } from '../disk/replace.ts'
import { safeName } from '../disk/safe-name.ts'
import { defaults } from '../settings/defaults.ts'
import { seq } from '../transcript/ids.ts'
import type { Effect, EffectKind } from './inspection.ts'
import type { EffectWish } from './protocol.ts'
import { readSmall } from '../disk/small-file.ts'

export interface WishPorts {
  readonly fs: FileSystem
  /** Of the user: `wishes` beside the sessions. */
  readonly folder: string
  readonly unique: () => string
}

const answerEnd = '.answer.json'
const wishEnd = '.wish.json'
const pollMs = 100

const folderOf = ({ folder }: WishPorts, session: string): string => join(folder, safeName(session))

/** Puts a wish to whoever holds the session and waits for the answer. Nobody answering is a failure, and leaves no wish behind. */
export async function postWish(
  ports: WishPorts,
  session: string,
  kind: EffectKind,
  wish: EffectWish,
): Promise<Effect> {
  const { fs, unique } = ports
  const folder = folderOf(ports, session)
  const id = unique()
  const [asked, answered] = [join(folder, `${id}${wishEnd}`), join(folder, `${id}${answerEnd}`)]
  const made = await attempt(`asking in ${folder}`, async () => ({
    done: await makeFolders(fs, folder, 0o700),
  }))
  if (!made.ok) return { ok: false, why: 'failed', message: made.failure.message }
  const bytes = Buffer.from(JSON.stringify({ kind, ...wish }))
  const put = await replaceFile(fs, asked, bytes, { mode: 0o600, unique })
  if (!put.ok) return { ok: false, why: 'failed', message: put.failure.message }
  const answer = async (): Promise<Effect | null> => {
    const found = await readJson(fs, answered)
    if (found !== null) await removed(fs, answered)
    return found === null ? null : effectIn(found)
  }
  const until = Date.now() + defaults.inspector.wishMs
  while (Date.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, pollMs))
    const effect = await answer()
    if (effect !== null) return effect
  }
  await removed(fs, asked)
  // It may have been answered in this very moment.
  return (await answer()) ?? { ok: false, why: 'failed', message: unanswered }
}
const unanswered =
  'the process that has this session open does not answer; nothing was changed. Ask again, or do it there'

/** Carries out what is wished of an open session, until it is told to stop. `heard` is called with what was done. */
export function serveWishes(
  ports: WishPorts,
  session: () => Session | null,
  heard?: (kind: EffectKind, target: number, effect: Effect) => void,
): () => void {
  let isBusy = false
  const look = async (): Promise<void> => {
    const open = session()
    if (isBusy || open === null) return
    isBusy = true
    try {
      await serveAll(ports, open, heard)
    } finally {
      isBusy = false
    }
  }
  const timer = setInterval(() => void look(), pollMs)
  timer.unref()
  return () => clearInterval(timer)
}

async function serveAll(
  ports: WishPorts,
  session: Session,
  heard?: (kind: EffectKind, target: number, effect: Effect) => void,
): Promise<void> {
  const { fs, unique } = ports
  const folder = folderOf(ports, session.id)
  const names = await fs.names(folder).catch((error: unknown) => {
    if (systemCode(error) === null) throw error
    return []
  })
  for (const name of names.filter((one) => one.endsWith(wishEnd)).toSorted()) {
    const path = join(folder, name)
    const wish = await readJson(fs, path)
    // Whoever takes the file away acts: one that has gone was given up, and one that stays would be carried out again and again.
    if (!(await removed(fs, path))) continue
    const { kind, target, block } = wish ?? {}
    if (!isKind(kind) || typeof target !== 'number') continue
    const effect = await carryOut(session, kind, { target, ...(typeof block === 'number' ? { block } : {}) })
    heard?.(kind, target, effect)
    const answer = path.slice(0, -wishEnd.length) + answerEnd
    await replaceFile(fs, answer, Buffer.from(JSON.stringify(effect)), { mode: 0o600, unique })
  }
}

/** Through the engine's own verbs, whoever holds the session. */
export async function carryOut(
  session: Session,
  kind: EffectKind,
  { target, block }: Pick<EffectWish, 'target' | 'block'>,
): Promise<Effect> {
  try {
    const entry =
      kind === 'undo'
        ? await session.undo(target)
        : kind === 'release'
          ? await session.release(target)
          : await session.pin({ seq: seq(target), ...(block === undefined ? {} : { block }) })
    return { ok: true, seq: entry.seq }
  } catch (error) {
    if (error instanceof EngineError) return { ok: false, why: 'refused', message: error.message }
    // A wish comes from outside: whatever it brings about must not end the process that holds the session.
    return { ok: false, why: 'failed', message: errorText(error) }
  }
}

export const isKind = (value: unknown): value is EffectKind =>
  value === 'undo' || value === 'release' || value === 'pin'

function effectIn(value: Readonly<Record<string, unknown>>): Effect {
  const { ok, seq: place, message } = value
  if (ok === true) return { ok: true, seq: typeof place === 'number' ? place : null }
  return { ok: false, why: 'refused', message: typeof message === 'string' ? message : 'refused' }
}

const mostBytes = 65_536

async function readJson(fs: FileSystem, path: string): Promise<Readonly<Record<string, unknown>> | null> {
  const read = await readSmall(fs, path, mostBytes)
  return read.ok ? objectIn(read.bytes.toString('utf8')) : null
}

async function removed(fs: FileSystem, path: string): Promise<boolean> {
  const gone = await attempt(`removing ${path}`, async () => ({ done: await fs.unlink(path) }))
  return gone.ok
}
