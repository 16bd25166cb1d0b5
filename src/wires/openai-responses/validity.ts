// Which rules of the Responses API a request breaks. One function a rule; it shares the tables of `request` with the
// repair and none of its logic, so that it can be its witness.
import { isDeeplyWellFormed } from '../../request/well-formed.ts'
import { fieldsOf, textOf, type Fields } from '../reading.ts'
import { eachIn, namePattern, problem } from '../repairing.ts'
import type { WireProblem } from '../wire.ts'
import {
  callIdOf,
  idOf,
  isCallItem,
  isReference,
  mayLoseId,
  isOutputItem,
  isReasoningItem,
  isSealed,
  leadsToItem,
  outputTypeOf,
  callIdChars,
  mayItemHold,
  reasoningBefore,
  typeOf,
  type ResponsesRequest,
} from './request.ts'

type Rule = (items: readonly Fields[], request: ResponsesRequest) => readonly WireProblem[]

const eachItem = eachIn<Fields, ResponsesRequest>('input')

const someItem: Rule = (items) => (items.length > 0 ? [] : [problem('some-item', 'input', 'there is none')])

const known = eachItem('bad-item', (item) => (typeOf(item) === '' ? 'it has no type' : null))

const pairing: Rule = (items) => {
  const found: WireProblem[] = []
  const open = new Map<string, number>()
  const calls = new Set<string>()
  // A reference may stand for any call.
  let isReferred = false
  items.forEach((item, at) => {
    const id = callIdOf(item)
    isReferred ||= isReference(item)
    if (isCallItem(item)) {
      if (calls.has(id)) found.push(problem('call-id', `input.${at}`, `a second call ${id}`))
      calls.add(id)
      open.set(id, at)
    } else if (isOutputItem(item)) {
      const call = open.get(id)
      open.delete(id)
      if (call === undefined) {
        if (!isReferred) found.push(problem('orphan-result', `input.${at}`, `no open call ${id} before it`))
      } else if (typeOf(item) !== outputTypeOf(items[call]!))
        found.push(problem('result-kind', `input.${at}`, `its call wants a ${outputTypeOf(items[call]!)}`))
    }
  })
  for (const [id, at] of open) found.push(problem('missing-result', `input.${at}`, `no result of ${id}`))
  return found
}

const wholeCall = eachItem('call', (item) => {
  if (callIdOf(item).length > callIdChars) return 'a long call_id'
  if (typeOf(item) !== 'function_call') return null
  if (callIdOf(item) === '') return 'it has no call_id'
  if (!namePattern.test(textOf(item['name']) ?? '')) return 'its name'
  return typeof item['arguments'] === 'string' ? null : 'its arguments are not text'
})

const reasoning = eachItem('reasoning', (item, at, items, request) => {
  if (!isReasoningItem(item)) return null
  if (request['store'] === false && !isSealed(item)) return 'it is not stored and not sealed'
  return leadsToItem(items, at) ? null : 'what it led to is not there'
})

const loneId = eachItem('lone-id', (item, at, items, { store }) =>
  mayLoseId(item, store) && idOf(item) !== null && !reasoningBefore(items, at)
    ? 'its reasoning is not there'
    : null,
)

const uniqueIds: Rule = (items) => {
  const ids = items.map(idOf)
  return ids.flatMap((id, at) =>
    id !== null && ids.indexOf(id) < at ? [problem('item-id', `input.${at}`, `${id} stands twice`)] : [],
  )
}

const compaction: Rule = (items) => {
  const found: WireProblem[] = []
  const places = items.flatMap((item, at) => (typeOf(item) === 'compaction' ? [at] : []))
  for (const at of places.slice(0, -1))
    found.push(problem('compaction', `input.${at}`, 'a later one holds it'))
  items.forEach((item, at) => {
    if (typeOf(item) === 'compaction_trigger' && at < items.length - 1)
      found.push(problem('compaction', `input.${at}`, 'the trigger is not last'))
  })
  return found
}

const parts = eachItem('part', (item) => {
  if (typeOf(item) !== 'message') return null
  const { content } = item
  if (typeof content === 'string') return null
  if (!Array.isArray(content) || content.length === 0) return 'it says nothing'
  return content.every((part) => mayItemHold(item['role'], textOf(fieldsOf(part)?.['type']) ?? ''))
    ? null
    : `a part that a message of role ${textOf(item['role'])} cannot carry`
})

const wellFormed = eachItem('lone-surrogate', (item) =>
  isDeeplyWellFormed(item) ? null : 'half a character',
)

const rules: readonly Rule[] = [
  someItem,
  known,
  pairing,
  wholeCall,
  reasoning,
  loneId,
  uniqueIds,
  compaction,
  parts,
  wellFormed,
]

/** Every rule of the Responses API that a request breaks. */
export function checkResponses(request: ResponsesRequest): readonly WireProblem[] {
  const { input } = request
  return typeof input === 'string' ? [] : rules.flatMap((rule) => rule(input, request))
}
