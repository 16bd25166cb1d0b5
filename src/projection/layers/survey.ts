// The tool results of a view as clearing sees them: which may go, which are superseded, which others stand on. What a
// message tells is read once and kept as long as the message lives, so a look at a long view costs its messages and
// not its words.
import type { Seq } from '../../transcript/ids.ts'
import { defaults } from '../../settings/defaults.ts'
import type { Message, Part, ToolResultBlock, View } from '../view.ts'
import { ruleOf, type PolicyOf } from './tool-policy.ts'

export interface CallFacts {
  readonly id: string
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
  /** The file it works on, where it names one. */
  readonly file: string | null
  /** The piece of the file it asks for; empty is all of it. */
  readonly piece: string
}

/** A result that may be cleared, with the call it answers. */
export interface Candidate {
  readonly part: Part
  readonly block: ToolResultBlock
  readonly call: CallFacts | undefined
  /** The same words stand in the view again further down. */
  readonly isRepeated: boolean
  /** Newer work on the same file has made it old. */
  readonly isSuperseded: boolean
  /** Estimated tokens of the view behind it. */
  readonly behind: number
}

export interface Survey {
  /** Results that may be cleared, oldest first. */
  readonly candidates: readonly Candidate[]
  /** Results the server was told to delete from its cache. */
  readonly remote: readonly Candidate[]
  /** When the model spoke last. */
  readonly lastAnswerAt: number | null
  readonly isTurnStart: boolean
}

interface Found {
  readonly calls: readonly CallFacts[]
  readonly results: readonly {
    readonly part: Part
    readonly block: ToolResultBlock
    readonly standsOn: string | null
    /** Estimated tokens of the message up to and with it. */
    readonly upTo: number
  }[]
}

type Known = WeakMap<Message, Found>

/** Looks at one view after another and keeps what it has read of their messages. */
export function createSurveyor(policyOf: PolicyOf | undefined): (view: View) => Survey {
  const known: Known = new WeakMap()
  return (view) => surveyOf(view, policyOf, known)
}

function surveyOf(view: View, policyOf: PolicyOf | undefined, known: Known): Survey {
  const calls = new Map<string, CallFacts>()
  const results: { part: Part; block: ToolResultBlock; behind: number }[] = []
  const stoodOn = new Set<string>()
  let before = view.fixedEstimate
  let answeredTo = -1
  let lastAnswerAt: number | null = null
  for (const message of view.messages) {
    const found = foundIn(message, known)
    for (const call of found.calls) calls.set(call.id, call)
    for (const { part, block, standsOn, upTo } of found.results) {
      if (standsOn !== null) stoodOn.add(standsOn)
      results.push({ part, block, behind: view.estimate - before - upTo })
    }
    before += message.estimate
    if (message.role === 'assistant') {
      answeredTo = message.from
      lastAnswerAt = message.parts.at(-1)!.at
    }
  }
  const newest = newestWork(results, calls)
  const candidates: Candidate[] = []
  const remote: Candidate[] = []
  const isLeft = leftAlone(view)
  for (const { part, block, behind } of results) {
    const call = calls.get(block.tool_use_id)
    const candidate = { part, block, call, behind, ...judged(part, call, newest) }
    if (isLeft(part)) continue
    if (block.cleared === 'cache-edit') remote.push(candidate)
    const may =
      block.cleared === undefined &&
      part.by === null &&
      !block.is_error &&
      part.from < answeredTo &&
      part.estimate >= defaults.clearing.smallTokens &&
      ruleOf(policyOf, part.tool).results === 'clear' &&
      !stoodOn.has(block.tool_use_id)
    if (may) candidates.push(candidate)
  }
  const last = view.messages.last()
  const isTurnStart = last?.role === 'user' && last.parts.some((part) => part.kind === 'input')
  return { candidates, remote, lastAnswerAt, isTurnStart }
}

function foundIn(message: Message, known: Known): Found {
  const before = known.get(message)
  if (before !== undefined) return before
  const calls: CallFacts[] = []
  const results: { part: Part; block: ToolResultBlock; standsOn: string | null; upTo: number }[] = []
  let upTo = 0
  for (const part of message.parts) {
    upTo += part.estimate - part.clearedEstimate
    for (const block of part.blocks) {
      if (block.type === 'tool_use' && 'name' in block) calls.push(callFacts(block))
      // A place of -1 stands for a result that was lost on disk: nothing is behind it.
      if (block.type === 'tool_result' && 'is_error' in block && part.source[0] !== -1)
        results.push({ part, block, standsOn: standsOn(block), upTo })
    }
  }
  const found = { calls, results }
  known.set(message, found)
  return found
}

const wholeFile = JSON.stringify([null, null, null])

function callFacts(block: {
  readonly id: string
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
}): CallFacts {
  const { id, name, input } = block
  const file = [input['file_path'], input['path'], input['notebook_path']].find(
    (value) => typeof value === 'string',
  )
  const piece = JSON.stringify([input['offset'], input['limit'], input['pages']])
  return { id, name, input, file: file ?? null, piece: piece === wholeFile ? '' : piece }
}

const reads = new Set(['Read'])
const writes = new Set(['Edit', 'Write', 'MultiEdit'])

interface Work {
  /** The last whole reading of each file, the last of each piece, and the last writing. */
  readonly whole: ReadonlyMap<string, number>
  readonly pieces: ReadonlyMap<string, number>
  readonly written: ReadonlyMap<string, number>
}

/** Where each file was last shown and last changed. Only what stands in the view as it came counts. */
function newestWork(
  results: readonly { readonly part: Part; readonly block: ToolResultBlock }[],
  calls: ReadonlyMap<string, CallFacts>,
): Work {
  const work = {
    whole: new Map<string, number>(),
    pieces: new Map<string, number>(),
    written: new Map<string, number>(),
  }
  for (const { part, block } of results) {
    const call = calls.get(block.tool_use_id)
    if (call === undefined || call.file === null || block.is_error) continue
    if (writes.has(call.name)) work.written.set(call.file, part.from)
    if (!reads.has(call.name) || part.by !== null || block.cleared !== undefined || standsOn(block) !== null)
      continue
    if (call.piece === '') work.whole.set(call.file, part.from)
    else work.pieces.set(`${call.file}\n${call.piece}`, part.from)
  }
  return work
}

function judged(part: Part, call: CallFacts | undefined, { whole, pieces, written }: Work) {
  if (call === undefined || call.file === null || !reads.has(call.name))
    return { isRepeated: false, isSuperseded: false }
  const again = Math.max(
    whole.get(call.file) ?? -1,
    call.piece === '' ? -1 : (pieces.get(`${call.file}\n${call.piece}`) ?? -1),
  )
  const isRepeated = again > part.from
  return { isRepeated, isSuperseded: isRepeated || (written.get(call.file) ?? -1) > part.from }
}

// A Read of a file that did not change says so and names the call that shows it; that one must stay.
const unchanged = /^\[unchanged: .*\((\S+)\)\]$/s

function standsOn(block: ToolResultBlock): string | null {
  const first = block.content[0]
  if (first?.type !== 'text' || !first.text.startsWith('[unchanged: ')) return null
  return unchanged.exec(first.text.trimEnd())?.[1] ?? null
}

/** What the user has pinned, or taken back from an edit: no layer touches it. */
export function leftAlone({ pins, held }: View): (part: Part) => boolean {
  const pinned = new Set<Seq>(pins.map((pin) => pin.at))
  return ({ from }) => pinned.has(from) || held.some((range) => from >= range.from && from <= range.to)
}
