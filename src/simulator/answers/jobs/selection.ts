// Owns the choice of memories from a manifest (by the words it shares with the question, as the JSON that was asked
// for) and the phrase that says what is going on.
import type { WireBlock, WireRequest } from '../../../model/wire.ts'
import { text } from '../blocks.ts'
import { isRecord } from '../../rules/shape.ts'
import { before } from '../conversation.ts'
import { gerunds } from '../task-record.ts'
import { manifestLines, type Ask, type Asked } from './ask.ts'

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
export const telling = (value: string): readonly string[] =>
  (value.toLowerCase().match(/[\p{Script=Latin}\p{N}]{2,}/gu) ?? []).filter(
    (word) => word.length >= wordChars && !common.has(word),
  )

/** The same in a plain stem, to be compared; scripts without spaces count by pairs of characters. */
export function tellingWords(value: string): ReadonlySet<string> {
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
