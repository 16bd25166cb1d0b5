// A session as reading matter: its facts, a line each, and the text of a request. Long texts are shown by their ends.
import type { WireBlock, WireRequest } from '../../src/model/wire.ts'
import { textIn } from '../../src/transcript/content.ts'
import type { Edit, Fact } from '../../src/transcript/fact.ts'

/** Facts that say nothing about what is in the view. */
const silent = new Set<Fact['type']>(['request-sent', 'turn-end', 'instructions-set'])

export function factLines(facts: readonly Fact[]): string {
  return facts
    .flatMap((fact, seq) =>
      silent.has(fact.type) ? [] : [`${String(seq).padStart(3)}  ${fact.type.padEnd(18)}${about(fact)}`],
    )
    .map((line) => line.trimEnd())
    .join('\n')
}

function about(fact: Fact): string {
  switch (fact.type) {
    case 'user-message':
      return quoted(textIn(fact.content))
    case 'assistant-message':
      return fact.content
        .map((block) => (isCall(block) ? `calls ${block.name} ${JSON.stringify(block.input)}` : quoted(textIn([block]))))
        .join(', ')
    case 'tool-result':
      return `${fact.call}: ${quoted(textIn(fact.content))}`
    case 'view-edit':
      return `${fact.layer}: ${fact.edits.map(editText).join(', ')} — ${fact.why}`
    case 'boundary':
      return `${fact.layer} (${fact.source}): ${fact.edits.map(editText).join(', ')} — ${fact.why}`
    case 'undo':
      return `of ${fact.target}`
    default:
      return ''
  }
}

const isCall = (block: { readonly type: string }): block is { type: 'tool_use'; name: string; input: object } =>
  block.type === 'tool_use'

function editText(edit: Edit): string {
  switch (edit.kind) {
    case 'stub':
      return `stub at ${edit.at.seq}`
    case 'remote':
      return `remote ${edit.via} at ${edit.at.map(({ seq }) => seq).join(' ')}`
    default:
      return `${edit.kind} ${edit.from}–${edit.to}`
  }
}

function quoted(text: string): string {
  const [first = '', ...rest] = text.split('\n')
  const start = first.length > 60 ? `${first.slice(0, 60)}…` : first
  return `"${start}"${rest.length > 0 || first.length > 60 ? ` (${count(text)})` : ''}`
}

const count = (text: string): string => `${text.length.toLocaleString('en')} characters`

/** The messages of a request as the model reads them; texts of more lines than `whole` by their ends. */
export function requestText({ messages }: WireRequest, whole: number): string {
  return messages
    .map(({ role, content }) => {
      const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content
      return `${role}:\n${blocks.map((block) => indented(blockText(block), whole)).join('\n')}`
    })
    .join('\n')
}

function blockText(block: WireBlock): string {
  if (block.type === 'tool_use') return `<call ${String(block['name'])} ${JSON.stringify(block['input'])}>`
  if (block.type !== 'tool_result') return textIn([block])
  const { content } = block as { readonly content?: unknown }
  const text = typeof content === 'string' ? content : textIn((content ?? []) as readonly WireBlock[])
  return `<result of ${String(block['tool_use_id'])}> ${text}`
}

function indented(text: string, whole: number): string {
  const lines = text.split('\n')
  const shown =
    lines.length <= whole ? lines : [lines[0]!, `… ${count(text)} in ${lines.length} lines …`, lines.at(-1)!]
  return shown.map((line) => `  ${line.length > 400 ? `${line.slice(0, 400)}…` : line}`.trimEnd()).join('\n')
}
