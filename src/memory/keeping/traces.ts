// What beside file, versions, ledger and index holds words of memories: change sets that were made, what a consolidation
// noted of the project, files that a writer that died had begun, and what recall keeps. When something is forgotten all of it
// is looked through; the caller is alone.
import { dirname, join } from 'node:path'
import { attempt, unlessMissing, type Result } from '../../disk/fs.ts'
import { isTemporaryName, removeIfThere, replaceFile } from '../../disk/replace.ts'
import { readSmall } from '../../disk/small-file.ts'
import { defaults } from '../../settings/defaults.ts'
import { objectIn } from '../../transcript/json.ts'
import { filesBelow } from '../files.ts'
import { storedIndexFile, storedVectorsFile } from '../recall/stored-index.ts'
import { withoutWords } from './change-sets.ts'
import { claimsFile, clearLeftovers, versionText, type Keeper } from './keeper.ts'
import type { LedgerRecord } from './records.ts'

/** `files`: of which something is forgotten. `kept`: the records that stay. */
export async function removeTraces(
  keeper: Keeper,
  files: ReadonlySet<string>,
  kept: readonly LedgerRecord[],
): Promise<Result<object>> {
  const steps = [
    () => withoutWords(keeper, files),
    () => removeBegun(keeper, files),
    () => removeClaims(keeper, kept),
    () => removeRecallIndex(keeper),
  ]
  for (const step of steps) {
    const done = await step()
    if (!done.ok) return done
  }
  return { ok: true }
}

/** The index of recall holds words of what is gone. */
export const removeRecallIndex = ({ fs, place }: Keeper): Promise<Result<object>> =>
  attempt('removing the index of recall', async () => {
    for (const fileIn of [storedIndexFile, storedVectorsFile])
      await unlessMissing(fs.unlink(fileIn(place.state)))
    return {}
  })

/** What a writer that died had begun, under its first name. A writer that lives waits for us. */
async function removeBegun(keeper: Keeper, files: ReadonlySet<string>): Promise<Result<object>> {
  const { fs, place } = keeper
  const walked = await attempt('looking for what a dead process left', async () => {
    const there = await filesBelow(fs, place.root)
    return {
      folders: new Set([
        '.',
        ...[...files, ...there.files.map(({ file }) => file)].map((file) => dirname(file)),
      ]),
    }
  })
  if (!walked.ok) return walked
  const cleared = await clearLeftovers(keeper, walked.folders)
  if (!cleared.ok) return cleared
  return await attempt('clearing up what a dead process left', async () => {
    for (const name of (await unlessMissing(fs.names(place.state))) ?? [])
      if (isTemporaryName(name)) await removeIfThere(fs, join(place.state, name))
  })
}

/** What a consolidation has seen in the project stays where a memory that stands speaks of it. */
async function removeClaims(keeper: Keeper, kept: readonly LedgerRecord[]): Promise<Result<object>> {
  const { fs, unique } = keeper
  const path = claimsFile(keeper)
  const read = await readSmall(fs, path, defaults.consolidation.claimsBytes)
  if (!read.ok) return read.failure.code === 'not-found' ? { ok: true } : read
  const value = objectIn(read.bytes.toString('utf8'))
  const seen = Object.entries((value?.['seen'] ?? {}) as Readonly<Record<string, unknown>>)
  const newest = new Map<string, string | null>()
  for (const record of kept)
    if (record.do === 'write' || record.do === 'remove')
      newest.set(record.file, record.do === 'write' ? record.sha : null)
  const texts: string[] = []
  for (const sha of newest.values()) {
    const version = await versionText(keeper, sha)
    if (version.ok && version.text !== null) texts.push(version.text.toLowerCase())
  }
  const left = seen.filter(([key]) => texts.some((text) => wordsOf(key).every((word) => text.includes(word))))
  if (value !== null && left.length === seen.length) return { ok: true }
  const bytes = Buffer.from(`${JSON.stringify({ ...value, seen: Object.fromEntries(left) })}\n`)
  return await replaceFile(fs, path, bytes, { mode: defaults.memory.fileMode, unique })
}

/** `kind:` and then the words of the memory, as `in:path#name` and `value:word,word=value` have them. */
const wordsOf = (key: string): readonly string[] =>
  key
    .slice(key.indexOf(':') + 1)
    .toLowerCase()
    .split(/[#,=]/u)
