// Why a cache broke: two snapshots compared piece by piece. Only what was cached is compared: messages up to
// the block that carried the breakpoint. Every difference is a cause with its size; texts are made from the causes.
import { defaults } from '../settings/defaults.ts'
import type { CacheRules } from '../model/cache-rules.ts'
import type { Seq } from '../transcript/ids.ts'
import type { Segment, Segments, SentMessage } from './segments.ts'
import type { Lifetime } from '../transcript/lifetime.ts'
import { whole } from '../transcript/whole.ts'

/** Pieces of the key that are compared whole. */
type FieldName = 'model' | 'thinking' | 'effort' | 'betas' | 'extra' | 'lifetime' | 'marks'
const laterFields: readonly FieldName[] = ['thinking', 'effort', 'betas', 'extra', 'lifetime', 'marks']

export type BreakCause =
  | {
      readonly kind: FieldName
      readonly before: string
      readonly after: string
    }
  | {
      readonly kind: 'system'
      readonly side: string
      /** Characters by which it grew. */
      readonly chars: number
    }
  | {
      readonly kind: 'tools'
      readonly added: readonly string[]
      readonly removed: readonly string[]
      readonly changed: readonly string[]
      readonly isReordered: boolean
      readonly chars: number
    }
  | {
      readonly kind: 'message'
      /** In the list as sent. */
      readonly index: number
      readonly entry: Seq | null
      readonly block: number
      /** First character of the block's JSON that differs. */
      readonly offset: number
      readonly chars: number
      readonly before: string
      /** Empty when the message is gone. */
      readonly after: string
      /** Of a foreign conversation, whose texts are not held: who sent it in another way, and where it begins in the body. */
      readonly by?: 'client' | 'gateway' | undefined
      readonly byte?: number | undefined
    }
  /** The first image came or the last one went: that alone loses the messages. */
  | { readonly kind: 'images'; readonly has: boolean }
  /** More has been added than the provider looks back over. */
  | { readonly kind: 'lookback'; readonly positions: number }
  /** Said beforehand, but the fall is larger than what was said. */
  | { readonly kind: 'announced'; readonly tokens: number; readonly why: string }
  | { readonly kind: 'expired'; readonly lifetime: Lifetime; readonly ageMs: number }
  /** Nothing of ours changed. */
  | { readonly kind: 'server' }

/** Every recorded change, in the order of the prompt. */
export function changesBetween(before: Segments, after: Segments, rules?: CacheRules): readonly BreakCause[] {
  const causes: BreakCause[] = []
  const field = (kind: FieldName): void => {
    const [old, now] = [valueOf(before, kind), valueOf(after, kind)]
    if (old !== now) causes.push({ kind, before: old, after: now })
  }
  field('model')
  const tools = toolsCause(before.tools, after.tools)
  if (tools !== null) causes.push(tools)
  causes.push(...systemCauses(before.system, after.system))
  laterFields.forEach(field)
  const message = messageCause(before, after)
  if (message !== null) causes.push(message)
  // Only a cache of breakpoints keeps the messages apart by their images and looks back a bounded way.
  if (rules !== undefined && rules.breaks.lookback === null) return causes
  const has = after.messages.some((each) => each.hasImage)
  if (has !== before.messages.some((each) => each.hasImage)) causes.push({ kind: 'images', has })
  const positions = message === null ? positionsAdded(before, after) : 0
  if (positions >= (rules?.breaks.lookback ?? defaults.request.lookbackPositions))
    causes.push({ kind: 'lookback', positions })
  return causes
}

function valueOf(segments: Segments, kind: FieldName): string {
  switch (kind) {
    case 'marks':
      return segments.breakpoints.toSorted().join()
    case 'lifetime':
      return segments.lifetime ?? ''
    default:
      return segments[kind]
  }
}

function toolsCause(before: readonly Segment[], after: readonly Segment[]): BreakCause | null {
  const old = new Map(before.map((tool) => [tool.name, tool]))
  const now = new Map(after.map((tool) => [tool.name, tool]))
  const added = after.filter((tool) => !old.has(tool.name)).map((tool) => tool.name)
  const removed = before.filter((tool) => !now.has(tool.name)).map((tool) => tool.name)
  const changed = after
    .filter((tool) => (old.get(tool.name)?.digest ?? tool.digest) !== tool.digest)
    .map((tool) => tool.name)
  const names = (list: readonly Segment[], other: ReadonlyMap<string, Segment>): string =>
    list.flatMap((tool) => (other.has(tool.name) ? [tool.name] : [])).join()
  const isReordered = names(before, now) !== names(after, old)
  if (added.length + removed.length + changed.length === 0 && !isReordered) return null
  return { kind: 'tools', added, removed, changed, isReordered, chars: sizeOf(after) - sizeOf(before) }
}

const sizeOf = (segments: readonly Segment[]): number =>
  segments.reduce((sum, segment) => sum + segment.json.length, 0)

function systemCauses(before: readonly Segment[], after: readonly Segment[]): readonly BreakCause[] {
  return ['static', 'dynamic'].flatMap((side): readonly BreakCause[] => {
    const [old, now] = [before, after].map((list) => list.find((each) => each.name === side)?.json ?? '')
    return old === now ? [] : [{ kind: 'system', side, chars: now!.length - old!.length }]
  })
}

function messageCause(before: Segments, after: Segments): BreakCause | null {
  const found = firstMessageChange(before, after)
  if (found === null) return null
  const { index, block, was, is } = found
  const offset = firstDifferent(was, is)
  return {
    kind: 'message',
    index,
    entry: before.messages[index]!.entry,
    block,
    offset,
    chars: is.length - was.length,
    before: around(was, offset),
    after: around(is, offset),
  }
}

interface MessageChange {
  readonly index: number
  readonly block: number
  readonly was: string
  readonly is: string
}

function firstMessageChange(before: Segments, after: Segments): MessageChange | null {
  const { breakpoint } = before
  if (breakpoint === null) return null
  for (let [index, now] = [0, 0]; index <= breakpoint.message;) {
    const was = before.messages[index]!
    const is = after.messages[now]
    const same = was === is || was.digest === is?.digest
    const group = same ? one : groupFrom(before.messages.slice(index), after.messages.slice(now))
    index += group.was
    now += group.is
    if (same || group.isSame) continue
    const first = index - group.was
    const cached = before.messages
      .slice(first, index)
      .flatMap(({ blocks }, at) =>
        blocks
          .slice(0, first + at === breakpoint.message ? breakpoint.block + 1 : blocks.length)
          .map(({ json }, block) => ({ index: first + at, block, json })),
      )
    const sent = after.messages.slice(now - group.is, now).flatMap(({ blocks }) => blocks)
    const found = cached.find(({ json }, at) => is?.role !== was.role || json !== sent[at]?.json)
    if (found !== undefined) return { ...found, was: found.json, is: sent[cached.indexOf(found)]?.json ?? '' }
    // All blocks are there and others follow inside the message: those before the breakpoint would have been cached.
    const last = index - 1
    if (last < breakpoint.message)
      return {
        index: last,
        block: before.messages[last]!.blocks.length,
        was: '',
        is: sent[cached.length]?.json ?? '',
      }
  }
  return null
}

const one = { was: 1, is: 1, isSame: true }

/**
 * How many messages of each list make up the same bytes, or begin alike: where a message is several items of the list, another
 * grouping of them changes nothing.
 */
function groupFrom(before: readonly SentMessage[], after: readonly SentMessage[]): typeof one {
  let [was, is] = [1, 1]
  let [old, now] = [before[0]!.json, after[0]?.json ?? '']
  while (old !== now) {
    if (was < before.length && now.startsWith(`${old},`)) old += `,${before[was++]!.json}`
    else if (is < after.length && old.startsWith(`${now},`)) now += `,${after[is++]!.json}`
    else break
  }
  return { was, is, isSame: old === now }
}

/** Positions from the old breakpoint to the new one; a run of calls, or of results, is one. */
function positionsAdded(before: Segments, after: Segments): number {
  if (before.breakpoint === null || after.breakpoint === null) return 0
  let positions = 0
  let type = ''
  for (let index = before.breakpoint.message; index <= after.breakpoint.message; index++) {
    const from = index === before.breakpoint.message ? before.breakpoint.block + 1 : 0
    const to = index === after.breakpoint.message ? after.breakpoint.block + 1 : Infinity
    for (const block of after.messages[index]?.blocks.slice(from, to) ?? []) {
      const continues = block.type === type && (type === 'tool_use' || type === 'tool_result')
      if (!continues) positions++
      type = block.type
    }
  }
  return positions
}

export function firstDifferent(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let at = 0; at < length; at++) if (a[at] !== b[at]) return at
  return length
}

function around(text: string, offset: number): string {
  const reach = defaults.request.diffChars / 2
  return text.slice(Math.max(0, offset - reach), offset + reach)
}

/** One line about a cause. */
export function describeCause(cause: BreakCause): string {
  switch (cause.kind) {
    case 'system':
      return `system prompt, ${cause.side} part: ${signed(cause.chars)} characters`
    case 'tools': {
      const changed = cause.changed.length === 0 ? '' : `, changed ${cause.changed.join(', ')}`
      const order = cause.isReordered ? ', in another order' : ''
      const names = [...cause.added.map((name) => `+${name}`), ...cause.removed.map((name) => `−${name}`)]
      const which = names.length === 0 ? '' : ` (${names.join(', ')})`
      const counts = `tools +${cause.added.length}/−${cause.removed.length}`
      return `${counts}${which}${changed}${order}: ${signed(cause.chars)} characters`
    }
    case 'message': {
      const entry = cause.entry === null ? '' : `, entry ${cause.entry}`
      const where = `message ${cause.index}${entry}, block ${cause.block}`
      if (cause.by !== undefined) return `the ${cause.by} changed ${where} (at byte ${cause.byte ?? 0})`
      return cause.after === '' ? `${where} is gone` : `${where} differs from character ${cause.offset} on`
    }
    case 'images':
      return cause.has ? 'the first image came into the conversation' : 'the last image left the conversation'
    case 'lookback':
      return `${cause.positions} blocks were added at once, more than the provider looks back over`
    case 'announced':
      return `${whole(cause.tokens)} tokens were expected to fall (${cause.why}), more did`
    case 'expired':
      return `the cache had expired: lifetime ${cause.lifetime}, last used ${Math.round(cause.ageMs / 1000)} s ago`
    case 'server':
      return 'nothing on our side changed: the provider lost it'
    default:
      return `${cause.kind}: ${cause.before || 'none'} → ${cause.after || 'none'}`
  }
}

const signed = (count: number): string => (count < 0 ? `−${-count}` : `+${count}`)

/** The text of a diff file: the first piece that differs, as it was and as it is. */
export function diffText(before: Segments, after: Segments): string {
  const difference = firstDifference(before, after)
  if (difference === null) return 'The cached part of both requests is the same.\n'
  const { name, was, is } = difference
  const offset = firstDifferent(was, is)
  return [
    `First difference: ${name}, from character ${offset} on (${was.length} → ${is.length} characters).`,
    '',
    '--- before',
    around(was, offset),
    '--- after',
    around(is, offset),
    '',
  ].join('\n')
}

interface Difference {
  readonly name: string
  readonly was: string
  readonly is: string
}

function firstDifference(before: Segments, after: Segments): Difference | null {
  const lists: readonly (readonly [string, readonly Segment[], readonly Segment[]])[] = [
    ['tool', before.tools, after.tools],
    ['system', before.system, after.system],
  ]
  if (before.model !== after.model) return { name: 'model', was: before.model, is: after.model }
  for (const [level, old, now] of lists) {
    const length = Math.max(old.length, now.length)
    for (let index = 0; index < length; index++) {
      const [was, is] = [old[index], now[index]]
      if (was?.digest !== is?.digest)
        return { name: `${level} ${(was ?? is)!.name}`, was: was?.json ?? '', is: is?.json ?? '' }
    }
  }
  for (const kind of laterFields) {
    const [was, is] = [valueOf(before, kind), valueOf(after, kind)]
    if (was !== is) return { name: kind, was, is }
  }
  const message = firstMessageChange(before, after)
  if (message === null) return null
  const name = `message ${message.index}${entryText(before.messages[message.index])}, block ${message.block}`
  return { name, was: message.was, is: message.is }
}

const entryText = (message: SentMessage | undefined): string =>
  message === undefined || message.entry === null ? '' : ` (entry ${message.entry})`
