// The laws of the fold, over random sessions with every kind of edit.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkpointOf, restore } from '../../src/projection/checkpoint.ts'
import { Fold, project } from '../../src/projection/fold.ts'
import { isEditing, isRealInput, type Entry, type Fact } from '../../src/transcript/fact.ts'
import type { Part, View, ViewBlock } from '../../src/projection/view.ts'
import { viewRefusal } from '../../src/projection/refusal.ts'
import { arbitraryMoves, played } from '../../src/testing/arbitrary.ts'
import { Pen } from '../../src/testing/builders.ts'

// More runs for a long look: PROPERTY_RUNS=20000 npx vitest run test/properties
const runs = { numRuns: Number(process.env['PROPERTY_RUNS'] ?? 150) }
const sessions = arbitraryMoves(fc).map(played)

/** Everything a view says, as plain data. Parts carry the tool's name only as long as its call is in memory. */
function plain(view: View): unknown {
  const messages = [...view.messages].map((message) => ({ ...message, parts: message.parts.map(plainPart) }))
  return { ...view, messages }
}
const plainPart = (part: Part): unknown => ({ ...part })
const flat = (view: View): { role: string; block: ViewBlock }[] =>
  [...view.messages].flatMap((message) => message.content.map((block) => ({ role: message.role, block })))

function foldOf(entries: readonly Entry[]): Fold {
  const fold = new Fold()
  for (const entry of entries) fold.push(entry)
  return fold
}

/** The fold with everything shown anew, from nothing but units and edits. */
function scratch(entries: readonly Entry[]): View {
  const fold = foldOf(entries)
  fold.render()
  return fold.view()
}

/** Pushes a fact as the engine would: supplying first what is not in memory. */
function pushed(fold: Fold, entry: Entry, all: readonly Entry[]): void {
  const range = fold.missing(entry.fact)
  if (range !== null)
    fold.supply(
      range,
      all.filter((other) => other.seq >= range.from && other.seq <= range.to),
    )
  fold.push(entry)
}

describe('the fold', () => {
  it('[P1] is deterministic and the same piece by piece as at once', () => {
    fc.assert(
      fc.property(sessions, (entries) => {
        const fold = new Fold()
        for (const [index, entry] of entries.entries()) {
          fold.push(entry)
          if (index % 7 === 0) expect(plain(fold.view())).toEqual(plain(project(entries.slice(0, index + 1))))
        }
        expect(plain(fold.view())).toEqual(plain(project(entries)))
        expect(plain(fold.view())).toEqual(plain(scratch(entries)))
      }),
      runs,
    )
  })

  it('[P1] an old view stays what it was when entries follow', () => {
    fc.assert(
      fc.property(sessions, fc.nat(), (entries, at) => {
        const fold = new Fold()
        const early = entries.slice(0, at % entries.length)
        for (const entry of early) fold.push(entry)
        const view = fold.view()
        const before = JSON.stringify(plain(view))
        for (const entry of entries.slice(early.length)) fold.push(entry)
        expect(JSON.stringify(plain(view))).toBe(before)
      }),
      runs,
    )
  })

  it('[P2] a plain fact never changes what was already shown', () => {
    fc.assert(
      fc.property(sessions, (entries) => {
        const fold = new Fold()
        for (const entry of entries) {
          const before = flat(fold.view())
          fold.push(entry)
          const { type } = entry.fact
          if (isEditing(entry.fact) || type === 'undo' || type === 'rewind') continue
          // While calls are open nothing can have been sent, and results go before texts.
          if (type === 'tool-result') continue
          expect(flat(fold.view()).slice(0, before.length)).toEqual(before)
        }
      }),
      runs,
    )
  })

  it('[P4] undo gives back the view as if the edit had never been', () => {
    fc.assert(
      fc.property(sessions, fc.nat(), (entries, pick) => {
        const fold = foldOf(entries)
        const live = fold.edits.controls.filter(
          (control) => isEditing(control.fact) && fold.edits.editing(control.seq),
        )
        if (live.length === 0) return
        const target = live[pick % live.length]!
        // An edit that others were laid over or inside of cannot be thought away alone: take the newest.
        const newest = live.at(-1)!
        const chosen = target.seq === newest.seq ? target : newest
        const after = entries.filter((entry) => entry.seq > chosen.seq)
        if (after.some((entry) => entry.fact.type === 'pin' || entry.fact.type === 'undo')) return
        const never = entries.map((entry): Entry =>
          entry.seq === chosen.seq ? { ...entry, fact: { type: 'turn-end', outcome: 'done' } } : entry,
        )
        const undo = new Pen({ first: entries.length }).write({ type: 'undo', target: chosen.seq })
        fold.push(undo)
        expect(flat(fold.view())).toEqual(flat(project(never)))
        expect(fold.view().estimate).toBe(project(never).estimate)
      }),
      runs,
    )
  })

  it('[P4] undoing every live edit gives back every part that was not rewound', () => {
    fc.assert(
      fc.property(sessions, (entries) => {
        const fold = foldOf(entries)
        const pen = new Pen({ first: entries.length })
        for (const control of [...fold.edits.controls].reverse()) {
          const fact: Fact = { type: 'undo', target: control.seq }
          if (isEditing(control.fact) && viewRefusal(fold, fact) === null) fold.push(pen.write(fact))
        }
        const bare = entries.map((entry): Entry =>
          isEditing(entry.fact) ? { ...entry, fact: { type: 'turn-end', outcome: 'done' } } : entry,
        )
        expect(flat(fold.view())).toEqual(flat(project(bare)))
      }),
      runs,
    )
  })

  it('[P5] a checkpoint and the tail equal everything, also when an undo follows', () => {
    fc.assert(
      fc.property(sessions, fc.nat(), fc.boolean(), (entries, at, early) => {
        const cut = 1 + (at % entries.length)
        const live = foldOf(entries.slice(0, cut))
        const { state, needs } = checkpointOf(live)
        const kept = entries.filter((entry) =>
          needs.some((range) => entry.seq >= range.from && entry.seq <= range.to),
        )
        const restored = restore(JSON.parse(JSON.stringify(state)), JSON.parse(JSON.stringify(kept)))!
        expect(plain(restored.view())).toEqual(plain(project(entries.slice(0, cut))))
        // The live fold, which has evicted, and the restored one go on alike.
        const fold = early ? live : restored
        for (const entry of entries.slice(cut)) pushed(fold, entry, entries)
        expect(plain(fold.view())).toEqual(plain(project(entries)))
      }),
      { numRuns: 2 * runs.numRuns },
    )
  })

  it('[U1] every real user message is in the view, in a summary, or was removed by request', () => {
    fc.assert(
      fc.property(sessions, (entries) => {
        const fold = foldOf(entries)
        const shown = flat(fold.view())
          .flatMap(({ block }) => ('text' in block ? [block.text] : []))
          .join('\n')
        for (const entry of entries) {
          if (!isRealInput(entry.fact) || isRewound(fold, entry)) continue
          const top = fold.edits.topAt(entry.seq)
          if (top?.edit.kind === 'drop' && top.asked !== 'automatic') continue
          if (top !== undefined && droppedInside(entries, entry)) continue
          for (const block of entry.fact.content) {
            if (block.type === 'text' && block.text.trim() !== '')
              expect(shown).toContain(block.text.toWellFormed())
          }
        }
      }),
      runs,
    )
  })
})

const isRewound = (fold: Fold, entry: Entry): boolean =>
  fold.numbers.cut.some((range) => entry.seq >= range.from && entry.seq <= range.to)

/** A drop that the user asked for lies under the summary that now covers the entry. */
const droppedInside = (entries: readonly Entry[], entry: Entry): boolean =>
  entries.some(
    ({ fact }) =>
      isEditing(fact) &&
      fact.asked !== 'automatic' &&
      fact.edits.some((edit) => edit.kind === 'drop' && edit.from <= entry.seq && edit.to >= entry.seq),
  )
