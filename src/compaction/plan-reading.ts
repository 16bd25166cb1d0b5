// What a plan reads of the spans that go, each once: who said what, its lines, its media, and the tasks of all of them.
import { mediaLine, mediaOf } from '../projection/media.ts'
import { listIn, sectionsOf, tasksAfter } from './extract.ts'
import type { PlanContext } from './plan-context.ts'
import type { Sections } from './sections.ts'
import { joined, readSpan, type Reading } from './span-reading.ts'

/** From (included) to (excluded), as indexes of parts. */
type Span = readonly [number, number]

/**
 * Tasks are one list, whatever stays between the spans or before them: the last tells it, as the calls of all have left it.
 * Null where they say nothing of tasks.
 */
export const tasksOfSpans = (context: PlanContext, spans: readonly Span[]) => listIn(readAll(context, spans))

/** The spans as one, beside the tasks as they stood before the first. */
export function readAll(context: PlanContext, spans: readonly Span[]): Reading {
  const first = spans[0]![0]
  const tasks = first === 0 ? [] : tasksAfter(readOnce(context, 0, first).reading)
  return { ...joined(spans.map(([start, end]) => readOnce(context, start, end).reading)), tasks }
}

export function readOnce(context: PlanContext, start: number, end: number) {
  const { parts, known } = context
  const before = known.get(`${start}-${end}`)
  if (before !== undefined) return before
  const found = {
    reading: readSpan(parts.slice(start, end)),
    sections: new Map<string, Sections>(),
    media: mediaLeaving(context, start, end),
  }
  known.set(`${start}-${end}`, found)
  return found
}

export function sectionsOnce(
  context: PlanContext,
  start: number,
  end: number,
  tasks: readonly string[] | null,
): Sections {
  const { reading, sections } = readOnce(context, start, end)
  const list = JSON.stringify(tasks)
  const isFollowed = context.parts.slice(end).some((part) => part.kind === 'answer')
  const found = sections.get(list) ?? sectionsOf(reading, { isFollowed, tasks })
  sections.set(list, found)
  return found
}

/** What the media of a span are and how each is brought back; those that an earlier summary names stay named. */
function mediaLeaving({ fold, parts }: PlanContext, start: number, end: number): readonly string[] {
  return parts.slice(start, end).flatMap((part) => {
    // As it was said: what was replaced before is named too.
    const said = part.wholeEstimate === undefined ? part : (fold.units.find(part.from) ?? part)
    if (part.kind !== 'edit')
      return mediaOf(said).flatMap(({ block, at }) => (at === null ? [] : [mediaLine(block, at)]))
    const top = fold.edits.topAt(part.from)
    return top?.edit.kind === 'summary' ? (top.edit.media ?? []) : []
  })
}
