// What a recording showed, block by block, and whether it can be looked up again: a file can be read and a search be made
// once more; what a person or the model said, and what a command put out that changes things, nobody shows again.
import { deedOf } from '../../compaction/files.ts'
import type { WireBlock } from '../../model/wire.ts'
import type { Script, Step } from '../playing/script.ts'
import { textOf, withoutLineNumbers } from './texts.ts'

export interface SeenSource {
  readonly block: WireBlock
  /** Seen from the request of this step on. */
  readonly step: number
  readonly isLasting: boolean
  /** Its text without the numbers before lines. */
  readonly plain: string
}

/** In the order in which they came; `answered` hears of each step before its answer is seen. */
export function* seenSources(script: Script, answered: (step: Step) => void): Generator<SeenSource> {
  const lasting = new Set<string>()
  if (script.reminder !== null) yield* source({ type: 'text', text: script.reminder }, 0, false)
  for (const [index, step] of script.steps.entries()) {
    for (const { id, content, isError } of step.results) {
      const block = { type: 'tool_result', tool_use_id: id, content, is_error: isError }
      yield* source(block, index, lasting.has(id))
    }
    for (const block of step.input) yield* source({ ...block }, index, false)
    answered(step)
    for (const block of step.answer.content) {
      const isCall = block.type === 'tool_use' && 'input' in block
      if (isCall && isRepeatable(block.name, block.input)) lasting.add(block.id)
      // What a call writes into a file stands in the file.
      const deed = isCall ? deedOf(block) : null
      yield* source({ ...block }, index + 1, deed === 'written' || deed === 'edited' || isPatch(block))
    }
  }
}

function* source(block: WireBlock, step: number, isLasting: boolean): Generator<SeenSource> {
  const text = textOf(block)
  if (text !== '') yield { block, step, isLasting, plain: withoutLineNumbers(text) }
}

const reading =
  /^(?:read|view|cat|ls|list\w*|rg|grep|glob|find\w*|search\w*|get_\w+|read_\w+|web_?(?:search|fetch)|crawl_tool|notebook_?read)$/i
const shell = /^(?:bash|shell|exec|exec_command|execute_bash|local_shell)$/i
/** Commands that only show; git by what it is asked. */
const showing =
  /^(?:cd|cat|sed -n|nl|head|tail|less|ls|tree|find|fd|rg|grep|egrep|wc|sort|uniq|cut|awk|jq|file|stat|du|pwd|which|echo|printf|diff|true|git (?:-C \S+ )?(?:show|log|diff|status|blame|grep|ls-files|branch|rev-parse|remote))(?:\s|$)/

/** Whether the same call would show the same again, as far as its name and its command tell. */
export function isRepeatable(name: string, input: Readonly<Record<string, unknown>>): boolean {
  if (reading.test(name) || deedOf({ name, input }) === 'read') return true
  if (name === 'str_replace_editor') return input['command'] === 'view'
  if (!shell.test(name)) return false
  const command = commandOf(input)
  if (command === null || /(?<![<>&\d])>(?!&|\s*\/dev\/null)/.test(command)) return false
  const pieces = command.split(/&&|\|\||[;|\n]/).map((piece) => piece.trim())
  return pieces.every((piece) => piece === '' || showing.test(piece))
}

function commandOf(input: Readonly<Record<string, unknown>>): string | null {
  const given = input['command'] ?? input['cmd'] ?? input['input']
  if (typeof given === 'string') return given
  return Array.isArray(given) ? ((given.at(-1) as string | undefined)?.toString() ?? null) : null
}

const isPatch = (block: object): boolean =>
  'name' in block && 'input' in block && JSON.stringify(block.input).includes('*** Begin Patch')
