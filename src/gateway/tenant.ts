// What is remembered for one credential: its conversations, what was decided about what they sent, and the whole of what
// was cut. Decisions are keyed by the beginning they end (`chain`), so a rewind, a fork or a second agent that starts alike
// gets the bytes that were sent for that beginning, and nothing else of it.
import { hash, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { attempt, makeFolders, type FileSystem, type Result } from '../disk/fs.ts'
import { replaceFile } from '../disk/replace.ts'
import { ChainIndex, tipOf, type Chain } from '../fit/chain.ts'
import type { Clock } from '../transcript/ids.ts'
import { fileMode, folderMode, oldestKept, Segments, pruneKept, type KeptLimits } from './segments.ts'
import { Recent } from './recent.ts'
import type { Boundary } from '../fit/compaction.ts'
import type { UnitEdit } from '../fit/trim.ts'

const conversations = 512

/** Answers that clients may go on from by their names. */
const rememberedAnswers = 20_000

/** Results that are sent whole and may be repeated, and kept texts in use. */
const rememberedWholes = 20_000
/** A kept text is marked as used once in this time. */
const markEveryMs = 60 * 60_000

interface TipUnit {
  readonly units: number
  readonly last: string
}

export class Tenant {
  readonly chains = new ChainIndex({ conversations })
  /** Tells our own lines from those of other gateways. */
  readonly #self = randomUUID()
  readonly #fs: FileSystem
  readonly #folder: string
  readonly #editFile: Segments
  readonly #tipFile: Segments
  readonly #edits = new Map<string, UnitEdit>()
  readonly #boundaries = new Map<string, Boundary>()
  /** In which of the files a decision was written last. */
  readonly #segmentOf = new Map<string, number>()
  readonly #tips = new Recent<TipUnit>(conversations)
  /** Which call gave a text that is still sent whole, by the beginning the result ends. */
  readonly #whole = new Recent<{ readonly text: string; readonly call: string }>(rememberedWholes)
  /** In which session an answer was given, by its name. */
  readonly #answers = new Recent<string>(rememberedAnswers)
  /** When a kept text was last marked as used. */
  readonly #usedAt = new Recent<number>(rememberedWholes)

  private constructor(fs: FileSystem, folder: string, editFile: Segments, tipFile: Segments) {
    this.#fs = fs
    this.#folder = folder
    this.#editFile = editFile
    this.#tipFile = tipFile
  }

  static async open(fs: FileSystem, folder: string, clock: Clock): Promise<Result<{ tenant: Tenant }>> {
    const edits = await Segments.open(fs, folder, 'edits', clock)
    if (!edits.ok) return edits
    const tips = await Segments.open(fs, folder, 'conversations', clock)
    if (!tips.ok) return tips
    return attempt(`reading ${folder}`, async () => {
      await makeFolders(fs, join(folder, 'kept'), folderMode)
      const tenant = new Tenant(fs, folder, edits.file, tips.file)
      await tenant.refresh()
      return { tenant }
    })
  }

  /** Takes over what other gateways on this machine have decided since. */
  async refresh(): Promise<void> {
    for (const { segment, fields } of await this.#editFile.added()) {
      const edit = editIn(fields)
      if (edit !== null && !this.#edits.has(edit.link)) this.#edits.set(edit.link, edit.edit)
      const found = boundaryIn(fields)
      if (found !== null && !this.#boundaries.has(found.link))
        this.#boundaries.set(found.link, found.boundary)
      const link = edit?.link ?? found?.link
      if (link !== undefined) this.#segmentOf.set(link, segment)
    }
    for (const { fields } of await this.#tipFile.added()) {
      const { session, label, head, tip, units, by, last } = fields
      if (
        // What was taken here is known whole, and its end alone would be less.
        by !== this.#self &&
        isText(session) &&
        isText(label) &&
        isText(head) &&
        isText(tip) &&
        typeof units === 'number' &&
        units > 0
      ) {
        this.chains.recall(session, label, { head, tip, units })
        if (isText(last)) this.#tips.set(session, { units, last })
      }
    }
  }

  edit(link: string): UnitEdit | undefined {
    return this.#edits.get(link)
  }

  boundary(link: string): Boundary | undefined {
    return this.#boundaries.get(link)
  }

  /** Keeps the whole of what a compaction replaces (null where it is kept already) and then the compaction. */
  async decideBoundary(link: string, boundary: Boundary, whole: string | null): Promise<Result<object>> {
    const kept = whole === null ? null : await this.#keep(whole)
    if (kept !== null && !kept.ok) return kept
    const written = await this.#editFile.append([{ v: 1, boundary: link, ...boundary }], true)
    if (written.ok) {
      this.#boundaries.set(link, boundary)
      this.#segmentOf.set(link, this.#editFile.newest)
    }
    return written
  }

  /** Keeps the texts that edits cut out and then the edits. They count only when all of it is on the disk. */
  async decide(edits: ReadonlyMap<string, UnitEdit>, kept: readonly string[]): Promise<Result<object>> {
    for (const text of kept) {
      const done = await this.#keep(text)
      if (!done.ok) return done
    }
    const records = [...edits].map(([link, edit]) => ({ v: 1, link, ...edit }))
    const written = await this.#editFile.append(records, true)
    if (written.ok)
      for (const [link, edit] of edits) {
        this.#edits.set(link, edit)
        this.#segmentOf.set(link, this.#editFile.newest)
      }
    return written
  }

  /** A request carries what was decided for these beginnings: it is remembered for as long again. */
  async #remember(links: readonly string[]): Promise<void> {
    const { newest } = this.#editFile
    const old = links.filter((link) => (this.#segmentOf.get(link) ?? newest) < newest)
    const records = old.flatMap((link) => {
      const [edit, boundary] = [this.#edits.get(link), this.#boundaries.get(link)]
      return [
        ...(edit === undefined ? [] : [{ v: 1, link, ...edit }]),
        ...(boundary === undefined ? [] : [{ v: 1, boundary: link, ...boundary }]),
      ]
    })
    if (records.length === 0) return
    const written = await this.#editFile.append(records, false)
    if (written.ok) for (const link of old) this.#segmentOf.set(link, newest)
  }

  /** Decisions of files that are gone are not held in memory either. */
  forget(limits: KeptLimits, now: number): void {
    const oldest = oldestKept(limits.keptDays, now)
    for (const [link, segment] of this.#segmentOf) {
      if (segment >= oldest) continue
      for (const map of [this.#segmentOf, this.#edits, this.#boundaries]) map.delete(link)
    }
  }

  /** Of the newest request of a session: how many units it had, and the hash of the last one alone. */
  tip(session: string): TipUnit | undefined {
    return this.#tips.get(session)
  }

  /** A request was sent as the newest of a session; `last` is the hash of its last unit alone. */
  take(session: string, label: string, chain: Chain, last: string): void {
    this.chains.take(session, label, chain)
    this.#tips.set(session, { units: chain.links.length, last })
    // Only groups requests into sessions after a restart: losing the last moments of it costs nobody anything.
    void this.#tipFile.append([{ v: 1, by: this.#self, session, label, last, ...tipOf(chain) }], false)
  }

  /** A client may go on from an answer by its name alone. */
  noteAnswer(name: string, session: string): void {
    this.#answers.set(name, session)
  }

  answeredIn(name: string): string | undefined {
    return this.#answers.get(name)
  }

  noteWhole(link: string, text: string, call: string): void {
    this.#whole.set(link, { text: digest(text), call })
  }

  /** The call among these beginnings that gave the same text and is still sent whole. */
  repeatOn(links: readonly string[], text: string): string | undefined {
    const wanted = digest(text)
    const at = links.findLast((link) => this.#whole.get(link)?.text === wanted)
    return at === undefined ? undefined : this.#whole.get(at)!.call
  }

  /** Where a text will be kept: by its content, so that the words that name the place are the same every time. */
  pathFor(text: string): string {
    return join(this.#folder, 'kept', `${digest(text)}.txt`)
  }

  /** A request goes out without these texts: they are needed for as long as its conversation goes on, and so is what was decided. */
  async markUsed(paths: Iterable<string>, links: readonly string[], now: number): Promise<void> {
    await this.#remember(links)
    for (const path of paths) {
      if (now - (this.#usedAt.get(path) ?? 0) < markEveryMs) continue
      this.#usedAt.set(path, now)
      const file = await this.#fs.open(path, 'append').catch(() => null)
      await file?.setModified(now).catch(() => undefined)
      await file?.close().catch(() => undefined)
    }
  }

  async #keep(text: string): Promise<Result<object>> {
    const kept = await replaceFile(this.#fs, this.pathFor(text), Buffer.from(text), {
      mode: fileMode,
      unique: () => randomUUID(),
      existing: 'refuse',
    })
    return kept.ok || kept.failure.code === 'exists' ? { ok: true } : kept
  }

  async close(): Promise<void> {
    await this.#editFile.close()
    await this.#tipFile.close()
  }
}

/** The tenants of a gateway, each opened when it first speaks. */
export class Tenants {
  readonly #fs: FileSystem
  readonly #folder: string
  readonly #clock: Clock
  readonly #open = new Map<string, Promise<Result<{ tenant: Tenant }>>>()

  constructor(fs: FileSystem, folder: string, clock: Clock) {
    this.#fs = fs
    this.#folder = folder
    this.#clock = clock
  }

  async named(name: string): Promise<Result<{ tenant: Tenant }>> {
    const found = this.#open.get(name) ?? Tenant.open(this.#fs, join(this.#folder, name), this.#clock)
    this.#open.set(name, found)
    const opened = await found
    // A full disk or a folder that is not there yet may be another time.
    if (!opened.ok && this.#open.get(name) === found) this.#open.delete(name)
    return opened
  }

  /** Removes what no conversation needs any more. */
  async prune(limits: KeptLimits): Promise<Result<object>> {
    const now = this.#clock.now()
    for (const opened of this.#open.values()) {
      const outcome = await opened
      if (outcome.ok) outcome.tenant.forget(limits, now)
    }
    return pruneKept(this.#fs, this.#folder, limits, now)
  }

  async close(): Promise<void> {
    for (const opened of this.#open.values()) {
      const outcome = await opened
      if (outcome.ok) await outcome.tenant.close()
    }
    this.#open.clear()
  }
}

const digest = (text: string): string => hash('sha256', text, 'hex').slice(0, 24)
const isText = (value: unknown): value is string => typeof value === 'string'

function boundaryIn(record: Readonly<Record<string, unknown>>): { link: string; boundary: Boundary } | null {
  const { boundary: link, from, to, text, without, savedChars, kept } = record
  if (!isText(link) || !isText(text) || !isText(kept) || !Array.isArray(without)) return null
  if (typeof from !== 'number' || typeof to !== 'number' || typeof savedChars !== 'number') return null
  return { link, boundary: { from, to, text, without: without.filter(isText), savedChars, kept } }
}

function editIn(record: Readonly<Record<string, unknown>>): { link: string; edit: UnitEdit } | null {
  const { link, texts, why, saved, kept } = record
  if (!isText(link) || !Array.isArray(texts)) return null
  if (!texts.every((text): text is string | null => text === null || isText(text))) return null
  return {
    link,
    edit: {
      texts,
      why: why === 'repeated' ? 'repeated' : 'large',
      saved: typeof saved === 'number' ? saved : 0,
      kept: isText(kept) ? kept : null,
    },
  }
}
