// The records of the ledger, and what a line must hold to be believed. Checked by hand, since a ledger has very many.
import { jsonIn } from '../../transcript/json.ts'
import { memoryTypes, noHead, sourceKinds, trustLevels, type MemoryHead, type Provenance } from '../memory.ts'
import { writers, type Writer } from '../memory-store.ts'

interface Numbered {
  /** Counts the records; versions are named by it. */
  readonly n: number
}
export interface WrittenFact {
  readonly do: 'write'
  readonly at: number
  readonly file: string
  readonly sha: string
  readonly before: string | null
  readonly head: MemoryHead
  readonly by: Provenance
  readonly via: Writer
}
export interface RemovedFact {
  readonly do: 'remove'
  readonly at: number
  readonly file: string
  readonly before: string
  readonly by: Provenance
  readonly via: Writer
}
/** A write that waits for the user; without `sha` it asks for the removal of the file. */
interface HeldFact {
  readonly do: 'hold'
  readonly at: number
  readonly file: string
  readonly sha: string | null
  readonly before: string | null
  readonly head: MemoryHead | null
  readonly by: Provenance
  readonly why: string
}
interface SettledFact {
  readonly do: 'settle'
  readonly at: number
  readonly held: number
  readonly how: 'accepted' | 'rejected'
}
/** Never to be learnt again: sessions, sources, and fingerprints of sentences. */
interface ForgottenFact {
  readonly do: 'forget'
  readonly at: number
  readonly sessions: readonly string[]
  readonly sources: readonly string[]
  readonly prints: readonly string[]
}
export type Written = WrittenFact & Numbered
export type Removed = RemovedFact & Numbered
export type Held = HeldFact & Numbered
export type LedgerRecord = Written | Removed | Held | (SettledFact & Numbered) | (ForgottenFact & Numbered)
export type NewRecord = WrittenFact | RemovedFact | HeldFact | SettledFact | ForgottenFact

/** The record of a file that gets other bytes, or goes where there are none. */
export const changeRecord = (
  { at, file, before, by, via }: Pick<Written, 'at' | 'file' | 'before' | 'by' | 'via'>,
  sha: string | null,
  head: MemoryHead | null,
): WrittenFact | RemovedFact =>
  sha === null
    ? { do: 'remove', at, file, before: before ?? '', by, via }
    : { do: 'write', at, file, sha, before, head: head ?? noHead, by, via }

export const lineOf = (record: LedgerRecord): string => `${JSON.stringify({ v: 1, ...record })}\n`

/** The record of a line, or null when it is none. */
export function recordIn(line: string): LedgerRecord | null {
  const value = jsonIn(line)
  return isObject(value) && value['v'] === 1 && isRecord(value) ? value : null
}

type Loose = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is Loose => typeof value === 'object' && value !== null
const isText = (value: unknown): boolean => typeof value === 'string'
const isTextOrNull = (value: unknown): boolean => value === null || typeof value === 'string'
const areTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText)
const isOneOf = (values: readonly string[], value: unknown): boolean => values.includes(value as string)

function isRecord(value: Loose): value is Loose & LedgerRecord {
  if (!Number.isSafeInteger(value['n']) || typeof value['at'] !== 'number') return false
  switch (value['do']) {
    case 'write':
      return (
        isText(value['sha']) &&
        isTextOrNull(value['before']) &&
        isHead(value['head']) &&
        isOfFile(value) &&
        isVia(value)
      )
    case 'remove':
      return isText(value['before']) && isOfFile(value) && isVia(value)
    case 'hold':
      return (
        isTextOrNull(value['sha']) &&
        isTextOrNull(value['before']) &&
        (value['head'] === null || isHead(value['head'])) &&
        isText(value['why']) &&
        isOfFile(value)
      )
    case 'settle':
      return Number.isSafeInteger(value['held']) && isOneOf(['accepted', 'rejected'], value['how'])
    case 'forget':
      return areTexts(value['sessions']) && areTexts(value['sources']) && areTexts(value['prints'])
    default:
      return false
  }
}

const isVia = (value: Loose): boolean => isOneOf(writers, value['via'])
const isOfFile = (value: Loose): boolean => isText(value['file']) && isProvenance(value['by'])

const isProvenance = (by: unknown): boolean =>
  isObject(by) &&
  isOneOf(sourceKinds, by['kind']) &&
  isOneOf(trustLevels, by['trust']) &&
  isTextOrNull(by['session']) &&
  isTextOrNull(by['message']) &&
  areTexts(by['from']) &&
  typeof by['at'] === 'number'

const isHead = (head: unknown): boolean =>
  isObject(head) &&
  isText(head['name']) &&
  isText(head['description']) &&
  (head['type'] === null || isOneOf(memoryTypes, head['type'])) &&
  areTexts(head['triggers']) &&
  areTexts(head['supersedes']) &&
  isTextOrNull(head['expires']) &&
  (head['doubtful'] === undefined || isText(head['doubtful']))
