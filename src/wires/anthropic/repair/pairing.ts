// Calls and their results. After this pass every call is answered exactly once, in the very next message, before
// anything else there; every result has its call; ids are unique and spelled as the wire wants them.
// Ids are settled from the front, so that a longer list keeps the ids its shorter beginning got.
import type { WireBlock } from '../../../model/wire.ts'
import { idPattern, isServerCall, isServerResult, missingResult, truncatedCall } from '../block-rules.ts'
import {
  changed,
  newUserDraft,
  messagePath,
  note,
  draftPlace,
  withBlocks,
  type Draft,
  type RepairLog,
} from './draft.ts'

interface Call {
  /** Which draft it stands in, and the id as it came. */
  readonly message: number
  readonly rawId: string
  readonly block: WireBlock
  /** What tells a repetition from another call; empty where no other call has its id. */
  readonly print: string
  result: { readonly message: number; readonly block: WireBlock } | null
  /** The id it goes out with; null once it is left out as a repetition. */
  id: string | null
}

const rawId = (id: unknown): string => (typeof id === 'string' ? id : '')

export function pairCalls(drafts: readonly Draft[], log: RepairLog): readonly Draft[] {
  const calls = collectCalls(drafts, log)
  const orphans = assignResults(drafts, calls, log)
  nameCalls(calls, log, drafts)
  if (calls.length === 0 && orphans === 0) return drafts
  return rebuilt(drafts, calls, log)
}

/** All calls in order; one that repeats another of the same message word for word is left out at once. */
function collectCalls(drafts: readonly Draft[], log: RepairLog): Call[] {
  const calls: Call[] = []
  const repeated = repeatedIds(drafts)
  drafts.forEach((draft, message) => {
    const prints = new Set<string>()
    for (const block of draft.blocks) {
      if (draft.role !== 'assistant' || block.type !== 'tool_use') continue
      const id = rawId(block['id'])
      const print = repeated.has(id) ? JSON.stringify([id, block['name'], block['input']]) : ''
      const call: Call = { message, rawId: id, block, print, result: null, id: '' }
      calls.push(call)
      if (print !== '' && prints.has(print)) {
        note(
          log,
          'call-duplicate',
          draftPlace(log, block, draft),
          `a repetition of call ${call.rawId} left out`,
        )
        call.id = null
      }
      prints.add(print)
    }
  })
  return calls
}

function repeatedIds(drafts: readonly Draft[]): ReadonlySet<string> {
  const seen = new Set<string>()
  const repeated = new Set<string>()
  for (const draft of drafts) {
    for (const block of draft.blocks) {
      if (draft.role !== 'assistant' || block.type !== 'tool_use') continue
      const id = rawId(block['id'])
      if (seen.has(id)) repeated.add(id)
      seen.add(id)
    }
  }
  return repeated
}

/** Gives each result to the nearest earlier call of its id that has none. Returns how many found no call. */
function assignResults(drafts: readonly Draft[], calls: readonly Call[], log: RepairLog): number {
  const byId = new Map<string, Call[]>()
  for (const call of calls)
    if (call.id !== null) byId.set(call.rawId, [...(byId.get(call.rawId) ?? []), call])
  let orphans = 0
  drafts.forEach((draft, message) => {
    for (const block of draft.blocks) {
      if (block.type !== 'tool_result') continue
      const id = rawId(block['tool_use_id'])
      const earlier = (byId.get(id) ?? []).filter((call) => call.message < message)
      const open = earlier.filter((call) => call.result === null)
      const nearest = open.at(-1)?.message
      const call = open.find((candidate) => candidate.message === nearest)
      if (call !== undefined) {
        call.result = { message, block }
        continue
      }
      orphans += 1
      const rule = earlier.length > 0 ? 'result-duplicate' : 'result-orphan'
      const why = earlier.length > 0 ? 'its call has one already' : 'no call before it has this id'
      note(log, rule, draftPlace(log, block, draft), `result for ${id} left out: ${why}`)
    }
  })
  return orphans
}

/** The first call keeps its id; a later one of the same id is left out when it only repeats, else renamed. */
function nameCalls(calls: readonly Call[], log: RepairLog, drafts: readonly Draft[]): void {
  const taken = new Set<string>()
  const prints = new Set<string>()
  for (const call of calls) {
    const draft = drafts[call.message]
    if (call.id === null || draft === undefined) continue
    const place = draftPlace(log, call.block, draft)
    if (call.print !== '' && prints.has(call.print) && call.result === null) {
      note(log, 'call-duplicate', place, `a repetition of call ${call.rawId} left out`)
      call.id = null
      continue
    }
    prints.add(call.print)
    const spelled = idPattern.test(call.rawId)
      ? call.rawId
      : call.rawId.replaceAll(/[^a-zA-Z0-9_-]/g, '_') || 'call'
    let id = spelled
    for (let count = 2; taken.has(id); count++) id = `${spelled}-${count}`
    taken.add(id)
    call.id = id
    if (id !== call.block['id'])
      note(log, 'call-id', place, `call ${JSON.stringify(call.rawId)} goes out as ${id}`)
  }
}

function rebuilt(drafts: readonly Draft[], calls: readonly Call[], log: RepairLog): readonly Draft[] {
  const byMessage = new Map<number, Call[]>()
  for (const call of calls) byMessage.set(call.message, [...(byMessage.get(call.message) ?? []), call])
  const out: Draft[] = []
  let open: readonly Call[] = []
  drafts.forEach((draft, message) => {
    if (draft.role !== 'user') {
      if (open.length > 0) out.push(newUserDraft(draft.at, results(open, -1, draft, log)))
      const own = byMessage.get(message) ?? []
      open = own.filter((call) => call.id !== null)
      out.push(own.length > 0 ? withBlocks(draft, renamed(draft, own, log)) : draft)
      return
    }
    const rest = draft.blocks.filter((block) => block.type !== 'tool_result')
    const answers = open.length > 0 ? results(open, message, draft, log) : []
    const next = [...answers, ...rest]
    const firstOther = draft.blocks.findIndex((block) => block.type !== 'tool_result')
    if (firstOther !== -1 && draft.blocks.slice(firstOther).some((block) => block.type === 'tool_result')) {
      note(log, 'results-first', messagePath(draft), 'results moved before the other content')
    }
    out.push(withBlocks(draft, next))
    open = []
  })
  const last = drafts.at(-1)
  if (open.length > 0 && last !== undefined) out.push(newUserDraft(last.at, results(open, -1, last, log)))
  return out
}

/** The assistant's blocks with calls renamed or left out. Walks by position: one object may stand in two places. */
function renamed(draft: Draft, own: readonly Call[], log: RepairLog): readonly WireBlock[] {
  const calls = own[Symbol.iterator]()
  return draft.blocks.flatMap((block) => {
    if (block.type !== 'tool_use') return [block]
    const call = calls.next().value
    if (call === undefined || call.id === null) return []
    return [call.id === block['id'] ? block : changed(log, block, { id: call.id })]
  })
}

/** The answers to these calls: those that stand in the message in its order, then those moved here, then those made here. */
function results(open: readonly Call[], message: number, draft: Draft, log: RepairLog): readonly WireBlock[] {
  const answer = (call: Call, block: WireBlock): WireBlock =>
    block['tool_use_id'] === call.id ? block : changed(log, block, { tool_use_id: call.id })
  const here = open.filter((call) => call.result?.message === message)
  const order = draft.blocks
  here.sort((a, b) => position(order, a) - position(order, b))
  const out = here.flatMap((call) => (call.result === null ? [] : [answer(call, call.result.block)]))
  for (const call of open) {
    if (call.result === null || call.result.message === message) continue
    note(log, 'result-moved', messagePath(draft), `result for ${call.id} moved to the message after its call`)
    out.push(answer(call, call.result.block))
  }
  for (const call of open) {
    if (call.result !== null || call.id === null) continue
    const cut = log.truncated.has(call.block)
    note(
      log,
      'result-missing',
      messagePath(draft),
      `call ${call.id} was given an error result: ${cut ? 'truncated' : 'no result recorded'}`,
    )
    out.push({
      type: 'tool_result',
      tool_use_id: call.id,
      content: cut ? truncatedCall : missingResult,
      is_error: true,
    })
  }
  return out
}
const position = (blocks: readonly WireBlock[], call: Call): number =>
  call.result === null ? -1 : blocks.indexOf(call.result.block)

// ---- tools that the provider runs itself ----
// Call and result stand in one assistant message, the call first; beside calls of our own the result may come in a later one. Their
// content is the provider's own and cannot be made up, so a half pair is left out.

/** `paused`: the turn goes on from there, so that a call at its end may still be running. */
export function pairServerTools(
  drafts: readonly Draft[],
  paused: Draft | null,
  log: RepairLog,
): readonly Draft[] {
  const waiting = waitingCalls(drafts)
  const begun = new Set<string>()
  return drafts.map((draft) => pairedIn(draft, draft === paused, { waiting, begun }, log))
}

/** Calls that are completed in a later answer, or will be: theirs also calls tools of ours. */
function waitingCalls(drafts: readonly Draft[]): ReadonlySet<string> {
  const answers = drafts.filter(({ role }) => role === 'assistant')
  return new Set(
    answers.flatMap(({ blocks }, at) => {
      const later = answers.slice(at + 1).flatMap((draft) => draft.blocks)
      const results = new Set(later.filter(({ type }) => isServerResult(type)).map(resultOf))
      const isMixed = blocks.some(({ type }) => type === 'tool_use')
      const calls = isMixed ? blocks.filter(({ type }) => isServerCall(type)) : []
      return calls.map(({ id }) => rawId(id)).filter((id) => results.has(id) || at === answers.length - 1)
    }),
  )
}
const resultOf = (block: WireBlock): string => rawId(block['tool_use_id'])

interface Waiting {
  readonly waiting: ReadonlySet<string>
  /** Those of them whose call has been seen and whose result has not. */
  readonly begun: Set<string>
}

function pairedIn(draft: Draft, open: boolean, { waiting, begun }: Waiting, log: RepairLog): Draft {
  if (!draft.blocks.some((block) => isServerCall(block.type) || isServerResult(block.type))) return draft
  const kept = new Set<number>()
  const calls = new Map<string, number>()
  const answered = new Set<string>()
  draft.blocks.forEach((block, index) => {
    if (isServerCall(block.type)) {
      const id = block['id']
      if (typeof id === 'string' && !calls.has(id)) calls.set(id, index)
    } else if (isServerResult(block.type)) {
      const id = resultOf(block)
      const call = calls.get(id)
      if (call === undefined && begun.delete(id)) kept.add(index)
      if (call === undefined || answered.has(id)) return
      answered.add(id)
      kept.add(call).add(index)
    } else kept.add(index)
  })
  for (const [id, index] of calls) {
    if (answered.has(id)) continue
    if (open || waiting.has(id)) kept.add(index)
    if (waiting.has(id)) begun.add(id)
  }
  const missing = draft.blocks.filter((_, index) => !kept.has(index))
  for (const block of missing) {
    note(
      log,
      'server-pair',
      draftPlace(log, block, draft),
      `${block.type} left out: its other half is missing`,
    )
  }
  return withBlocks(
    draft,
    draft.blocks.filter((_, index) => kept.has(index)),
  )
}
