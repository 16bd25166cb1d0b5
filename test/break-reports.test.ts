// Break reports against the simulator's cache: each change is named rightly, with the tokens it lost.
import { describe, expect, it } from 'vitest'
import { describeCause } from '../src/request/break-report.ts'
import { createBreakDetector } from '../src/request/break-detector.ts'
import { answered, said } from '../src/testing/builders.ts'
import type { Edit, Fact } from '../src/transcript/fact.ts'
import type { Seq } from '../src/transcript/ids.ts'
import { createRequests, instructions, rates, section, tool, type Sent } from './break-requests.ts'

type Scene = ReturnType<typeof createRequests>
const minute = 60_000

/** Three rounds, each asked for; nothing may have been reported. */
async function warm(scene: Scene): Promise<{ readonly results: readonly Seq[]; readonly last: Sent }> {
  await scene.send()
  const results: Seq[] = []
  let last: Sent | null = null
  for (let count = 0; count < 3; count++) {
    results.push(scene.round(4000))
    last = await scene.send()
    expect(last.found).toBeNull()
  }
  return { results, last: last! }
}

const cachedIn = ({ usage }: Sent): number => usage.cacheRead + usage.cacheWrite
const instruct = (change: Partial<typeof instructions>): Fact => ({
  type: 'instructions-set',
  ...instructions,
  ...change,
})
const edited = (...edits: readonly Edit[]): Fact => ({
  type: 'view-edit',
  layer: 'test',
  asked: 'user',
  edits,
  why: 'a test',
  tokensFreed: 0,
})

/** What is always true of a report, whatever broke. */
function expectExact(before: Sent, after: Sent): void {
  const found = after.found!
  expect(found.tokens).toBe(cachedIn(before) - after.usage.cacheRead)
  const rate = rates('claude-sonnet-4-6')
  const paidAgain = Math.min(found.tokens, after.usage.cacheWrite)
  expect(found.cost).toBeCloseTo(paidAgain * (rate.write - rate.read), 9)
}

describe('a break report names', () => {
  it('[X1] a tool whose description changed, and loses everything', async () => {
    const scene = createRequests()
    const { last } = await warm(scene)
    scene.write(instruct({ tools: [instructions.tools[0]!, tool('Bash', 'another text')] }))
    const sent = await scene.send()
    expect(sent.found?.causes).toMatchObject([{ kind: 'tools', added: [], removed: [], changed: ['Bash'] }])
    expect(sent.usage.cacheRead).toBe(0)
    expectExact(last, sent)
  })

  it('[X1] tools that came, went and changed their order', async () => {
    const scene = createRequests()
    await warm(scene)
    const bash = instructions.tools[1]
    scene.write(instruct({ tools: [bash!, tool('Grep', 'searches')] }))
    expect((await scene.send()).found?.causes).toMatchObject([
      { kind: 'tools', added: ['Grep'], removed: ['Read'], changed: [], isReordered: false },
    ])
    scene.write(instruct({ tools: [tool('Grep', 'searches'), bash!] }))
    const found = (await scene.send()).found!
    expect(found.causes).toMatchObject([{ kind: 'tools', added: [], removed: [], isReordered: true }])
    expect(describeCause(found.causes[0]!)).toBe('tools +0/−0, in another order: +0 characters')
  })

  it('[X1] the side of the system text that changed, by its size; what stands before it is still read', async () => {
    const scene = createRequests()
    const { last } = await warm(scene)
    const [fixed, dynamic] = instructions.sections
    scene.write(instruct({ sections: [fixed!, section('dynamic', `${dynamic!.text}and more`)] }))
    const sent = await scene.send()
    expect(sent.found?.causes).toEqual([{ kind: 'system', side: 'dynamic', chars: 8 }])
    expect(sent.usage.cacheRead).toBeGreaterThan(5000)
    expectExact(last, sent)
    scene.write(instruct({ sections: [section('static', 'other rules'), dynamic!] }))
    const second = await scene.send()
    expect(second.found?.causes.map((cause) => cause.kind)).toEqual(['system', 'system'])
    expect(second.usage.cacheRead).toBeLessThan(sent.usage.cacheRead)
    expectExact(sent, second)
  })

  it('[X1] the model, from and to', async () => {
    const scene = createRequests()
    const { last } = await warm(scene)
    const sent = await scene.send({ model: 'claude-opus-4-8' })
    expect(sent.found?.causes).toEqual([
      { kind: 'model', before: 'claude-sonnet-4-6', after: 'claude-opus-4-8' },
    ])
    expect(sent.found?.tokens).toBe(cachedIn(last))
    expect(describeCause(sent.found!.causes[0]!)).toBe('model: claude-sonnet-4-6 → claude-opus-4-8')
  })

  it('[X1] effort and thinking, which lose the messages alone', async () => {
    const scene = createRequests()
    const { last } = await warm(scene)
    const effort = await scene.send({ effort: 'low' })
    expect(effort.found?.causes).toEqual([{ kind: 'effort', before: '', after: 'low' }])
    expect(effort.usage.cacheRead).toBeGreaterThan(8000)
    expectExact(last, effort)
    const thinking = await scene.send({ effort: 'low', thinking: { type: 'adaptive' } })
    expect(thinking.found?.causes).toEqual([{ kind: 'thinking', before: '', after: '{"type":"adaptive"}' }])
    expectExact(effort, thinking)
  })

  it('[X1] the first message that differs, with its entry, its block and both texts', async () => {
    const scene = createRequests()
    const { results, last } = await warm(scene)
    const place = results[1]!
    scene.write(edited({ kind: 'stub', at: { seq: place, block: 0 }, text: '[cleared]', ref: 'r' }))
    const sent = await scene.send()
    const [cause, ...others] = sent.found!.causes
    expect(others).toEqual([])
    expect(cause).toMatchObject({ kind: 'message', index: 4, entry: place, block: 0 })
    if (cause?.kind !== 'message') throw new Error('no message cause')
    expect(cause.chars).toBeLessThan(-10_000)
    expect(cause.before.slice(cause.offset)).toMatch(/^call_2 says more/)
    expect(cause.after.slice(cause.offset)).toMatch(/^\[cleared\]/)
    expect(sent.found!.diff).toContain(`message 4 (entry ${place}), block 0`)
    expect(sent.found!.diff.length).toBeLessThan(2000)
    // All that stood before it is read from the entry that an earlier request wrote.
    expect(sent.usage.cacheRead).toBeGreaterThan(10_000)
    expectExact(last, sent)
  })

  it('[X1] messages that are gone after a rewind', async () => {
    const scene = createRequests()
    const { results } = await warm(scene)
    scene.write({ type: 'rewind', to: results[0]! })
    scene.write(said('go on otherwise'))
    expect((await scene.send()).found?.causes).toMatchObject([{ kind: 'message', index: 2 }])
  })

  it('[X1] the first image, and more blocks at once than the provider looks back over', async () => {
    const scene = createRequests()
    const { last } = await warm(scene)
    const source = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } as const
    scene.write(said([{ type: 'image', source }]))
    const image = await scene.send()
    expect(image.found?.causes).toEqual([{ kind: 'images', has: true }])
    expectExact(last, image)
    for (let count = 0; count < 25; count++) scene.write(said(`remark ${count}`))
    expect((await scene.send()).found?.causes).toEqual([{ kind: 'lookback', positions: 25 }])
  })

  it('[X2] the lifetime that is over and how long ago it was used, and says nothing before', async () => {
    for (const [lifetime, within, over] of [
      ['5m', 4, 6],
      ['1h', 59, 61],
    ] as const) {
      const scene = createRequests()
      await scene.send({ lifetime })
      scene.round(4000)
      const first = await scene.send({ lifetime })
      scene.clock.advance(within * minute)
      const second = await scene.send({ lifetime })
      expect(second.found).toBeNull()
      scene.clock.advance(over * minute)
      const third = await scene.send({ lifetime })
      expect(third.found?.causes).toEqual([{ kind: 'expired', lifetime, ageMs: over * minute + 1000 }])
      expect(third.found?.tokens).toBe(cachedIn(first))
    }
  })

  it('[X2] the server when nothing of ours changed, also when it lost a write that was never read', async () => {
    const scene = createRequests()
    const first = await scene.send()
    expect(first.usage.cacheRead).toBe(0)
    scene.forget()
    const second = await scene.send()
    expect(second.found?.causes).toEqual([{ kind: 'server' }])
    expect(second.found?.tokens).toBe(first.usage.cacheWrite)
  })

  it('[X1] no message that stood behind the mark, since it was never cached', async () => {
    const scene = createRequests()
    const { results, last } = await warm(scene)
    scene.write(said('sum this up', 'injected'))
    await scene.send({ breakpointAt: last.composed.lastBreakpoint! }, 'summary')
    scene.write({ type: 'rewind', to: results[2]! })
    scene.write(said('go on'))
    scene.forget()
    expect((await scene.send()).found?.causes).toEqual([{ kind: 'server' }])
    // Ends with an answer, so our own words stand behind the mark.
    scene.write(answered('half an answer'))
    await scene.send()
    scene.write(said('and now this'))
    scene.forget()
    expect((await scene.send()).found?.causes).toEqual([{ kind: 'server' }])
  })

  it('[X1] every change at once', async () => {
    const scene = createRequests()
    await warm(scene)
    scene.write(instruct({ tools: [tool('Read', 'reads')], sections: [section('static', 'short')] }))
    scene.clock.advance(6 * minute)
    const { found } = await scene.send({
      model: 'claude-opus-4-8',
      effort: 'low',
      lifetime: '1h',
      betas: ['b'],
    })
    expect(found?.causes.map((cause) => cause.kind)).toEqual([
      'model',
      'tools',
      'system',
      'system',
      'effort',
      'betas',
      'lifetime',
      'marks',
      'expired',
    ])
  })
})

describe('nothing is reported', () => {
  it('[X3] after a compaction, which empties the baseline', async () => {
    const scene = createRequests()
    const { results } = await warm(scene)
    const range = { from: results[0]!, to: results[2]! }
    scene.write(edited({ kind: 'drop', from: (range.from - 1) as Seq, to: range.to }))
    scene.detector.reset()
    expect((await scene.send()).found).toBeNull()
  })

  it('[X3] for a request that was under way when the baseline was emptied', async () => {
    const scene = createRequests()
    const { composed, usage } = (await warm(scene)).last
    const pending = scene.detector.before('main', composed, scene.clock.now())
    scene.detector.reset('main')
    expect(scene.detector.after(pending, { usage: { ...usage, cacheRead: 0 } })).toBeNull()
    scene.forget()
    expect((await scene.send()).found).toBeNull()
  })

  it('[X4] for an announced fall, once', async () => {
    const scene = createRequests()
    const { results } = await warm(scene)
    const stub = (place: Seq): Fact =>
      edited({ kind: 'stub', at: { seq: place, block: 0 }, text: '[cleared]', ref: 'r' })
    scene.write(stub(results[1]!))
    scene.detector.announce(9000, 'two results cleared')
    expect((await scene.send()).found).toBeNull()
    scene.write(stub(results[0]!))
    expect((await scene.send()).found?.causes).toMatchObject([{ kind: 'message' }])
  })

  it('[X4] but a fall far above what was announced is', async () => {
    const scene = createRequests()
    await warm(scene)
    scene.detector.announce(3000, 'a result cleared')
    scene.write(instruct({ tools: [] }))
    expect((await scene.send()).found?.causes).toMatchObject([
      { kind: 'tools' },
      { kind: 'marks' },
      { kind: 'announced', tokens: 3000, why: 'a result cleared' },
    ])
  })

  it('[X4] for two edits before one request, the later of which reaches less far', async () => {
    const scene = createRequests()
    const { results } = await warm(scene)
    const stub = (place: Seq): Fact =>
      edited({ kind: 'stub', at: { seq: place, block: 0 }, text: '[cleared]', ref: 'r' })
    scene.write(stub(results[0]!))
    scene.detector.announce(14_000, 'the first result and what follows')
    scene.write(stub(results[2]!))
    scene.detector.announce(4500, 'the last result')
    expect((await scene.send()).found).toBeNull()
  })

  it('[X10] for an answer that does not say what was read, and the next is held against the one before it', async () => {
    const scene = createRequests()
    const { composed, usage } = (await warm(scene)).last
    const pending = scene.detector.before('main', composed, scene.clock.now())
    const silent = { input: 0, cacheRead: 0, cacheWrite: 0, output: 3 }
    expect(scene.detector.after(pending, { usage: silent })).toBeNull()
    scene.forget()
    expect((await scene.send()).found).toMatchObject({ tokens: usage.cacheRead + usage.cacheWrite })
  })

  it('[X5] for results the server was told to leave out', async () => {
    const scene = createRequests({ cacheEdits: true })
    await scene.send()
    for (let count = 0; count < 3; count++) scene.round(4000)
    const before = await scene.send()
    const cacheEdits = ['call_1', 'call_2'].map((id) => ({ type: 'delete', cache_reference: id }) as const)
    const sent = await scene.send({ cacheEdits })
    expect(cachedIn(before) - sent.usage.cacheRead).toBeGreaterThan(7000)
    expect(sent.found).toBeNull()
    scene.round(100)
    expect((await scene.send({ cacheEdits })).found).toBeNull()
  })

  it('[X15] for what the server cleared by itself as it was asked to, nor when it clears no more', async () => {
    const scene = createRequests()
    const { last } = await warm(scene)
    const { composed, usage } = last
    const detector = createBreakDetector()
    const read = (cacheRead: number, clearedTokens: number) =>
      detector.after(detector.before('main', composed, 0), {
        usage: { ...usage, cacheRead, cacheWrite: 40_000 - cacheRead },
        clearedTokens,
      })
    expect(read(0, 0)).toBeNull()
    expect(read(2000, 18_000)).toBeNull()
    expect(read(2000, 19_000)).toBeNull()
    expect(read(40_000, 19_000)).toBeNull()
    expect(read(2000, 0)).toBeNull()
    expect(read(2000, 0)?.causes).toEqual([{ kind: 'server' }])
  })

  it('[X6] for another source; a summary on the shared prefix has the main thread’s baseline', async () => {
    const scene = createRequests()
    const { last } = await warm(scene)
    scene.write(said('sum this up', 'injected'))
    const breakpointAt = last.composed.lastBreakpoint!
    scene.forget()
    expect((await scene.send({}, 'notes')).found).toBeNull()
    scene.forget()
    expect((await scene.send({ breakpointAt }, 'summary')).found).toMatchObject({
      source: 'summary',
      tokens: cachedIn(last),
    })
    const again = await scene.send({ breakpointAt }, 'summary')
    expect(again.found).toBeNull()
    expect(again.usage.cacheWrite).toBe(0)
  })
})

describe('a fall', () => {
  it('[X8] is a break only above 2,000 tokens and 5 % of what should have been read', async () => {
    const { composed } = await createRequests().send()
    const fall = (expected: number, read: number) => {
      const detector = createBreakDetector()
      const usage = { input: 0, cacheRead: 0, cacheWrite: expected, output: 0 }
      detector.after(detector.before('main', composed, 0), { usage })
      return detector.after(detector.before('main', composed, 1), {
        usage: { ...usage, cacheRead: read, cacheWrite: 0 },
      })
    }
    expect(fall(10_000, 8000)).toBeNull()
    expect(fall(10_000, 7999)).toMatchObject({ tokens: 2001, expected: 10_000, read: 7999, cost: null })
    expect(fall(100_000, 95_000)).toBeNull()
    expect(fall(100_000, 94_999)).not.toBeNull()
  })

  it('[X8] costs what was written again, and the rest as fresh input', async () => {
    const { composed } = await createRequests().send()
    const detector = createBreakDetector()
    const usage = { input: 0, cacheRead: 0, cacheWrite: 10_000, output: 0 }
    detector.after(detector.before('main', composed, 0), { usage })
    const found = detector.after(detector.before('main', composed, 1), {
      usage: { input: 3000, cacheRead: 0, cacheWrite: 6000, output: 0 },
      rates: { read: 1, write: 12, fresh: 10, output: 0 },
    })
    // 10,000 were lost, but only 9,000 are still in the prompt.
    expect(found?.cost).toBe(6000 * 11 + 3000 * 9)
  })

  it('[X9] is remembered for the newest sources only', async () => {
    const { composed } = await createRequests().send()
    const detector = createBreakDetector()
    const usage = { input: 0, cacheRead: 0, cacheWrite: 10_000, output: 0 }
    const read = (source: string) => detector.after(detector.before(source, composed, 0), { usage })
    for (let count = 0; count < 200; count++) read(`agent ${count}`)
    expect(read('agent 199')).not.toBeNull()
    expect(read('agent 0')).toBeNull()
  })
})
