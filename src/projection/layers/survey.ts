// The tool results of a view as clearing sees them: which may go, which are superseded, which others stand on. What a
// message tells is read once and kept as long as the message lives, so a look at a long view costs its messages and
// not its words.
import type { Seq } from '../../transcript/ids.ts'
import { unchangedSince } from '../../transcript/markers.ts'
import { defaults } from '../../settings/defaults.ts'
import type { Message, Part, ToolResultBlock, View } from '../view.ts'
import { ruleOf, type PolicyOf, type ResultRule } from './tool-policy.ts'

export interface CallFacts {
  readonly id: string
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
  /** The file it works on, where it names one. */
  readonly file: string | null
  /** The file with the piece of it that is asked for; empty when that is all of it. */
  readonly piece: string
  readonly work: 'read' | 'write' | null
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
type Results = ResultRule['results']

/** Looks at one view after another and keeps what it has read of their messages. */
export function createSurveyor(policyOf: PolicyOf | undefined): (view: View) => Survey {
  const known: Known = new WeakMap()
  const rules = new Map<string | undefined, Results>()
  const resultsOf = (tool: string | undefined): Results => {
    const results = rules.get(tool) ?? ruleOf(policyOf, tool).results
    rules.set(tool, results)
    return results
  }
  // What is decided and what is told of it look at the same view.
  let last: { readonly view: View; readonly survey: Survey } | null = null
  return (view) => {
    if (last?.view !== view) last = { view, survey: surveyOf(view, resultsOf, known) }
    return last.survey
  }
}

function surveyOf(view: View, resultsOf: (tool: string | undefined) => Results, known: Known): Survey {
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
  const candidateOf = ({ part, block, behind }: (typeof results)[number]): Candidate => {
    const call = calls.get(block.tool_use_id)
    const again = isAgain(part, call, newest)
    const isSuperseded = again || isWritten(part, call, newest)
    return { part, block, call, behind, isRepeated: again, isSuperseded }
  }
  for (const one of results) {
    const { part, block } = one
    // What the server leaves out nobody sees: a hold does not keep it from becoming a stub.
    if (block.cleared === 'cache-edit') remote.push(candidateOf(one))
    if (isLeft(part)) continue
    const results = resultsOf(part.tool)
    const may =
      (results === 'clear' || results === 'superseded') &&
      block.cleared === undefined &&
      part.by === null &&
      !block.is_error &&
      part.from < answeredTo &&
      part.estimate >= defaults.clearing.smallTokens &&
      !stoodOn.has(block.tool_use_id)
    if (!may) continue
    const candidate = candidateOf(one)
    if (results === 'clear' || candidate.isSuperseded) candidates.push(candidate)
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
  const work = reads.has(name) ? 'read' : writes.has(name) ? 'write' : null
  return { id, name, input, file: file ?? null, piece: piece === wholeFile ? '' : `${file} ${piece}`, work }
}

const reads = new Set(['Read'])
const writes = new Set(['Edit', 'Write', 'MultiEdit'])

interface Work {
  /** The last whole reading of each file, the last of each piece, and the last writing. */
  readonly whole: Map<string, number>
  readonly pieces: Map<string, number>
  readonly written: Map<string, number>
}

/** Where each file was last shown and last changed. Only what stands in the view as it came counts. */
function newestWork(
  results: readonly { readonly part: Part; readonly block: ToolResultBlock }[],
  calls: ReadonlyMap<string, CallFacts>,
): Work {
  const work: Work = { whole: new Map(), pieces: new Map(), written: new Map() }
  for (const { part, block } of results) {
    const call = calls.get(block.tool_use_id)
    if (call === undefined || call.file === null || call.work === null || block.is_error) continue
    if (call.work === 'write') work.written.set(call.file, part.from)
    else if (part.by === null && block.cleared === undefined && standsOn(block) === null)
      (call.piece === '' ? work.whole : work.pieces).set(
        call.piece === '' ? call.file : call.piece,
        part.from,
      )
  }
  return work
}

function isAgain(part: Part, call: CallFacts | undefined, { whole, pieces }: Work): boolean {
  if (call === undefined || call.file === null || call.work !== 'read') return false
  return (whole.get(call.file) ?? -1) > part.from || (pieces.get(call.piece) ?? -1) > part.from
}

const isWritten = (part: Part, call: CallFacts | undefined, { written }: Work): boolean =>
  call !== undefined &&
  call.file !== null &&
  call.work === 'read' &&
  (written.get(call.file) ?? -1) > part.from

// A Read of a file that did not change says so and names the call that shows it; that one must stay.

/** The call whose result this one points back to. */
export function standsOn(block: ToolResultBlock): string | null {
  const first = block.content[0]
  return first?.type === 'text' ? unchangedSince(first.text) : null
}

/** What the user has pinned, or taken back from an edit: no layer touches it. */
export function leftAlone({ pins, holds }: View): (part: Part) => boolean {
  const pinned = new Set<Seq>(pins.map((pin) => pin.at))
  return ({ from }) => pinned.has(from) || holds.some((range) => from >= range.from && from <= range.to)
}
