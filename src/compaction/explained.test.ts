import { describe, expect, it } from 'vitest'
import { roomOf } from '../projection/budget.ts'
import { Fold } from '../projection/fold.ts'
import { answered, call, Pen, result, said, start } from '../testing/builders.ts'
import { explainBoundary } from './explained.ts'
import { unanswered } from './kept-messages.ts'
import { plan, rewritten, type PlanOptions } from './ladder.ts'
import { parseSections, titledLines } from './sections.ts'

function worked(): Fold {
  const fold = new Fold()
  const pen = new Pen()
  fold.push(pen.write(start()))
  fold.push(pen.write(said('Make the totals right.')))
  for (let index = 0; index < 40; index++) {
    const page = Array.from(
      { length: 30 },
      (_, line) => `const total_${index}_${line} = compute_rows(${line}) // of the month`,
    )
    fold.push(
      pen.write(answered([call(`c${index}`, 'zz', { q: `src/part_${index}.ts` })], { id: `m${index}` })),
    )
    fold.push(pen.write(result(`c${index}`, page.join('\n'))))
  }
  return fold
}

const outcome = roomOf({ window: 100_000, maxOutput: 0, fixed: 0 })
if (!outcome.ok) throw new Error(outcome.why)
const { room } = outcome
const point = {
  carry: 4,
  coldTokens: 1,
  leastTokens: 1,
  tailTokens: 500,
  excerptTokens: 0,
  detailTokens: 2000,
  textTokens: 300,
  filesTokens: 0,
  clearsIdle: 0,
}
const options: PlanOptions = { trigger: 'auto', thrift: point }

function planned(fold: Fold) {
  const made = plan(fold, room, options)
  if (!made.ok) throw new Error(made.message)
  const edit = made.plan.edits.find((one) => one.kind === 'summary')!
  return { plan: made.plan, edit, details: parseSections(edit.text)!.details }
}

describe('lines at a boundary', () => {
  it('[O39] stand in the text within the tokens of the dial, and the next boundary weighs them anew', () => {
    const fold = worked()
    const { plan: first, details } = planned(fold)
    expect(details.length).toBeGreaterThan(5)
    const pen = new Pen({ first: fold.numbers.upTo + 1 })
    const { edits } = first
    fold.push(
      pen.write({ type: 'view-edit', layer: 'x', asked: 'automatic', edits, why: '', tokensFreed: 0 }),
    )
    fold.push(pen.write(said('go on')))
    for (let index = 0; index < 12; index++)
      fold.push(
        pen.write(
          answered(`Looking at other_thing_${index} now. ${'More words. '.repeat(400)}`, { id: `n${index}` }),
        ),
      )
    const again = planned(fold).details.join('\n')
    const kept = details.flatMap((item) => titledLines(item).lines).filter((line) => again.includes(line))
    expect(kept.length).toBeGreaterThan(0)
    expect(again.split('\n').filter((line) => line.includes('Lines likely to be needed'))).toEqual([])
  })

  it('[O40] are explained: each kept one and the best left ones with chances, and what speaks for them', () => {
    const fold = worked()
    const { edit, details } = planned(fold)
    const { kept, left, weights } = explainBoundary(fold, edit)
    const lines = new Set(details.flatMap((item) => titledLines(item).lines))
    expect(new Set(kept.map(({ line }) => line))).toEqual(lines)
    expect(left.length).toBeGreaterThan(0)
    for (const one of left) expect(lines.has(one.line)).toBe(false)
    for (const { need, help, worth, because, subject } of [...kept, ...left]) {
      expect(need).toBeGreaterThan(0)
      expect(Math.max(need, help)).toBeLessThan(1)
      expect(worth).toBeGreaterThan(0)
      expect(because.length).toBeGreaterThan(0)
      expect(subject).toMatch(/^src\/part_\d+\.ts$/)
    }
    expect(weights).toContain('npm run fit')
  })

  it('[O40] a kept line with a mark of ours in it is named too', () => {
    const fold = worked()
    const pen = new Pen({ first: fold.numbers.upTo + 1 })
    const odd = 'const total_odd_1 = compute_rows(7) // </kept> of the month'
    for (let index = 0; index < 8; index++) {
      const calls = [call(`d${index}`, 'zz', { q: 'src/odd.ts', name: 'total_odd_1' })]
      fold.push(pen.write(answered(calls, { id: `o${index}` })))
      fold.push(pen.write(result(`d${index}`, odd)))
    }
    for (let index = 0; index < 6; index++)
      fold.push(pen.write(answered(`Thinking. ${'More words. '.repeat(400)}`, { id: `p${index}` })))
    const { edit, details } = planned(fold)
    expect(details.join('\n')).toContain('‹/kept>')
    expect(explainBoundary(fold, edit).kept.map(({ line }) => line)).toContain(odd)
  })

  it('[O40] pieces are explained as well: those that stay, and those that would have come next', () => {
    const fold = worked()
    const made = plan(fold, room, { trigger: 'auto', thrift: { ...point, excerptTokens: 3000 } })
    if (!made.ok) throw new Error(made.message)
    const edit = made.plan.edits.find((one) => one.kind === 'summary')!
    const { pieces } = explainBoundary(fold, edit)
    const stands = ({ at, lines: [first, last] }: (typeof pieces.kept)[number]): boolean =>
      edit.keep.some(
        (kept) => kept.at.seq === at && (kept.lines ?? []).some(([from, to]) => from < first && to >= last),
      )
    expect(pieces.kept.filter(({ lines: [first, last] }) => last - first > 5).length).toBeGreaterThan(3)
    expect(pieces.kept.filter((one) => !stands(one))).toEqual([])
    expect(pieces.left.length).toBeGreaterThan(3)
    expect(pieces.left.filter(stands)).toEqual([])
    for (const { quoted, names, worth, tokens, begins, subject, because } of [
      ...pieces.kept,
      ...pieces.left,
    ]) {
      expect(quoted).toBeGreaterThan(0)
      expect(quoted).toBeLessThan(1)
      expect(names).toBeGreaterThan(0)
      expect(worth).toBeCloseTo((1000 * (quoted + 0.05 * names)) / (tokens + 30), 0)
      expect(begins).not.toBe('')
      expect(subject).toMatch(/^src\/part_\d+\.ts$/)
      expect(because.map(({ feature }) => feature)).not.toContain('always')
      const weights = because.map(({ weighs }) => Math.abs(weighs))
      expect(weights).toEqual(weights.toSorted((a, b) => b - a))
    }
  })

  it('[O41] stand beside a text that somebody wrote, where it lacks them, in the same room', () => {
    const fold = worked()
    const { plan: ours, details } = planned(fold)
    const name = /total_\d+_\d+/.exec(details.join('\n'))![0]
    const summary = `What was done, in a few words, and that ${name} was looked at. `.repeat(5)
    const theirs = rewritten(fold, room, options, ours, { summary, by: 'model', keptFrom: unanswered })
    if (!theirs.ok) throw new Error(theirs.message)
    const text = theirs.plan.texts.join('\n')
    const { details: own } = parseSections(text)!
    expect(own.length).toBeGreaterThan(5)
    expect(own.join('\n').split(/\W+/)).not.toContain(name)
    expect(text).toContain(summary.trim())
    expect(theirs.plan.tokensAfter).toBeLessThanOrEqual(Math.max(room.target, ours.tokensAfter))
  })
})
