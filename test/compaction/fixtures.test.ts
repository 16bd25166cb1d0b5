// The compaction step as it failed elsewhere (fixtures E of the needs): each shape and what must come out.
import { describe, expect, it } from 'vitest'
import { plan, type Plan, type PlanOutcome } from '../../src/compaction/ladder.ts'
import { roomOf, type Room } from '../../src/projection/budget.ts'
import { Fold } from '../../src/projection/fold.ts'
import { viewRefusal } from '../../src/projection/refusal.ts'
import { turnsOf } from '../../src/projection/turns.ts'
import { answered, call, entriesOf, Pen, result, said } from '../../src/testing/builders.ts'
import type { Fact } from '../../src/transcript/fact.ts'
import { seq } from '../../src/transcript/ids.ts'
import { factsOf, ofType, refusals, simulated, turn, words } from '../e2e/simulated.ts'
import { reopened, smallModel, turnOf, work } from './sessions.ts'

function foldOf(...facts: readonly Fact[]): Fold {
  const fold = new Fold()
  for (const entry of entriesOf(...facts)) fold.push(entry)
  return fold
}
function room(window: number, fixed = 0, maxOutput = 32_000): Room {
  const outcome = roomOf({ window, maxOutput, fixed })
  if (!outcome.ok) throw new Error(outcome.why)
  return outcome.room
}
function must(outcome: PlanOutcome): Plan {
  if (!outcome.ok) throw new Error(`${outcome.code}: ${outcome.message}`)
  return outcome.plan
}
/** Plans, writes, and gives the view's text. */
function applied(fold: Fold, made: Plan, threshold = 0): string {
  const { edits, tokensBefore, tokensAfter } = made
  const fact: Fact = {
    type: 'boundary',
    trigger: 'auto',
    source: 'extractive',
    layer: 'autocompact',
    asked: 'automatic',
    edits,
    why: 'a test',
    tokensBefore,
    tokensAfter,
    tokensFreed: tokensBefore - tokensAfter,
    messagesSummarised: 0,
    chain: { recompaction: false, turnsSince: 0, threshold, requestSource: 'main' },
  }
  expect(viewRefusal(fold, fact)).toBeNull()
  fold.push(new Pen({ first: fold.numbers.upTo + 1 }).write(fact))
  expect(fold.view().tokens).toBe(tokensAfter)
  return JSON.stringify([...fold.parts()].map(({ blocks }) => blocks))
}
const auto = { trigger: 'auto' } as const
const bytes = (count: number) => 'some output of a tool, line by line\n'.repeat(Math.ceil(count / 36))

describe('too long to make shorter', () => {
  it('[L2] E1: a history just above the window needs no request at all', () => {
    const fold = foldOf(...turnOf('build it', 115), said('go on'))
    const own = room(200_000)
    expect(fold.view().tokens).toBeGreaterThan(200_000)
    const made = must(plan(fold, own, auto))
    expect(made.tokensAfter).toBeLessThanOrEqual(own.target)
  })

  it.each([
    ['E2: one result of 1.68 MB in a window of 131,072', 1_680_000, 131_072],
    ['E3: one of 618 KB among the newest messages', 618_000, 131_072],
  ])('[L2] %s', (_, size, window) => {
    const fold = foldOf(
      said('read it'),
      answered([call('a', 'Bash', { command: 'cat all' })]),
      result('a', bytes(size)),
    )
    const own = room(window)
    const made = must(plan(fold, own, auto))
    expect(made.tokensAfter).toBeLessThanOrEqual(own.target)
    const text = applied(fold, made)
    expect(text).toContain('read it')
    expect(text).toMatch(/[Ee]xpand 3|1-3/)
  })

  it('[L2] E4: parallel results each of a fair size, together above the window', () => {
    const ids = Array.from({ length: 20 }, (_, index) => `c${index}`)
    const fold = foldOf(
      said('look'),
      answered(ids.map((id) => call(id))),
      ...ids.map((id) => result(id, bytes(40_000))),
    )
    const own = room(100_000)
    expect(must(plan(fold, own, auto)).tokensAfter).toBeLessThanOrEqual(own.target)
  })

  it('[L2] E5: a history larger than the window of the newly chosen model, right after a compaction', () => {
    const fold = foldOf(...turnOf('build it', 100), said('go on'))
    const large = room(200_000)
    applied(fold, must(plan(fold, large, auto)), large.threshold)
    const own = room(12_000)
    expect(fold.view().tokens).toBeGreaterThan(own.threshold)
    const text = applied(fold, must(plan(fold, own, auto)), own.threshold)
    expect(fold.view().tokens).toBeLessThanOrEqual(own.target)
    expect(text).toContain('build it')
    expect(text).toContain('go on')
  })

  it.each([
    ['one user message of twice the window', [said(words(60_000))]],
    ['nothing but the user', Array.from({ length: 2400 }, (_, n) => said(`do this ${n}`))],
    ['no turn at all', [answered('x '.repeat(60_000))]],
    [
      'nothing but results',
      [answered(['a', 'b'].map((id) => call(id))), result('a', bytes(200_000)), result('b', bytes(90_000))],
    ],
    [
      'one call with an input of twice the window',
      [said('go'), answered([call('a', 'Write', { file_path: 'a', content: bytes(300_000) })]), result('a')],
    ],
    ['Chinese alone', [said('修复登录'.repeat(20_000)), answered('好的'.repeat(9000))]],
  ])('[L2] %s ends below the threshold', (_, facts) => {
    const fold = foldOf(...facts)
    const own = room(40_000)
    const made = must(plan(fold, own, auto))
    applied(fold, made)
    expect(made.tokensAfter).toBeLessThan(own.threshold)
  })
})

describe('loops', () => {
  it('[O8] E6: a result that would be larger is dropped', () => {
    const outcome = plan(foldOf(said('hello there'), answered('hello')), room(200_000), { trigger: 'manual' })
    expect(outcome).toMatchObject({ ok: false, code: 'not-smaller' })
  })

  it.each([
    ['a window of 8,000 and an output of 32,000', 8000, 32_000],
    ['an output as large as the window', 32_000, 32_000],
    ['a reserve that would exceed the window', 200_000, 339_835],
  ])('[K16] E7: %s leaves a positive threshold above the target', (_, window, maxOutput) => {
    const own = room(window, 0, maxOutput)
    expect(own.threshold).toBeGreaterThan(own.target)
    expect(own.target).toBeGreaterThan(0)
  })

  it('[O9] E8: after a compaction the count is that of what is left', async () => {
    const scene = await simulated(['one', 'two'], { models: smallModel(40_000) })
    const { session, store } = await reopened(turnOf('build it', 30), { model: scene.model, window: 40_000 })
    await turn(session.send('go on'))
    const after = session.view().tokens
    expect(after).toBeLessThan(16_000)
    await turn(session.send('and on'))
    expect(ofType(await factsOf(store, session.id), 'boundary').length).toBe(1)
    expect(refusals(scene)).toEqual([])
  })

  it('[O9] E17: another model or effort at a low fill compacts nothing, nor does a request right after a manual one', async () => {
    const scene = await simulated(['one', 'two', 'three'])
    const { session, store } = await reopened(turnOf('build it', 10), { model: scene.model, window: 200_000 })
    await turn(session.send('go on'))
    await session.setModel('claude-sonnet-5')
    await turn(session.send('and on'))
    expect(ofType(await factsOf(store, session.id), 'boundary')).toEqual([])
    await session.compact()
    await turn(session.send('and on'))
    expect(ofType(await factsOf(store, session.id), 'boundary').length).toBe(1)
  })

  it('[L2] E18: system prompt and tools above the window stop with the numbers, without a cascade', async () => {
    const scene = await simulated(['one'])
    const { session, store } = await reopened(turnOf('build it', 3), { model: scene.model, window: 8000 })
    await session.close()
    const past = await reopened(
      [
        {
          type: 'instructions-set',
          sections: [{ name: 'all', text: words(9000), side: 'static' }],
          tools: [],
        },
        ...turnOf('build it', 3),
      ],
      { model: scene.model, window: 8000 },
    )
    const { failure } = await turn(past.session.send('go on'))
    expect(failure).toMatchObject({
      code: 'no-room',
      message: expect.stringMatching(/\d+ tokens.*8,000/) as string,
    })
    await expect(past.session.compact()).rejects.toMatchObject({ code: 'no-room' })
    expect(scene.simulator.log.requests).toEqual([])
    expect(ofType(await factsOf(store, session.id), 'boundary')).toEqual([])
  })

  it('[L2] E19: a large pending prompt is counted before it is sent', async () => {
    const scene = await simulated(['one'], { models: smallModel(20_000) })
    const { session, store } = await reopened(turnOf('build it', 7), { model: scene.model, window: 20_000 })
    expect(session.view().tokens).toBeLessThan(14_000)
    expect((await turn(session.send(words(3000)))).outcome).toBe('done')
    expect(ofType(await factsOf(store, session.id), 'boundary').length).toBe(1)
    expect(refusals(scene)).toEqual([])
  })
})

describe('what it means', () => {
  it('[O3] E15: the first goal stands first and a later wish after it; what was announced and done is not open', () => {
    const fold = foldOf(
      said('ORIGINAL: port the parser'),
      ...work(20),
      answered(
        [{ type: 'text', text: 'Next I will audit the tokens.' }, call('z', 'Bash', { command: 'audit' })],
        { id: 'z' },
      ),
      result('z', 'audit clean'),
      said('FOLLOW-UP: also the printer'),
      ...work(20, 200, 'p'),
    )
    const made = must(plan(fold, room(60_000), auto))
    const text = applied(fold, made)
    expect(text.indexOf('ORIGINAL')).toBeLessThan(text.indexOf('FOLLOW-UP'))
    expect(made.texts[0]).toContain('Next I will audit the tokens. — worked')
    expect(made.texts[0]).not.toContain('## Tasks and what is open')
    expect(made.texts[0]).toContain('`audit` — worked')
    expect(made.texts[0]).not.toMatch(/await/i)
  })

  it('[O10] E20: a summary is never taken for a turn of the user, and a rewind before it takes it away', () => {
    const fold = foldOf(...turnOf('build it', 30), said('go on'))
    applied(fold, must(plan(fold, room(40_000), auto)))
    const inputs = turnsOf([...fold.parts()]).filter(({ parts }) => parts[0]!.kind === 'input')
    expect(inputs.map(({ parts }) => JSON.stringify(parts[0]!.blocks))).toEqual([
      expect.stringContaining('go on'),
    ])
    fold.push(new Pen({ first: fold.numbers.upTo + 1 }).write({ type: 'rewind', to: seq(1) }))
    expect([...fold.parts()].map(({ kind }) => kind)).toEqual(['input'])
  })

  it('[O10] a result that a later one points back to is not cleared by itself', () => {
    const sent: Fact = {
      type: 'request-sent',
      source: 'main',
      model: 'm',
      upTo: seq(0),
      hash: 'h',
      tokens: 0,
      marks: [],
    }
    const facts = (last: string) => [
      said('go'),
      answered([call('a', 'Read', { file_path: 'a.ts' })], { id: 'a' }),
      result('a', bytes(60_000)),
      answered([call('b', 'Bash', { command: 'ls' })], { id: 'b' }),
      result('b', bytes(60_000)),
      answered([call('c', 'Read', { file_path: 'a.ts' })], { id: 'c' }),
      result('c', last),
      sent,
    ]
    const stubbed = (last: string) =>
      must(plan(foldOf(...facts(last)), room(60_000), { ...auto, pressureClearing: true })).edits.flatMap(
        (edit) => (edit.kind === 'stub' ? [Number(edit.at.seq)] : []),
      )
    expect(stubbed('something else')).toContain(3)
    expect(stubbed('[unchanged: a.ts is as it was read (a)]')).not.toContain(3)
  })

  it('[O10] no pair is cut and no response is parted', () => {
    const fold = foldOf(
      said('go'),
      ...Array.from({ length: 30 }, (_, index): Fact[] => [
        answered([call(`a${index}`), call(`b${index}`)], { id: `same${Math.floor(index / 3)}` }),
        result(`a${index}`, bytes(3000)),
        result(`b${index}`, bytes(3000)),
      ]).flat(),
    )
    const made = must(plan(fold, room(40_000), auto))
    applied(fold, made)
    const first = [...fold.parts()].find((part) => part.kind === 'answer')
    expect(made.partsGone.some((part) => part.messageId === first?.messageId)).toBe(false)
  })

  it('[O11] pins stay byte for byte, and too many of them are refused with the numbers', () => {
    const facts = [
      said('go'),
      ...work(10),
      answered('KEEP THIS EXACTLY  as it is', { id: 'pin' }),
      ...work(20, 200, 'b'),
    ]
    const fold = foldOf(...facts)
    const pen = new Pen({ first: fold.numbers.upTo + 1 })
    const place = [...fold.parts()].find((part) => part.messageId === 'pin')!.from
    fold.push(pen.write({ type: 'pin', at: { seq: place } }))
    expect(applied(fold, must(plan(fold, room(40_000), auto)))).toContain('KEEP THIS EXACTLY  as it is')
    const full = foldOf(said('go'), answered([call('x')]), result('x', bytes(200_000)))
    full.push(new Pen({ first: 4 }).write({ type: 'pin', at: { seq: seq(3) } }))
    expect(plan(full, room(40_000), auto)).toMatchObject({
      ok: false,
      code: 'no-room',
      message: expect.stringMatching(/takes \d+,\d{3} tokens/) as string,
    })
  })

  it.each([undefined, 0])(
    '[O11] a pin stays whole where lines of the same block would be kept (%s)',
    (block) => {
      const lines = Array.from({ length: 2400 }, (_, n) => `export const busyValue${n} = compute${n}(${n})`)
      const edit = (n: number) => ({ file_path: 'busy.ts', old_string: `busyValue${n} `, new_string: '' })
      const edits = Array.from({ length: 6 }, (_, n) => [
        answered([call(`e${n}`, 'Edit', edit(n))], { id: `e${n}` }),
        result(`e${n}`, 'ok'),
      ]).flat()
      const read = [
        answered([call('r', 'Read', { file_path: 'busy.ts' })], { id: 'r' }),
        result('r', lines.join('\n')),
      ]
      const facts = [said('go'), ...read, ...edits, ...work(40, 200, 'b')]
      const linesKept = (fold: Fold): number => {
        const { edits: made } = must(plan(fold, room(200_000), auto))
        return made
          .flatMap((one) => (one.kind === 'summary' ? one.keep : []))
          .filter(({ at }) => at.seq === 3).length
      }
      expect(linesKept(foldOf(...facts))).toBeGreaterThan(0)
      const fold = foldOf(...facts)
      const at = block === undefined ? { seq: seq(3) } : { seq: seq(3), block }
      fold.push(new Pen({ first: fold.numbers.upTo + 1 }).write({ type: 'pin', at }))
      expect(linesKept(fold)).toBe(0)
      expect(
        applied(fold, must(plan(fold, room(200_000), auto))).includes(
          JSON.stringify(lines.join('\n')).slice(1, -1),
        ),
      ).toBe(true)
    },
  )

  it('[O21] a secret that a tool has shown is not carried into the text', () => {
    const key = ['ghp', 'a7Kx2Qm9Zt'.repeat(4).slice(0, 36)].join('_')
    const fold = foldOf(
      said('go'),
      answered([call('a', 'Bash', { command: 'env' })]),
      result('a', `error: bad token ${key}`, true),
      ...work(20),
      answered('ok'),
    )
    const made = must(plan(fold, room(20_000), auto))
    expect(made.texts[0]).toContain('Errors')
    expect(made.texts[0]).not.toContain(key)
  })
})
