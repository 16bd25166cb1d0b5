// What Responses refuses beyond the shape: calls and outputs, reasoning and its neighbours, ids that were not kept, seals of
// another model or tenant, where a compaction may stand. An item made behind reasoning says so in its own id (`…w<number>`), so that
// a request can be judged without anything that was kept.
import type { DialectModel } from '../../models.ts'
import { openContent } from '../../../rules/seal.ts'
import { checkSampling } from '../chat/rules.ts'
import { fault, type ApiFault } from '../errors.ts'
import type { Item, ResponsesBody } from './request.ts'
import { stringOf } from '../../../rules/blocks.ts'

export interface ItemRules {
  readonly model: DialectModel
  /** Judges seals; without it they are only looked at from outside. */
  readonly secret: string | null
  readonly tenant: string | null
  /** Items of responses that were stored. */
  readonly isStored: (id: string) => boolean
}

export function checkResponsesParameters(body: ResponsesBody, model: DialectModel): ApiFault | null {
  for (const name of ['background', 'conversation', 'prompt'] as const) {
    const value = body[name] ?? null
    if (value !== null && value !== false)
      return fault(`Unsupported parameter: '${name}' is not simulated.`, name, 'unsupported_parameter')
  }
  if (body.input === undefined && (body['previous_response_id'] ?? null) === null)
    return fault(
      'One of "input" or "previous_response_id" or \'prompt\' or \'conversation_id\' must be provided.',
      null,
      'missing_required_parameter',
    )
  const most = body['max_output_tokens']
  if (typeof most === 'number' && most > model.maxOutput) {
    const message = `Invalid 'max_output_tokens': integer above maximum value. Expected a value <= ${model.maxOutput}, but got ${most} instead.`
    return fault(message, 'max_output_tokens', 'integer_above_max_value')
  }
  const effort = (body['reasoning'] as { effort?: unknown } | null | undefined)?.effort
  if (model.reasons && effort !== 'none') return checkSampling(body)
  if (!model.reasons && typeof effort === 'string' && effort !== 'none')
    return fault(
      "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
      'reasoning.effort',
      'unsupported_parameter',
    )
  return null
}

export function checkItems(items: readonly Item[], rules: ItemRules): ApiFault | null {
  return (
    checkDuplicates(items) ??
    checkKept(items, rules) ??
    checkReasoning(items) ??
    checkCalls(items) ??
    checkSeals(items, rules) ??
    checkCompaction(items)
  )
}

const idOf = (item: Item): string => (typeof item['id'] === 'string' ? item['id'] : '')

function checkDuplicates(items: readonly Item[]): ApiFault | null {
  const seen = new Set<string>()
  for (const item of items) {
    const id = idOf(item)
    if (id !== '' && seen.has(id))
      return fault(
        `Duplicate item found with id ${id}. Remove duplicate items from your input and try again.`,
        'input',
      )
    seen.add(id)
  }
  return null
}

/** An item that is named but not given must have been stored. */
function checkKept(items: readonly Item[], { isStored }: ItemRules): ApiFault | null {
  for (const item of items) {
    const id = idOf(item)
    const isBare = item.type === 'reasoning' && (item['encrypted_content'] ?? null) === null
    const isReference = item.type === 'item_reference' || item.type === undefined
    if (id === '' || isStored(id) || !(isBare || (isReference && item['role'] === undefined))) continue
    return {
      ...fault(
        `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
        'input',
      ),
      status: 404,
    }
  }
  return null
}

const FOLLOWS_REASONING = /_call$|^function_call$|^reasoning$|^item_reference$/

function checkReasoning(items: readonly Item[]): ApiFault | null {
  const thought = new Set<string>()
  for (const [index, item] of items.entries()) {
    const id = idOf(item)
    if (item.type === 'reasoning') {
      const next = items[index + 1]
      const isFollowed =
        next !== undefined && (next['role'] === 'assistant' || FOLLOWS_REASONING.test(next.type ?? ''))
      if (!isFollowed && id !== '')
        return fault(
          `Item '${id}' of type 'reasoning' was provided without its required following item.`,
          'input',
        )
      thought.add(id)
    }
    const needed = neededReasoning(id)
    if (needed !== null && !thought.has(needed))
      return fault(
        `Item '${id}' of type '${item.type ?? 'message'}' was provided without its required 'reasoning' item: '${needed}'.`,
        'input',
      )
  }
  return null
}

/** The reasoning an item was made behind, by its own id. */
function neededReasoning(id: string): string | null {
  const number = /^(?:fc|msg|ctc)_sim\d{8}w(\d{8})$/u.exec(id)?.[1]
  return number === undefined ? null : `rs_sim${number}`
}

const PAIRS = [
  { call: 'function_call', output: 'function_call_output', words: 'function call' },
  { call: 'custom_tool_call', output: 'custom_tool_call_output', words: 'custom tool call' },
] as const

/** Each call is answered somewhere later, and each output answers a call before it. */
function checkCalls(items: readonly Item[]): ApiFault | null {
  for (const { call, output, words } of PAIRS) {
    const open = new Set<string>()
    const made = new Set<string>()
    for (const item of items) {
      const id = stringOf(item['call_id'])
      if (item.type === call) {
        open.add(id)
        made.add(id)
      } else if (item.type === output) {
        if (!made.has(id)) return fault(`No tool call found for ${words} output with call_id ${id}.`, 'input')
        open.delete(id)
      }
    }
    const [first] = open
    if (first !== undefined) return fault(`No tool output found for ${words} ${first}.`, 'input')
  }
  return null
}

function checkSeals(items: readonly Item[], { model, secret, tenant }: ItemRules): ApiFault | null {
  if (secret === null) return null
  for (const item of items) {
    const sealed = item['encrypted_content']
    if (typeof sealed !== 'string' || (item.type !== 'reasoning' && item.type !== 'compaction')) continue
    const seal = openContent(secret, sealed)
    const kind = item.type === 'reasoning' ? 'reasoning' : 'compaction'
    const why =
      seal === null || seal.kind !== kind
        ? 'Encrypted content could not be decrypted or parsed.'
        : tenant !== null && seal.tenant !== tenant
          ? 'Encrypted content organization_id did not match the target organization.'
          : seal.model === model.id
            ? null
            : 'Encrypted content was created by a different model.'
    if (why === null) continue
    const name = idOf(item) === '' ? `${sealed.slice(0, 4)}...${sealed.slice(-4)}` : `for item ${idOf(item)}`
    return fault(
      `The encrypted content ${name} could not be verified. Reason: ${why}`,
      null,
      'invalid_encrypted_content',
    )
  }
  return null
}

/** One compaction at most, and the wish for one comes last (wording unverified). */
function checkCompaction(items: readonly Item[]): ApiFault | null {
  const found = items.filter((item) => item.type === 'compaction').length
  if (found > 1)
    return fault('Only one compaction item may be provided in the input.', 'input', 'invalid_value')
  const at = items.findIndex((item) => item.type === 'compaction_trigger')
  if (at >= 0 && at < items.length - 1)
    return fault(
      "An item of type 'compaction_trigger' must be the last item of the input.",
      `input[${at}]`,
      'invalid_value',
    )
  return null
}
