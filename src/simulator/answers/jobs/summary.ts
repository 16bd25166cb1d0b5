// Owns the answer to a request for a summary: the sections that were asked, in their order and wording, each filled
// from the conversation in sight; in the tags that were asked; within the tokens that were given.
import type { WireBlock } from '../../../model/wire.ts'
import { text } from '../blocks.ts'
import { before, type Conversation } from '../conversation.ts'
import { askedSections } from '../sections.ts'
import { linesFor, materialOf } from './report-lines.ts'
import type { Ask, Asked } from './ask.ts'

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
