// Versions of a memory: listed, shown, and brought back. Bringing one back is a new version with the origin of the old
// one: going back raises no trust (law M1).
import type { Result } from '../../disk/fs.ts'
import { refused } from '../../disk/failure.ts'
import { fileNow, keepVersion, put, versionText, type Keeper } from './keeper.ts'
import { keepIndex } from './index-keeping.ts'
import { alone, change } from './alone.ts'
import { changeRecord, type Held, type Removed, type Written } from './records.ts'

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
  return await versionText(keeper, version.do === 'remove' ? null : version.sha)
}

/** The text that a version took the place of; null where there was none. */
export async function textBefore(
  keeper: Keeper,
  version: Version | Held,
): Promise<Result<{ text: string | null }>> {
  return await versionText(keeper, version.before === '' ? null : version.before)
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
    const now = await fileNow(keeper, file)
    if (!now.ok) return now
    const before = await keepVersion(keeper, now.bytes)
    if (!before.ok) return before
    const back = target?.do === 'write' ? target : null
    const text = await versionText(keeper, back?.sha ?? null)
    if (!text.ok) return text
    const { by } = back ?? versions.at(-1)!
    const record = changeRecord(
      { at: clock.now(), file, before: before.sha, by, via: 'revert' },
      back?.sha ?? null,
      back?.head ?? null,
    )
    const done = await change(keeper, record, () => put(keeper, file, text.text, now.mark))
    if (!done.ok) return { ok: false, failure: done.failure }
    const index = await keepIndex(keeper)
    return index.ok ? { ok: true, version: done.version, to: target?.n ?? null } : index
  })
}

const missing = (message: string) => refused('not-found', message)
