// Owns what the rule-based model can say of a conversation: for a section title in any wording, the lines that belong
// under it. Summaries and notes are both made of these. Pure; nothing is said that the request does not show.
import { isContinuation, ownWords, type Called, type Conversation } from '../conversation.ts'
import { sectionsIn, type Section } from '../sections.ts'
import { tasksIn, withoutTasks, type Task } from '../task.ts'
import { labelledLines, outcomeOf, remainingSteps } from '../task-walk.ts'
import type { Intent, Toolbox, Verb } from '../toolbox.ts'

export interface Material {
  readonly conversation: Conversation
  readonly toolbox: Toolbox
  readonly task: Task | null
  /** Sections of an earlier summary or of the notes as they stand: what they tell is carried on. */
  readonly earlier: readonly Section[]
}

const quoteChars = 200
const repliesKept = 5
const none = 'None.'

type Kind = keyof typeof kinds

/** What a title means, the first that fits. */
const kinds = {
  title: /\btitle\b/iu,
  words:
    /\buser(?:'s)?\b.*\b(?:messages?|words|inputs?|said)\b|\b(?:messages?|words|inputs?)\b.*\buser\b|\bverbatim\b|\bword for word\b/iu,
  concepts: /\b(?:concepts?|technical|technolog\w+|documentation|architecture|codebase|components?)\b/iu,
  files: /\b(?:files?|code|functions?)\b/iu,
  errors: /\b(?:errors?|fix(?:es)?|failures?|corrections?|mistakes?|went wrong|trouble)\b/iu,
  pending: /\b(?:pending|to-?dos?|open|remaining|outstanding|left|unfinished)\b/iu,
  next: /\b(?:next|continu\w+|follow-?up)\b/iu,
  log: /\b(?:worklog|log|completed|done|progress|steps)\b/iu,
  now: /\b(?:current|state|status|stood|stands|now|under way)\b/iu,
  commands: /\b(?:workflow|commands?)\b/iu,
  results: /\b(?:results?|outputs?|deliver\w+)\b/iu,
  lessons: /\b(?:learn\w*|decisions?|problems?|solving|approach|insights?|lessons?)\b/iu,
  request: /\b(?:requests?|intent|goals?|tasks?|asked|objectives?|purpose|aims?|brief)\b/iu,
}

export const kindOf = (title: string): Kind | null =>
  (Object.keys(kinds) as Kind[]).find((kind) => kinds[kind].test(title)) ?? null

/** The conversation before an ask, with what an earlier summary in it already told. */
export function materialOf(
  conversation: Conversation,
  toolbox: Toolbox,
  task: Task | null,
  shown: readonly Section[] = [],
): Material {
  const summarized = conversation.said
    .filter((item) => isContinuation(item.text))
    .flatMap((item) => sectionsIn(item.text))
  return { conversation, toolbox, task, earlier: [...summarized, ...shown] }
}

/** The lines under one title; `titles` are all that were asked, so that nothing is told twice or left without a place. */
export function linesFor(title: string, titles: readonly string[], material: Material): readonly string[] {
  const kind = kindOf(title)
  const asked = new Set(titles.map(kindOf))
  const fresh = freshLines(kind, asked, material)
  if (kind === 'pending' || kind === 'next') return fresh
  if (kind === 'now') return asked.has('log') ? fresh : merged(earlierLines('now', material), fresh)
  const earlier = earlierLines(kind, material)
  if (kind === 'title') return earlier.length > 0 ? earlier.slice(0, 1) : fresh
  return merged(earlier, fresh)
}

const merged = (earlier: readonly string[], fresh: readonly string[]): readonly string[] => {
  const all = [...new Set([...earlier, ...fresh])].filter((line) => line !== none)
  return all.length === 0 ? [none] : all
}

/** What was told under the same meaning before; a fenced quotation stays one piece. */
function earlierLines(kind: Kind | null, material: Material): readonly string[] {
  const bodies = material.earlier
    .filter((section) => kindOf(section.title) === kind)
    .map((section) => section.body)
  return bodies
    .flatMap((body) => body.match(/"""[\s\S]*?"""|^.*\S.*$/gmu) ?? [])
    .filter((line) => !/^\s*_.*_\s*$/u.test(line))
}

function freshLines(
  kind: Kind | null,
  asked: ReadonlySet<Kind | null>,
  material: Material,
): readonly string[] {
  const { conversation, toolbox, task } = material
  switch (kind) {
    case 'title':
      return [headline(conversation)]
    case 'words':
      return orNone(ownWords(conversation).map((item) => quotation(item.text)))
    case 'request':
      return requestLines(conversation, asked.has('words'))
    case 'concepts':
      return orNone(conceptLines(conversation))
    case 'files':
      return orNone(deeds(material).flatMap(fileLine))
    case 'errors':
      return orNone(errorLines(material))
    case 'commands':
      return orNone(deeds(material).flatMap(commandLine))
    case 'pending':
      return task === null
        ? [none]
        : orNone(remainingSteps(task, conversation, toolbox).map((step) => `- ${step}`))
    case 'next':
      return nextLines(material)
    case 'log':
      return workLines(conversation)
    case 'now':
      return asked.has('log') ? workLines(conversation).slice(-1) : workLines(conversation)
    default:
      return orNone(conversation.replied.slice(-repliesKept).map(({ text }) => `- ${oneLine(text)}`))
  }
}

const orNone = (lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [none] : [...new Set(lines)]
const oneLine = (value: string): string => value.replace(/\s+/gu, ' ').trim().slice(0, quoteChars)

/** A message as it was written: on its line, or, with several lines, between fences. */
const quotation = (value: string): string => (value.includes('\n') ? `"""\n${value}\n"""` : `- ${value}`)

function headline(conversation: Conversation): string {
  const first = withoutTasks(ownWords(conversation)[0]?.text ?? '').trim()
  return first === '' ? 'Work without a stated goal' : first.split(/\s+/u).slice(0, 8).join(' ')
}

/** The first goal and the newest wish; between them lies what was already dealt with. */
function requestLines(conversation: Conversation, quotedElsewhere: boolean): readonly string[] {
  const own = ownWords(conversation)
  const chosen = own.length > 1 ? [own[0], own.at(-1)] : own
  return orNone(
    chosen.flatMap((item) => {
      if (item === undefined) return []
      if (!quotedElsewhere) return [quotation(item.text)]
      const names = tasksIn(item.text).map((task) => ` (task ${task.name}, ${task.steps.length} steps)`)
      return [`- ${oneLine(withoutTasks(item.text))}${names.join('')}`]
    }),
  )
}

function conceptLines(conversation: Conversation): readonly string[] {
  const tools = [...new Set(conversation.called.map((called) => called.name))]
  return tools.length === 0 ? [] : [`- tools used: ${tools.join(', ')}`]
}

interface Deed {
  readonly intent: Intent
  readonly called: Called
}

function deeds({ conversation, toolbox }: Material): readonly Deed[] {
  return conversation.called.flatMap((called) => {
    const intent = called.result === null ? null : toolbox.intentOf(called)
    return intent === null ? [] : [{ intent, called }]
  })
}

const past: Readonly<Partial<Record<Verb, string>>> = { read: 'read', edit: 'edited', write: 'wrote' }

/** A call that failed changed nothing, so it is no trace of a file. */
function fileLine({ intent, called }: Deed): readonly string[] {
  const verb = past[intent.verb]
  if (verb === undefined || intent.path === undefined) return []
  if (called.result?.isError === true) return []
  const change = intent.new ?? intent.content
  return [`- ${verb} ${intent.path}${change === undefined ? '' : `, now with \`${oneLine(change)}\``}`]
}

const commandLine = ({ intent, called }: Deed): readonly string[] =>
  intent.command === undefined || called.result === null
    ? []
    : [`- ran \`${intent.command}\` → ${outcomeOf(called.result)}`]

/** What failed, and the first change that came after it. */
function errorLines(material: Material): readonly string[] {
  const all = deeds(material)
  return all.flatMap(({ intent, called }, index) => {
    if (called.result === null) return []
    // What a file says of failures is not a failure; only a command's output speaks of how it went.
    const bad = intent.command === undefined ? called.result.isError : outcomeOf(called.result) === 'failed'
    if (!bad) return []
    const object = intent.command ?? intent.path ?? intent.pattern ?? called.name
    const after = all
      .slice(index + 1)
      .flatMap(fileLine)
      .find((line) => !line.startsWith('- read'))
    return [
      `- ${object} failed: ${oneLine(called.result.text)}${after === undefined ? '' : `; then ${after.slice(2)}`}`,
    ]
  })
}

function nextLines({ conversation, toolbox, task }: Material): readonly string[] {
  const step = task === null ? undefined : remainingSteps(task, conversation, toolbox)[0]
  if (step === undefined) return ['None: what was asked is finished.']
  const quote = oneLine(withoutTasks(ownWords(conversation).at(-1)?.text ?? ''))
  return [`- ${step}${quote === '' ? '' : `, as asked: "${quote}"`}`]
}

/** Labels first: they are what a later reader can go on from. */
function workLines(conversation: Conversation): readonly string[] {
  const labels = labelledLines(conversation)
  const lines =
    labels.length > 0 ? labels : conversation.replied.slice(-repliesKept).map(({ text }) => oneLine(text))
  return orNone(lines.map((line) => `- ${line}`))
}
