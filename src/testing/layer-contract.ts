// What every layer must do, as cases that any test runner can run: each throws when the layer breaks its promise.
//
//   for (const item of layerContract) it(`[${item.rule}] ${item.title}`, () => item.run(makeLayer))
//
// `makeLayer` gives a layer that has seen nothing yet. The cases hold it against sessions from empty to full, on a warm and a
// cold cache; what it does with them is its own affair, what it may propose is not.
import assert from 'node:assert/strict'
import { Fold } from '../projection/fold.ts'
import type { Budget, Layer, Proposal } from '../projection/layer.ts'
import { viewRefusal } from '../projection/refusal.ts'
import type { View } from '../projection/view.ts'
import type { Fact } from '../transcript/fact.ts'
import { answered, call, fixedClock, Pen, result, said, start } from './builders.ts'

export interface LayerCase {
  readonly rule: string
  readonly title: string
  run(makeLayer: () => Layer): void
}

interface Situation {
  readonly name: string
  readonly fold: Fold
  readonly pen: Pen
  readonly budget: Budget
}

const begun = Date.UTC(2026, 0, 1)
const hour = 3_600_000

/** Turns of the user with calls and results between, newest last. */
function factsOf(turns: number, resultChars: number): readonly Fact[] {
  const facts: Fact[] = [start()]
  for (let turn = 0; turn < turns; turn++) {
    facts.push(said(`task ${turn}: ${'please look at it '.repeat(5)}`))
    for (const round of [0, 1]) {
      const id = `toolu_${turn}_${round}`
      const calls = [call(id, 'Read', { file_path: `src/file-${turn % 3}.ts` })]
      facts.push(answered(calls, { id: `msg_${turn}_${round}`, stop: 'tool_use' }))
      facts.push(result(id, 'line of a file\n'.repeat(Math.ceil(resultChars / 15))))
    }
    facts.push(answered(`done with ${turn}`, { id: `msg_${turn}_end` }), {
      type: 'turn-end',
      outcome: 'done',
    })
  }
  facts.push(said('and now?'))
  return facts
}

/** Made anew for each case, so that no case sees what another left. */
function situations(): readonly Situation[] {
  const found: Situation[] = []
  for (const turns of [0, 1, 12]) {
    for (const chars of [50, 60_000]) {
      for (const kind of ['warm', 'cold', 'full'] as const) {
        const pen = new Pen({ clock: fixedClock(begun) })
        const fold = new Fold()
        for (const fact of turns === 0 ? [start()] : factsOf(turns, chars)) fold.push(pen.write(fact))
        found.push({
          name: `${turns} turns, ${chars} characters, ${kind}`,
          fold,
          pen,
          budget: budgetOf(fold.view(), kind),
        })
      }
    }
  }
  return found
}

function budgetOf(view: View, kind: 'warm' | 'cold' | 'full'): Budget {
  const threshold = kind === 'full' ? Math.max(1, view.tokens) : 167_000
  return {
    window: 200_000,
    reserve: 20_000,
    effective: 180_000,
    threshold,
    fixed: 0,
    room: threshold,
    target: Math.floor(threshold * 0.4),
    now: begun + (kind === 'cold' ? 2 * hour : 1000),
    isWarm: kind !== 'cold',
    rates: { fresh: 3e-6, read: 0.3e-6, write: 3.75e-6, output: 15e-6 },
    expectedRequests: 10,
    isMain: true,
    cacheLost: false,
    capabilities: { cacheEdits: false, contextEditing: false, bindsPrefix: false },
    boundaryDue: false,
    ownFrom: 0,
  }
}

/** Every proposal a fresh layer makes, situation by situation. */
function* proposals(
  makeLayer: () => Layer,
): Generator<{ readonly situation: Situation; readonly layer: Layer; readonly proposal: Proposal }> {
  for (const situation of situations()) {
    const layer = makeLayer()
    const proposal = layer.decide(situation.fold.view(), situation.budget)
    if (proposal !== null) yield { situation, layer, proposal }
  }
}

/** What is written of an edit that a layer proposes. */
const editFact = (
  { name: layer }: Layer,
  { edits, why, tokensFreed }: Extract<Proposal, { kind: 'edit' }>,
): Fact => ({ type: 'view-edit', layer, asked: 'automatic', edits, why, tokensFreed })

const shownTo = (view: View): number => view.messages.last()?.to ?? -1

/** What every layer must do, as cases for any test runner. */
export const layerContract: readonly LayerCase[] = [
  {
    rule: 'L3',
    title: 'it has a name, and proposes nothing where nothing is shown',
    run: (makeLayer) => {
      const layer = makeLayer()
      assert.notEqual(layer.name.trim(), '')
      for (const { fold, budget } of situations())
        if (fold.view().messages.length === 0) assert.equal(layer.decide(fold.view(), budget), null)
    },
  },
  {
    rule: 'L3',
    title: 'it only looks: the view stays as it was, and asked again it says the same',
    run: (makeLayer) => {
      for (const { name, fold, budget } of situations()) {
        const layer = makeLayer()
        const before = JSON.stringify([...fold.view().messages])
        const first = layer.decide(fold.view(), budget)
        assert.deepEqual(layer.decide(fold.view(), budget), first, name)
        layer.declined?.(fold.view(), budget)
        layer.isDue?.(fold.view(), budget)
        assert.equal(JSON.stringify([...fold.view().messages]), before, name)
      }
    },
  },
  {
    rule: 'L3',
    title: 'every proposal says why',
    run: (makeLayer) => {
      for (const { situation, proposal } of proposals(makeLayer))
        assert.notEqual(proposal.why.trim(), '', situation.name)
    },
  },
  {
    rule: 'L3',
    title: 'an edit is one that may be written, with the tokens it frees and numbers that are numbers',
    run: (makeLayer) => {
      for (const { situation, layer, proposal } of proposals(makeLayer)) {
        if (proposal.kind !== 'edit') continue
        const { edits, tokensFreed, price } = proposal
        assert.ok(edits.length > 0, situation.name)
        assert.ok(Number.isFinite(tokensFreed) && tokensFreed >= 0, situation.name)
        for (const value of Object.values(price ?? {}))
          if (typeof value === 'number') assert.ok(!Number.isNaN(value), situation.name)
        assert.equal(viewRefusal(situation.fold, editFact(layer, proposal)), null, situation.name)
      }
    },
  },
  {
    rule: 'L3',
    title: 'what it wants written out are results in the view, each once',
    run: (makeLayer) => {
      for (const { situation, proposal } of proposals(makeLayer)) {
        if (proposal.kind !== 'spill') continue
        const places = proposal.at.map(({ seq }) => seq)
        assert.equal(new Set(places).size, places.length, situation.name)
        for (const place of places)
          assert.equal(situation.fold.units.find(place)?.kind, 'result', situation.name)
      }
    },
  },
  {
    rule: 'L3',
    title: 'a span it asks a text for lies in the view',
    run: (makeLayer) => {
      for (const { situation, proposal } of proposals(makeLayer)) {
        if (proposal.kind !== 'ask') continue
        const { from, to } = proposal.span
        assert.ok(from <= to && from >= 0 && to <= shownTo(situation.fold.view()), situation.name)
      }
    },
  },
  {
    rule: 'L1',
    title: 'once its edit is written, it has nothing more to edit at the same budget',
    run: (makeLayer) => {
      for (const { situation, layer, proposal } of proposals(makeLayer)) {
        if (proposal.kind !== 'edit') continue
        situation.fold.push(situation.pen.write(editFact(layer, proposal)))
        const again = layer.decide(situation.fold.view(), situation.budget)
        assert.ok(again === null || again.kind !== 'edit', situation.name)
      }
    },
  },
]
