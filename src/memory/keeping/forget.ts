// Forgetting is complete: the file, every version of its text, every record of it, its line in the index.
// What stays is that it was forgotten: the session or source by name, and salted fingerprints of its sentences, so that
// it is not learnt again. A memory that others have a part in goes back to what it was before the forgotten part came.
import { attempt, type Result } from '../../disk/fs.ts'
import { readBytes } from '../files.ts'
import type { Provenance } from '../memory.ts'
import { put, readVersion, versionFile, versionText, type Keeper } from './keeper.ts'
import { dropIndex, keepIndex } from './index-keeping.ts'
import { alone } from './alone.ts'
import { finishPending } from './change-sets.ts'
import { removeRecallIndex, removeTraces } from './traces.ts'
import type { LedgerRecord } from './records.ts'
import { createHmac } from 'node:crypto'
import { defaults } from '../../settings/defaults.ts'
import { readMemoryText } from '../format/frontmatter.ts'
import { saysNothing } from '../trust/sentences.ts'
import type { Ledger } from './ledger.ts'

export type ForgetWhat =
  | { readonly file: string }
  | { readonly session: string }
  | { readonly source: string }

export interface Forgot {
  readonly removed: readonly string[]
  /** Went back to an older version; later versions by others went with what they were built on. */
  readonly wentBack: readonly { readonly file: string; readonly to: number; readonly lost: number }[]
  readonly versions: number
}

export async function forget(keeper: Keeper, what: ForgetWhat): Promise<Result<Forgot>> {
  return await alone(keeper, async () => {
    const { ledger, clock } = keeper
    // A set that was broken off would bring back what goes now.
    const whole = await finishPending(keeper)
    if (!whole.ok) return whole
    const records = ledger.records()
    const isMeant = meaning(what, records)
    const gone = new Set(records.filter(isMeant).map(({ n }) => n))
    // What was built on a forgotten version holds its words.
    const words = new Set<string>()
    for (const record of records) {
      if (record.do === 'forget') continue
      if (
        record.do === 'settle' ? gone.has(record.held) : words.has(`${record.file}\0${record.before ?? ''}`)
      )
        gone.add(record.n)
      if (gone.has(record.n) && 'sha' in record && record.sha !== null)
        words.add(`${record.file}\0${record.sha}`)
    }
    const prints = await printsFor(keeper, records.filter(isMeant), gone, what)
    if (!prints.ok) return prints
    const kept = records.filter(({ n }) => !gone.has(n))
    // First of all: the fingerprints are made from texts that go now, and are there again for nobody who was stopped.
    const tombstone = await ledger.append(
      {
        do: 'forget',
        at: clock.now(),
        sessions: 'session' in what ? [what.session] : [],
        sources: 'source' in what ? [what.source] : [],
        prints: [...prints.prints],
      },
      keeper.unique,
    )
    if (!tombstone.ok) return tombstone
    const changed = await resettle(keeper, records, kept, gone, { what, isMeant })
    if (!changed.ok) return changed
    const removed = await removeVersions(keeper, kept)
    if (!removed.ok && removed.failure.code !== 'not-found') return removed
    // Before the ledger: once that has forgotten, nobody can ask for it again, so a stop right behind it must leave no words.
    const dropped = await dropIndex(keeper)
    if (!dropped.ok) return dropped
    const traces = await removeTraces(keeper, changed.files, kept)
    if (!traces.ok) return traces
    const written = await ledger.rewrite([...kept, tombstone.record], keeper.unique)
    if (!written.ok) return written
    // And after it: who wrote it meanwhile had not seen that.
    const again = await removeRecallIndex(keeper)
    if (!again.ok) return again
    const index = await keepIndex(keeper)
    if (!index.ok) return index
    return {
      ok: true,
      removed: changed.removed,
      wentBack: changed.wentBack,
      versions: removed.ok ? removed.count : 0,
    }
  })
}

/** Which records are forgotten for themselves, and not for what they were built on. */
function meaning(what: ForgetWhat, records: readonly LedgerRecord[]): (record: LedgerRecord) => boolean {
  const files = 'file' in what ? withRetired(what.file, records) : null
  return (record) => {
    if (record.do === 'settle' || record.do === 'forget') return false
    if (files !== null) return files.has(record.file)
    // What was joined from several sessions names the others among its sources.
    if ('session' in what)
      return record.by.session === what.session || record.by.from.includes(`session:${what.session}`)
    return 'source' in what && cameFrom(what.source, record.by)
  }
}

/** With the memories that a consolidation retired for it: their versions hold the same words. */
function withRetired(file: string, records: readonly LedgerRecord[]): ReadonlySet<string> {
  const last = new Map<string, LedgerRecord>()
  for (const record of records)
    if (record.do === 'write' || record.do === 'remove') last.set(record.file, record)
  const files = new Set([file])
  for (const successor of files)
    for (const [retired, record] of last)
      if (record.do === 'remove' && record.via === 'dream' && record.by.from.includes(successor))
        files.add(retired)
  return files
}

/** Words of the user's own are not the source's, even when it had been read. */
const cameFrom = (source: string, by: Provenance): boolean =>
  by.trust !== 'user' && (by.kind === source || by.from.some((one) => isFrom(source, one)))

async function printsFor(
  keeper: Keeper,
  meant: readonly LedgerRecord[],
  gone: ReadonlySet<number>,
  what: ForgetWhat,
): Promise<Result<{ prints: ReadonlySet<string> }>> {
  const prints = new Set<string>()
  const salt = keeper.ledger.salt
  const texts: string[] = []
  for (const record of meant) {
    if (!('sha' in record) || record.sha === null) continue
    const read = await readVersion(keeper, record.sha)
    if (read.ok) texts.push(read.text)
  }
  if ('file' in what) {
    const now = await readBytes(keeper.fs, keeper.place.root, what.file)
    if (now.ok) texts.push(now.bytes.toString('utf8'))
  }
  for (const text of texts) for (const print of printsOf(text, salt)) prints.add(print)
  // A sentence that stands in what is kept is no secret to be hunted.
  for (const { sha, n } of keeper.ledger.standing()) {
    if (gone.has(n)) continue
    const read = await readVersion(keeper, sha)
    if (read.ok) for (const print of printsOf(read.text, salt)) prints.delete(print)
  }
  return { ok: true, prints }
}

type Resettled = Pick<Forgot, 'removed' | 'wentBack'> & { readonly files: ReadonlySet<string> }

/** Puts each file that loses versions back to its newest one that stays, or removes it. */
async function resettle(
  keeper: Keeper,
  records: readonly LedgerRecord[],
  kept: readonly LedgerRecord[],
  gone: ReadonlySet<number>,
  { what, isMeant }: { readonly what: ForgetWhat; readonly isMeant: (record: LedgerRecord) => boolean },
): Promise<Result<Resettled>> {
  const removed: string[] = []
  const wentBack: { file: string; to: number; lost: number }[] = []
  const files = new Set(
    records.flatMap((record) =>
      gone.has(record.n) && (record.do === 'write' || record.do === 'remove') ? [record.file] : [],
    ),
  )
  if ('file' in what) files.add(what.file)
  for (const file of files) {
    const now = await readBytes(keeper.fs, keeper.place.root, file)
    const last = kept.findLast(
      (record) => (record.do === 'write' || record.do === 'remove') && record.file === file,
    )
    const text = await versionText(keeper, last?.do === 'write' ? last.sha : null)
    if (!text.ok) return text
    const done = await put(keeper, file, text.text, now.ok ? now.stat.mark : null)
    if (!done.ok) return done
    if (last?.do === 'write') {
      const lost = records.filter(
        (one) => gone.has(one.n) && 'file' in one && one.file === file && !isMeant(one),
      )
      wentBack.push({ file, to: last.n, lost: lost.length })
    } else if (now.ok) removed.push(file)
  }
  return { ok: true, removed, wentBack, files }
}

/** Texts that no record names any more: also what was put aside once, since it may hold the same words. */
async function removeVersions(
  keeper: Keeper,
  kept: readonly LedgerRecord[],
): Promise<Result<{ count: number }>> {
  const needed = new Set(kept.flatMap(shasOf))
  return await attempt('removing forgotten versions', async () => {
    let count = 0
    for (const sha of await keeper.fs.names(versionFile(keeper, '')))
      if (!needed.has(sha)) {
        await keeper.fs.unlink(versionFile(keeper, sha))
        count++
      }
    return { count }
  })
}

const shasOf = (record: LedgerRecord): readonly string[] => [
  ...('sha' in record && record.sha !== null ? [record.sha] : []),
  ...('before' in record && record.before !== null && record.before !== '' ? [record.before] : []),
]

// What must not be learnt again. Kept as names of sessions and sources, and as fingerprints of sentences: salted hashes,
// so that the ledger does not say what was forgotten.

const printChars = 24

/** The fingerprints of the sentences of a memory that are long enough to be known again. */
const printsOf = (text: string, salt: string): readonly string[] => [...printed(text, salt).keys()]

/** Each fingerprint with its sentence. What only frames a memory ("the user said so") is in many and tells nothing. */
function printed(text: string, salt: string): ReadonlyMap<string, string> {
  const { head, body } = readMemoryText(text)
  const sentences = [head.description, ...body.split(/(?<=[.!?。！？])\s+|\n+/u)]
  return new Map(
    sentences
      .map((sentence) => sentence.replace(label, '').trim())
      .filter((sentence) => !saysNothing(sentence))
      .map((sentence) => [normalised(sentence), sentence] as const)
      .filter(([words]) => words.split(' ').length >= defaults.memory.printWords)
      .map(([words, sentence]) => [printOf(words, salt), sentence]),
  )
}
const label = /^\s*\*\*[^*\n]{1,40}:\*\*|^\s*\*\*[^*\n]{1,40}\*\*:/u

const printOf = (words: string, salt: string): string =>
  createHmac('sha256', salt).update(words).digest('hex').slice(0, printChars)

/** Words alone: marks, case and blanks are easily written otherwise. */
const normalised = (sentence: string): string =>
  sentence
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

/**
 * Why it may not be learnt again, or null. What the user typed after the forgetting was meant to be learnt: `saidAt` is
 * when.
 */
export function forgottenWhy(
  forgotten: Ledger['forgotten'],
  by: Provenance,
  text: string,
  salt: string,
  saidAt = Number.NEGATIVE_INFINITY,
): string | null {
  const session = by.session === null ? undefined : forgotten.sessions.get(by.session)
  if (session !== undefined && saidAt <= session)
    return 'The user had this session forgotten, so nothing it said before that is saved.'
  const source = by.trust === 'data' ? by.from.find((one) => isForgottenSource(forgotten.sources, one)) : null
  if (typeof source === 'string') return `The user had everything from ${source} forgotten. Do not save it.`
  if (forgotten.prints.size === 0) return null
  for (const [print, sentence] of printed(text, salt)) {
    const at = forgotten.prints.get(print)
    if (at !== undefined && saidAt <= at)
      return `The user had this forgotten: ${JSON.stringify(sentence)}. Leave that sentence out; it counts again only when the user says it again.`
  }
  return null
}

/** An address is forgotten with everything below it, and a host with all its addresses. */
const isFrom = (wanted: string, source: string): boolean =>
  source === wanted || source.startsWith(`${wanted.replace(/\/$/, '')}/`) || hostOf(source) === wanted

const isForgottenSource = (wanted: ReadonlySet<string>, source: string): boolean =>
  wanted.has(source) || [...wanted].some((one) => isFrom(one, source))

const hostOf = (source: string): string | null => (URL.canParse(source) ? new URL(source).host : null)
