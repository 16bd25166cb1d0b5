// Tasks that are made and moved one by one, through compactions: in whatever spans, and in however small a room.
import { describe, expect, it } from 'vitest'
import { roomOf, type Room } from '../projection/budget.ts'
import { Fold } from '../projection/fold.ts'
import { answered, call, Pen, result, said, start } from '../testing/builders.ts'
import type { Fact } from '../transcript/fact.ts'
import { seq } from '../transcript/ids.ts'
import { plan, type PlanOptions } from './ladder.ts'

let count = 0
const ran = (name: string, input: Record<string, unknown>, text: string): Fact[] => {
  const id = `call${(count += 1)}`
  return [answered([call(id, name, input)], { id: `m_${id}` }), result(id, text)]
}
const make = (id: number, subject: string): Fact[] =>
  ran('TaskCreate', { subject, description: 'at length' }, `Task #${id} created successfully: ${subject}`)
const move = (taskId: string, status: string): Fact[] =>
  ran('TaskUpdate', { taskId, status }, `Updated task #${taskId} status`)
const work = (lines: number): Fact[] =>
  ran(
    'Bash',
    { command: 'npm test' },
    Array.from({ length: lines }, (_, at) => `ok line ${at} of it`).join('\n'),
  )

function foldOf(...facts: readonly Fact[]): { readonly fold: Fold; readonly pen: Pen } {
  const [fold, pen] = [new Fold(), new Pen()]
  for (const fact of [start(), ...facts]) fold.push(pen.write(fact))
  return { fold, pen }
}

const room = (window: number): Room => {
  const outcome = roomOf({ window, maxOutput: 8000, fixed: 100 })
  if (!outcome.ok) throw new Error(outcome.why)
  return outcome.room
}

const tasksIn = (text: string): readonly string[] => text.match(/^- \[[ >x]\] .*$/gm) ?? []
const planned = (fold: Fold, options: Partial<PlanOptions> = {}) => {
  const outcome = plan(fold, room(60_000), { trigger: 'manual', ...options })
  if (!outcome.ok) throw new Error(outcome.message)
  return outcome.plan
}

const made = [...make(1, 'Read the code'), ...make(2, 'Mend the fault'), ...make(3, 'Test it all')]
const moved = [...move('1', 'completed'), ...move('2', 'in_progress')]
const now = ['- [x] #1 Read the code', '- [>] #2 Mend the fault', '- [ ] #3 Test it all']
const long = [...work(4000), ...work(4000), ...work(4000), answered('so far', { id: 'far' }), said('go on')]

describe('tasks that are made and moved one by one', () => {
  it('[O38] that were made before the span, and moved in it, stand in it as they are', () => {
    const { fold } = foldOf(
      said('go'),
      ...made,
      answered('made'),
      said('and on'),
      ...work(400),
      ...moved,
      ...long,
    )
    for (const options of [{ from: seq(9) }, { prefixTo: seq(8) }]) {
      const { texts, audit } = planned(fold, options)
      expect(texts.map(tasksIn)).toEqual([now])
      expect(audit?.kinds.pending).toEqual({ found: 3, kept: 3 })
    }
    // Nothing was said of them in the span, and those who made them are in sight.
    const quiet = foldOf(said('go'), ...made, answered('made'), said('and on'), ...work(400), ...long).fold
    expect(planned(quiet, { from: seq(9) }).texts.map(tasksIn)).toEqual([[]])
  })

  it('[O38] of several spans stand in the last, as they are at its end', () => {
    const { fold, pen } = foldOf(said('go'), ...made, answered('made'), said('look'))
    // What an undo gave back stays between the spans.
    const found = work(400)
    for (const fact of found) fold.push(pen.write(fact))
    const to = seq(fold.numbers.upTo)
    const edits = [{ kind: 'summary', from: seq(to - 1), to, text: 'S', ref: '', keep: [] }] as const
    const away = pen.write({ type: 'view-edit', layer: 'x', asked: 'user', why: '', tokensFreed: 0, edits })
    fold.push(away)
    fold.push(pen.write({ type: 'undo', target: away.seq }))
    for (const fact of [...moved, ...long]) fold.push(pen.write(fact))
    const { texts } = planned(fold)
    expect(texts.map(tasksIn)).toEqual([[], now])
  })

  it('[O37] take no room that a compaction must have', () => {
    const many = Array.from({ length: 40 }, (_, at) =>
      make(at + 1, `step ${at}: ${'go on with it '.repeat(8)}`),
    ).flat()
    const { fold } = foldOf(said('go'), ...many, answered('made'), said('and on'), ...long)
    const within = (tokens: number) => plan(fold, room(60_000), { trigger: 'manual', within: tokens })
    const least = [400, 500, 600, 1500].map((tokens) => within(tokens))
    expect(least.map(({ ok }) => ok)).toEqual([true, true, true, true])
  })

  it('[O17] a cut that somebody chose is not refused for them', () => {
    const tasks = Array.from({ length: 8 }, (_, at) => ({
      t: `step ${at}: ${'go on '.repeat(10)}`,
      s: 'open',
    }))
    const { fold } = foldOf(said('go'), ...ran('zz', { tasks }, ''), answered('made'), said('and on'))
    const outcome = plan(fold, room(60_000), { trigger: 'manual', upTo: seq(5) })
    expect(outcome.ok).toBe(true)
  })
})
