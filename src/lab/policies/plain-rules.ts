// Layers that go by one plain rule each and look at neither the cache nor the price, as in the policies that they stand for: a
// cap on single results, copies of files that are out of date, old results, old calls. And what policies read of a view.
import { deedOf, fileOf } from '../../compaction/files.ts'
import type { Budget, Layer } from '../../projection/layer.ts'
import { estimateText } from '../../projection/tokens.ts'
import { turnsOf } from '../../projection/turns.ts'
import type { Part, View, ViewBlock } from '../../projection/view.ts'
import { textIn, type ToolUseBlock } from '../../transcript/content.ts'
import type { Edit, StubEdit } from '../../transcript/fact.ts'
import type { CapRule, ClearRule } from './rules.ts'

export const capResultsName = 'cap-results'

/** Decided before a result is sent for the first time and never again: what is too long becomes its two ends. */
export function capResults({ overChars, keepChars }: CapRule): Layer {
  return {
    name: capResultsName,
    decide: (view) => {
      const edits: StubEdit[] = []
      let freed = 0
      for (const part of partsOf(view)) {
        const isNew = part.from > (view.lastRequest ?? -1)
        if (part.kind !== 'result' || part.by !== null || part.source[0] === -1 || !isNew) continue
        const whole = resultText(part)
        if (whole.length <= overChars) continue
        const end = Math.floor(keepChars / 2)
        const text = `${whole.slice(0, end).toWellFormed()}\n[${whole.length - 2 * end} characters left out]\n${whole.slice(-end).toWellFormed()}`
        edits.push(stubOf(part, text))
        freed += view.factor * (part.estimate - estimateText(text))
      }
      if (edits.length === 0) return null
      const why = `results above ${overChars} characters are cut`
      return { kind: 'edit', edits, why, tokensFreed: Math.round(freed) }
    },
  }
}

export const staleReadsName = 'stale-reads'
const staleMarker = '[this copy is out of date: the file was read again later]'

/** Copies of files that were read again later go, but only in batches that are worth a broken cache. */
export function staleReads({ minBytes }: { readonly minBytes: number }): Layer {
  return {
    name: staleReadsName,
    decide: (view) => {
      const stale = staleIn(partsOf(view))
      const bytes = stale.reduce((sum, part) => sum + Buffer.byteLength(resultText(part)), 0)
      if (stale.length === 0 || bytes < minBytes) return null
      const edits = stale.map((part) => stubOf(part, staleMarker))
      const gone = stale.reduce((sum, part) => sum + part.estimate - estimateText(staleMarker), 0)
      const why = `${stale.length} copies of files are out of date`
      return { kind: 'edit', edits, why, tokensFreed: Math.round(view.factor * gone) }
    },
  }
}

function staleIn(parts: readonly Part[]): readonly Part[] {
  const again = new Set<string>()
  const stale: Part[] = []
  for (const { part, path, isWhole } of readsIn(parts).toReversed()) {
    if (again.has(path) && part.by === null && part.estimate > 2 * estimateText(staleMarker)) stale.push(part)
    if (isWhole) again.add(path)
  }
  return stale.toReversed()
}

export const clearResultsName = 'clear-results'
const clearedMarker = '[cleared]'

/**
 * Above a size, or after a pause, all but the newest results go. One for a session: what it has cleared is remembered, because the
 * whole is larger than what is shown.
 */
export function clearResults(rule: ClearRule): Layer {
  const cleared = new Map<number, number>()
  return {
    name: clearResultsName,
    decide: (view, budget) => {
      const parts = partsOf(view)
      const chosen = chosenOf(parts, view, budget, rule, cleared)
      const saved = (part: Part): number => view.factor * (part.estimate - estimateText(clearedMarker))
      const freed = chosen.reduce((sum, part) => sum + saved(part), 0)
      if (chosen.length === 0 || freed < (rule.minFreedTokens ?? 0)) return null
      for (const part of chosen) cleared.set(part.from, saved(part))
      const edits = chosen.map((part) => stubOf(part, clearedMarker))
      const why = `the view takes ${view.tokens} tokens, and ${chosen.length} old results go`
      return { kind: 'edit', edits, why, tokensFreed: Math.round(freed) }
    },
  }
}

function chosenOf(
  parts: readonly Part[],
  view: View,
  budget: Budget,
  rule: ClearRule,
  cleared: ReadonlyMap<number, number>,
): readonly Part[] {
  const results = parts.filter((part) => part.kind === 'result' && part.source[0] !== -1)
  const old = results.slice(0, results.length - kept(parts, results, view.factor, rule))
  const worth = old.filter((part) => part.by === null && part.estimate > 2 * estimateText(clearedMarker))
  const whole = (): number =>
    view.tokens + results.reduce((sum, { from, by }) => sum + (by === null ? 0 : (cleared.get(from) ?? 0)), 0)
  const fixed = rule.counts === 'messages' ? view.factor * view.fixedEstimate : 0
  const size = (rule.counts ?? 'shown') === 'shown' ? view.tokens : whole() - fixed
  if (rule.atTokens !== undefined && size >= rule.atTokens) return worth
  const answeredAt = parts.findLast((part) => part.kind === 'answer')?.at
  if (rule.idleMs !== undefined && answeredAt !== undefined && budget.now - answeredAt >= rule.idleMs)
    return worth
  return rule.atChars === undefined ? [] : down(results, worth, rule.atChars, rule.toChars ?? rule.atChars)
}

/** The oldest, until no more than `toChars` are shown. */
function down(
  results: readonly Part[],
  worth: readonly Part[],
  atChars: number,
  toChars: number,
): readonly Part[] {
  let chars = results.reduce((sum, part) => sum + resultText(part).length, 0)
  if (chars <= atChars) return []
  const chosen: Part[] = []
  for (const part of worth) {
    if (chars <= toChars) break
    chars -= resultText(part).length
    chosen.push(part)
  }
  return chosen
}

/** How many of the newest results stay. */
function kept(parts: readonly Part[], results: readonly Part[], factor: number, rule: ClearRule): number {
  const { keepResults = 0, keepTokens, keepTurns = 0 } = rule
  const newest = keepTurns === 0 ? [] : turnsOf(parts).slice(-keepTurns)
  const from = newest[0]?.from ?? Infinity
  const inTurns = results.filter((part) => part.from >= from).length
  let tokens = 0
  let fitting = 0
  for (const part of keepTokens === undefined ? [] : results.toReversed()) {
    tokens += factor * part.estimate
    if (tokens > keepTokens!) break
    fitting++
  }
  return Math.max(keepResults, inTurns, fitting)
}

export const pruneCallsName = 'prune-calls'

/**
 * Calls and their results leave the view as soon as they are not among the newest messages, whatever that does to the cache; what
 * was said beside a call stays. A message is one answer, the results of one answer, or one input.
 */
export function pruneCalls({ keepMessages }: { readonly keepMessages: number }): Layer {
  return {
    name: pruneCallsName,
    decide: (view) => {
      const edits: Edit[] = []
      let gone = 0
      for (const { parts, text } of prunable(partsOf(view), keepMessages)) {
        const [from, to] = [parts[0]!.from, parts.at(-1)!.to]
        gone += parts.reduce((sum, part) => sum + part.estimate, 0) - estimateText(text)
        edits.push(
          text === ''
            ? { kind: 'drop', from, to }
            : { kind: 'summary', from, to, text, ref: `${from}-${to}`, keep: [] },
        )
      }
      if (edits.length === 0) return null
      const why = `calls before the last ${keepMessages} messages go`
      return { kind: 'edit', edits, why, tokensFreed: Math.max(1, Math.round(view.factor * gone)) }
    },
  }
}

interface Exchange {
  readonly parts: readonly Part[]
  /** What was said beside the calls. */
  readonly text: string
}

function prunable(parts: readonly Part[], keepMessages: number): readonly Exchange[] {
  const messages = messagesIn(parts)
  const newest = new Set(messages.slice(-keepMessages).flat().flatMap(callsOf))
  return messages.flatMap((message, index) => {
    const calls = message.flatMap(callsOf)
    if (message[0]!.kind !== 'answer' || calls.length === 0) return []
    if (calls.some((call) => newest.has(call))) return []
    const next = messages[index + 1] ?? []
    const answered = next[0]?.kind === 'result' ? next : []
    return [{ parts: [...message, ...answered], text: message.map(saidIn).join('\n').trim() }]
  })
}

function messagesIn(parts: readonly Part[]): readonly Part[][] {
  const messages: Part[][] = []
  for (const part of parts) {
    const before = messages.at(-1)?.[0]
    const goesOn =
      before !== undefined &&
      before.kind === part.kind &&
      (part.kind === 'result' || (part.kind === 'answer' && part.messageId === before.messageId))
    if (goesOn) messages.at(-1)!.push(part)
    else messages.push([part])
  }
  return messages
}

const callsOf = ({ blocks }: Part): readonly string[] =>
  blocks.flatMap((block) => (isCall(block) ? [block.id] : 'tool_use_id' in block ? [block.tool_use_id] : []))

const saidIn = ({ blocks }: Part): string => textIn(blocks)

/** A text in the place of a result. */
export const stubOf = ({ from, source }: Part, text: string): StubEdit => ({
  kind: 'stub',
  at: { seq: from, block: source[0]! },
  text,
  ref: `${from}`,
})

export const partsOf = (view: View): readonly Part[] => [...view.messages].flatMap((message) => message.parts)

/** The words of a result. */
export function resultText({ blocks }: Part): string {
  const [block] = blocks
  const words = block !== undefined && 'is_error' in block ? block.content : []
  return words.map((inner) => (inner.type === 'text' ? inner.text : '')).join('\n')
}

const isCall = (block: ViewBlock): block is ToolUseBlock => block.type === 'tool_use' && 'name' in block

/** The file that a call of a reading tool names, and whether it is read whole; null for every other call. */
function readBy(block: ViewBlock): { readonly path: string; readonly isWhole: boolean } | null {
  if (!isCall(block) || deedOf(block) !== 'read') return null
  const { input } = block
  const path = fileOf(block)
  if (path === null) return null
  return { path, isWhole: ['offset', 'limit', 'view_range'].every((field) => input[field] === undefined) }
}

/** Results by what their call read, oldest first. */
export function readsIn(
  parts: readonly Part[],
): readonly { readonly part: Part; readonly path: string; readonly isWhole: boolean }[] {
  const calls = new Map<string, NonNullable<ReturnType<typeof readBy>>>()
  return parts.flatMap((part) => {
    for (const block of part.kind === 'answer' ? part.blocks : []) {
      const read = readBy(block)
      if (read !== null && isCall(block)) calls.set(block.id, read)
    }
    const [result] = part.blocks
    if (part.kind !== 'result' || result === undefined || !('tool_use_id' in result)) return []
    const read = calls.get(result.tool_use_id)
    return read === undefined || part.isError === true ? [] : [{ part, ...read }]
  })
}
