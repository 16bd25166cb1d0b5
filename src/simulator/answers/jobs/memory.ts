// Owns the answers about memories: extraction, consolidation, and the choice from a manifest (by the words it shares with the
// question, as the JSON that was asked for); beside them the phrase that says what is going on. Extraction and consolidation keep
// the same order: read everything that may change, then write, then say what was done; where a request stands is told by the calls
// made since it was asked.
import type { WireBlock, WireRequest } from '../../../model/wire.ts'
import { text } from '../../answer.ts'
import { isRecord } from '../../rules/shape.ts'
import { before, ownWords, type Called, type Conversation } from '../conversation.ts'
import { gerunds } from '../task-walk.ts'
import type { Toolbox } from '../toolbox.ts'
import { manifestLines, memoryFolder, type Ask, type Asked } from './ask.ts'

const indexName = 'MEMORY.md'
const limits = { slugWords: 4, hookChars: 100, leastShared: 2, mostRead: 20 }

interface Statement {
  readonly text: string
  readonly type: 'user' | 'feedback' | 'project' | 'reference'
}

/** Saves what the user's own messages ask to keep; words of tools and files are never taken for a rule. */
export function extractionAnswer({ ask, conversation, toolbox }: Asked): readonly WireBlock[] {
  const folder = memoryFolder(ask.text)
  const statements = lastingStatements(span(before(conversation, ask.at), ask.text))
  const known = manifestLines(ask.text)
  const fresh = statements.filter(
    (statement) => !known.some((line) => line.includes(shortened(statement.text))),
  )
  if (folder === null || fresh.length === 0) return [text('Nothing worth keeping was said.')]
  const since = conversation.called.filter((called) => called.at > ask.at)
  if (since.some((called) => toolbox.intentOf(called)?.verb !== 'read'))
    return [text(`Saved: ${fresh.map((item) => item.text).join('; ')}`)]
  const targets = fresh.map((statement) => ({ statement, file: fileFor(statement, known) }))
  if (since.length === 0 && toolbox.offers('read')) {
    const existing = targets
      .map(({ file }) => file)
      .filter((file) => known.some((line) => fileName(line) === file))
    return [...new Set([indexName, ...existing])].flatMap(
      (file) => toolbox.callFor({ verb: 'read', path: `${folder}/${file}` }) ?? [],
    )
  }
  const writes = targets.map(({ statement, file }) => ({
    path: `${folder}/${file}`,
    content: memoryText(statement, file),
  }))
  const index = shownFile(since, toolbox, `${folder}/${indexName}`)
  const lines = targets
    .filter(({ file }) => !index.includes(`(${file})`))
    .map(({ statement, file }) => indexLine(statement, file))
  const indexed =
    lines.length === 0
      ? []
      : [
          {
            path: `${folder}/${indexName}`,
            content: [...index.split('\n').filter(Boolean), ...lines, ''].join('\n'),
          },
        ]
  return orSay(
    [...writes, ...indexed].flatMap((write) => toolbox.callFor({ verb: 'write', ...write }) ?? []),
    'No offered tool can write memories.',
  )
}

/** Only the messages a prompt speaks of, when it says how many. */
function span(conversation: Conversation, prompt: string): Conversation {
  const count = /\b(?:last|recent|latest|newest|previous)\s+~?(\d+)\s+messages\b/iu.exec(prompt)?.[1]
  const end =
    Math.max(
      -1,
      ...conversation.said.map((item) => item.at),
      ...conversation.replied.map((item) => item.at),
    ) + 1
  return count === undefined
    ? conversation
    : { ...conversation, said: conversation.said.filter((item) => item.at >= end - Number(count)) }
}

const asksToKeep =
  /\b(?:remember|always|never|from now on|I prefer|I like|I hate|please don't|I am an?|I'm an?|my name is|our deadline|we use)\b|记住|总是|我喜欢|기억해/iu

function lastingStatements(conversation: Conversation): readonly Statement[] {
  const sentences = ownWords(conversation).flatMap((item) => item.text.split(/(?<=[.!?。！？])\s+|\n/u))
  const kept = sentences.map((sentence) => sentence.trim()).filter((sentence) => asksToKeep.test(sentence))
  return [...new Set(kept)].map((sentence) => ({
    text: sentence.replace(/^(?:please\s+)?remember\s*(?:that|:|,)?\s*/iu, ''),
    type: typeOf(sentence),
  }))
}

/** A rule how to work is feedback even when it speaks of the person. */
function typeOf(sentence: string): Statement['type'] {
  if (/https?:\/\//iu.test(sentence)) return 'reference'
  if (/\b(?:always|never|from now on|prefer|like|hate|don't)\b|总是|我喜欢/iu.test(sentence))
    return 'feedback'
  return /\b(?:I am|I'm|my name)\b/iu.test(sentence) ? 'user' : 'project'
}

/** A file already in the manifest that speaks of the same, else a new name from the statement's own words. */
function fileFor(statement: Statement, known: readonly string[]): string {
  const words = tellingWords(statement.text)
  const near = known.find(
    (line) => [...tellingWords(line)].filter((word) => words.has(word)).length >= limits.leastShared,
  )
  if (near !== undefined) return fileName(near)
  const plain = statement.text.toLowerCase().replace(/\b(?:always|never|please|from now on|prefer)\b/gu, ' ')
  const slug = telling(plain).slice(0, limits.slugWords).join('-')
  return `${slug === '' ? 'statement' : slug}.md`
}

const shortened = (value: string): string => value.slice(0, limits.hookChars)

const memoryText = (statement: Statement, file: string): string =>
  [
    '---',
    `name: ${file.replace(/\.md$/u, '')}`,
    `description: ${shortened(statement.text)}`,
    `type: ${statement.type}`,
    '---',
    '',
    statement.text,
    '',
    '**Why:** the user said so in these words.',
    '**How to apply:** whenever the work touches this.',
    '',
  ].join('\n')

/** One short line a memory; the body stands in its own file. */
const indexLine = (statement: Statement, file: string): string =>
  `- [${file.replace(/\.md$/u, '').replaceAll('-', ' ')}](${file}) — ${shortened(statement.text)}`

/** A file as a read since the question showed it, line numbers taken off; empty when it is not there. */
function shownFile(since: readonly Called[], toolbox: Toolbox, path: string): string {
  const called = since.find(
    (item) => toolbox.intentOf(item)?.verb === 'read' && toolbox.intentOf(item)?.path === path,
  )
  if (called?.result === null || called?.result.isError !== false) return ''
  return called.result.text.replace(/^\s*\d+(?:→|\t|: ?|\| ?)/gmu, '').trimEnd()
}

/** Reads the folder, lets the newer of two memories that say the same (or the opposite) stand, and mends the index. */
export function consolidationAnswer({ ask, conversation, toolbox }: Asked): readonly WireBlock[] {
  const folder = memoryFolder(ask.text)
  const since = conversation.called.filter((called) => called.at > ask.at)
  if (folder === null) return [text('No memory folder is named.')]
  if (since.some((called) => ['write', 'edit'].includes(toolbox.intentOf(called)?.verb ?? '')))
    return [text('The memories are in order.')]
  const names = memoryNames(ask.text, since, toolbox)
  if (names.length === 0) {
    const list = since.length === 0 ? toolbox.callFor({ verb: 'list', pattern: '*.md', path: folder }) : null
    return orSay(list === null ? [] : [list], 'There are no memories to put in order.')
  }
  if (!since.some((called) => toolbox.intentOf(called)?.verb === 'read')) {
    return [indexName, ...names].flatMap(
      (name) => toolbox.callFor({ verb: 'read', path: `${folder}/${name}` }) ?? [],
    )
  }
  const files = names
    .map((name) => ({ name, content: shownFile(since, toolbox, `${folder}/${name}`) }))
    .filter((file) => file.content !== '')
  const retired = retirements(files)
  const index = shownFile(since, toolbox, `${folder}/${indexName}`)
  const repaired = index
    .split('\n')
    .filter((line) => !retired.some(({ file }) => line.includes(`(${file.name})`)))
    .join('\n')
  const writes = [
    ...retired.map(({ file, successor }) => ({
      path: `${folder}/${file.name}`,
      content: retiredText(file.content, successor),
    })),
    ...(repaired === index ? [] : [{ path: `${folder}/${indexName}`, content: `${repaired}\n` }]),
  ]
  return orSay(
    writes.flatMap((write) => toolbox.callFor({ verb: 'write', ...write }) ?? []),
    'The memories are in order; nothing changes.',
  )
}

/** From the manifest in the prompt, else from what a listing showed. */
function memoryNames(prompt: string, since: readonly Called[], toolbox: Toolbox): readonly string[] {
  const listed = since
    .filter((called) => toolbox.intentOf(called)?.verb === 'list')
    .flatMap((called) => (called.result?.text ?? '').split('\n'))
  const lines = manifestLines(prompt).length > 0 ? manifestLines(prompt) : listed
  const names = lines.map((line) => fileName(line).split('/').at(-1) ?? '')
  return [...new Set(names)].filter((name) => name !== '' && name !== indexName).slice(0, limits.mostRead)
}

interface MemoryFile {
  readonly name: string
  readonly content: string
}

/** Of two files with one meaning the first in the list, the newest, stands. */
function retirements(
  files: readonly MemoryFile[],
): readonly { readonly file: MemoryFile; readonly successor: string }[] {
  const standing = new Map<string, string>()
  return files.flatMap((file) => {
    const meaning = essence(file.content)
    const successor = standing.get(meaning)
    if (successor === undefined) standing.set(meaning, file.name)
    return successor === undefined || file.content.includes('Superseded by') ? [] : [{ file, successor }]
  })
}

/** The first sentence of the body without what says yes or no: opposites meet, as duplicates do. */
function essence(content: string): string {
  const body =
    content
      .replace(/^---\n[\s\S]*?\n---\n/u, '')
      .trim()
      .split('\n')[0] ?? ''
  return [...tellingWords(body.replace(/\b(?:always|never|do not|don't|please)\b/giu, ' '))].sort().join(' ')
}

const retiredText = (content: string, successor: string): string => {
  const front = /^---\n[\s\S]*?\n---\n/u.exec(content)?.[0] ?? ''
  return `${front}\nSuperseded by ${successor}.\n`
}

const orSay = (blocks: readonly WireBlock[], words: string): readonly WireBlock[] =>
  blocks.length > 0 ? blocks : [text(words)]

const mostChosen = 5
const wordChars = 4
const phraseWords = 5

export function selectionAnswer({ ask, request }: Asked): readonly WireBlock[] {
  return [text(namesAsJson(chosenNames(ask.text), ask, request))]
}

/** At most five, those that share a telling word with the question, best first. */
function chosenNames(prompt: string): readonly string[] {
  const lines = manifestLines(prompt)
  const question = tellingWords(
    prompt
      .split('\n')
      .filter((line) => !lines.includes(line) && !/^\s*(?:recent\w*|tools?)\b.*tools?/iu.test(line))
      .join('\n'),
  )
  const scored = lines.map((line) => ({
    name: fileName(line),
    score: [...tellingWords(line)].filter((word) => question.has(word)).length,
  }))
  const useful = scored.filter((item) => item.score > 0).toSorted((a, b) => b.score - a.score)
  return useful.slice(0, mostChosen).map((item) => item.name)
}

export const fileName = (line: string): string => /[^\s[\]()`"']+\.md\b/u.exec(line)?.[0] ?? ''

/** The shape the request prescribes, else the key its example shows, else a bare list. */
export function namesAsJson(names: readonly string[], ask: Ask, request: WireRequest): string {
  const key =
    schemaKey(request.output_config?.format) ?? /"(\w+)"\s*:\s*\[/u.exec(`${ask.frame}\n${ask.text}`)?.[1]
  return JSON.stringify(key === undefined ? names : { [key]: names })
}

function schemaKey(format: unknown): string | undefined {
  const schema = isRecord(format) ? format['schema'] : undefined
  const properties = isRecord(schema) ? schema['properties'] : undefined
  if (!isRecord(properties)) return undefined
  return Object.keys(properties).find(
    (key) => isRecord(properties[key]) && properties[key]['type'] === 'array',
  )
}

const common = new Set(
  'about above after also answer because been before could does each file files from give have into json list memories memory message more most name names none only question query reference relevant select should some tell than that their them then there these they this type types used user useful using what when where which will with would your feedback project today ago days'.split(
    ' ',
  ),
)

/** Words that carry meaning, as they are written. */
const telling = (value: string): readonly string[] =>
  (value.toLowerCase().match(/[\p{Script=Latin}\p{N}]{2,}/gu) ?? []).filter(
    (word) => word.length >= wordChars && !common.has(word),
  )

/** The same in a plain stem, to be compared; scripts without spaces count by pairs of characters. */
function tellingWords(value: string): ReadonlySet<string> {
  const stems = telling(value).map((word) => word.replace(/(?:ing|ed|es|s)$/u, ''))
  const runs =
    value.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]{2,}/gu) ?? []
  const pairs = runs.flatMap((run) =>
    Array.from({ length: run.length - 1 }, (_, at) => run.slice(at, at + 2)),
  )
  return new Set([...stems, ...pairs])
}

/** Three to five words in the present tense on the last thing done. */
export function progressAnswer({ ask, conversation, toolbox }: Asked): readonly WireBlock[] {
  const last = before(conversation, ask.at).called.at(-1)
  const intent = last === undefined ? null : toolbox.intentOf(last)
  if (intent === null) return [text('Reading the current request')]
  const object = intent.command ?? intent.path?.split('/').at(-1) ?? intent.pattern ?? 'the files'
  const words = `${gerunds[intent.verb]} ${object}`.split(/\s+/u).slice(0, phraseWords)
  const fillers = ['right', 'now']
  return [text([...words, ...fillers.slice(0, Math.max(0, 3 - words.length))].join(' '))]
}
