// What a proposal of the model must be to count. Pure. A consolidation moves, joins and retires what is remembered; it
// does not write anything new. So every sentence and every field names its source by being there word for word, and what
// goes must be said by something newer that stays (law M1: the result is trusted no more than its weakest part).
import { readMemoryText } from '../../../memory/format/frontmatter.ts'
import {
  diaryFolder,
  trustLevels,
  weakest,
  type MemoryType,
  type Provenance,
  type Trust,
} from '../../../memory/memory.ts'
import { exactIn } from '../../../memory/trust/sentences.ts'
import { defaults } from '../../../settings/defaults.ts'
import {
  linesOf,
  plain,
  plainSentencesIn,
  plainSentencesOf,
  sharedWords,
  telling,
} from '../../../memory/trust/lines.ts'
import { sessionsFolder } from './missed.ts'
import type { Snapshot } from './snapshot.ts'

/** The proposals so far: file and whole text. */
export type Staged = ReadonlyMap<string, string>

const retired = /^superseded by \[?([^\s\])]+\.md)\]?(?:\([^)\s]*\))?\.?$/iu

/** The file that takes the place of this one, where the text says nothing but that. */
export function successorIn(text: string): string | null {
  const lines = readMemoryText(text)
    .body.trim()
    .split('\n')
    .filter((line) => line.trim() !== '')
  return lines.length === 1 ? (retired.exec(lines[0]!.trim())?.[1] ?? null) : null
}

/** Why a text may not be proposed for a file, or null. */
export function proposalRefusal(world: Snapshot, staged: Staged, file: string, text: string): string | null {
  const successor = successorIn(text)
  if (successor !== null) return successorRefusal(world, staged, file, successor)
  const { head, front } = readMemoryText(text)
  if (front === null || head.name === '' || head.description === '')
    return 'A memory begins with frontmatter between two lines of ---: name, description, type.'
  return (
    sourceRefusal(world, file, text) ??
    headRefusal(world, file, text) ??
    trustRefusal(world, file, text) ??
    lostRefusal(world, staged, file, text)
  )
}

// ---- retiring ----

export function successorRefusal(
  world: Snapshot,
  staged: Staged,
  file: string,
  successor: string,
): string | null {
  const old = world.memories.get(file)
  if (old === undefined) return `There is no memory ${file} to retire.`
  const next = world.memories.get(successor)
  const text = staged.get(successor) ?? next?.text
  if (successor === file || text === undefined || successorIn(text) !== null)
    return `${successor} does not stand, so nothing may be retired for it.`
  const trust = trustOf(world, successor, text)
  if (trustLevels.indexOf(trust) < trustLevels.indexOf(old.by.trust))
    return `${successor} is trusted less than ${file} and may not take its place.`
  const there = new Set(plainSentencesOf(text))
  if (plainSentencesOf(old.text).every((sentence) => there.has(sentence))) return null
  if (next === undefined || next.at < old.at)
    return `${file} is newer than ${successor} or says more; the newer one stays.`
  const words = (one: string): string => {
    const { head, body } = readMemoryText(one)
    return `${head.description}\n${body}`
  }
  return sharedWords(words(old.text), words(text)) >= defaults.consolidation.successorShare
    ? null
    : `${successor} does not speak of what ${file} says.`
}

// ---- where it comes from ----

function sourceRefusal(world: Snapshot, file: string, text: string): string | null {
  const { facts, struck, headings } = linesOf(text)
  const unknown = [...facts, ...struck, ...headings].find((line) => filesFor(world, line) === null)
  if (unknown !== undefined)
    return `No memory says ${JSON.stringify(unknown)}. Move and join lines word for word; write nothing new.`
  // Words may be the same where an address behind them, or a sign in a command, is not.
  const said = [...sourcesOf(world, file, text)].map((one) => world.texts.get(one) ?? '').join('\n')
  const exact = [...exactIn(readMemoryText(text).body), ...targetsIn(text)]
  const other = exact.find((one) => !said.toLowerCase().includes(one.toLowerCase()))
  return other === undefined ? null : `No memory it is made of says ${JSON.stringify(other)}.`
}

const targetsIn = (text: string): readonly string[] =>
  [...text.matchAll(/\]\(([^)\s]*)\)/gu)].map(([, target]) => target ?? '')

/** The files that say the sentences of a line, of each sentence the most trusted; null where one stands nowhere. */
function filesFor(world: Snapshot, line: string): ReadonlySet<string> | null {
  const files = new Set<string>()
  for (const sentence of plainSentencesIn(line)) {
    const own = [...(world.said.get(sentence) ?? [])]
    if (own.length === 0) return null
    const best = Math.max(...own.map((file) => trustLevels.indexOf(trustIn(world, file))))
    for (const file of own) if (trustLevels.indexOf(trustIn(world, file)) === best) files.add(file)
  }
  return files
}

/** The files a text is made of, its own included. */
export function sourcesOf(world: Snapshot, file: string, text: string): ReadonlySet<string> {
  const sources = new Set<string>(world.memories.has(file) ? [file] : [])
  const own = world.memories.get(file)
  const there = new Set(own === undefined ? [] : plainSentencesOf(own.text))
  const { facts, struck, headings } = linesOf(text)
  for (const line of [...facts, ...struck, ...headings]) {
    // What stands there already needs no other source.
    if (plainSentencesIn(line).every((sentence) => there.has(sentence))) continue
    for (const source of filesFor(world, line) ?? []) sources.add(source)
  }
  return sources
}

const trustIn = (world: Snapshot, file: string): Trust =>
  file.startsWith(`${diaryFolder}/`) ? 'data' : (world.memories.get(file)?.by.trust ?? 'data')

function trustOf(world: Snapshot, file: string, text: string): Trust {
  return weakest([...sourcesOf(world, file, text)].map((source) => trustIn(world, source)))
}

/** Who speaks in a text: its weakest part, with every session and source that has a part in it. */
export function provenanceOf(world: Snapshot, file: string, text: string, now: number): Provenance {
  const sources = [...sourcesOf(world, file, text)]
  const own = world.memories.get(file)?.by
  const parts = sources.flatMap((source) => world.memories.get(source)?.by ?? [])
  const trust = trustOf(world, file, text)
  const weak = parts.find((by) => by.trust === trust)
  const first = own ?? weak
  const from = new Set([
    ...parts.flatMap((by) => by.from),
    ...sources.filter((source) => source.startsWith(`${diaryFolder}/`)),
    ...sources.flatMap((source) =>
      source.startsWith(`${sessionsFolder}/`) ? [`session:${source.slice(sessionsFolder.length + 1)}`] : [],
    ),
    ...parts.flatMap(({ session }) =>
      session === null || session === first?.session ? [] : [`session:${session}`],
    ),
  ])
  return {
    kind: weak?.kind ?? 'tool',
    trust,
    session: first?.session ?? null,
    message: first?.message ?? null,
    from: [...from],
    at: now,
  }
}

function trustRefusal(world: Snapshot, file: string, text: string): string | null {
  const own = world.memories.get(file)
  const trust = trustOf(world, file, text)
  const { type } = readMemoryText(text).head
  if (trust === 'data' && (type === 'user' || type === 'feedback'))
    return 'What is only data makes no rule and no preference.'
  if (own === undefined) return null
  return trustLevels.indexOf(trust) < trustLevels.indexOf(own.by.trust)
    ? `What is only data may not enter ${file}, which is trusted.`
    : null
}

// ---- the frontmatter ----

function headRefusal(world: Snapshot, file: string, text: string): string | null {
  const { head } = readMemoryText(text)
  const names = sourcesOf(world, file, text)
  const sources = [...names].flatMap((one) => world.memories.get(one) ?? [])
  const own = world.memories.get(file)?.memory
  const heads = [...(own === undefined ? [] : [own]), ...sources.map(({ memory }) => memory)]
  const has = (isSo: (one: (typeof heads)[number]) => boolean): boolean => heads.some(isSo)
  const slug = file.replace(/^.*\//u, '').replace(/\.md$/u, '')
  if (!has((one) => one.name === head.name) && plain(head.name) !== plain(slug))
    return 'The name must be one that a memory it is made of has, or that of its file.'
  const isSaid = plainSentencesIn(head.description).every((sentence) =>
    [...(world.said.get(sentence) ?? [])].some((one) => names.has(one)),
  )
  if (!has((one) => one.description === head.description) && !isSaid)
    return 'The description must be one that a memory it is made of has, or a line of it.'
  // Of the diary nobody knows who said what, so what comes from it alone is a fact.
  const isType = (type: MemoryType | null): boolean =>
    heads.length === 0 ? type !== 'user' && type !== 'feedback' : has((one) => one.type === type)
  if (own === undefined ? !isType(head.type) : own.type !== head.type)
    return 'The type stays that of the memories it is made of.'
  const isDay = own === undefined && heads.length > 0 ? has((one) => one.expires === head.expires) : false
  if (!isDay && head.expires !== (own?.expires ?? null)) return 'The day of expiry stays as it is.'
  const texts = [...names].map((one) => world.texts.get(one) ?? '')
  const words = telling(texts.join('\n'))
  if ([...telling(head.triggers.join(' '))].some((word) => !words.has(word)))
    return 'Triggers are words of the memories it is made of.'
  const odd = oddLine(text, texts, words)
  if (odd !== null) return `${JSON.stringify(odd)} stands in no memory it is made of.`
  const claimed = head.supersedes.find((one) => own?.supersedes.includes(one) !== true)
  return claimed === undefined
    ? null
    : `Retire ${claimed} by writing "Superseded by ${file}." as its whole text instead of naming it here.`
}

/** A line of the frontmatter that is none of our fields and stands in no source: it would be shown with the rest. */
function oddLine(text: string, sources: readonly string[], words: ReadonlySet<string>): string | null {
  const known = new Set(sources.flatMap((one) => (readMemoryText(one).front ?? '').split('\n')).map(trimmed))
  const lines = (readMemoryText(text).front ?? '').split('\n').map(trimmed)
  return (
    lines.find((line) => {
      if (line === '' || known.has(line)) return false
      if (/^(?:name|description|type|triggers|supersedes|expires)\s*:/u.test(line)) return false
      return !line.startsWith('- ') || [...telling(line)].some((word) => !words.has(word))
    }) ?? null
  )
}
const trimmed = (line: string): string => line.trim()

// ---- what goes ----

/** A line that goes must stand elsewhere, or be struck out beside one that says the newer thing. */
function lostRefusal(world: Snapshot, staged: Staged, file: string, text: string): string | null {
  const own = world.memories.get(file)
  if (own === undefined) return null
  const elsewhere = new Set<string>()
  for (const [other, known] of world.memories)
    if (other !== file)
      for (const one of plainSentencesOf(staged.get(other) ?? known.text)) elsewhere.add(one)
  const { facts, struck } = linesOf(text)
  const kept = new Set([...facts, ...struck].flatMap(plainSentencesIn))
  const before = linesOf(own.text)
  const lost = before.facts.find((line) =>
    plainSentencesIn(line).some((sentence) => !kept.has(sentence) && !elsewhere.has(sentence)),
  )
  if (lost !== undefined)
    return `${JSON.stringify(lost)} would be lost. Keep it, or strike it out as ~~line~~ beside the line that says what is so now.`
  const old = new Set(before.struck.map(plain))
  const idle = struck.find(
    (line) =>
      !old.has(plain(line)) &&
      !facts.some((fact) => sharedWords(line, fact) >= defaults.consolidation.successorShare),
  )
  return idle === undefined
    ? null
    : `Nothing here says what is so instead of ${JSON.stringify(idle)}; it stays.`
}
