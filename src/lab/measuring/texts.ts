// What a block says, as text and as lines, the same for a recorded block and for one that is sent. Reasoning says
// nothing here: it is not always sent, and nobody can look it up.
import { defaults } from '../../settings/defaults.ts'
import { isNumber, withCodeOpened } from '../../compaction/call-shape.ts'
import { stringsIn } from '../../projection/folding/render.ts'

type Fields = Readonly<Record<string, unknown>>

/** Every text of a block: its words, the texts in a call's input, the words of a result. A number that a call was given shows nothing. */
export function textOf(block: { readonly type: string } & Fields): string {
  switch (block.type) {
    case 'text':
      return String(block['text'])
    case 'tool_use':
      return [
        String(block['name']),
        ...withCodeOpened(stringsIn(block['input']), stringsIn).filter((text) => !isNumber(text)),
      ].join('\n')
    case 'tool_result':
      return contentText(block['content'])
    default:
      return ''
  }
}

export function contentText(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .map((inner: unknown) => {
      const text = (inner as Fields | null)?.['text']
      return typeof text === 'string' ? text : ''
    })
    .join('\n')
}

/** Lines with something in them; one that is too long counts as several, always cut at the same places. */
export function* linesOf(text: string): Generator<string> {
  const most = defaults.lab.lineChars
  for (const line of text.split('\n')) {
    if (line.length <= most) {
      if (line.trim() !== '') yield line
      continue
    }
    let start = 0
    while (start < line.length) {
      let end = Math.min(line.length, start + most)
      const blank = line.lastIndexOf(' ', end)
      if (end < line.length && blank > start + most / 2) end = blank
      yield line.slice(start, end)
      start = end
    }
  }
}

const numbered = /^ *\d+(?:→|\t|[:-](?=\D))/gm

/** Without the numbers that tools put before lines: what is shown is the text behind them. */
export const withoutLineNumbers = (text: string): string => text.replaceAll(numbered, '')
