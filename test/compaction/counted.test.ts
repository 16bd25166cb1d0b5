// What a boundary had counted, through everything that may happen to a session between two of them: it is branched off, copied
// to another place, opened again, taken back, damaged, or written by another version.
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { soundCounted } from '../../src/compaction/scoring/sound.ts'
import { createEngine, fileStore, inMemoryStore, type Engine } from '../../src/index.ts'
import { copySession } from '../../src/stores/copy.ts'
import { answered, call, result, said } from '../../src/testing/builders.ts'
import { leased, readEntries, released, stored } from '../../src/testing/store-steps.ts'
import type { Counted, Entry, Fact, FactOf, StoredEntry, SummaryEdit } from '../../src/transcript/fact.ts'
import { isKnown } from '../../src/transcript/fact.ts'
import { seq, uuid, type SessionId } from '../../src/transcript/ids.ts'
import type { Store } from '../../src/transcript/store.ts'
import { factsOf, folder, modelId, ofType, refusals, simulated, turn } from '../e2e/simulated.ts'
import { written } from './sessions.ts'

const window = 40_000

/** Work on five files, whose lines have names of their own. */
const rounds = (from: number, to: number): readonly Fact[] =>
  Array.from({ length: to - from }, (_, offset): readonly Fact[] => {
    const index = from + offset
    const isChange = index % 3 === 0
    const page = Array.from(
      { length: 30 },
      (_, line) => `const total_${index}_${line} = compute_rows(${index})`,
    )
    const change = isChange ? { old_string: `total_${index}`, new_string: `sum_${index}` } : {}
    return [
      answered(
        [call(`c${index}`, isChange ? 'Edit' : 'Read', { file_path: `src/part_${index % 5}.ts`, ...change })],
        {
          id: `m${index}`,
        },
      ),
      result(`c${index}`, page.join('\n')),
    ]
  }).flat()

const begun: readonly Fact[] = [
  said('Make the totals right.'),
  ...rounds(0, 24),
  answered('Half of it is done.'),
]
const more: readonly Fact[] = [said('Now the others.'), ...rounds(24, 42), answered('That was all.')]
/** Answers of both. */
const answers = 44

/** As other writers would: behind what is there. */
async function append(store: Store, session: SessionId, facts: readonly Fact[]): Promise<void> {
  const { lease, next } = await leased(store, session)
  const entries = facts.map((fact, at): Entry => ({
    v: 1,
    seq: seq(next! + at),
    uuid: uuid(`more-${next! + at}`),
    parent: null,
    at: next! + at,
    fact,
  }))
  await stored(store, lease, entries, next!)
  await released(store, lease)
}

const engineOn = (
  store: Store,
  more: { readonly model?: Parameters<typeof createEngine>[0]['model'] } = {},
): Engine => createEngine({ store, modelId, window, layers: [], ...more })

interface Boundary {
  readonly seq: number
  readonly edit: SummaryEdit
  /** Null where it says nothing that could be gone on from. */
  readonly carried: Counted | null
}

async function boundaries(store: Store, session: SessionId): Promise<readonly Boundary[]> {
  const entries = await readEntries(store.read(session))
  return entries.flatMap((entry) => {
    if (!isKnown(entry) || entry.fact.type !== 'boundary') return []
    const edit = entry.fact.edits.find(({ kind }) => kind === 'summary') as SummaryEdit
    return [{ seq: entry.seq, edit, carried: soundCounted(edit, entry.seq) }]
  })
}

async function compacted(store: Store, session: SessionId): Promise<Boundary> {
  const open = await engineOn(store).open(session)
  await open.compact()
  await open.close()
  return (await boundaries(store, session)).at(-1)!
}

/** A session with one boundary and work behind it. */
async function once(
  store: Store = inMemoryStore(),
): Promise<{ store: Store; session: SessionId; first: Boundary }> {
  const { session } = await written(begun, store)
  const first = await compacted(store, session)
  await append(store, session, more)
  return { store, session, first }
}

/** What a boundary says, but for the place it was written at: more entries may lie before it elsewhere. */
const saying = ({ edit: { text, keep, ref }, carried }: Boundary) => ({
  text,
  keep,
  ref,
  carried: { ...carried!, upTo: 0 },
})

/** The same session in a store of its own, each boundary changed on the way. */
async function changed(
  { store, session }: { readonly store: Store; readonly session: SessionId },
  change: (edit: SummaryEdit) => unknown,
): Promise<Store> {
  const other = inMemoryStore()
  const entries = (await readEntries(store.read(session))).map((entry): StoredEntry => {
    if (!isKnown(entry) || entry.fact.type !== 'boundary') return entry
    const edits = entry.fact.edits.map((edit) => (edit.kind === 'summary' ? change(edit) : edit))
    return { ...entry, fact: { ...entry.fact, edits } as FactOf<'boundary'> }
  })
  const { lease } = await leased(other, session)
  await stored(other, lease, entries, 0)
  await released(other, lease)
  return other
}

const without = (edit: SummaryEdit): unknown => ({ ...edit, counted: undefined })

describe('[O44] what a boundary had counted', () => {
  let whole: ReturnType<typeof once> | undefined

  it('is gone on from at the next, whoever opens the session', async () => {
    const { store, session, first } = await once()
    expect(first.carried!.answers).toBe(25)
    const bare = await changed({ store, session }, without)
    const second = await compacted(store, session)
    expect(second.carried!.answers).toBe(answers)
    expect(second.carried!.names.length).toBeGreaterThan(100)
    const alone = await compacted(bare, session)
    expect(alone.carried!.answers).toBeLessThan(answers)
    const seen = ({ carried }: Boundary): number =>
      carried!.names.find(([name]) => name === 'compute_rows')![4]!
    // Once in each result; without what was counted, once more in each line that was kept.
    expect(seen(second)).toBe(42)
    expect(seen(alone)).toBeGreaterThan(42)
  })

  it('is gone on from in a branch as in the session it was branched off from', async () => {
    const { store, session } = await once(fileStore({ root: join(await folder(), 'sessions') }))
    const branch = await engineOn(store).branch(session)
    await branch.compact()
    await branch.close()
    const inBranch = (await boundaries(store, branch.id)).at(-1)!
    const second = await compacted(store, session)
    expect(saying(inBranch)).toEqual(saying(second))
    expect(inBranch.carried!.answers).toBe(answers)
    // And once more, behind a boundary of its own.
    await append(store, branch.id, rounds(42, 66))
    const again = await compacted(store, branch.id)
    expect(again.carried!.answers).toBe(answers + 24)
    const [, first] = again.carried!.names.find(([name]) => name === 'compute_rows')!
    expect(first).toBeLessThan(3)
  })

  it('is the same after a copy to another place, to the letter', async () => {
    const root = await folder()
    const { store, session } = await once(fileStore({ root: join(root, 'a') }))
    const other = fileStore({ root: join(root, 'b') })
    expect(await copySession(store, other, session)).toMatchObject({ ok: true })
    const [own] = await boundaries(store, session)
    expect((await boundaries(other, session)).map(({ edit }) => edit)).toEqual([own!.edit])
    expect(saying(await compacted(other, session))).toEqual(saying(await compacted(store, session)))
  })

  it('counts no more once the boundary is undone, and the one before it counts again', async () => {
    const { store, session, first } = await once()
    const second = await compacted(store, session)
    const undone = async (target: number): Promise<void> => {
      const open = await engineOn(store).open(session)
      await open.undo(seq(target))
      await open.close()
    }
    await undone(second.seq)
    expect(saying(await compacted(store, session))).toEqual(saying(second))
    await undone((await boundaries(store, session)).at(-1)!.seq)
    await undone(first.seq)
    const whole = await compacted(store, session)
    // All of it is read again: nothing is counted twice, and every line is named by the entry it stands in.
    const { session: plain } = await written([...begun, ...more], store, 'never-compacted' as SessionId)
    const never = await compacted(store, plain)
    expect({ ...whole.carried, upTo: 0 }).toMatchObject({ answers: never.carried!.answers })
    const counts = ({ carried }: Boundary) =>
      Object.fromEntries(
        carried!.names.map(([name, first, last, used, ...rest]) => [
          name,
          [first, last, used, ...rest.slice(0, -1)],
        ]),
      )
    expect(counts(whole)).toEqual(counts(never))
  })

  const wrong: Readonly<Record<string, (counted: NonNullable<SummaryEdit['counted']>) => unknown>> = {
    'of no kind': () => 7,
    'a list': () => [1, 2, 3],
    'none at all': () => null,
    'an empty record': () => ({}),
    'of a version that writes names as a text': (counted) => ({ ...counted, names: 'total_1 1 2' }),
    'of a version that counts less of names': (counted) => ({ ...counted, names: [['total_1', 1, 2]] }),
    'of a version that writes more': (counted) => ({
      ...counted,
      version: 9,
      names: { total_1: [1] },
      lines: 4,
    }),
    'without its files': (counted) => ({ ...counted, files: undefined }),
    'with rows that are none': (counted) => ({ ...counted, lines: [7, null, 'x'] }),
    'with places that are none': (counted) => ({ ...counted, upTo: -1, answers: 'many' }),
    'with a huge list of names': (counted) => ({
      ...counted,
      names: Array.from({ length: 500_000 }, () => ['a.ts', 1]),
    }),
    'with many subjects': (counted) => ({
      ...counted,
      subjects: Array.from({ length: 50_000 }, () => ['src', 0, 1]),
    }),
  }

  it.each(Object.keys(wrong))('costs nothing but itself where it is wrong: %s', async (name) => {
    const made = await (whole ??= once())
    const harmed = await changed(made, (edit) => ({ ...edit, counted: wrong[name]!(edit.counted!) }))
    const bare = await changed(made, without)
    const texts = async (store: Store): Promise<readonly unknown[]> => {
      await using session = await engineOn(store).open(made.session)
      return [...session.view().messages].map(({ content }) => content)
    }
    expect(await texts(harmed)).toEqual(await texts(bare))
    expect(saying(await compacted(harmed, made.session))).toEqual(saying(await compacted(bare, made.session)))
  })

  it('is gone on from where a later version says more beside it', async () => {
    const made = await once()
    const later = await changed(made, (edit) => ({ ...edit, counted: { ...edit.counted, later: [[[1]]] } }))
    expect(saying(await compacted(later, made.session))).toEqual(
      saying(await compacted(made.store, made.session)),
    )
  })

  it('is not sent: the next request has the bytes it has without', async () => {
    const made = await once()
    const bodies: string[] = []
    for (const store of [made.store, await changed(made, without)]) {
      const api = await simulated(['on it'])
      const open = await engineOn(store, { model: api.model }).open(made.session)
      expect((await turn(open.send('go on'))).outcome).toBe('done')
      await open.close()
      expect(refusals(api)).toEqual([])
      bodies.push(JSON.stringify(api.simulator.log.last()!.body))
    }
    expect(bodies[0]).toBe(bodies[1])
    expect(ofType(await factsOf(made.store, made.session), 'boundary')).toHaveLength(1)
  })
})
