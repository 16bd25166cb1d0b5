// What becomes of a wanted change, decided before anything is written: written, held until the user has looked, or
// refused with what to do about it. Law M1 is kept here: what is only data never becomes a rule, never takes the place
// of something trusted, and is never trusted more than the version it was made from.
import type { FailureCode } from '../../disk/fs.ts'
import { redact } from '../../disk/redact.ts'
import { defaults } from '../../settings/defaults.ts'
import { readMemoryText } from '../format/frontmatter.ts'
import { withoutHidden } from '../format/hidden.ts'
import { nameRefusal } from '../format/names.ts'
import { isRule, weakest, type MemoryHead, type Provenance } from '../memory.ts'
import type { MemoryChange, Writer } from '../memory-store.ts'
import { forgottenWhy } from './forget.ts'
import type { Ledger } from './ledger.ts'

export type Verdict =
  | {
      readonly kind: 'write' | 'hold'
      readonly file: string
      readonly text: string | null
      readonly head: MemoryHead | null
      readonly by: Provenance
      /** Why it is held. */
      readonly why: string
      /** What was changed on the way: secrets, hidden characters. */
      readonly notes: readonly string[]
    }
  | { readonly kind: 'refuse'; readonly file: string; readonly code: FailureCode; readonly why: string }

export interface JudgeOptions {
  readonly review: boolean
  readonly salt: string
  /** A person has looked at exactly this text and wants it: then it is confirmed, whatever it came from. */
  readonly approved: boolean
  /** When the user typed what it says; left out where the user did not. */
  readonly saidAt?: number | undefined
  readonly via?: Writer | undefined
}

export function judge(change: MemoryChange, by: Provenance, ledger: Ledger, options: JudgeOptions): Verdict {
  const { file } = change
  const refuse = (code: FailureCode, why: string): Verdict => ({ kind: 'refuse', file, code, why })
  const badName = nameRefusal(file)
  if (badName !== null) return refuse('bad-name', `${JSON.stringify(file)} can be no memory: ${badName}.`)
  const [secret] = redact(file).found
  if (secret !== undefined && change.text !== null)
    return refuse(
      'bad-name',
      `Nothing was saved: the file name holds a secret (${secret.kind}). Save it under a name that says what it is about.`,
    )
  if (change.text === null) return judgeRemoval(file, by, ledger, options, refuse)
  const seen = withoutHidden(change.text)
  const clean = redact(seen.text)
  const notes = [
    ...(seen.hidden === 0 ? [] : [`${seen.hidden} hidden characters were removed`]),
    ...(clean.found.length === 0
      ? []
      : [`${clean.found.length} secrets were removed (${clean.found.map(({ kind }) => kind).join(', ')})`]),
  ]
  const { head, problems } = readMemoryText(clean.text)
  const unfit = unfitness(clean.text, head, problems)
  if (unfit !== null) return refuse('bad-memory', unfit)
  const forgotten = forgottenWhy(ledger.forgotten, by, clean.text, options.salt, options.saidAt)
  if (forgotten !== null && !options.approved) return refuse('forgotten', forgotten)
  const kept = by.trust === 'data' ? fencedNear(ledger, file) : 0
  if (kept >= defaults.memory.fencedFiles)
    return refuse(
      'full',
      `${kept} memories from tools are kept already; the user can forget some (pal memory).`,
    )
  const bound = options.approved ? confirmed(by) : boundBy(by, ledger, file)
  const why = options.approved
    ? null
    : (reasonToHold(bound, by, head, ledger, file, options.via) ??
      (options.review ? 'review mode is on' : null))
  return {
    kind: why === null ? 'write' : 'hold',
    file,
    text: clean.text,
    head,
    by: bound,
    why: why ?? '',
    notes,
  }
}

function judgeRemoval(
  file: string,
  by: Provenance,
  ledger: Ledger,
  options: JudgeOptions,
  refuse: (code: FailureCode, why: string) => Verdict,
): Verdict {
  const current = ledger.current(file)
  if (current === null) return refuse('not-found', `There is no memory ${file}.`)
  const why = options.approved
    ? null
    : by.trust === 'data' && current.by.trust !== 'data'
      ? 'what comes from tools may not remove a trusted memory'
      : options.review
        ? 'review mode is on'
        : null
  return {
    kind: why === null ? 'write' : 'hold',
    file,
    text: null,
    head: null,
    by,
    why: why ?? '',
    notes: [],
  }
}

function unfitness(text: string, head: MemoryHead, problems: readonly string[]): string | null {
  if (!text.isWellFormed()) return 'The text holds half of a character.'
  const bytes = Buffer.byteLength(text)
  if (bytes > defaults.memory.fileBytes)
    return `The text has ${bytes} bytes; a memory has at most ${defaults.memory.fileBytes}. Save less, or in parts.`
  const missing = [...(head.name === '' ? ['name'] : []), ...(head.description === '' ? ['description'] : [])]
  if (missing.length > 0)
    return `A memory begins with frontmatter between two lines of ---, and this one lacks ${missing.join(' and ')}${problems.length === 0 ? '' : ` (${problems.join('; ')})`}. Write name, description and type (user, feedback, project or reference), then the text.`
  return null
}

const fencedNear = (ledger: Ledger, file: string): number =>
  ledger.standing().filter((one) => one.by.trust === 'data' && one.file !== file).length

const confirmed = (by: Provenance): Provenance => ({
  ...by,
  trust: weakest([by.trust, 'confirmed']) === 'confirmed' ? by.trust : 'confirmed',
})

/** A version is made from the one before it, so it is trusted no more than that one. */
function boundBy(by: Provenance, ledger: Ledger, file: string): Provenance {
  const current = ledger.current(file)
  return current === null ? by : { ...by, trust: weakest([by.trust, current.by.trust]) }
}

function reasonToHold(
  bound: Provenance,
  by: Provenance,
  head: MemoryHead,
  ledger: Ledger,
  file: string,
  via: Writer | undefined,
): string | null {
  // An extraction writes in the background: what it cannot show is an observation and asks nobody for a decision.
  if (bound.trust === 'data' && isRule(head) && via !== 'extraction')
    return `rules and preferences come only from the user's own words, and this turn has read ${sources(bound)}`
  const current = ledger.current(file)
  if (by.trust === 'data' && current !== null && current.by.trust !== 'data')
    return `what comes from ${sources(by)} may not take the place of a trusted memory`
  const replaced = head.supersedes.find((other) => (ledger.current(other)?.by.trust ?? 'data') !== 'data')
  if (by.trust === 'data' && replaced !== undefined)
    return `what comes from ${sources(by)} may not supersede ${replaced}, which is trusted`
  return null
}

const shownSources = 3
const sources = ({ from }: Provenance): string =>
  from.length === 0
    ? 'tools'
    : from.slice(0, shownSources).join(', ') + (from.length > shownSources ? ' and more' : '')
