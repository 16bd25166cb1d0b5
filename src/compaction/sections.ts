// The sections of a summary: lines under fixed headings. Because the headings are ours, a later compaction reads its
// predecessor back into lines and goes on from there, instead of wrapping one summary into the next.
//
// Format: `## heading`, then `- line`; a further line of the same item begins with two blanks.
import { redact } from '../disk/redact.ts'
import { estimateText } from '../projection/tokens.ts'

/** In the order in which they are shown. */
const headings = {
  earlier: 'Earlier',
  outcomes: 'What was found and decided',
  steps: 'Steps announced, and how they went',
  files: 'Files, as they were last touched',
  commands: 'Commands',
  lookups: 'Looked up',
  errors: 'Errors, and what followed',
  open: 'Tasks and what is open',
  standing: 'Where the work stood',
  named: 'Also named before',
  details: 'Lines likely to be needed, under the file, command or message they stand in',
} as const

export type SectionName = keyof typeof headings
export type Sections = Readonly<Record<SectionName, readonly string[]>>

export const sectionNames = Object.keys(headings) as readonly SectionName[]
const byHeading = new Map<string, SectionName>(sectionNames.map((name) => [headings[name], name]))

/** How the tokens of a text are shared out at first; what one section leaves, the others take in this order. */
const shares: readonly (readonly [SectionName, number])[] = [
  ['open', 0.2],
  ['standing', 0.12],
  ['outcomes', 0.17],
  ['steps', 0.12],
  ['files', 0.11],
  ['errors', 0.1],
  ['commands', 0.1],
  ['earlier', 0.05],
  ['named', 0.03],
  ['lookups', 0.02],
]

const emptySections = (): Record<SectionName, string[]> => ({
  earlier: [],
  outcomes: [],
  steps: [],
  files: [],
  commands: [],
  lookups: [],
  errors: [],
  open: [],
  standing: [],
  named: [],
  details: [],
})

export const noSections: Sections = emptySections()

/** What separates the thing a line is about from what is said of it: the newest line about a thing counts. */
export const about = ' — '
const subjectOf = (line: string): string => line.split(about, 1)[0]!.replace(/ \[\d+\]$/, '')

export const isTask = (line: string): boolean => /^\[[ >x~]\] /u.test(line)
const isOpenTask = (line: string): boolean => isTask(line) && !line.startsWith('[x]')

/** Reads a text that was rendered here. Null when it has none of our headings. */
export function parseSections(text: string): Sections | null {
  const found = emptySections()
  let lines: string[] | null = null
  let isOurs = false
  for (const line of text.split('\n')) {
    const name = line.startsWith('## ') ? byHeading.get(line.slice(3)) : undefined
    if (name !== undefined) {
      lines = found[name]
      isOurs = true
    } else if (lines !== null && line.startsWith('- ')) lines.push(line.slice(2))
    else if (lines !== null && line.startsWith('  ') && lines.length > 0)
      lines.push(`${lines.pop()!}\n${line.slice(2)}`)
    else if (line.trim() !== '') lines = null
  }
  return isOurs ? found : null
}

// An item of lines under what they belong to: `title [refs]: line`, then its other lines. Where no line leads, and as earlier
// versions wrote it, the first ends with the refs.

const refsAtEnd = / \[[\d, ]+\]$/
const refsBefore = /^(.*?) \[[\d, ]+\]: (.*)$/s

export function titledItem(
  title: string,
  refs: readonly number[],
  lead: string | undefined,
  others: readonly string[],
): string {
  const head = `${title} [${refs.join(', ')}]`
  return [lead === undefined ? head : `${head}: ${lead}`, ...others].join('\n')
}

/**
 * Whether title and line stand on one line as they do apart: both are read back as they are, and nothing in one is taken for a
 * secret beside the other, nor hides one.
 */
export function canLead(title: string, refs: readonly number[], line: string): boolean {
  const head = titledItem(title, refs, line, [])
  const { title: read, lines } = titledLines(head)
  const isRead = read === title && lines.length === 1 && lines[0] === line
  const apart = titledItem(title, refs, undefined, [line])
  return isRead && [apart, head].every((text) => redact(text).text === text)
}

/** The line that leads is the first. */
export function titledLines(item: string): { readonly title: string; readonly lines: readonly string[] } {
  const [head = '', ...lines] = item.split('\n')
  const both = refsAtEnd.test(head) ? null : refsBefore.exec(head)
  return both === null
    ? { title: head.replace(refsAtEnd, ''), lines }
    : { title: both[1]!, lines: [both[2]!, ...lines] }
}

/** Older lines first. Newer work replaces what it is about, the task list and where the work stood. */
export function mergeSections(older: Sections, newer: Sections): Sections {
  const hasNews = sectionNames.some((name) => newer[name].length > 0)
  if (!hasNews) return older
  const hasTasks = newer.open.some(isTask)
  return {
    earlier: [...older.earlier, ...newer.earlier],
    outcomes: newest([...older.outcomes, ...newer.outcomes]),
    steps: newest([...older.steps, ...newer.steps]),
    files: newest([...older.files, ...newer.files]),
    commands: newest([...older.commands, ...newer.commands]),
    lookups: newest([...older.lookups, ...newer.lookups]),
    errors: unique([...older.errors, ...newer.errors]),
    // What was to come next has come or been dropped since; tasks stay until a newer list replaces them.
    open: [...(hasTasks ? [] : older.open.filter(isTask)), ...newer.open],
    standing: newer.standing.length > 0 ? newer.standing : older.standing,
    named: unique([...older.named, ...newer.named]),
    // Weighed anew at each boundary, those that an earlier one kept among them.
    details: newer.details,
  }
}

/** The newest line about each thing, at its newest place. */
export function newest(lines: readonly string[]): string[] {
  const kept = new Map<string, string>()
  for (const line of lines) {
    kept.delete(subjectOf(line))
    kept.set(subjectOf(line), line)
  }
  return [...kept.values()]
}

export const unique = (lines: readonly string[]): string[] => [...new Set(lines)]

/** As many lines as fit, newest first, those with a wanted word before all others. Open tasks go in before everything; tasks keep their order. */
export function fitSections(
  all: Sections,
  tokens: number,
  options: {
    readonly factor: number
    readonly focus?: readonly string[]
    /** In however few tokens, open tasks have as much as this. */
    readonly taskTokens: number
  },
): Sections {
  const most = earlierShare * tokens
  const sections = { ...all, earlier: all.earlier.map((text) => bothEnds(text, most, options.factor)) }
  const queues = new Map(shares.map(([name]) => [name, ranked(sections[name], options.focus ?? [])]))
  const chosen = new Map<SectionName, Set<number>>(shares.map(([name]) => [name, new Set()]))
  const ofTasks = costOfAll(headings.open, sections.open.filter(isOpenTask), options.factor)
  let left = Math.max(tokens, Math.min(options.taskTokens, ofTasks))
  const fill = (name: SectionName, most: number, isWanted: (line: string) => boolean = () => true): void => {
    const queue = queues.get(name)!
    let spent = chosen.get(name)!.size > 0 || queue.length === 0 ? 0 : costOf(headings[name], options.factor)
    while (queue.length > 0 && isWanted(sections[name][queue[0]!]!)) {
      const cost = costOf(sections[name][queue[0]!]!, options.factor)
      if (spent + cost > Math.min(most, left)) break
      spent += cost
      chosen.get(name)!.add(queue.shift()!)
    }
    if (chosen.get(name)!.size > 0) left -= spent
  }
  fill('open', Infinity, isOpenTask)
  // What somebody wrote tells more than lines that were taken out.
  fill('earlier', most)
  for (const [name, share] of shares) fill(name, share * tokens)
  for (const [name] of shares) fill(name, Infinity)
  const kept = (name: SectionName) =>
    sections[name].filter((_, index) => chosen.get(name)?.has(index) ?? true)
  return Object.fromEntries(sectionNames.map((name) => [name, kept(name)])) as Record<SectionName, string[]>
}

/** Most that texts of others may take of ours. */
const earlierShare = 0.5
const leastEndChars = 100

/** A text too long to be carried along whole: how it began and where it stood. */
function bothEnds(text: string, tokens: number, factor: number): string {
  const heading = costOf(headings.earlier, factor)
  const fits = (one: string): boolean => heading + costOf(one, factor) <= tokens
  if (fits(text)) return text
  for (let chars = Math.floor(text.length / 2); chars >= leastEndChars; chars = Math.floor(chars * shrink)) {
    const ends = `${text.slice(0, chars)}\n[…]\n${text.slice(-chars)}`.toWellFormed()
    if (fits(ends)) return ends
  }
  return text
}
const shrink = 0.8

/** Indexes of the lines, the most wanted first. */
function ranked(lines: readonly string[], focus: readonly string[]): number[] {
  const rank = (line: string): number => {
    if (isTask(line)) return isOpenTask(line) ? 3 : 2
    const small = focus.length === 0 ? '' : line.toLowerCase()
    return focus.some((word) => small.includes(word)) ? 1 : 0
  }
  const ranks = lines.map(rank)
  return lines
    .map((_, index) => index)
    .sort((a, b) => ranks[b]! - ranks[a]! || (ranks[a]! >= 2 ? a - b : b - a))
}

const costOfAll = (heading: string, lines: readonly string[], factor: number): number =>
  lines.length === 0 ? 0 : [heading, ...lines].reduce((sum, line) => sum + costOf(line, factor), 0)

const costOf = (line: string, factor: number): number => factor * (estimateText(line) + lineTokens)
const lineTokens = 3

export function renderSections(sections: Sections, left: Partial<Record<SectionName, number>> = {}): string {
  const texts: string[] = []
  for (const name of sectionNames) {
    if (sections[name].length === 0) continue
    const lines = sections[name].map((line) => `- ${line.replaceAll('\n', '\n  ')}`)
    const missing = left[name] ?? 0
    if (missing > 0) lines.push(`(${missing} older left out)`)
    texts.push([`## ${headings[name]}`, ...lines].join('\n'))
  }
  return texts.join('\n\n')
}

/** How many lines of each section did not fit. */
export function leftOut(all: Sections, kept: Sections): Partial<Record<SectionName, number>> {
  return Object.fromEntries(sectionNames.map((name) => [name, all[name].length - kept[name].length]))
}
