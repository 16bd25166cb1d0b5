// Compaction: a sealed account of what was said, asked of whoever answers.
import { askModel, numbered, type DialectBench, type Json } from '../../front.ts'
import type { DialectModel } from '../../models.ts'
import { compactionItem, type ItemContext, type OutputItem } from './answer.ts'
import { responsesRequest } from './reading.ts'
import type { Item, ResponsesBody } from './request.ts'
import { stringOf } from '../../../rules/blocks.ts'

/** A request whose items have been judged. */
export interface AcceptedItems {
  readonly body: ResponsesBody
  /** With what an earlier response brought, and references filled in. */
  readonly items: readonly Item[]
  readonly model: DialectModel
}

export interface Answered {
  readonly items: readonly OutputItem[]
  readonly stop: string
  readonly outputTokens: number
  readonly thinkingTokens: number
}

const SUMMARISE =
  'Create a detailed summary of this conversation so far, so that the work can continue from it alone. Answer with text only, inside <summary> tags.'

export async function summarised(
  { body, items, model }: AcceptedItems,
  promptTokens: number,
  context: ItemContext,
  headers: Readonly<Record<string, string>>,
): Promise<Answered> {
  const asked: Item = { type: 'message', role: 'user', content: SUMMARISE }
  const request = responsesRequest({ ...body, tool_choice: 'none' }, [...items, asked], model, false)
  const said = await askModel(context.bench, {
    request,
    model,
    promptTokens,
    maxOutput: model.maxOutput,
    thinks: false,
    headers,
  })
  const text = said.blocks
    .map(({ block }) => (block.type === 'text' ? stringOf(block['text']) : ''))
    .join('\n')
  const item = compactionItem(text, said.outputTokens, context)
  return { items: [{ item, text: '' }], stop: 'end_turn', outputTokens: said.outputTokens, thinkingTokens: 0 }
}

/** The user's own messages, each with an id, in front of the account of the rest. */
export function ownMessages(items: readonly Item[], bench: DialectBench): readonly Json[] {
  return items
    .filter((item) => item['role'] === 'user')
    .map((item) => ({
      type: 'message',
      id: numbered('msg_', bench.next('item')),
      status: 'completed',
      ...item,
    }))
}
