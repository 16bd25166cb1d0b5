// The OpenAI Agents SDK: a filter of what is sent in each call of the model (`callModelInputFilter`). Sessions keep every item;
// the filter only chooses what the model is shown. Items are judged as those of Responses, which they are in other letters.
import { isRecord } from '../../transcript/content.ts'
import { callName, partsOf, textOf, type CallName, type Dialect, type Element } from './dialect.ts'
import { createFitting, type FrameworkOptions } from './fitting.ts'

/** An item of the Agents SDK, as far as it is looked at. */
export type AgentsItem = object

const fieldsOf = (item: object): Element => item as Element

const partTypes: Readonly<Record<string, string>> = {
  text: 'input_text',
  image: 'input_image',
  file: 'input_file',
}

/** What a call returned: a text, one part or several. */
const outputParts = (output: unknown): readonly Element[] => (isRecord(output) ? [output] : partsOf(output))

function write(given: AgentsItem, nameOf: CallName = callName): readonly Element[] {
  const item = fieldsOf(given)
  const { callId, providerData, id, ...rest } = item
  switch (item['type']) {
    case 'function_call':
      return [
        { type: 'function_call', call_id: nameOf(callId), name: item['name'], arguments: item['arguments'] },
      ]
    case 'function_call_result':
      return [
        {
          type: 'function_call_output',
          call_id: nameOf(callId),
          output: outputParts(item['output']).map((part) =>
            typeof part['text'] === 'string'
              ? { type: 'input_text', text: part['text'] }
              : { ...part, type: partTypes[textOf(part['type'])] ?? part['type'] },
          ),
        },
      ]
    case 'reasoning':
      return [
        {
          type: 'reasoning',
          summary: item['content'] ?? [],
          encrypted_content: JSON.stringify(providerData ?? id ?? ''),
        },
      ]
    case 'message':
    case undefined:
      return [
        {
          type: 'message',
          role: item['role'],
          content:
            typeof item['content'] === 'string'
              ? [{ type: item['role'] === 'assistant' ? 'output_text' : 'input_text', text: item['content'] }]
              : item['content'],
        },
      ]
    default:
      return [{ ...rest, type: item['type'] }]
  }
}

const textsIn = (element: Element): readonly string[] => {
  const output = element['output'] ?? element['content']
  return typeof output === 'string' ? [output] : outputParts(output).map(({ text }) => textOf(text))
}

function rewrite(given: AgentsItem, [element]: readonly (Element | null)[]): AgentsItem {
  const item = fieldsOf(given)
  if (element === null || element === undefined || item['type'] !== 'function_call_result') return given
  const left = [...textsIn(element)]
  const { output } = item
  const shorter = (part: unknown): unknown =>
    isRecord(part) && typeof part['text'] === 'string' ? { ...part, text: left.shift() ?? '' } : part
  return {
    ...item,
    output:
      typeof output === 'string'
        ? left.join('\n')
        : Array.isArray(output)
          ? output.map(shorter)
          : shorter(output),
  }
}

const dialect: Dialect<AgentsItem> = {
  wire: 'openai-responses',
  write,
  rewrite,
  create: (element, idOf) =>
    textOf(element['type']).endsWith('_output')
      ? {
          type: 'function_call_result',
          name: 'unknown',
          callId: idOf(element['call_id']),
          status: 'incomplete',
          output: { type: 'text', text: textsIn(element).join('\n') },
        }
      : {
          type: 'message',
          role: 'user',
          content: [{ type: 'input_text', text: textsIn(element).join('\n') }],
        },
}

/** What the SDK asks a filter. */
interface FilterCall<Item> {
  readonly modelData: { readonly input: readonly Item[]; readonly instructions?: string | undefined }
  readonly context?: unknown
}

export interface AgentsFitOptions extends FrameworkOptions<AgentsItem> {
  /** The name of the conversation, from the run's context. */
  readonly conversation?: ((context: unknown) => string) | undefined
}

/** A session of the SDK, as far as it is used. */
export interface AgentsSession<Item = AgentsItem> {
  getSessionId(): Promise<string>
  getItems(limit?: number): Promise<Item[]>
  addItems(items: Item[]): Promise<void>
  popItem(): Promise<Item | undefined>
  clearSession(): Promise<void>
}

/** For `callModelInputFilter` of a run or a Runner. One for each conversation, or name them by `conversation`. */
export interface AgentsFit {
  <Item extends AgentsItem>(call: FilterCall<Item>): Promise<{ input: Item[]; instructions?: string }>
  /**
   * A session for a run: what is read from it fits, and the one underneath keeps every item. Between the turns of one run the
   * SDK does not ask it: give the filter too.
   */
  session<Item extends AgentsItem>(
    underneath: AgentsSession<Item>,
    conversation?: string,
  ): AgentsSession<Item>
}

/** `fit` for the OpenAI Agents SDK. */
export function agentsFit({ conversation = () => '', ...options }: AgentsFitOptions): AgentsFit {
  const fitting = createFitting<AgentsItem>(dialect, options)
  const filter = async <Item extends AgentsItem>({ modelData, context }: FilterCall<Item>) => {
    const { input, instructions } = modelData
    const fitted = await fitting.fitted(input, { conversation: conversation(context), system: instructions })
    return { input: [...fitted] as Item[], ...(instructions === undefined ? {} : { instructions }) }
  }
  const session = <Item extends AgentsItem>(
    underneath: AgentsSession<Item>,
    name = '',
  ): AgentsSession<Item> => ({
    getSessionId: () => underneath.getSessionId(),
    async getItems(limit) {
      const all = await underneath.getItems()
      const fitted = all.length === 0 ? all : await fitting.fitted(all, { conversation: name, isView: true })
      return (limit === undefined ? [...fitted] : fitted.slice(-limit)) as Item[]
    },
    addItems: (items) => underneath.addItems(items),
    popItem: () => underneath.popItem(),
    clearSession: () => underneath.clearSession(),
  })
  return Object.assign(filter, { session })
}
