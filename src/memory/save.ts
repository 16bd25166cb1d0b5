// Saving a memory, the same steps for everybody who writes one: a page of the diary is the caller's, readings of our own
// memories do not count as readings, the origin is derived and not claimed, new days become dates, the caller has its say on
// what would be written, the store writes, and what stands there then is told.
import { absoluteDates, datedMemory } from './format/dates.ts'
import { diaryFolder, indexName, type Provenance } from './memory.ts'
import type { Applied, MemoryChange, MemoryStore, Writer } from './memory-store.ts'
import { derive, type Lineage } from './trust/lineage.ts'
import { othersOf } from './trust/own-readings.ts'

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

export type Checked =
  | { readonly ok: true; readonly approved: boolean }
  | { readonly ok: false; readonly why: string }

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
  const { store, change, lineage, said, now } = saving
  const { file } = change
  if (file === indexName) return { kind: 'index' }
  if (file.startsWith(`${diaryFolder}/`)) return { kind: 'diary' }
  const others = {
    ...lineage,
    // Who says "tomorrow" has said that day.
    userWords: [...lineage.userWords, ...said.texts.map((one) => absoluteDates(one, said.at).text)],
    turn: await othersOf(stores, lineage.turn),
    before: await othersOf(stores, lineage.before),
  }
  const { by, asks } = derive(others, change.text, now)
  const old = await store.read(file)
  const { text, dates } = datedMemory(change.text, old.ok ? old.text : null, said.at)
  const checked = await saving.check({ text, by, asks })
  if (!checked.ok) return { kind: 'refused', why: checked.why }
  const done = await store.save({ ...change, text }, by, {
    via: saving.via,
    approved: checked.approved,
    saidAt: by.trust === 'user' && isSaidLast(others, change.text, said) ? said.at : undefined,
  })
  if (!done.ok) return { kind: 'refused', why: `${file} was not saved: ${done.failure.message}` }
  const { applied, dropped } = done
  if (applied.kind === 'refused') return { kind: 'refused', why: applied.why }
  return { kind: 'applied', applied, dropped, dates, file: await keptAt(store, file) }
}

/** Whether the newest thing typed says it by itself: then the user means it now, whatever was forgotten before. */
function isSaidLast(lineage: Lineage, text: string, { at, texts }: Saving['said']): boolean {
  const last = texts.slice(-1).flatMap((one) => [one, absoluteDates(one, at).text])
  return derive({ ...lineage, userWords: last }, text, at).by.trust === 'user'
}

/** What stands there now, as a tool must know it to change it again. */
export async function keptAt(store: MemoryStore, file: string): Promise<Kept | null> {
  const read = await store.read(file)
  if (!read.ok) return null
  const { sha256, modifiedMs, bytes } = read.memory
  return { sha256, mtimeMs: modifiedMs, bytes }
}
