// The laws of the fold, over random sessions with every kind of edit.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkpointOf, restore } from '../../src/projection/checkpoint.ts'
import { Fold, project } from '../../src/projection/fold.ts'
import { isEditing, isRealInput, type Edit, type Entry, type Fact } from '../../src/transcript/fact.ts'
import type { Part, View, ViewBlock } from '../../src/projection/view.ts'
import { viewRefusal } from '../../src/projection/refusal.ts'
import { arbitraryMoves, played, type Move } from '../../src/testing/arbitrary.ts'
import { Pen } from '../../src/testing/builders.ts'
import { seq } from '../../src/transcript/ids.ts'

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

const opening: readonly Move[] = [
  { move: 'say', content: [{ type: 'text', text: 'look at it' }], injected: false },
  {
    move: 'answer',
    texts: ['looking'],
    calls: 1,
    thinks: false,
    cut: false,
    usage: true,
    model: 'claude-sonnet-4-6',
  },
  { move: 'result', text: 'it is there', isError: false, image: false },
  {
    move: 'answer',
    texts: ['it is there'],
    calls: 0,
    thinks: false,
    cut: false,
    usage: true,
    model: 'claude-sonnet-4-6',
  },
]

/**
 * The session with an edit in a place that says nothing, one that could be made there and can be taken back at the end;
 * and the same session without it. Null where there is none.
 */
function withEdit(
  entries: readonly Entry[],
  at: number,
  pick: number,
): { readonly edited: Fold; readonly never: readonly Entry[]; readonly at: number } | null {
  if (entries[at]?.fact.type !== 'request-sent') return null
  const parts = [...foldOf(entries.slice(0, at)).parts()]
  const editing = (edit: Edit): Fact => ({
    type: 'view-edit',
    layer: 'test',
    asked: 'user',
    edits: [edit],
    why: 'a test',
    tokensFreed: 0,
  })
  const candidates = parts.flatMap((part, index): Fact[] => {
    const end = parts[Math.min(parts.length - 1, index + (pick % 4))]!
    const range = { from: part.from, to: end.to }
    const ref = `${range.from}-${range.to}`
    const stub: Edit = { kind: 'stub', at: { seq: part.from, block: 0 }, text: '[stub]', ref: `${part.from}` }
    const made = [
      editing({ kind: 'drop', ...range }),
      editing({ kind: 'summary', ...range, text: 'summary', ref, keep: [] }),
    ]
    return part.kind === 'result' && part.source[0] !== -1 ? [editing(stub), ...made] : made
  })
  const quiet = entries[at]!.fact
  for (let tried = 0; tried < candidates.length; tried++) {
    const fact = candidates[(pick + tried * 7) % candidates.length]!
    const [edited, plain] = [foldOf(entries.slice(0, at)), foldOf(entries.slice(0, at + 1))]
    if (viewRefusal(edited, fact) !== null) continue
    edited.push({ ...entries[at]!, fact })
    const never = entries.slice(0, at + 1)
    for (const entry of entries.slice(at + 1)) {
      // What only one of the two sessions could have done is done in neither.
      const isShared = viewRefusal(edited, entry.fact) === null && viewRefusal(plain, entry.fact) === null
      const kept = isShared ? entry : { ...entry, fact: quiet }
      edited.push(kept)
      plain.push(kept)
      never.push(kept)
    }
    if (viewRefusal(edited, { type: 'undo', target: entries[at]!.seq }) === null) return { edited, never, at }
  }
  return null
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
    // A place in the middle that says nothing: there the edit is made, or not. Something was said before it, no call is
    // open, and nothing after it is pinned or gone back over: that would be another thing without the edit.
    const cases = fc
      .tuple(arbitraryMoves(fc), arbitraryMoves(fc), fc.nat())
      .map(([first, then, pick]) => {
        const before: Move[] = [...first, { move: 'crash' }, ...opening, { move: 'crash' }]
        const after = then.filter(({ move }) => move !== 'pin' && move !== 'rewind')
        return withEdit(played([...before, { move: 'ask' }, ...after]), played(before).length, pick)
      })
      .filter((found) => found !== null)
    const counted = { tested: 0, later: 0 }
    fc.assert(
      fc.property(cases, ({ edited, never, at }) => {
        counted.tested++
        if (never.length > at + 1) counted.later++
        edited.push(new Pen({ first: never.length }).write({ type: 'undo', target: seq(at) }))
        expect(flat(edited.view())).toEqual(flat(project(never)))
        expect(edited.view().estimate).toBe(project(never).estimate)
      }),
      runs,
    )
    expect(counted.later).toBeGreaterThan(0.8 * counted.tested)
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
