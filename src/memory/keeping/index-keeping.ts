// Keeps `MEMORY.md` in step with the ledger. Which bytes are ours is written down before they are put in place, the old
// ones beside the new, so that an index that somebody else changed is known as such and is not shown to the model; it is
// kept as a version and made again.
import { objectIn } from '../../transcript/json.ts'
import { join } from 'node:path'
import { attempt, type Result } from '../../disk/fs.ts'
import { replaceFile } from '../../disk/replace.ts'
import { readUnder, writeUnder } from '../../disk/under-root.ts'
import { defaults } from '../../settings/defaults.ts'
import { listMemories, shaOf } from '../files.ts'
import { localDay } from '../format/day.ts'
import { indexOf, type Index } from '../format/index-file.ts'
import { indexName, isOpen, isRule } from '../memory.ts'
import { readSmall } from '../../disk/small-file.ts'
import { alone } from './alone.ts'
import { fileMode, fileNow, keepVersion, put, type Keeper } from './keeper.ts'
import type { Written } from './records.ts'

const knownFile = (keeper: Keeper): string => join(keeper.place.state, 'index.json')

/** What the ledger says the index is. */
function derivedIndex(keeper: Keeper): Index {
  // Everything an agent learns comes from what it read. It is told its own facts again, as data; rules only once accepted.
  const isListed = ({ by, head }: Written): boolean =>
    isOpen(by.trust, head) || (keeper.place.scope === 'agent' && !isRule(head))
  const entries = keeper.ledger.standing().filter(isListed)
  return indexOf(entries, localDay(keeper.clock.now()))
}

/** Puts the index in place. The caller is alone and the ledger is fresh. A team's index is made when it is read. */
export async function keepIndex(keeper: Keeper): Promise<Result<{ dropped: readonly string[] }>> {
  const index = derivedIndex(keeper)
  if (keeper.place.scope === 'team') return { ok: true, dropped: index.dropped }
  const { fs, place, unique } = keeper
  const now = await fileNow(keeper, indexName)
  if (!now.ok) return now
  const sha = shaOf(index.text)
  const { sha: old } = now
  if (old === sha) return { ok: true, dropped: index.dropped }
  const known = await knownShas(keeper)
  if (old !== null && !known.includes(old)) {
    const kept = await keepVersion(keeper, now.bytes)
    if (!kept.ok) return kept
  }
  const noted = await replaceFile(fs, knownFile(keeper), Buffer.from(JSON.stringify({ known: [sha, old] })), {
    mode: defaults.memory.fileMode,
    unique,
  })
  if (!noted.ok) return noted
  const written = await writeUnder(fs, place.root, indexName, Buffer.from(index.text), {
    mode: fileMode(place),
    unique,
  })
  return written.ok ? { ok: true, dropped: index.dropped } : written
}

/** Takes our index away: whoever reads it next makes it again from the ledger. */
export async function dropIndex(keeper: Keeper): Promise<Result<object>> {
  const now = await fileNow(keeper, indexName)
  if (!now.ok) return now
  const isOurs = now.sha !== null && (await knownShas(keeper)).includes(now.sha)
  return isOurs ? await put(keeper, indexName, null, now.mark) : { ok: true }
}

export interface LoadedIndex {
  readonly text: string
  /** It was changed from outside and has been made again from what is known. */
  readonly tampered: boolean
}

/** The index as it may be shown: the file where it is ours, else made again. Bounded, however many memories there are. */
export async function loadIndex(keeper: Keeper): Promise<Result<LoadedIndex>> {
  if (keeper.place.scope === 'team') return await teamIndex(keeper)
  const { fs, place } = keeper
  const read = await readUnder(fs, place.root, indexName, defaults.memory.indexBytes + 1)
  if (!read.ok && read.failure.code === 'not-found') return await missing(keeper)
  const known = await knownShas(keeper)
  if (read.ok && known.includes(shaOf(read.bytes)))
    return { ok: true, text: read.bytes.toString('utf8'), tampered: false }
  const made = await alone(keeper, () => keepIndex(keeper))
  return made.ok ? { ok: true, text: derivedIndex(keeper).text, tampered: true } : made
}

/** Of what stands there under whatever name a colleague gave it; where that is too many to look at, of the ledger. */
async function teamIndex(keeper: Keeper): Promise<Result<LoadedIndex>> {
  const { fs, place, ledger, clock } = keeper
  const fresh = await ledger.refresh()
  if (!fresh.ok) return fresh
  const names = await attempt('looking', async () => ({ names: await fs.names(place.root) }))
  const most = defaults.memory.checkedAtStart
  if (!names.ok || names.names.length > most)
    return { ok: true, text: derivedIndex(keeper).text, tampered: false }
  const listed = await listMemories(fs, place, { most, ledger })
  if (!listed.ok) return listed
  const entries = listed.memories
    .filter(({ standing }) => standing === 'open')
    .map((memory) => ({ file: memory.file, head: memory, at: memory.provenance?.at ?? memory.modifiedMs }))
  return { ok: true, text: indexOf(entries, localDay(clock.now())).text, tampered: false }
}

/** No index: none yet, or somebody took it away. */
async function missing(keeper: Keeper): Promise<Result<LoadedIndex>> {
  const known = await knownShas(keeper)
  if (known.length === 0) return { ok: true, text: '', tampered: false }
  const made = await alone(keeper, () => keepIndex(keeper))
  return made.ok ? { ok: true, text: derivedIndex(keeper).text, tampered: true } : made
}

async function knownShas(keeper: Keeper): Promise<readonly string[]> {
  const read = await readSmall(keeper.fs, knownFile(keeper), defaults.store.maxLockBytes)
  if (!read.ok) return []
  const known = objectIn(read.bytes.toString('utf8'))?.['known']
  return Array.isArray(known) ? known.filter((one) => typeof one === 'string') : []
}
