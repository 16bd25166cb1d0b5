// Saving a memory, the same steps for everybody who writes one: a page of the diary is the caller's, readings of our own
// memories do not count as readings, the origin is derived and not claimed, a wording that cannot be shown gives way to the
// user's own sentences, new days become dates, the caller has its say on what would be written, the store writes, and what
// stands there then is told.
import type { OrWhy } from '../disk/failure.ts'
import { relative, sep } from 'node:path'
import { absoluteDates, datedMemory, hasRelativeDate } from './format/dates.ts'
import { readMemoryText } from './format/frontmatter.ts'
import { diaryFolder, indexName, isOpen, isPersons, type Memory, type Provenance } from './memory.ts'
import type { Applied, MemoryChange, MemoryStore, Writer } from './memory-store.ts'
import { derive, type Derived, type Lineage, type Reading } from './trust/lineage.ts'
import { keepsAll, lostLine } from './trust/lines.ts'
import { inUsersWords } from './trust/quoting.ts'
import { rawSentencesOf, saidIn } from './trust/sentences.ts'
import { isInside } from '../disk/under-root.ts'

export interface Saving {
  readonly store: MemoryStore
  readonly change: MemoryChange & { readonly text: string }
  readonly via: Writer
  /** What was typed and read before it. */
  readonly lineage: Lineage
  /** The moment from which days count, and what the user said then. */
  readonly said: { readonly at: number; readonly texts: readonly string[] }
  /** When it is written, in milliseconds since the epoch. */
  readonly now: number
  /** Whether what would be written may be. */
  readonly check: (draft: Draft) => Promise<Checked>
}

/** What would be written, and from whom. */
export interface Draft {
  readonly text: string
  readonly by: Provenance
  /** This turn has read what nobody vouches for. */
  readonly asks: boolean
}

export type Checked = OrWhy<{ readonly approved: boolean }>

export interface Kept {
  readonly sha256: string
  readonly mtimeMs: number
  readonly bytes: number
}

export type Saved =
  | { readonly kind: 'index' }
  | { readonly kind: 'diary' }
  | { readonly kind: 'refused'; readonly why: string }
  | {
      readonly kind: 'applied'
      readonly applied: Applied
      /** Memories that have no room in the index any more. */
      readonly dropped: readonly string[]
      /** Days that were written as dates. */
      readonly dates: readonly string[]
      readonly file: Kept | null
    }

/** `stores`: all whose memories the session may have read. */
export async function saveMemory(stores: readonly MemoryStore[], saving: Saving): Promise<Saved> {
  const { store, change, lineage, said } = saving
  const { file } = change
  if (file === indexName) return { kind: 'index' }
  if (file.startsWith(`${diaryFolder}/`)) return { kind: 'diary' }
  const old = await store.read(file)
  const others = {
    ...lineage,
    // Who says "tomorrow" has said that day.
    userWords: [...lineage.userWords, ...said.texts.flatMap((one) => datedSentences(one, said.at))],
    turn: await othersOf(stores, lineage.turn),
    before: await othersOf(stores, lineage.before),
  }
  const before = old.ok ? saidBefore(old, change.text, others) : []
  const judged = judgedAs(others, before, change.text, saving)
  const { by, asks } = judged
  const { text, dates } = datedMemory(judged.text, old.ok ? old.text : null, said.at)
  const checked = await saving.check({ text, by, asks })
  if (!checked.ok) return { kind: 'refused', why: checked.why }
  const lost = old.ok && !checked.approved ? lostBy(saving, others, old, { text, by }) : null
  if (lost !== null)
    return {
      kind: 'refused',
      why: `${file} says ${JSON.stringify(lost)}, which a person said, and nothing newer the user said is about that. Keep the line and add to it, or write another file.`,
    }
  const done = await store.save({ ...change, text }, by, {
    via: saving.via,
    approved: checked.approved,
    saidAt: by.trust === 'user' && isSaidLast(others, before, judged.text, said) ? said.at : undefined,
  })
  if (!done.ok) return { kind: 'refused', why: `${file} was not saved: ${done.failure.message}` }
  const { applied, dropped } = done
  if (applied.kind === 'refused') return { kind: 'refused', why: applied.why }
  const notes = judged.isQuoted ? [...applied.notes, quotedNote] : applied.notes
  return {
    kind: 'applied',
    applied: { ...applied, notes },
    dropped,
    dates,
    file: await keptAt(store, file),
  }
}
const quotedNote =
  'the wording could not be shown to say what the user typed, so it stands in the sentences they typed'

/**
 * What a person said in this memory before, as far as it may stay without being said again. Where strangers' words were read
 * all of it has to stay: a part might say the opposite.
 */
function saidBefore(
  { memory, text: old }: { readonly memory: Memory; readonly text: string },
  text: string,
  others: Lineage,
): readonly string[] {
  if (!isPersons(memory)) return []
  return keepsAll(old, text) || !hasReadData(others) ? [...saidIn(old), ...fieldsOf(memory)] : []
}
const fieldsOf = ({ name, triggers, doubtful }: Memory): readonly string[] => [
  name,
  ...triggers,
  ...(doubtful === undefined ? [] : [doubtful]),
]
const hasReadData = ({ turn, before }: Lineage): boolean =>
  [...turn, ...before].some(({ trust }) => trust === 'data')

/**
 * What of a person's words would go though nothing newer of theirs is about it: in the background, or where strangers' words
 * were read, that is not done. Whoever talks with the user may take out what the user wants out.
 */
function lostBy(
  { via }: Saving,
  others: Lineage,
  { memory, text: old }: { readonly memory: Memory; readonly text: string },
  { text, by }: Pick<Draft, 'text' | 'by'>,
): string | null {
  const isUsers = by.trust === 'user'
  // What a conversation has from data is held until a person has looked.
  if (!isPersons(memory) || (via === 'session' && !(isUsers && hasReadData(others)))) return null
  return lostLine(old, text, isUsers)
}

/** Who speaks in a text; one that would not be shown by itself is said in the user's own sentences where it can be. */
function judgedAs(
  others: Lineage,
  before: readonly string[],
  text: string,
  { said, now }: Saving,
): Derived & { readonly text: string; readonly isQuoted: boolean } {
  const lineage = { ...others, userWords: [...others.userWords, ...before] }
  const worded = { ...derive(lineage, text, now), text, isQuoted: false }
  if (isOpen(worded.by.trust, readMemoryText(text).head)) return worded
  // A day that was typed earlier counts from then, which is not known here.
  const typed = others.userWords.filter((one) => said.texts.includes(one) || !hasRelativeDate(one))
  const own = inUsersWords(text, typed, before)
  if (own === null) return worded
  const quoted = { ...derive(lineage, own, now), text: own, isQuoted: true }
  return quoted.by.trust === 'user' ? quoted : worded
}

/** Whether the newest thing typed says it by itself: then the user means it now, whatever was forgotten before. */
function isSaidLast(
  lineage: Lineage,
  before: readonly string[],
  text: string,
  { at, texts }: Saving['said'],
): boolean {
  const last = texts.slice(-1).flatMap((one) => [one, ...datedSentences(one, at)])
  return derive({ ...lineage, userWords: [...last, ...before] }, text, at).by.trust === 'user'
}

/** What was typed, its days as dates. Sentence by sentence: a stop behind a number would end none. */
const datedSentences = (text: string, at: number): readonly string[] =>
  rawSentencesOf(text).map((sentence) => absoluteDates(sentence, at).text)

/** What stands there now, as a tool must know it to change it again. */
export async function keptAt(store: MemoryStore, file: string): Promise<Kept | null> {
  const read = await store.read(file)
  if (!read.ok) return null
  const { sha256, modifiedMs, bytes } = read.memory
  return { sha256, mtimeMs: modifiedMs, bytes }
}

// Memories that may be shown unasked are no strangers' words when they are read, nor are our own answers to a write that
// was refused.

/** The readings without those of open memories and of the index. */
async function othersOf(
  stores: readonly MemoryStore[],
  readings: readonly Reading[],
): Promise<readonly Reading[]> {
  const own = await Promise.all(readings.map((reading) => isOwn(stores, reading)))
  return readings.filter((_, at) => !own[at])
}

async function isOwn(stores: readonly MemoryStore[], { tool, source }: Reading): Promise<boolean> {
  if (!tools.has(tool) || source === null) return false
  const store = stores.find(({ root }) => isInside(root, source))
  if (store === undefined) return false
  const file = relative(store.root, source).split(sep).join('/')
  if (file === indexName) return true
  const read = await store.read(file)
  return read.ok ? read.memory.standing === 'open' : tool !== 'Read'
}

const tools: ReadonlySet<string> = new Set(['Read', 'Write', 'Edit'])
