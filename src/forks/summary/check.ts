// Whether a model's summary may be trusted (SPEC 8.2): its sections are there, and what it quotes was said. Wrong
// numbers and lost names are the audit's to find; a request that nobody made would send the work astray. Pure.
import type { Part } from '../../projection/view.ts'
import { defaults } from '../../settings/defaults.ts'
import { sectionsOf, userMessagesTitle, type Variant } from './prompt.ts'

export interface Said {
  /** The user's own words, those in earlier summaries included. */
  readonly byUser: string
  readonly byAnyone: string
}

export function saidIn(parts: readonly Part[]): Said {
  const user: string[] = []
  const anyone: string[] = []
  for (const part of parts) {
    const text = textOf(part)
    anyone.push(text)
    if (part.kind === 'input' || part.kind === 'edit') user.push(text)
  }
  return { byUser: flat(user.join('\n')), byAnyone: flat(anyone.join('\n')) }
}

function textOf({ blocks }: Part): string {
  const texts = blocks.flatMap((block) => {
    if (block.type === 'tool_result' && 'is_error' in block)
      return block.content.map((inner) => (inner.type === 'text' ? inner.text : ''))
    return 'text' in block && typeof block.text === 'string' ? [block.text] : []
  })
  return texts.join('\n')
}

/** Why a summary is not used, or null. */
export function summaryRefusal(account: string, variant: Variant, said: Said): string | null {
  const found = sectionsIn(account, variant)
  const missing = sectionsOf(variant)
    .slice(0, -1)
    .filter(({ title }) => !found.has(title))
  if (missing.length > 0) return `it lacks ${missing.map(({ title }) => `"${title}"`).join(', ')}`
  const made = (found.get(userMessagesTitle) ?? '').split('\n').find((line) => !wasSaid(line, said.byUser))
  if (made !== undefined) return `it quotes words that the user did not say: "${short(made)}"`
  const last = found.get(sectionsOf(variant).at(-1)!.title) ?? ''
  const quoted = quotesIn(last, defaults.summary.leastNextQuoteChars)
  const false_ = quoted.find((quote) => !fragmentsOf(quote).every((piece) => said.byAnyone.includes(piece)))
  return false_ === undefined ? null : `its next step rests on words that nobody said: "${short(false_)}"`
}

interface Section {
  readonly title: string | null
  readonly heading: string
  readonly lines: string[]
}

/** The account cut at the headings that were asked for; what stands before the first has no title. */
function cutUp(account: string, variant: Variant): readonly Section[] {
  const sections: Section[] = [{ title: null, heading: '', lines: [] }]
  const titles = sectionsOf(variant).map(({ title }) => title)
  for (const line of account.split('\n')) {
    const bare = line.replace(/^[\s#*>]*(?:\d+[.)])?[\s*]*/u, '').toLowerCase()
    const title = titles.find((one) => bare.startsWith(one.toLowerCase()))
    if (title === undefined || sections.some((section) => section.title === title))
      sections.at(-1)!.lines.push(line)
    else sections.push({ title, heading: line, lines: [bare.slice(title.length).replace(/^[\s*:.]+/u, '')] })
  }
  return sections
}

/** The bodies of the asked sections, by title. */
const sectionsIn = (account: string, variant: Variant): ReadonlyMap<string, string> =>
  new Map(
    cutUp(account, variant).flatMap(({ title, lines }) =>
      title === null ? [] : [[title, lines.join('\n')] as const],
    ),
  )

/** The user's words stand behind every summary as they were said; once they have been checked they need not stand in it. */
export function withoutWords(account: string, variant: Variant): string {
  return cutUp(account, variant)
    .map(({ title, heading, lines }) => {
      if (title === null) return lines.join('\n')
      return [heading, ...(title === userMessagesTitle ? [elsewhere, ''] : lines.slice(1))].join('\n')
    })
    .join('\n')
    .trim()
}

const elsewhere = '(They are kept word for word beside this summary.)'

/** A line of quotation: word for word, or with parts left out; what says that there is none is not one. */
function wasSaid(line: string, said: string): boolean {
  const words = flat(line)
    .replace(/^(?:[-*•>]|\d+[.)])\s+/u, '')
    .trim()
  const isAside = /^(?:```\w*|"""|[([].*[)\]]|none\.?|-+)$/iu.test(words)
  const plain = words.replace(/^["“'`]+|["”'`]+$/gu, '')
  if (isAside || plain.length < defaults.summary.leastQuoteChars || said.includes(plain)) return true
  if (fragmentsOf(plain).every((piece) => said.includes(piece))) return true
  const quotes = quotesIn(words, defaults.summary.leastQuoteChars)
  return (
    quotes.length > 0 && quotes.every((quote) => fragmentsOf(quote).every((piece) => said.includes(piece)))
  )
}

function quotesIn(text: string, least: number): readonly string[] {
  return [...flat(text).matchAll(/["“]([^"“”]+)["”]/gu)]
    .map((match) => match[1] ?? '')
    .filter((quote) => quote.length >= least)
}

/** The pieces around what was left out. */
const fragmentsOf = (quote: string): readonly string[] =>
  quote
    .split(/\[?(?:…|\.\.\.)\]?/u)
    .map((piece) => piece.trim())
    .filter((piece) => piece !== '')

const flat = (text: string): string => text.replaceAll(/\s+/gu, ' ')
const short = (line: string): string => line.trim().slice(0, defaults.summary.shownQuoteChars).toWellFormed()
