// The audit of a compaction: what the replaced span held against what the new view still shows. Mechanical:
// a thing counts as kept when its very words stand there. What is missing goes into a small ledger, the weightiest
// first; the rest is reported as lost. Everything can still be read by its place, so lost means: no longer in sight.
import { defaults } from '../settings/defaults.ts'
import { estimateText } from '../projection/tokens.ts'
import { pendingOf } from './extract.ts'
import { fileOf } from './files.ts'
import { stringsIn } from '../projection/folding/render.ts'
import type { BlockRef } from '../transcript/fact.ts'
import type { Keeping } from './user-words.ts'
import type { Reading } from './span-reading.ts'
import { about, noSections, type Sections } from './sections.ts'
import {
  endsOf,
  errorOf,
  flat,
  lineOf,
  nameWord,
  numberWord,
  pathWord,
  ruleWord,
  sentencesOf,
} from './phrases.ts'

/** From what must not be missed to what only helps. */
const kinds = ['pending', 'rules', 'errors', 'paths', 'names', 'numbers'] as const
export type Kind = (typeof kinds)[number]

export interface Tally {
  readonly found: number
  readonly kept: number
}

export interface Audit {
  readonly userMessages: Omit<Keeping, 'keep'>
  readonly kinds: Readonly<Record<Kind, Tally>>
  /** Share of everything found, user messages included, that the new view still shows. */
  readonly retention: number
  /** The same without the ledger. */
  readonly retentionBefore: number
  /** Some of what is no longer in sight, the weightiest first. */
  readonly lost: readonly string[]
  /** Where each of those stood first; null where it cannot be told. Earlier versions wrote none. */
  readonly lostAt?: readonly (BlockRef | null)[] | undefined
}

export type Inventory = Readonly<Record<Kind, readonly string[]>>

/** What a span holds that may be looked for later, the most frequent first. */
export function inventoryOf(reading: Reading): Inventory {
  const sayings = [...reading.inputs, ...reading.answers].map(({ text }) => endsOf(text))
  const earlier = reading.earlier.map(({ text }) => text)
  return {
    pending: pendingOf(reading),
    rules: most(reading.inputs.flatMap(({ text }) => rulesIn(text))),
    errors: most(errorsIn(reading)),
    paths: most([...reading.calls.flatMap((call) => fileOf(call) ?? []), ...matches(sayings, pathWord)]),
    names: most([...matches(sayings, nameWord), ...matches(earlier, nameWord)].map(unquoted)),
    numbers: most(matches(sayings, numberWord)),
  }
}

/** A text without such a word has no such sentence: most are not taken apart. */
const rulesIn = (text: string): readonly string[] =>
  ruleWord.test(flat(text)) ? sentencesOf(text).filter((line) => ruleWord.test(line)) : []

const errorsIn = ({ calls }: Reading): string[] =>
  calls.flatMap(({ outcome }) => (outcome?.isError === true ? [errorOf(outcome.text)] : []))

function matches(texts: readonly string[], pattern: RegExp): string[] {
  return texts.flatMap((text) => text.match(pattern) ?? [])
}

/** A name without the marks it was quoted in. */
const unquoted = (name: string): string => (name.startsWith('`') ? name.slice(1, -1) : name)

function most(items: readonly string[]): string[] {
  const counts = new Map<string, number>()
  for (const item of items) if (item.trim() !== '') counts.set(item, (counts.get(item) ?? 0) + 1)
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .slice(0, defaults.compaction.auditItems)
    .map(([item]) => item)
}

/** The things of an inventory that a text does not show. */
export function missingFrom(inventory: Inventory, shown: string): Inventory {
  // Lines are shown with their blanks pressed together and, when long, cut: their beginning speaks for them.
  const all = flat(shown)
  const isShown = (item: string): boolean => all.includes(probeOf(item))
  return Object.fromEntries(
    kinds.map((kind) => [kind, inventory[kind].filter((item) => !isShown(item))]),
  ) as Record<Kind, string[]>
}

const probeChars = 120
const probeOf = (item: string): string => lineOf(item, probeChars).replace(/…$/, '')

/** What is missing, as far as it fits: lines for the sections of the summary, open things first. */
export function ledgerOf(missing: Inventory, tokens: number, factor: number): Sections {
  const lines = { open: [] as string[], errors: [] as string[], named: [] as string[] }
  let left = tokens - Math.ceil(factor * headingTokens)
  for (const kind of kinds) {
    // A number by itself says nothing to anybody; that it is lost is counted.
    if (kind === 'numbers') continue
    // Each kind leaves something to the next; what must not be missed may take all.
    const enough = kind === 'pending' || kind === 'rules' ? 0 : left / 2
    for (const item of missing[kind]) {
      const line = lineOf(item)
      const cost = Math.ceil(factor * (estimateText(line) + lineTokens))
      if (left - cost < enough) break
      left -= cost
      if (kind === 'pending') lines.open.push(line)
      else if (kind === 'errors') lines.errors.push(line)
      else lines.named.push(kind === 'rules' ? `${line}${about}said by the user` : line)
    }
  }
  return { ...noSections, ...lines }
}

const lineTokens = 3
/** The headings under which the lines come to stand. */
const headingTokens = 30

export function auditOf(
  inventory: Inventory,
  before: Inventory,
  after: Inventory,
  { whole, shortened, pointed }: Keeping,
  placeOf: (item: string) => BlockRef | null = () => null,
): Audit {
  const tallies = Object.fromEntries(
    kinds.map((kind) => [
      kind,
      { found: inventory[kind].length, kept: inventory[kind].length - after[kind].length },
    ]),
  ) as Record<Kind, Tally>
  const said = whole + shortened + pointed
  const found = said + sizeOf(inventory)
  const share = (missing: Inventory): number =>
    found === 0 ? 1 : round((found - (said - whole) - sizeOf(missing)) / found)
  const lost = kinds
    .flatMap((kind) => after[kind].map((item) => ({ item, line: `${kind}: ${lineOf(item, probeChars)}` })))
    .slice(0, defaults.compaction.auditNames)
  return {
    userMessages: { whole, shortened, pointed },
    kinds: tallies,
    retention: share(after),
    retentionBefore: share(before),
    lost: lost.map(({ line }) => line),
    lostAt: lost.map(({ item }) => placeOf(item)),
  }
}

/** Finds where a span said something first: in what was typed, answered, called or given back. */
export function placesIn({ inputs, answers, calls, earlier }: Reading): (item: string) => BlockRef | null {
  const texts = [
    ...inputs,
    ...answers,
    ...earlier,
    ...calls.map(({ at, input }) => ({ at, text: stringsIn(input).join('\n') })),
    ...calls.flatMap(({ outcome }) => (outcome === null ? [] : [outcome])),
  ].toSorted((a, b) => a.at - b.at)
  const flattened = new Map<string, string>()
  return (item) => {
    // An open task is written with a mark that it did not have when it was said.
    const words = probeOf(item.replace(/^\[.\] /u, ''))
    const longest = words.split(' ').reduce((a, b) => (b.length > a.length ? b : a))
    const found = texts.find(({ text }) => {
      // White space matters to several words only, and a text without one of them lacks them all.
      if (!text.includes(longest)) return false
      if (longest === words) return true
      const known = flattened.get(text) ?? flat(text)
      flattened.set(text, known)
      return known.includes(words)
    })
    return found === undefined ? null : { seq: found.at }
  }
}

const sizeOf = (inventory: Inventory): number => kinds.reduce((sum, kind) => sum + inventory[kind].length, 0)
const round = (share: number): number => Math.round(share * perMille) / perMille
const perMille = 1000
