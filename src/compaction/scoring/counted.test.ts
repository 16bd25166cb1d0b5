// What a boundary had counted is what the next one goes on from.
import { describe, expect, it } from 'vitest'
import { roomOf } from '../../projection/budget.ts'
import { Fold } from '../../projection/fold.ts'
import { blockWords } from '../../projection/folding/render.ts'
import { answered, call, Pen, result, said, start } from '../../testing/builders.ts'
import type { Counted, Fact, SummaryEdit } from '../../transcript/fact.ts'
import { seq } from '../../transcript/ids.ts'
import { defaults } from '../../settings/defaults.ts'
import { plan } from '../ladder.ts'
import { parseSections, titledLines } from '../sections.ts'
import { usageIn } from '../file-work.ts'
import { soundCounted } from './sound.ts'
import { surveyOf } from './survey.ts'

const outcome = roomOf({ window: 100_000, maxOutput: 0, fixed: 0 })
if (!outcome.ok) throw new Error(outcome.why)
const { room } = outcome
const thrift = {
  carry: 4,
  coldTokens: 1,
  leastTokens: 1,
  tailTokens: 900,
  excerptTokens: 1500,
  detailTokens: 2000,
  textTokens: 300,
  filesTokens: 0,
  clearsIdle: 0,
}

const token = `ghp_${'aB3dE6gH9k'.repeat(4).slice(0, 36)}`

const rounds = (from: number, to: number): readonly Fact[] =>
  Array.from({ length: to - from }, (_, offset): readonly Fact[] => {
    const index = from + offset
    const page = Array.from(
      { length: 20 },
      (_, line) =>
        `${line === 3 ? 'error: ' : ''}const total_${index}_${line} = compute_rows(${index}) // of the month`,
    )
    const path = `src/part_${index % 5}.ts`
    const key = index % 4 === 1 ? { header: `x-key ${token}` } : {}
    const change = index % 3 === 0 ? { old_string: `total_${index}`, new_string: `sum_${index}` } : {}
    const input = { path, ...change, ...key }
    return [
      answered([call(`c${index}`, index % 3 === 0 ? 'edit' : 'zz', input)], { id: `m${index}` }),
      result(`c${index}`, page.join('\n')),
    ]
  }).flat()

const read = (facts: readonly Fact[]): { readonly fold: Fold; readonly pen: Pen } => {
  const fold = new Fold()
  const pen = new Pen()
  for (const fact of [start(), said('Make the totals right.'), ...facts]) fold.push(pen.write(fact))
  return { fold, pen }
}

const surveyed = (fold: Fold) => surveyOf({ fold, parts: [...fold.parts()] })

function compacted(facts: readonly Fact[], change: (edit: SummaryEdit) => SummaryEdit = (edit) => edit) {
  const { fold, pen } = read(facts)
  const made = plan(fold, room, { trigger: 'auto', thrift })
  if (!made.ok) throw new Error(made.message)
  const edits = made.plan.edits.map((edit) => (edit.kind === 'summary' ? change(edit) : edit))
  fold.push(pen.write({ type: 'view-edit', layer: 'x', asked: 'automatic', edits, why: '', tokensFreed: 0 }))
  return { fold, pen, edit: edits.find((edit) => edit.kind === 'summary')! }
}

const without = (edit: SummaryEdit): SummaryEdit => ({ ...edit, counted: undefined })

describe('[O44] what a boundary had counted', () => {
  it('stands for what it hides: names, files and time are as if there had been none', () => {
    const { fold, pen } = compacted(rounds(0, 40))
    for (const fact of rounds(40, 46)) fold.push(pen.write(fact))
    const whole = read(rounds(0, 46)).fold
    const [after, plain] = [surveyed(fold), surveyed(whole)]
    expect(after.now).toBe(46)
    const of = ({ names, counts }: typeof after, name: string) => counts[names.indexOf(name)]!
    for (const name of ['src/part_1.ts', 'src/part_4.ts', 'compute_rows']) {
      const { subject: _, ...counts } = of(plain, name)
      expect(of(after, name)).toMatchObject(counts)
      expect(counts.seen).toBeGreaterThan(8)
    }
    const usage = (one: Fold) => usageIn({ fold: one, parts: [...one.parts()] })
    const [then, now] = [usage(whole).files, usage(fold).files]
    expect([...now.keys()].toSorted()).toEqual([...then.keys()].toSorted())
    for (const [name, { work, changes, last, lastChange }] of then) {
      expect(now.get(name)).toMatchObject({ changes, last, lastChange })
      expect(now.get(name)!.work).toBeCloseTo(work, 2)
    }
  })

  it('knows about how old is what stands between two texts', () => {
    const { fold, pen } = read(rounds(0, 40))
    // What an undo restored stays where it is, in the middle of what goes.
    const at = { seq: seq(41), block: 0 }
    const stub = { kind: 'stub', at, text: '[gone]', ref: '41' } as const
    const edited = { type: 'view-edit', layer: 'x', asked: 'automatic', why: '', tokensFreed: 0 } as const
    const stubbed = pen.write({ ...edited, edits: [stub] })
    fold.push(stubbed)
    fold.push(pen.write({ type: 'undo', target: stubbed.seq }))
    const age = () => ({
      lines: surveyed(fold).lines.find((line) => line.at === at.seq)!.age,
      pieces: usageIn({ fold, parts: [...fold.parts()] }).ageOf(at.seq),
    })
    const before = age()
    expect(before).toEqual({ lines: 20, pieces: 20 })
    const made = plan(fold, room, { trigger: 'auto', thrift })
    if (!made.ok) throw new Error(made.message)
    expect(made.plan.edits.filter(({ kind }) => kind === 'summary')).toHaveLength(2)
    fold.push(pen.write({ ...edited, edits: made.plan.edits }))
    const after = age()
    expect(Math.abs(after.lines - before.lines)).toBeLessThan(3)
    expect(Math.abs(after.pieces - before.pieces)).toBeLessThan(3)
    expect(surveyed(fold).now).toBe(40)
  })

  it('goes on in a forked agent, where the text of its parent stays beside its own', () => {
    const { fold, pen } = compacted(rounds(0, 40))
    const prefixTo = seq(fold.numbers.upTo)
    for (const [from, to] of [
      [40, 60],
      [60, 80],
    ] as const) {
      for (const fact of [said('Only this part.'), ...rounds(from, to)]) fold.push(pen.write(fact))
      const made = plan(fold, room, { trigger: 'auto', thrift, prefixTo })
      if (!made.ok) throw new Error(made.message)
      const { edits } = made.plan
      const edit = edits.find(({ kind }) => kind === 'summary') as SummaryEdit
      expect(edit.from).toBeGreaterThan(prefixTo)
      expect(edit.counted!.answers).toBe(to)
      fold.push(
        pen.write({ type: 'view-edit', layer: 'x', asked: 'automatic', edits, why: '', tokensFreed: 0 }),
      )
    }
    const texts = [...fold.parts()].filter(({ kind }) => kind === 'edit')
    expect(texts).toHaveLength(2)
    const { now, names, counts } = surveyed(fold)
    expect(now).toBe(80)
    expect(counts[names.indexOf('compute_rows')]).toMatchObject({ first: 1 })
  })

  it('is not counted again, however often it is read', () => {
    const { fold } = compacted(rounds(0, 40))
    const { counts, names } = surveyed(fold)
    const again = surveyed(fold)
    expect(again.counts).toEqual(counts)
    const { counts: before, names: own } = surveyed(read(rounds(0, 40)).fold)
    const seen = (name: string) => before[own.indexOf(name)]!.seen
    expect(
      names.filter((name) => own.includes(name) && counts[names.indexOf(name)]!.seen > seen(name)),
    ).toEqual([])
  })

  it('says of each kept line where it came from: its entry, who said it, when', () => {
    const { fold, edit } = compacted(rounds(0, 40))
    const kept = parseSections(edit.text)!.details.flatMap((item) => titledLines(item).lines)
    expect(kept.length).toBeGreaterThan(10)
    expect(edit.counted!.lines).toHaveLength(kept.length)
    const original = surveyed(read(rounds(0, 40)).fold).lines
    const lines = surveyed(fold).lines.filter(({ part, text }) => part === 0 || kept.includes(text.trim()))
    let found = 0
    for (const line of lines) {
      const was = original.filter(({ text }) => text.trim() === line.text.trim())
      if (!kept.includes(line.text.trim())) continue
      found++
      expect(was.map(({ at, role, age, isError }) => ({ at, role, age, isError }))).toContainEqual({
        at: line.at,
        role: line.role,
        age: line.age,
        isError: line.isError,
      })
    }
    expect(found).toBeGreaterThan(10)
  })

  it('says nothing secret, and does without where an earlier version wrote none', () => {
    const { edit } = compacted(rounds(0, 40))
    expect(JSON.stringify(edit.counted)).not.toContain(token)
    const { fold } = compacted(rounds(0, 40), without)
    const { now, lines } = surveyed(fold)
    expect(now).toBeLessThan(40)
    expect(lines.some(({ role }) => role === 'kept')).toBe(true)
  })

  const second = (change: (edit: SummaryEdit) => SummaryEdit) => {
    const { fold, pen } = compacted(rounds(0, 40), change)
    for (const fact of rounds(40, 60)) fold.push(pen.write(fact))
    const made = plan(fold, room, { trigger: 'auto', thrift })
    if (!made.ok) throw new Error(made.message)
    return made.plan.edits
  }
  const many = <T>(one: T): readonly T[] => Array.from({ length: 1_000_000 }, () => one)
  const damaged: Record<string, (carried: Counted) => Partial<Counted>> = {
    'names twice': ({ names }) => ({ names: names.slice(0, 9).flatMap((one) => [one, one]) }),
    'counts below nothing': ({ names }) => ({ names: names.map(([name]) => [name, ...sames(-5)]) }),
    'huge counts': ({ names }) => ({ names: names.map(([name]) => [name, ...sames(1e308)]) }),
    'parts of a count': ({ names }) => ({ names: names.map(([name]) => [name, ...sames(0.5)]) }),
    'no subjects': () => ({ subjects: [] }),
    'subjects of later': ({ subjects }) => ({ subjects: subjects.map(([title]) => [title, 1e300, 1]) }),
    'answers below nothing': () => ({ answers: -1e9 }),
    'more answers than entries': () => ({ answers: 1e9 }),
    'a place to come': () => ({ upTo: seq(1_000_000) }),
    'lines of nowhere': ({ lines }) => ({ lines: lines.map(() => [1e9, 1, 1, 1]) }),
    'lines of later': ({ lines }) => ({ lines: lines.map(([at]) => [at, 1e9, 1, 1]) }),
    'pieces of later': ({ kept }) => ({ kept: kept.map(([at]) => [at, 1e300]) }),
    'files of later': ({ files }) => ({ files: files.map(([name]) => [name, 1, 1, 1e9]) }),
    'a million names': () => ({ names: many(['total', ...sames(1)]) }),
    'a million lines': () => ({ lines: many([1, 1, 1, 1]) }),
    'more pieces than stay': ({ kept }) => ({ kept: [...kept, ...many([1, 1] as const)] }),
    'a million subjects': () => ({ subjects: many(['src', 1, 1]) }),
  }
  it('is cut where another version wrote more of it than is carried on', () => {
    const { edit } = compacted(rounds(0, 40))
    const carried = edit.counted!
    const { countedNames, countedFiles } = defaults.score
    const more = Array.from({ length: countedNames }, (_, index): Counted['names'][number] => [
      `older_${index}`,
      0,
      0,
      -1,
      1,
      0,
      0,
      0,
      0,
      0,
      0,
      -1,
    ])
    const files = [...carried.files, ...more.map(([name]) => [name, 0, 0, -1, -1, -1] as const)]
    const counted = { ...carried, names: [...more, ...carried.names], files }
    const sound = soundCounted({ ...edit, counted }, 1000)!
    expect(sound.names).toHaveLength(countedNames)
    expect(sound.files).toHaveLength(countedFiles)
    expect(sound.names.map(([name]) => name)).toEqual(
      expect.arrayContaining(carried.names.filter(([, , last]) => last! > 0).map(([name]) => name)),
    )
  })

  it.each(Object.keys(damaged))('is not used where it could not be true: %s', (name) => {
    const harm = damaged[name]!
    const edits = second((edit) => {
      const carried = edit.counted!
      return { ...edit, counted: { ...carried, ...harm(carried) } }
    })
    expect(edits).toEqual(second(without))
    expect(edits).not.toEqual(second((edit) => edit))
  })

  it('says no secret that is known by what stands beside it, and the text does not either', () => {
    const [shell, field, url, body, key, typed, file] = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map(
      (one) => `zK8_sPq2Lm${one}N4vB7`,
    )
    const secret = (index: number): readonly Fact[] => [
      answered(
        [
          call(`s${index}`, 'bash', { command: `export DB_PASSWORD=${shell} && psql` }),
          call(`t${index}`, 'http', { password: field }),
          call(`w${index}`, 'bash', { command: `cat https://bob:${url}@host.git` }),
          call(`u${index}`, 'http', { body: JSON.stringify({ inner: { password: body } }) }),
          call(`v${index}`, 'write', {
            path: 'src/conf.yml',
            content: `password: ${file}\n-----BEGIN RSA PRIVATE KEY-----\n${key}\n-----END RSA PRIVATE KEY-----`,
          }),
        ],
        { id: `x${index}` },
      ),
      ...['s', 't', 'w', 'u', 'v'].map((id) => result(`${id}${index}`, 'ok')),
    ]
    const { fold, pen } = read([said(`Use password=${typed} for it.`)])
    for (const from of [0, 20, 40]) {
      const facts = Array.from({ length: 20 }, (_, at) => [
        ...secret(from + at),
        ...rounds(from + at, from + at + 1),
      ])
      for (const fact of facts.flat()) fold.push(pen.write(fact))
      const made = plan(fold, room, { trigger: 'auto', thrift })
      if (!made.ok) throw new Error(made.message)
      const { edits } = made.plan
      const { keep: _, ...edit } = edits.find(({ kind }) => kind === 'summary') as SummaryEdit
      const written = JSON.stringify(edit)
      expect([shell, field, url, body, key, typed, file].filter((one) => written.includes(one!))).toEqual([])
      fold.push(
        pen.write({ type: 'view-edit', layer: 'x', asked: 'automatic', edits, why: '', tokensFreed: 0 }),
      )
    }
  })

  it('learns no secret from pieces of a call that stayed', () => {
    const field = 'zK8_sPq2LmbN4vB7'
    const asked = answered([call('s0', 'http', { password: field, where: 'host_one' })], { id: 'x0' })
    const { fold } = compacted([asked, result('s0', 'ok'), ...rounds(0, 40)], (edit) => ({
      ...edit,
      keep: [{ at: { seq: seq(2), block: 0 }, lines: [[0, 3]] }],
    }))
    const shown = [...fold.parts()].flatMap(({ blocks }) => blocks.map(blockWords)).join('\n')
    expect(shown).toContain(field)
    expect(surveyed(fold).lines.map(({ text }) => text)).toContain('host_one')
    expect(surveyed(fold).names).not.toContain(field)
  })

  it('names beside a line out of pieces that stayed the entry it stands in, at later boundaries too', () => {
    const { fold, pen } = compacted(rounds(0, 40))
    let fromPieces = 0
    for (const from of [40, 46, 52, 58]) {
      for (const fact of rounds(from, from + 6)) fold.push(pen.write(fact))
      const made = plan(fold, room, { trigger: 'auto', thrift: { ...thrift, excerptTokens: 700 } })
      if (!made.ok) throw new Error(made.message)
      const { edits } = made.plan
      const edit = edits.find(({ kind }) => kind === 'summary') as SummaryEdit
      const items = parseSections(edit.text)!.details
      fromPieces += items.filter((item) => item.startsWith('kept before')).length
      const lines = items.flatMap((item) => titledLines(item).lines)
      for (const [index, line] of lines.entries()) {
        const at = fold.units.find(seq(edit.counted!.lines[index]![0]))
        expect(at?.blocks.map(blockWords).join('\n')).toContain(line)
      }
      fold.push(
        pen.write({ type: 'view-edit', layer: 'x', asked: 'automatic', edits, why: '', tokensFreed: 0 }),
      )
    }
    expect(fromPieces).toBeGreaterThan(0)
  })
})

const sames = (value: number): number[] => Array.from({ length: 11 }, () => value)
