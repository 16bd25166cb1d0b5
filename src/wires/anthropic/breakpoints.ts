// Cache breakpoints of the Messages API. At most four: last tool, static block, dynamic block, and exactly one in the
// messages.
import type { CacheControl } from '../../model/wire.ts'
import type { BreakpointName } from '../../request/breakpoints.ts'
import { withField, type Segment, type SentMessage } from '../../request/segments.ts'
import type { Lifetime } from '../../transcript/lifetime.ts'
import { messageJson } from './serialize.ts'

/** One for each part of the prompt that is there. */
export function chooseBreakpoints(fixed: {
  readonly tools: readonly Segment[]
  readonly system: readonly Segment[]
}): readonly BreakpointName[] {
  const has = (side: 'static' | 'dynamic') => fixed.system.some((segment) => segment.name === side)
  const names: BreakpointName[] = ['messages']
  if (has('dynamic')) names.push('dynamic')
  if (has('static')) names.push('static')
  if (fixed.tools.length > 0) names.push('tools')
  return names
}

/** The cache breakpoint is written onto a block as this field. */
export function breakpointField(lifetime: Lifetime): string {
  const control: CacheControl = lifetime === '1h' ? { type: 'ephemeral', ttl: '1h' } : { type: 'ephemeral' }
  return `"cache_control":${JSON.stringify(control)}`
}

/** Segments as one JSON list, with the breakpoint on those named. */
export function listJson(
  segments: readonly Segment[],
  hasBreakpoint: (segment: Segment, index: number) => boolean,
  field: string,
): string {
  const items = segments.map((segment, index) =>
    hasBreakpoint(segment, index) ? withField(segment.json, field) : segment.json,
  )
  return `[${items.join(',')}]`
}

/** A message with the breakpoint on one of its blocks. */
export const messageWithBreakpoint = ({ role, blocks }: SentMessage, at: number, field: string): string =>
  messageJson(
    role,
    blocks.map(({ json }, index) => (index === at ? withField(json, field) : json)),
  )
