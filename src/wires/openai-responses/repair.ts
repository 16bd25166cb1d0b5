// Makes any request for a response one that the server accepts, and says what it changed. Pure and idempotent. Its passes: the
// shape of each item, calls with their results, compactions, reasoning with what it led to, ids.
import { isDeeplyWellFormed } from '../../request/well-formed.ts'
import { fieldsOf, textOf, type Fields } from '../reading.ts'
import { emptyUser, missingResult } from '../anthropic/block-rules.ts'
import { changedIds, type CallStep } from '../call-ids.ts'
import {
  namePattern,
  repairNotes,
  sameItems,
  spelledName,
  wellFormedFields,
  withShortId,
  type RepairNotes,
} from '../repairing.ts'
import type { WireRepaired } from '../wire.ts'
import {
  callIdOf,
  idOf,
  isCallItem,
  isMade,
  isOutputItem,
  isReasoningItem,
  isReference,
  isSealed,
  leadsToItem,
  callIdChars,
  outputTypeOf,
  mayItemHold,
  mayLoseId,
  reasoningBefore,
  typeOf,
  type ResponsesRequest,
} from './request.ts'

interface Draft {
  readonly item: Fields
  readonly path: string
}
const itemsOf = (drafts: readonly Draft[]): readonly Fields[] => drafts.map(({ item }) => item)

/** Any request for a response as one that the server accepts. */
export function repairResponses(request: ResponsesRequest): WireRepaired<ResponsesRequest> {
  const { input } = request
  if (typeof input === 'string') return { request, repairs: [] }
  const notes = repairNotes()
  const drafts = input.flatMap((item, at) => shaped(item, `input.${at}`, notes))
  const whole = reasoned(
    compacted(paired(separated(drafts, notes), notes), notes),
    request['store'] === false,
    notes,
  )
  const items = [...itemsOf(withoutLoneIds(whole, request['store'], notes))]
  if (items.length === 0) {
    notes.note('some-item', 'input', 'nothing was left: an empty message stands in')
    items.push({ type: 'message', role: 'user', content: [{ type: 'input_text', text: emptyUser }] })
  }
  if (notes.repairs.length === 0) return { request, repairs: [] }
  return { request: { ...request, input: items }, repairs: notes.repairs }
}

// ---- the shape of one item ----

function shaped(given: unknown, path: string, notes: RepairNotes): readonly Draft[] {
  const fields = fieldsOf(given)
  if (fields === null || typeOf(fields) === '') {
    notes.note('bad-item', path, 'left out: it is no item')
    return []
  }
  // Sealed content goes as it came or not at all.
  if (isReasoningItem(fields) && !isDeeplyWellFormed(fields)) {
    notes.note('reasoning', path, 'left out: it cannot be sent as it was made')
    return []
  }
  const item = withShortId(wellFormedFields(fields, path, notes), 'call_id', callIdChars, path, notes)
  if (typeOf(item) === 'message') return shapedMessage(item, path, notes)
  if (typeOf(item) === 'function_call') return shapedCall(item, path, notes)
  return [{ item, path }]
}

function shapedMessage(item: Fields, path: string, notes: RepairNotes): readonly Draft[] {
  const { content, role } = item
  if (typeof content === 'string') return [{ item, path }]
  const given: readonly unknown[] = Array.isArray(content) ? content : []
  const kept = given.flatMap((part, index): readonly unknown[] => {
    const fields = fieldsOf(typeof part === 'string' ? { type: 'text', text: part } : part)
    if (fields === null) return []
    if (mayItemHold(role, textOf(fields['type']) ?? '')) return [part]
    const text = textOf(fields['text'])
    notes.note(
      'part',
      `${path}.content.${index}`,
      text === null ? 'left out: it cannot stand here' : 'text renamed',
    )
    return text === null ? [] : [{ type: role === 'assistant' ? 'output_text' : 'input_text', text }]
  })
  if (kept.length === 0) {
    notes.note('empty-message', path, 'left out: it says nothing')
    return []
  }
  const same = sameItems(kept, given)
  if (!same && kept.length < given.length) notes.note('part', path, 'parts left out that cannot be read')
  return [{ item: same ? item : { ...item, content: kept }, path }]
}

function shapedCall(item: Fields, path: string, notes: RepairNotes): readonly Draft[] {
  if (callIdOf(item) === '') {
    notes.note('call-id', path, 'left out: it has no call_id')
    return []
  }
  const name = textOf(item['name']) ?? ''
  const given = item['arguments']
  if (namePattern.test(name) && typeof given === 'string') return [{ item, path }]
  notes.note('call', path, 'its name or its arguments written as the server takes them')
  const text = typeof given === 'string' ? given : JSON.stringify(given ?? {})
  return [{ item: { ...item, name: spelledName(name), arguments: text }, path }]
}

// ---- calls and results ----

/** Calls that share an id under ids of their own, with their results: one stands once in a request. */
function separated(drafts: readonly Draft[], notes: RepairNotes): readonly Draft[] {
  let group = 0
  const steps = drafts.flatMap(({ item }, at): readonly CallStep[] => {
    if (!isMade(item) && !isReasoningItem(item)) group++
    const id = callIdOf(item)
    if (isOutputItem(item)) return [{ at: `${at}`, kind: 'result', id, group, print: '' }]
    const print = JSON.stringify([id, item['name'], item['arguments'] ?? item['input']])
    return isCallItem(item) ? [{ at: `${at}`, kind: 'call', id, group, print }] : []
  })
  const changed = changedIds(steps, { isListWide: true, mostChars: callIdChars })
  return drafts.flatMap((draft, at) => {
    const id = changed.get(`${at}`)
    if (id === undefined) return [draft]
    const before = callIdOf(draft.item)
    if (id === null) notes.note('call-id', draft.path, `left out: it repeats call ${before}`)
    else if (isCallItem(draft.item)) notes.note('call-id', draft.path, `call ${before} goes out as ${id}`)
    return id === null ? [] : [{ ...draft, item: { ...draft.item, call_id: id } }]
  })
}

function paired(drafts: readonly Draft[], notes: RepairNotes): readonly Draft[] {
  const { kept, lost } = matched(drafts, notes)
  const out: Draft[] = []
  let waiting: Fields[] = []
  // Behind the last of the items that belong together: between them it would part a call from its reasoning.
  const flush = (): void => {
    for (const call of waiting)
      out.push({
        item: { type: outputTypeOf(call), call_id: callIdOf(call), output: missingResult },
        path: 'input',
      })
    waiting = []
  }
  for (const draft of kept) {
    if (!isMade(draft.item) && !isReasoningItem(draft.item)) flush()
    out.push(draft)
    if (lost.has(draft)) {
      notes.note(
        'missing-result',
        draft.path,
        `a result of ${callIdOf(draft.item)} stands in for the one that is lost`,
      )
      waiting.push(draft.item)
    }
  }
  flush()
  return out
}

/** Without results of no call; `lost` are the calls that nothing answers. */
function matched(
  drafts: readonly Draft[],
  notes: RepairNotes,
): { readonly kept: readonly Draft[]; readonly lost: ReadonlySet<Draft> } {
  const open = new Map<string, Draft>()
  let isReferred = false
  const kept = drafts.flatMap((draft): readonly Draft[] => {
    const id = callIdOf(draft.item)
    isReferred ||= isReference(draft.item)
    if (isCallItem(draft.item)) {
      open.set(id, draft)
    } else if (isOutputItem(draft.item)) {
      const call = open.get(id)
      // A reference before it may stand for its call.
      if (call === undefined && isReferred) return [draft]
      if (call === undefined) {
        notes.note('orphan-result', draft.path, `left out: no open call ${id} before it`)
        return []
      }
      open.delete(id)
      const type = outputTypeOf(call.item)
      if (typeOf(draft.item) === type) return [draft]
      notes.note('result-kind', draft.path, `became ${type}, as its call wants it`)
      return [{ ...draft, item: { ...draft.item, type } }]
    }
    return [draft]
  })
  return { kept, lost: new Set(open.values()) }
}

// ---- compactions, reasoning, ids ----

function compacted(drafts: readonly Draft[], notes: RepairNotes): readonly Draft[] {
  const last = drafts.findLastIndex(({ item }) => typeOf(item) === 'compaction')
  return drafts.filter(({ item, path }, at) => {
    const isOld = typeOf(item) === 'compaction' && at < last
    const isEarly = typeOf(item) === 'compaction_trigger' && at < drafts.length - 1
    if (isOld) notes.note('compaction', path, 'left out: a later one holds what it held')
    if (isEarly) notes.note('compaction', path, 'a trigger that is not last left out')
    return !isOld && !isEarly
  })
}

function reasoned(drafts: readonly Draft[], unstored: boolean, notes: RepairNotes): readonly Draft[] {
  const seen = new Set<string>()
  const sealed = drafts.filter(({ item, path }) => {
    if (!isReasoningItem(item)) return true
    const id = idOf(item)
    const isSecond = id !== null && seen.has(id)
    if (id !== null) seen.add(id)
    if (!isSecond && (isSealed(item) || !unstored)) return true
    notes.note(
      'reasoning',
      path,
      `left out: ${isSecond ? 'it stands twice' : 'it is not stored and not sealed'}`,
    )
    return false
  })
  const items = itemsOf(sealed)
  return sealed.filter(({ item, path }, at) => {
    if (!isReasoningItem(item) || leadsToItem(items, at)) return true
    notes.note('reasoning', path, 'left out: what it led to is not there')
    return false
  })
}

/** An id makes the server look for the reasoning that came with it. Without its id the item stands alone. */
function withoutLoneIds(drafts: readonly Draft[], store: unknown, notes: RepairNotes): readonly Draft[] {
  const items = itemsOf(drafts)
  const seen = new Set<string>()
  return drafts.map((draft, at) => {
    const id = idOf(draft.item)
    if (id === null) return draft
    const isSecond = seen.has(id)
    seen.add(id)
    const isLone = mayLoseId(draft.item, store) && !reasoningBefore(items, at)
    if (!isSecond && !isLone) return draft
    notes.note(
      isSecond ? 'item-id' : 'lone-id',
      draft.path,
      `its id left out: ${isSecond ? 'it stands twice' : 'its reasoning is not there'}`,
    )
    const { id: _, ...item } = draft.item
    return { ...draft, item }
  })
}
