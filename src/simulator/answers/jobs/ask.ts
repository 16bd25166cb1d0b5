// Owns the recognition of the engine's own requests among ordinary ones. Law: a request is known by what it asks for
// (a list of sections, a file to edit, a manifest to choose from, a number of words), never by a sentence of ours, so
// that prompts can be reworded freely. Pure.
import type { WireRequest } from '../../../model/wire.ts'
import { plainText } from '../../answer.ts'
import { isContinuation, isOpening, type Conversation, type Said } from '../conversation.ts'
import { askedSections } from '../sections.ts'
import { withoutTasks, type Task } from '../task.ts'
import type { Toolbox } from '../toolbox.ts'

export type Job = 'summary' | 'notes' | 'select' | 'extract' | 'consolidate' | 'progress'

export interface Ask {
  readonly job: Job
  /** The text that asks. */
  readonly text: string
  /** A short system prompt that belongs to the asking; empty where the system prompt is the agent's own. */
  readonly frame: string
  /** Index of the message that asks. */
  readonly at: number
}

const reach = { headChars: 2000, tailChars: 1200, frameChars: 6000 }
const fewestHeadings = 3
const askThreshold = 2
const manifestShare = 0.3

/** What a job is served from. */
export interface Asked {
  readonly ask: Ask
  readonly conversation: Conversation
  readonly request: WireRequest
  readonly toolbox: Toolbox
  /** The task at hand when it was asked. */
  readonly task: Task | null
}

export function askOf(request: WireRequest, conversation: Conversation, toolbox: Toolbox): Ask | null {
  const frame = frameOf(request)
  for (const said of candidates(conversation)) {
    const job = jobOf(said.text, frame, request, toolbox)
    if (job !== null) return { job, text: said.text, frame, at: said.at }
  }
  return null
}

/** Texts that may be asking, newest first, back to the last message that answers no call. */
function candidates(conversation: Conversation): readonly Said[] {
  const open: Said[] = []
  let floor: number | null = null
  for (const said of conversation.said.toReversed()) {
    if (floor !== null && said.at !== floor) break
    if (!said.injected) open.push(said)
    if (!said.withResults && !said.injected) floor = said.at
  }
  return open
}

/** With tools on offer the system prompt speaks for the agent; a bare call's few sentences belong to the question. */
function frameOf(request: WireRequest): string {
  const system = plainText(request.system ?? '')
  return (request.tools ?? []).length === 0 && system.length <= reach.frameChars ? system : ''
}

function jobOf(said: string, frame: string, request: WireRequest, toolbox: Toolbox): Job | null {
  // What an account quotes was asked before; only what stands around it can ask now.
  const text = isOpening(said) ? '' : withoutTasks(said)
  const all = `${frame}\n${text}`
  if (wantsNames(text, frame, request)) return 'select'
  if (wantsPhrase(all)) return 'progress'
  const writes = toolbox.offers('edit') || toolbox.offers('write')
  const notes = writes ? notesScore(text) : 0
  const memory = writes ? memoryScore(text) : 0
  // A file to be edited is plain to see; a summary may be spoken of in passing.
  if (Math.max(notes, memory) <= askThreshold && isSummaryAsk(text, frame)) return 'summary'
  if (Math.max(notes, memory) < askThreshold) return null
  if (notes > memory || (notes === memory && headings(text) >= fewestHeadings)) return 'notes'
  return isConsolidation(text) ? 'consolidate' : 'extract'
}

/** A choice from a manifest, to be given as JSON. Beside tools, a plan that lists documents looks much alike. */
function wantsNames(text: string, frame: string, request: WireRequest): boolean {
  const lines = manifestLines(text).length
  if (lines === 0 || isContinuation(text)) return false
  const asking = `${frame}\n${ends(text)}`
  const shaped = request.output_config?.format !== undefined
  const json =
    /\b(?:answer|reply|respond|return|output|give|write|produce|as|in|with)\b[^.\n]{0,60}\bjson\b|\bjson\b[^.\n]{0,30}\b(?:only|array|list|object)\b/iu.test(
      asking,
    )
  if (!shaped && !json) return false
  const choice = /\b(?:select|choos\w*|chosen|pick|which|relevant|useful|worth|helps?)\b/iu.test(asking)
  const share = lines / text.split('\n').filter((line) => line.trim() !== '').length
  return choice && ((request.tools ?? []).length === 0 || share >= manifestShare)
}

export const manifestLines = (text: string): readonly string[] =>
  text.split('\n').filter((line) => /^\s*(?:[-*•]|\d+[.)])\s.*\.md\b/u.test(line))

/** A phrase of a few words on what is going on. */
const wantsPhrase = (text: string): boolean =>
  /\b(?:3|three)\s*(?:-|–|—|to|or|and)\s*(?:5|five)[\s-]*words?\b/iu.test(text) ||
  /\b(?:at most|up to|no more than|under)\s+(?:5|five)\s+words?\b/iu.test(text)

const summaryNoun = String.raw`(?:summar(?:y|ies)|recap|digest|hand-?over|briefing|condensed (?:version|account)|account)`
const summaryVerb = String.raw`(?:summari[sz]e|condense|recap|compress|distil+|sum up|boil down)`
const makeSummary = new RegExp(
  String.raw`\b(?:write|produce|create|give|provide|prepare|compose|draft|make|deliver|output|(?:answer|reply|respond) with|need|is)\b[^.\n]{0,120}\b${summaryNoun}\b`,
  'iu',
)
const orderSummary = new RegExp(
  String.raw`(?:^|[.:!\n]\s*|\bplease |\bto |\bmust |\bshould |\bnow |\byou )${summaryVerb}\b`,
  'iu',
)

function isSummaryAsk(text: string, frame: string): boolean {
  const asking = `${frame}\n${ends(text)}`.replace(anyPath, ' ')
  if (!makeSummary.test(asking) && !orderSummary.test(asking)) return false
  const aboutConversation =
    /\b(conversation|session|dialogue|transcript|messages|exchange|span|discussion|chat|work so far)\b/iu.test(
      asking,
    )
  const tags = /<\/?(?:summary|analysis)>/iu.test(asking)
  const textOnly =
    /\b(text only|only text|plain text|(?:no|without|not|never)\b[^.\n]{0,30}\btools?)\b/iu.test(asking)
  const sections = askedSections(text).length > 0
  // The opening of a compacted session holds a summary; it does not ask for one.
  if (isContinuation(text) && !tags && !textOnly) return false
  return Number(aboutConversation) * 2 + Number(tags) + Number(textOnly) + Number(sections) >= askThreshold
}

/** A long text asks at its beginning or its end; between lies what it speaks of. */
const ends = (text: string): string =>
  text.length <= reach.headChars + reach.tailChars
    ? text
    : `${text.slice(0, reach.headChars)}\n${text.slice(-reach.tailChars)}`

/** Headings in a fence count too: a file may be shown in one. */
const headings = (text: string): number => (text.match(/^#{1,6}\s+\S/gmu) ?? []).length
const anyPath = /(?<![\w.~/-])~?\/[^\s"'`<>)]+/gu

/** One file, shown with its sections, to be brought up to date. */
function notesScore(text: string): number {
  const files = new Set(
    [...text.matchAll(anyPath)]
      .map((match) => match[0].replace(/[.,;:]+$/u, ''))
      .filter((path) => path.endsWith('.md')),
  )
  const words = ends(text).replace(anyPath, ' ')
  const update =
    /\b(update|edit|revise|fill|refresh|amend|maintain|complete|bring\b[^.\n]{0,60}up to date|keep\b[^.\n]{0,60}current)/iu.test(
      words,
    )
  if (files.size === 0 || !update || isContinuation(text)) return 0
  const shown = headings(text) >= fewestHeadings
  const named = /\b(notes?|notebook|journal|running (?:record|log)|working record|logbook)\b/iu.test(words)
  const guidance = (text.match(/^#{1,6} .+\n\s*[_*][^_*\n].*[_*]\s*$/gmu) ?? []).length
  if (!shown || !(named || guidance > 1)) return 0
  return 1 + Number(files.size === 1) + Number(named) + Number(guidance > 1)
}

/** A folder of memories that is to hold what lasts. */
function memoryScore(text: string): number {
  const words = ends(text).replace(anyPath, ' ')
  const named = /\bmemor(?:y|ies)\b|\blong-term\b/iu.test(words)
  const folder = memoryFolder(text) !== null
  if (!named || !folder || isContinuation(text)) return 0
  const lasting =
    /\b(future|later|next|across|other) (?:sessions?|conversations?)\b|\b(?:remember|lasting|durable|persist\w*|worth keeping)\b/iu.test(
      words,
    )
  const kept = lasting || manifestLines(text).length > 0 || isConsolidation(text)
  return kept ? askThreshold + Number(lasting) + Number(manifestLines(text).length > 0) : 0
}

/** The folder a text names for memories: a path with that word in it, else the only folder it names. */
export function memoryFolder(text: string): string | null {
  const paths = [...text.matchAll(anyPath)].map((match) => match[0].replace(/[.,;:]+$/u, ''))
  const folders = paths.map((path) =>
    path.endsWith('.md') ? path.replace(/\/[^/]*$/u, '') : path.replace(/\/$/u, ''),
  )
  const only = new Set(folders).size === 1 ? folders[0] : undefined
  return folders.find((path) => /memor/iu.test(path)) ?? only ?? null
}

const tidying = [
  /\bconsolidat/iu,
  /\bmerg(?:e|ing)/iu,
  /\bprun(?:e|ing)/iu,
  /\bcontradict/iu,
  /\b(?:stale|obsolete|outdated|superseded)\b/iu,
  /\b(?:duplicates|deduplicat|overlap)/iu,
  /\b(?:tidy|reorgani[sz]|clean(?:ing)? up|housekeeping|put in order)/iu,
  /\b(?:across|past|earlier|several|recent|many) sessions\b/iu,
]
const gleaning = [
  /\b(?:last|recent|latest|new|newest|following) (?:\d+ )?(?:messages|turns?|exchange)/iu,
  /\b(?:this|the) (?:conversation|exchange|dialogue)\b/iu,
  /\bsince\b/iu,
  /\b(?:said|told|stated|expressed|just)\b/iu,
]

/** Both speak of memory files; one puts the folder in order, the other adds what was just said. */
function isConsolidation(text: string): boolean {
  const count = (patterns: readonly RegExp[]): number =>
    patterns.filter((pattern) => pattern.test(text)).length
  return count(tidying) >= askThreshold && count(tidying) > count(gleaning)
}
