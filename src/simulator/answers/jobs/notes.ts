// Owns the answer to a request to bring a notes file up to date: one Edit per section whose body changes. Headings and
// guidance lines are repeated as they stand, so that an Edit finds them and never alters them.
import type { WireBlock } from '../../../model/wire.ts'
import { text } from '../blocks.ts'
import { before } from '../conversation.ts'
import { sectionsIn, type Section } from '../sections.ts'
import { linesFor, materialOf } from './report-lines.ts'
import type { Asked } from './ask.ts'

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
