// Makes any request for generated content one that the server accepts, and says what it changed. Pure and idempotent. Its passes:
// the shape of each part, neighbours of one role, calls with their results, signatures of the turn under way.
import { asList, fieldsOf, listOf, textOf, type Fields } from '../reading.ts'
import { continueText, emptyUser, missingResult, opening } from '../anthropic/block-rules.ts'
import { changedIds, type CallStep } from '../call-ids.ts'
import { repairNotes, sameItems, wellFormedFields, type RepairNotes } from '../repairing.ts'
import type { WireRepaired, WireTarget } from '../wire.ts'
import { asksSignatures } from './models.ts'
import {
  answers,
  callOf,
  isEmptyPart,
  responseOf,
  contentRole,
  signatureOf,
  turnStart,
  type GeminiRequest,
  withCall,
  withResponse,
  dummySignature,
} from './request.ts'

interface Draft {
  readonly role: 'user' | 'model'
  readonly parts: readonly Fields[]
  readonly path: string
  /** The content it came as, while nothing of it has changed. */
  readonly untouched: Fields | null
}

/** Any request for generated content as one that the server accepts. */
export function repairGemini(request: GeminiRequest, target: WireTarget): WireRepaired<GeminiRequest> {
  const notes = repairNotes()
  const drafts = request.contents.flatMap((content, at) => shaped(content, `contents.${at}`, notes))
  const alone = separated(opened(joined(drafts, notes), notes), notes)
  const pairs = joined(paired(alone, notes), notes)
  const whole = signed(closed(opened(pairs, notes), notes), target, notes)
  if (whole.length === 0) {
    notes.note('some-content', 'contents', 'nothing was left: an empty message stands in')
    whole.push({ role: 'user', parts: [{ text: emptyUser }] })
  }
  if (notes.repairs.length === 0) return { request, repairs: [] }
  return { request: { ...request, contents: whole }, repairs: notes.repairs }
}

// ---- the shape of one content ----

function shaped(given: unknown, path: string, notes: RepairNotes): readonly Draft[] {
  const fields = fieldsOf(given)
  if (fields === null) {
    notes.note('bad-content', path, 'left out: it is no content')
    return []
  }
  const content = wellFormedFields(fields, path, notes)
  const named = contentRole(content)
  const role = named === 'model' ? 'model' : 'user'
  if (named !== role)
    notes.note('role', path, `role ${JSON.stringify(content['role']) ?? 'undefined'} became user`)
  const given2: readonly unknown[] = Array.isArray(content['parts']) ? content['parts'] : []
  const parts = given2.flatMap((part, index) => shapedPart(part, role, `${path}.parts.${index}`, notes))
  if (parts.length === 0) {
    notes.note('empty-part', path, 'left out: it has no parts')
    return []
  }
  const same = content === given && named === role && sameItems(parts, given2)
  return [{ role, parts, path, untouched: same ? fields : null }]
}

function shapedPart(
  given: unknown,
  role: Draft['role'],
  path: string,
  notes: RepairNotes,
): readonly Fields[] {
  const part = fieldsOf(given)
  if (part === null || isEmptyPart(part)) {
    notes.note('empty-part', path, 'left out: it is empty')
    return []
  }
  if ((role === 'user' && callOf(part) !== null) || (role === 'model' && responseOf(part) !== null)) {
    notes.note('misplaced', path, `left out: a ${role} cannot say it`)
    return []
  }
  const response = responseOf(part)
  if (response === null || fieldsOf(response['response']) !== null) return [part]
  notes.note('response', path, 'what it returned stands in an object')
  const output = response['response'] ?? ''
  return [withResponse(part, { ...response, response: { output } })]
}

function joined(drafts: readonly Draft[], notes: RepairNotes): readonly Draft[] {
  const out: Draft[] = []
  for (const draft of drafts) {
    const last = out.at(-1)
    if (last?.role !== draft.role) out.push(draft)
    else {
      notes.note('same-role', draft.path, 'joined with the content before')
      out[out.length - 1] = { ...last, parts: [...last.parts, ...draft.parts], untouched: null }
    }
  }
  return out
}

function opened(drafts: readonly Draft[], notes: RepairNotes): readonly Draft[] {
  if (drafts[0]?.role !== 'model') return drafts
  notes.note('first-user', drafts[0].path, 'a line of the user stands before it')
  return [{ role: 'user', parts: [{ text: opening }], path: 'contents', untouched: null }, ...drafts]
}

function closed(drafts: readonly Draft[], notes: RepairNotes): readonly Draft[] {
  const last = drafts.at(-1)
  if (last?.role !== 'model') return drafts
  notes.note('last-user', last.path, 'a line of the user stands behind it')
  return [...drafts, { role: 'user', parts: [{ text: continueText }], path: 'contents', untouched: null }]
}

// ---- calls and results ----

/** Calls of one content that share an id under ids of their own, with their results. One without an id is paired by order. */
function separated(drafts: readonly Draft[], notes: RepairNotes): readonly Draft[] {
  const steps = drafts.flatMap(({ parts }, group) =>
    parts.flatMap((part, index): readonly CallStep[] => {
      const [call, response] = [callOf(part), responseOf(part)]
      const id = textOf((call ?? response)?.['id'])
      if (id === null) return []
      const print = JSON.stringify([id, call?.['name'], call?.['args']])
      return [{ at: `${group}.${index}`, kind: call === null ? 'result' : 'call', id, group, print }]
    }),
  )
  const changed = changedIds(steps, { isListWide: false, mostChars: mostIdChars })
  if (changed.size === 0) return drafts
  return drafts.map((draft, group) => {
    const parts = draft.parts.flatMap((part, index): readonly Fields[] => {
      const id = changed.get(`${group}.${index}`)
      const [call, response] = [callOf(part), responseOf(part)]
      if (id === undefined) return [part]
      if (response !== null) return id === null ? [part] : [withResponse(part, { ...response, id })]
      const before = JSON.stringify(call?.['id'])
      if (id === null) notes.note('call-id', draft.path, `left out: it repeats call ${before}`)
      else notes.note('call-id', draft.path, `call ${before} goes out as ${id}`)
      return id === null ? [] : [withCall(part, { ...call, id })]
    })
    return sameItems(parts, draft.parts) ? draft : { ...draft, parts, untouched: null }
  })
}
const mostIdChars = 64

function paired(drafts: readonly Draft[], notes: RepairNotes): readonly Draft[] {
  const out: Draft[] = []
  drafts.forEach((draft, at) => {
    if (draft.role === 'model') {
      out.push(draft)
      const calls = draft.parts.flatMap((part) => asList(callOf(part)))
      if (calls.length > 0 && drafts[at + 1] === undefined)
        out.push(withResults({ role: 'user', parts: [], path: draft.path, untouched: null }, calls, notes))
      return
    }
    const before = drafts[at - 1]
    const calls = before?.parts.flatMap((part) => asList(callOf(part))) ?? []
    const whole = withResults(draft, calls, notes)
    if (whole.parts.length > 0) out.push(whole)
  })
  return out
}

/** One result for each call, before whatever else the content says; in the order of the calls. */
function withResults(draft: Draft, calls: readonly Fields[], notes: RepairNotes): Draft {
  const given = draft.parts.filter((part) => responseOf(part) !== null)
  if (given.length === calls.length && isPaired(given, calls)) return draft
  const others = draft.parts.filter((part) => responseOf(part) === null)
  const left = [...given]
  const results = calls.map((call) => {
    const at = left.findIndex((part) => answers(call, responseOf(part)!))
    if (at >= 0) return matching(left.splice(at, 1)[0]!, call)
    notes.note(
      'missing-result',
      draft.path,
      `a result of ${textOf(call['name'])} stands in for the one that is lost`,
    )
    return { functionResponse: { ...idOf(call), name: call['name'], response: { error: missingResult } } }
  })
  for (const part of left)
    notes.note(
      'orphan-result',
      draft.path,
      `left out: a result of ${textOf(responseOf(part)!['name'])} without its call`,
    )
  notes.note('result-order', draft.path, 'results put behind their calls, one for each')
  return { ...draft, parts: [...results, ...others], untouched: null }
}

const idOf = (call: Fields): { readonly id?: string } => {
  const id = textOf(call['id'])
  return id === null ? {} : { id }
}

function isPaired(parts: readonly Fields[], calls: readonly Fields[]): boolean {
  return parts.every((part, at) => {
    const response = responseOf(part)!
    return answers(calls[at]!, response) && calls[at]!['name'] === response['name']
  })
}

/** A result that was found says the id and the name of its call. */
function matching(part: Fields, call: Fields): Fields {
  const { id: _, ...response } = responseOf(part)!
  return withResponse(part, { ...idOf(call), ...response, name: call['name'] })
}

// ---- signatures ----

/** Only the turn under way is looked at, and there the first call of each step. */
function signed(drafts: readonly Draft[], target: WireTarget, notes: RepairNotes): Fields[] {
  const contents = drafts.map(({ role, parts, untouched }) => untouched ?? { role, parts })
  if (!(target.quirks?.signatures ?? asksSignatures(target.model))) return contents
  const start = turnStart(contents)
  return contents.map((content, at) => {
    const parts = listOf(content['parts'])
    const first = at > start ? parts.findIndex((part) => callOf(part) !== null) : -1
    if (first < 0 || signatureOf(parts[first]!) !== null) return content
    notes.note('signature', drafts[at]!.path, 'the maker’s stand-in for a signature on its first call')
    return { ...content, parts: parts.with(first, { ...parts[first], thoughtSignature: dummySignature }) }
  })
}
