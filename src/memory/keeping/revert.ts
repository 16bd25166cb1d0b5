// Versions of a memory: listed, shown, and brought back. Bringing one back is a new version with the origin of the old
// one: going back raises no trust (law M1).
import type { Result } from '../../disk/fs.ts'
import { readBytes } from '../files.ts'
import { put } from './put.ts'
import { keepIndex } from './index-keeping.ts'
import { alone } from './alone.ts'
import type { Keeper } from './keeper.ts'
import type { Held, Removed, Written } from './records.ts'
import { change } from './unfinished.ts'
import { keepVersion, readVersion } from './versions.ts'

export type Version = Written | Removed

/** A version by its number, held ones included. */
export function versionNumbered(keeper: Keeper, n: number): Version | Held | null {
  const found = keeper.ledger.records().find((record) => record.n === n)
  return found?.do === 'write' || found?.do === 'remove' || found?.do === 'hold' ? found : null
}

/** The text of a version; null where it removed the file. */
export async function textOf(
  keeper: Keeper,
  version: Version | Held,
): Promise<Result<{ text: string | null }>> {
  if (version.do === 'remove' || version.sha === null) return { ok: true, text: null }
  return await readVersion(keeper, version.sha)
}

/** The text that a version took the place of; null where there was none. */
export async function textBefore(
  keeper: Keeper,
  version: Version | Held,
): Promise<Result<{ text: string | null }>> {
  return version.before === null || version.before === ''
    ? { ok: true, text: null }
    : await readVersion(keeper, version.before)
}

/** Brings a version back; without a number the one before the newest. What stands there now is kept. */
export async function revert(
  keeper: Keeper,
  file: string,
  n?: number,
): Promise<Result<{ version: number; to: number | null }>> {
  return await alone(keeper, async () => {
    const { ledger, clock } = keeper
    const versions = ledger.versionsOf(file)
    const target = n === undefined ? versions.at(-2) : versions.find((version) => version.n === n)
    if (versions.length === 0) return missing(`there is no version of ${file}`)
    if (n !== undefined && target === undefined) return missing(`${file} has no version ${n}`)
    const now = await readBytes(keeper.fs, keeper.place.root, file)
    if (!now.ok && now.failure.code !== 'not-found') return now
    const before = now.ok
      ? await keepVersion(keeper, now.bytes.toString('utf8'))
      : { ok: true as const, sha: null }
    if (!before.ok) return before
    const isGone = target === undefined || target.do === 'remove'
    const text = isGone ? { ok: true as const, text: null } : await readVersion(keeper, target.sha)
    if (!text.ok) return text
    const at = clock.now()
    const last = versions.at(-1)!
    const done = await change(
      keeper,
      isGone
        ? { do: 'remove', at, file, before: before.sha ?? '', by: last.by, via: 'revert' }
        : {
            do: 'write',
            at,
            file,
            sha: target.sha,
            before: before.sha,
            head: target.head,
            by: target.by,
            via: 'revert',
          },
      () => put(keeper, file, text.text, now.ok ? now.stat.mark : null),
    )
    if (!done.ok) return { ok: false, failure: done.failure }
    const index = await keepIndex(keeper)
    return index.ok ? { ok: true, version: done.version, to: target?.n ?? null } : index
  })
}

const missing = (message: string) => ({ ok: false, failure: { code: 'not-found', message } }) as const
