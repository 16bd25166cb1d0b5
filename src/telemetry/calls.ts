// Calls as spans, from the answer that made them to their result; a call that writes a memory has that operation inside.
// A model may call a tool by any name it likes: on a metric only those stand that were offered.
import { isRecord } from '../transcript/content.ts'
import type { Entry, FactOf, ToolSpec } from '../transcript/fact.ts'
import { names, operations, type Operation } from './conventions.ts'
import type { Attributes, SpanContext } from './port.ts'
import {
  failedWith,
  messageJson,
  type ReaderOptions,
  short,
  spanAt,
  type Teller,
  valueJson,
} from './teller.ts'

interface OpenCall {
  readonly context: SpanContext
  readonly at: number
  readonly seq: number
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
}

/** A tool of somebody else's server, by how such tools are named here. */
const extension = /^mcp__/
const otherTool = '_other'

export class Calls {
  readonly #teller: Teller
  readonly #options: ReaderOptions
  readonly #open = new Map<string, OpenCall>()
  #offered: ReadonlySet<string> = new Set()

  constructor(teller: Teller, options: ReaderOptions) {
    this.#teller = teller
    this.#options = options
  }

  offer(tools: readonly ToolSpec[]): void {
    this.#offered = new Set(tools.map(({ name }) => name))
  }

  open({ seq, at }: Entry, { content }: FactOf<'assistant-message'>, turn: SpanContext): void {
    for (const block of content) {
      if (block.type !== 'tool_use' || !('input' in block)) continue
      const { id, name, input } = block
      const context = spanAt(turn.traceId, this.#teller.session, seq, `${operations.tool}/${id}`)
      this.#open.set(id, { context, at, seq, name, input })
      this.#teller.begin(context, {
        name: `${operations.tool} ${short(name)}`,
        kind: 'internal',
        parent: turn,
        links: [],
        at,
        attributes: {
          [names.operation]: operations.tool,
          [names.toolName]: short(name),
          [names.toolType]: extension.test(name) ? 'extension' : 'function',
          [names.toolCall]: short(id),
          [names.place]: seq,
          ...(this.#options.content === true ? { [names.toolArguments]: valueJson(input) } : {}),
        },
      })
    }
  }

  result({ at }: Entry, { call, isError, content }: FactOf<'tool-result'>): void {
    const attributes: Attributes =
      this.#options.content === true ? { [names.toolResult]: messageJson('tool', content) } : {}
    this.#end(call, at, attributes, isError ? 'tool-error' : null)
  }

  /** What is still open when a turn ends got no result that was written. */
  endAll(at: number): void {
    for (const id of this.#open.keys()) this.#end(id, at, {}, 'no-result')
  }

  #end(id: string, at: number, attributes: Attributes, error: string | null): void {
    const call = this.#open.get(id)
    if (call === undefined) return
    this.#open.delete(id)
    const end = Math.max(call.at, at)
    this.#memory(call, end, error)
    this.#teller.end(call, { end, attributes, error })
    this.#teller.duration('gen_ai.execute_tool.duration', call.at, end, {
      [names.operation]: operations.tool,
      [names.toolName]: this.#offered.has(call.name) ? call.name : otherTool,
      ...failedWith(error),
    })
  }

  #memory({ context: parent, at, seq, name, input }: OpenCall, end: number, error: string | null): void {
    const operation = memoryOperation(name, input, this.#options.isMemory)
    if (operation === null) return
    const what = `${operation}/${parent.spanId}`
    const context = spanAt(parent.traceId, this.#teller.session, seq, what)
    const attributes = { [names.operation]: operation, [names.place]: seq }
    this.#teller.begin(context, { name: operation, kind: 'internal', parent, links: [], at, attributes })
    this.#teller.end({ context, at }, { end, attributes: {}, error })
  }
}

/** Commands of the memory tool of the Messages API, and what they are. */
const commands: Readonly<Record<string, Operation>> = {
  view: operations.searchMemory,
  create: operations.createMemory,
  str_replace: operations.updateMemory,
  insert: operations.updateMemory,
  rename: operations.updateMemory,
  delete: operations.deleteMemory,
}

/** What a call does to memories, or null. */
function memoryOperation(
  name: string,
  input: unknown,
  isMemory: ReaderOptions['isMemory'],
): Operation | null {
  if (name === 'SearchMemory') return operations.searchMemory
  if (!isRecord(input)) return null
  const { command, path = input['file_path'] } = input
  if (name === 'memory' && typeof command === 'string' && Object.hasOwn(commands, command))
    return commands[command]!
  if (typeof path !== 'string' || isMemory?.(path) !== true) return null
  if (name === 'Edit') return operations.updateMemory
  // Whether there was one before is not in the call.
  return name === 'Write' ? operations.upsertMemory : null
}
