// Owns the answers to requests for a summary and for notes. A summary has the sections that were asked, in their order and wording,
// each filled from the conversation in sight; in the tags that were asked; within the tokens that were given. Notes are brought up to
// date by one Edit per section whose body changes: headings and guidance lines are repeated as they stand, so that an Edit finds
// them and never alters them.
import type { WireBlock } from '../../../model/wire.ts'
import { text } from '../../answer.ts'
import { before, type Conversation } from '../conversation.ts'
import { askedSections, sectionsIn, type Section } from '../sections.ts'
import type { Ask, Asked } from './ask.ts'
import { linesFor, materialOf } from './report-lines.ts'

const charsPerToken = 3
const charsPerWord = 5
const shortestCut = 80
const plainTitles = ['Request', 'User messages', 'Files', 'Errors', 'Work done', 'Pending']

export function summaryAnswer({ ask, conversation, request, toolbox, task }: Asked): readonly WireBlock[] {
  const shown = before(conversation, ask.at)
  const empty = shown.said.length + shown.called.length + shown.replied.length === 0
  const material = materialOf(empty ? spokenIn(ask.text) : shown, toolbox, task)
  const asked = askedSections(ask.text)
  const titles = asked.length > 0 ? asked : plainTitles
  const numbered = /^[ \t]*1[.)][ \t]/mu.test(ask.text)
  const parts = titles.map((title, index) => ({
    heading: numbered && asked.length > 0 ? `${index + 1}. ${title}:` : `## ${title}`,
    body: linesFor(title, titles, material).join('\n'),
  }))
  const body = fitted(parts, room(ask.text, request.max_tokens))
  return [text(tagged(body, ask, titles.length))]
}

/** The room in characters: the tokens given, or fewer when the prompt itself names a number of words. */
function room(prompt: string, maxTokens: number): number {
  const words = /\b(?:at most|under|up to|no more than|within|max(?:imum)?)\s+(\d+)\s+words\b/iu.exec(prompt)
  const chars = maxTokens * charsPerToken
  return words === null ? chars : Math.min(chars, Number(words[1]) * charsPerWord)
}

/** One section of the answer. */
interface Part {
  readonly heading: string
  readonly body: string
}

/** Shortens the longest section, again and again, until everything fits: its beginning and its end stay. */
function fitted(parts: readonly Part[], chars: number): string {
  const whole = parts.map((part) => `${part.heading}\n${part.body}`).join('\n\n')
  const longest = parts.toSorted((a, b) => b.body.length - a.body.length)[0]
  if (whole.length <= chars || longest === undefined || longest.body.length < shortestCut)
    return whole.slice(0, chars)
  const kept = Math.floor(longest.body.length / 4)
  const body = `${longest.body.slice(0, kept)}\n[…]\n${longest.body.slice(-kept)}`
  return fitted(
    parts.map((part) => (part === longest ? { ...longest, body } : part)),
    chars,
  )
}

/** The tags a prompt names: a draft before, the result inside. */
function tagged(body: string, ask: Ask, count: number): string {
  const names = [...`${ask.frame}\n${ask.text}`.matchAll(/<([a-z][\w-]*)>/giu)].map((match) => match[1] ?? '')
  const draft = names.find((name) => /^(?:analysis|draft|scratch\w*|reasoning)$/iu.test(name))
  const final = names.find((name) => /^(?:summary|result|final\w*|recap|digest)$/iu.test(name))
  const before =
    draft === undefined
      ? ''
      : `<${draft}>\nGoing through the conversation in order for ${count} sections.\n</${draft}>\n\n`
  return `${before}${final === undefined ? body : `<${final}>\n${body}\n</${final}>`}`
}

/** A conversation that was put into the prompt as text, one speaker a line. */
function spokenIn(prompt: string): Conversation {
  const lines = (speaker: string): readonly string[] =>
    [...prompt.matchAll(new RegExp(String.raw`^\W*(?:${speaker})\W*[:>]\s*(.+)$`, 'gimu'))].map(
      (match) => match[1] ?? '',
    )
  return {
    said: lines('user|human').map((words) => ({ at: 0, text: words, injected: false, withResults: false })),
    called: [],
    replied: lines('assistant|model|agent').map((words) => ({ at: 0, text: words })),
  }
}

const bodyChars = { usual: 3000, shortened: 1500 }
const fewestHeadings = 3

export function notesAnswer({ ask, conversation, toolbox, task }: Asked): readonly WireBlock[] {
  if (conversation.called.some((called) => called.at > ask.at)) return [text('The notes are up to date.')]
  const path = notesPath(ask.text)
  const sections = shownSections(ask.text)
  if (path === null || sections.length === 0)
    return [text('No notes were shown, so there is nothing to edit.')]
  const titles = sections.map((section) => section.title)
  const shown = sections.map(({ title, heading, body }) => ({
    title,
    heading,
    body: split(body).lines.join('\n'),
  }))
  const material = materialOf(before(conversation, ask.at), toolbox, task, shown)
  const limit = /\b(?:over|exceed\w*|too long|shorten|condense)\b/iu.test(ask.text)
    ? bodyChars.shortened
    : bodyChars.usual
  const edits = sections.flatMap((section) => {
    const lines = within(linesFor(section.title, titles, material), limit)
    const { guidance, lines: old } = split(section.body)
    if (lines.join('\n') === old.join('\n')) return []
    const head = [section.heading, ...guidance]
    const block = toolbox.callFor({
      verb: 'edit',
      path,
      old: `${section.heading}\n${section.body}`.trimEnd(),
      new: [...head, ...lines].join('\n'),
    })
    return block === null ? [] : [block]
  })
  return edits.length === 0 ? [text('Nothing has changed since the last notes.')] : edits
}

export const notesPath = (prompt: string): string | null =>
  /(?<![\w.~/-])~?\/[^\s"'`<>)]+\.md\b/u.exec(prompt)?.[0] ?? null

/** The newest lines that fit; a section shows where the work stands, so its end matters most. */
function within(lines: readonly string[], chars: number): readonly string[] {
  const kept: string[] = []
  let used = 0
  for (const line of lines.toReversed()) {
    used += line.length + 1
    if (used > chars) break
    kept.unshift(line)
  }
  return kept.length > 0 ? kept : [(lines.at(-1) ?? '').slice(0, chars)]
}

/** The file as shown: inside an element or a fence if one holds its headings, else from the first heading on. */
function shownSections(prompt: string): readonly Section[] {
  const enclosed = [
    ...prompt.matchAll(
      /<([a-z][\w-]*)[^>]*>\n?([\s\S]*?)\n?<\/\1>|^(?:```|~~~)\w*\n([\s\S]*?)\n(?:```|~~~)$/gimu,
    ),
  ]
  const inner = enclosed.map((match) => match[2] ?? match[3] ?? '').map(hashSections)
  const best = inner.reduce((most, sections) => (sections.length > most.length ? sections : most), [])
  if (best.length >= fewestHeadings) return best
  const open = hashSections(prompt)
  const last = open.at(-1)
  // Unenclosed, the prompt goes on below the file: its last section ends at the first empty line.
  return last === undefined
    ? []
    : [...open.slice(0, -1), { ...last, body: last.body.split(/\n\s*\n/u)[0] ?? '' }]
}

const hashSections = (value: string): readonly Section[] => sectionsIn(value, 'hash')

/** The guidance below a heading (one line in italics) and the lines that follow it. */
function split(body: string): { readonly guidance: readonly string[]; readonly lines: readonly string[] } {
  const lines = body.split('\n').filter((line) => line.trim() !== '')
  const guided = /^\s*(?:_.*_|\*[^*].*\*)\s*$/u.test(lines[0] ?? '')
  return { guidance: guided ? lines.slice(0, 1) : [], lines: guided ? lines.slice(1) : lines }
}
