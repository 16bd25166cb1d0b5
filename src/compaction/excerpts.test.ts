import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { roomOf, type Room } from '../projection/budget.ts'
import { Fold } from '../projection/fold.ts'
import { blockWords } from '../projection/folding/render.ts'
import { viewRefusal } from '../projection/refusal.ts'
import { answered, call, Pen, result, said, start } from '../testing/builders.ts'
import type { Fact, Kept, SummaryEdit } from '../transcript/fact.ts'
import { seq } from '../transcript/ids.ts'
import { shownText } from './span-reading.ts'
import { plan } from './ladder.ts'
import { planContextOf } from './plan-context.ts'
import { excerptsOf } from './excerpts.ts'
import { pieceFeatures } from './scoring/pieces.ts'
import { scoreWeights, type ScoreWeights } from '../settings/score-weights.ts'

const file = (name: string, lines: number): string =>
  Array.from({ length: lines }, (_, at) => `  const ${name}Value${at} = compute_${name}(${at * 1000})`).join(
    '\n',
  )

let count = 0
const read = (path: string, text: string): Fact[] => {
  const id = `call${(count += 1)}`
  return [answered([call(id, 'Read', { file_path: path })], { id: `m_${id}` }), result(id, text)]
}
const edit = (path: string, line = 'a'): Fact[] => {
  const id = `call${(count += 1)}`
  const input = { file_path: path, old_string: line, new_string: `${line} // checked` }
  return [answered([call(id, 'Edit', input)], { id: `m_${id}` }), result(id, 'done')]
}

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

const wordsOf = (fold: Fold, { at, lines = [] }: Kept): string => {
  const part = fold.units.find(at.seq)!
  const all = blockWords(part.blocks[part.source.indexOf(at.block!)]!).split('\n')
  return lines.map(([from, to]) => all.slice(from, to).join('\n')).join('\n')
}

/** Weights that go by work on files alone: what is fitted changes with what is recorded. */
const forWork: ScoreWeights = {
  ...scoreWeights,
  piece: pieceFeatures.map((name) => (name === 'work on its file' ? 4 : name === 'always' ? -4 : 0)),
}

const edited = { type: 'view-edit', layer: 'x', asked: 'automatic', why: '', tokensFreed: 0 } as const

describe('excerpts', () => {
  const facts = [
    said('build it'),
    ...read('src/idle.ts', file('idle', 120)),
    ...read('src/busy.ts', file('busy', 120)),
    ...edit('src/busy.ts', file('busy', 6).split('\n')[5]),
    ...edit('src/busy.ts', file('busy', 8).split('\n')[7]),
    ...read('src/other.ts', file('other', 4)),
  ]

  it('[O47] are never of a task list, nor of one that an earlier boundary kept: it holds no more', () => {
    const tasks = (name: string): Fact[] => [
      answered(
        [call(`t_${name}`, 'x', { y: [{ a: `check compute_${name} in src/busy.ts`, b: 'pending' }] })],
        {
          id: `m_t_${name}`,
        },
      ),
      result(`t_${name}`, 'noted'),
    ]
    const { fold, pen } = foldOf(...facts, ...tasks('busy'), ...read('src/last.ts', file('last', 4)))
    const span = () => ({ start: 0, end: [...fold.parts()].length })
    const wordsNow = (): string =>
      excerptsOf(planContextOf(fold, room(60_000), {}), span(), 50_000, [])
        .map((keep) => wordsOf(fold, keep))
        .join('\n')
    expect(wordsNow()).toContain('busyValue10 ')
    expect(wordsNow()).not.toContain('check compute_busy')
    // As an earlier version kept it.
    const listed = [...fold.parts()].find(({ blocks }) =>
      blocks.some((block) => blockWords(block).includes('check compute')),
    )!
    const range = { from: seq(1), to: seq(fold.numbers.upTo) }
    const keep = [{ at: { seq: listed.from, block: 0 }, lines: [[0, 3]] as const }]
    fold.push(pen.write({ ...edited, edits: [{ kind: 'summary', ...range, text: 'S', ref: '', keep }] }))
    expect(wordsNow()).not.toContain('check compute_busy')
  })

  it('[O47] a task list and what came of it stand in no piece of a plan, and no title has its states', () => {
    const listed = (id: string, text: string, out: string): Fact[] => [
      answered([call(id, 'Todo', { todos: [{ content: text, status: 'pending' }] })], { id: `m_${id}` }),
      result(id, out),
    ]
    const old = 'check busyValue10 with compute_busy'
    const facts = [
      said('build it'),
      ...read('src/busy.ts', file('busy', 60)),
      ...edit('src/busy.ts', file('busy', 6).split('\n')[5]),
      ...read('the list', `#1 [pending] ${old}\n#2 [completed] look at busyValue11 with compute_busy`),
      ...listed('t1', old, `Tasks now:\n[ ] ${old}\n${file('busy', 12)}`),
      ...listed('t2', 'write about busyValue10', 'noted'),
      ...Array.from({ length: 6 }, (_, at) => read(`src/f${at}.ts`, file(`f${at}`, 150))).flat(),
      answered('done', { id: 'm_last' }),
    ]
    const { fold } = foldOf(...facts)
    // Any piece is worth something, so only the rule keeps a list out.
    const weights = { ...forWork, piece: forWork.piece.map((weight) => Math.max(0, weight)) }
    const made = plan(fold, room(60_000), { trigger: 'manual', weights })
    if (!made.ok) throw new Error(made.message)
    const [summary] = made.plan.edits as readonly SummaryEdit[]
    const kept = summary!.keep.map((keep) => wordsOf(fold, keep)).join('\n')
    expect(summary!.text).toContain('[ ] write about busyValue10')
    expect(summary!.text).not.toContain('pending')
    expect(kept).toContain('busyValue10 ')
    expect(kept).not.toContain(old)
  })

  it('[DI3] keep lines of a file that calls work on before those of one they do not', () => {
    const { fold } = foldOf(...facts)
    const context = planContextOf(fold, room(60_000), { weights: forWork })
    const end = context.parts.length - 2
    const kept = excerptsOf(context, { start: 0, end }, 2000, [])
    const words = kept.map((keep) => wordsOf(fold, keep)).join('\n')
    expect(words).toContain('busyValue10 ')
    expect(words).not.toContain('idleValue10 ')
    const all = excerptsOf(context, { start: 0, end }, 50_000, []).map((keep) => wordsOf(fold, keep))
    expect(all.join('\n')).toContain('idleValue119 ')
    // As fitted, work on a file that is shown counts for it.
    const fitted = (name: (typeof pieceFeatures)[number]) => scoreWeights.piece[pieceFeatures.indexOf(name)]!
    expect(fitted('work on its file') + fitted('shows a file, work on it')).toBeGreaterThan(0)
  })

  it('[O43] of one file those come first in which earlier changes lie, as the weights say', () => {
    const lines = file('busy', 200).split('\n')
    const id = `call${(count += 1)}`
    const input = {
      file_path: 'src/busy.ts',
      old_string: lines.slice(150, 154).join('\n'),
      new_string: lines.slice(150, 153).join('\n'),
    }
    const { fold } = foldOf(
      said('build it'),
      ...read('src/busy.ts', lines.join('\n')),
      answered([call(id, 'Edit', input)], { id: `m_${id}` }),
      result(id, 'done'),
      said('go on'),
    )
    const keptBy = (weights: ScoreWeights): string => {
      const context = planContextOf(fold, room(60_000), { weights })
      const shown = [Object.values(input).join('\n')]
      const kept = excerptsOf(context, { start: 0, end: context.parts.length - 1 }, 450, shown)
      return kept.map((keep) => wordsOf(fold, keep)).join('\n')
    }
    const touched = 'lines that changes have touched'
    const only = pieceFeatures.map((name) => (name === touched ? 4 : name === 'always' ? -4 : 0))
    expect(keptBy({ ...scoreWeights, piece: only })).toContain('busyValue146 ')
    expect(keptBy({ ...scoreWeights, piece: only })).not.toContain('busyValue10 ')
    const against = only.map((weight) => -weight)
    expect(keptBy({ ...scoreWeights, piece: against })).not.toContain('busyValue146 ')
    expect(scoreWeights.piece).toHaveLength(pieceFeatures.length)
    expect(scoreWeights.piece[pieceFeatures.indexOf(touched)]).toBeGreaterThan(0)
  })

  const always = { ...scoreWeights, piece: pieceFeatures.map((name) => (name === 'always' ? 2 : 0)) }
  const keptBy = (
    fold: Fold,
    weights: ScoreWeights,
    tokens: number,
    seen: readonly string[] = [],
  ): string => {
    const context = planContextOf(fold, room(60_000), { weights })
    const kept = excerptsOf(context, { start: 0, end: context.parts.length - 1 }, tokens, seen)
    return kept.map((keep) => wordsOf(fold, keep)).join('\n')
  }

  it('[O45] of a change what it puts in stays, behind the line that names its file', () => {
    const input = {
      file_path: 'src/busy.ts',
      old_string: file('before', 12),
      new_string: file('after', 12),
    }
    const { fold } = foldOf(
      said('build it'),
      answered([call('c1', 'Edit', input)], { id: 'm_c1' }),
      result('c1', 'done'),
      said('go on'),
    )
    const words = keptBy(fold, always, 2000)
    expect(words).toContain(`Edit\nsrc/busy.ts\n${file('after', 12)}`)
    expect(words).not.toContain('beforeValue')
  })

  it('[O45] what a later change removed counts less, as the weights say', () => {
    const gone = 'share of its lines that changes have removed since'
    const only = pieceFeatures.map((name) => (name === gone ? -9 : name === 'always' ? 2 : 0))
    const [first, second] = [file('first', 18), file('second', 18)]
    const input = { file_path: 'src/busy.ts', old_string: second, new_string: 'return nothing' }
    const { fold } = foldOf(
      said('build it'),
      ...read('src/busy.ts', `${first}\n\n${second}`),
      answered([call('c2', 'Edit', input)], { id: 'm_c2' }),
      result('c2', 'done'),
      said('go on'),
    )
    const words = keptBy(fold, { ...scoreWeights, piece: only }, 520)
    expect(words).toContain('firstValue3 ')
    expect(words).not.toContain('secondValue3 ')
    const turned = only.map((weight) => (weight === -9 ? 9 : weight - 6))
    expect(keptBy(fold, { ...scoreWeights, piece: turned }, 520)).toContain('secondValue3 ')
  })

  it('[O45] a piece ends with its paragraph', () => {
    const paragraphs = [file('first', 14), file('second', 16)].join('\n\n')
    const { fold } = foldOf(said('build it'), ...read('src/busy.ts', paragraphs), said('go on'))
    const only = pieceFeatures.map((name) => (name === 'always' ? 2 : 0))
    const words = keptBy(fold, { ...scoreWeights, piece: only }, 480)
    expect(['firstValue0 ', 'firstValue13 '].every((name) => words.includes(name))).toBe(
      !words.includes('secondValue0 '),
    )
    expect(words).toMatch(/(?:first|second)Value0 /)
    expect(words.includes('firstValue13 ')).toBe(words.includes('firstValue0 '))
  })

  it('[O45] lines that stand apart somewhere else do not make a piece seen', () => {
    const text = file('busy', 12)
    const { fold } = foldOf(said('build it'), ...read('src/busy.ts', text), said('go on'))
    const apart = text.split('\n').join('\nsomething else\n')
    expect(keptBy(fold, always, 2000, [apart])).toContain(text)
    expect(keptBy(fold, always, 2000, [text])).not.toContain('busyValue3 ')
  })

  it('[O43] a name that stands somewhere else makes a piece worth nothing more', () => {
    const log = (name: string): string =>
      Array.from({ length: 12 }, (_, at) => `job ${name}_step${at} waits for ${name}_gate${at}`).join('\n')
    const keptWith = (shown: readonly Fact[]): string => {
      const { fold } = foldOf(
        said('watch the jobs'),
        ...read('one.log', log('north')),
        ...read('two.log', log('south')),
        said('go on'),
        ...shown,
      )
      const context = planContextOf(fold, room(60_000), { weights: namesAlone })
      const end = context.parts.findLastIndex(({ kind }) => kind === 'input')
      const kept = excerptsOf(context, { start: 0, end }, 330, [])
      return kept.map((keep) => wordsOf(fold, keep)).join('\n')
    }
    const namesAlone = { ...scoreWeights, piece: pieceFeatures.map((name) => (name === 'always' ? -20 : 0)) }
    const names = [...log('south').matchAll(/south_\w+/g)].map(([name]) => name).join(' and ')
    expect(keptWith([])).toContain('job south_step')
    expect(keptWith([])).not.toContain('job north_step')
    expect(keptWith([answered(`Seen: ${names}`, { id: 'names' })])).toContain('job north_step')
  })

  it('[DI3] leave out what is in sight anyway', () => {
    const { fold } = foldOf(...facts, ...read('src/busy.ts', file('busy', 120)))
    const context = planContextOf(fold, room(60_000), {})
    const kept = excerptsOf(context, { start: 0, end: context.parts.length - 2 }, 50_000, [])
    const words = kept.map((keep) => wordsOf(fold, keep)).join('\n')
    expect(words).not.toContain('busyValue10 ')
    expect(words).toContain('idleValue10 ')
  })

  it('[DI3] are lines, not a message whole: one that takes more than a piece may is none', () => {
    const paragraph = 'word '.repeat(9000)
    const { fold } = foldOf(
      said('explain'),
      ...read('src/packed.ts', paragraph),
      ...edit('src/packed.ts'),
      ...read(
        'src/wide.ts',
        Array.from({ length: 40 }, (_, at) => `${at} ${'wide '.repeat(400)}`).join('\n'),
      ),
      said('go on'),
    )
    const context = planContextOf(fold, room(200_000), {})
    const kept = excerptsOf(context, { start: 0, end: context.parts.length - 1 }, 30_000, [])
    const words = kept.map((keep) => wordsOf(fold, keep))
    expect(words.join('\n')).not.toContain(paragraph.slice(0, 1000))
    // Long lines that fit are cut into smaller pieces.
    expect(words.join('\n')).toContain('wide wide')
  })

  it('[DI3] of a span longer than any window come from its newest part', () => {
    const long = 'a line of a log that nothing asks for\n'.repeat(110_000)
    const keptOf = (between: readonly Fact[]): string => {
      const { fold } = foldOf(...facts, ...between, ...read('src/last.ts', file('last', 40)), said('go on'))
      const context = planContextOf(fold, room(60_000), {})
      const kept = excerptsOf(context, { start: 0, end: context.parts.length - 1 }, 20_000, [])
      return kept.map((keep) => wordsOf(fold, keep)).join('\n')
    }
    expect(keptOf([])).toContain('busyValue10 ')
    const words = keptOf(read('all.log', long))
    expect(words).toContain('lastValue10 ')
    expect(words).not.toContain('busyValue10 ')
  })

  it('[DI3] fit their tokens and name lines inside the span, in order', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 6000 }), fc.integer({ min: 0, max: 12 }), (tokens, drawn) => {
        const { fold } = foldOf(...facts)
        const context = planContextOf(fold, room(60_000), {})
        const end = Math.min(drawn, context.parts.length)
        const kept = excerptsOf(context, { start: 0, end }, tokens, [])
        const last = context.parts[end - 1]?.to ?? -1
        let used = 0
        for (const [index, keep] of kept.entries()) {
          expect(keep.at.seq).toBeLessThanOrEqual(last)
          if (index > 0) expect(keep.at.seq).toBeGreaterThanOrEqual(kept[index - 1]!.at.seq)
          for (const [from, to] of keep.lines!) expect(from).toBeLessThan(to)
          used += wordsOf(fold, keep).length
        }
        expect(used).toBeLessThanOrEqual(5 * tokens)
      }),
      { numRuns: 40 },
    )
  })

  it('[DI4] stand in the view word for word beside the summary, and may stay at the next boundary too', () => {
    const { fold, pen } = foldOf(...facts, said('go on'))
    const compacted = (): SummaryEdit => {
      const made = plan(fold, room(40_000), { trigger: 'manual', weights: forWork })
      if (!made.ok) throw new Error(made.message)
      const fact: Fact = {
        type: 'view-edit',
        layer: 'autocompact',
        asked: 'user',
        edits: made.plan.edits,
        why: 'a test',
        tokensFreed: 0,
      }
      expect(viewRefusal(fold, fact)).toBeNull()
      fold.push(pen.write(fact))
      return made.plan.edits.find((one) => one.kind === 'summary')!
    }
    const first = compacted()
    expect(first.keep.some(({ lines }) => lines !== undefined)).toBe(true)
    expect(shown(fold)).toContain(file('busy', 30))
    const id = `call${(count += 1)}`
    for (const fact of [
      answered([call(id, 'Bash', { command: 'wc -l src/busy.ts' })], { id: `m_${id}` }),
      result(id, file('noise', 60)),
      answered('done', { id: 'last' }),
      said('more'),
    ])
      fold.push(pen.write(fact))
    const second = compacted()
    expect(second.from).toBe(first.from)
    const inPieces = ({ keep }: SummaryEdit) =>
      keep.filter(({ lines }) => lines !== undefined).map(({ at }) => Number(at.seq))
    expect(inPieces(second)).toContain(5)
    const again = second.keep.find(({ at, lines }) => Number(at.seq) === 5 && lines !== undefined)!
    expect(wordsOf(fold, again)).toContain('busyValue')
    expect(shown(fold)).toContain(wordsOf(fold, { ...again, lines: again.lines!.slice(0, 1) }))
  })
})

const shown = (fold: Fold): string => [...fold.parts()].map(shownText).join('\n')
