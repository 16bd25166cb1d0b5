import { describe, expect, it } from 'vitest'
import { budget, deleted, lines, minute, Scribe, stubbed } from '../../../test/layers/scribe.ts'
import { answered, call, result } from '../../testing/builders.ts'
import { defaults } from '../../settings/defaults.ts'
import { seq } from '../../transcript/ids.ts'
import type { Budget, Proposal } from '../layer.ts'
import { microcompact } from './microcompact.ts'
import type { ClearingPrice } from '../../transcript/fact.ts'
import { plainMarker } from './stub-text.ts'

const layer = microcompact({ pressureClearing: true })
const cacheEdits = { cacheEdits: true, contextEditing: false, bindsPrefix: false }
const priceOf = (proposal: Proposal | null): ClearingPrice =>
  (proposal?.kind === 'edit' ? proposal.price : undefined) as ClearingPrice
const textsOf = (proposal: Proposal | null): string[] =>
  proposal?.kind === 'edit' ? proposal.edits.flatMap((edit) => (edit.kind === 'stub' ? [edit.text] : [])) : []

/** A turn of eight results, answered. */
function eight(each: Parameters<Scribe['rounds']>[1] = {}): { scribe: Scribe; places: number[] } {
  const scribe = new Scribe()
  scribe.say()
  const places = scribe.rounds(8, each)
  scribe.sent()
  scribe.answer()
  scribe.say('next')
  return { scribe, places }
}
const idle = (scribe: Scribe, over: Partial<Budget> = {}): Budget =>
  budget({ now: scribe.now() + 61 * minute, isWarm: false, ...over })

describe('time-based clearing', () => {
  it('[Z12] clears all but the five newest when nothing was said for more than an hour', () => {
    const { scribe, places } = eight()
    expect(stubbed(layer.decide(scribe.view(), idle(scribe)))).toEqual(places.slice(0, 3))
    const almost = budget({ now: scribe.now() + 59 * minute, isWarm: false })
    expect(layer.decide(scribe.view(), almost)).toBeNull()
  })

  it('[Z12] keeps at least one result whatever is asked, and leaves calls and their inputs', () => {
    const { scribe, places } = eight()
    const proposal = scribe.settle(microcompact({ keepResults: 0 }), idle(scribe))
    expect(stubbed(proposal)).toEqual(places.slice(0, 7))
    const calls = [...scribe.fold.parts()].filter((part) => part.blocks[0]?.type === 'tool_use')
    expect(calls).toHaveLength(8)
  })

  it('[Z12] needs an earlier answer and the main thread', () => {
    const { scribe } = eight()
    expect(layer.decide(scribe.view(), idle(scribe, { isMain: false }))).toBeNull()
    const fresh = new Scribe()
    fresh.say()
    expect(layer.decide(fresh.view(), idle(fresh))).toBeNull()
  })

  it('[Z13] keeps cached clearing from running, even when there is nothing left to clear', () => {
    const scribe = new Scribe()
    scribe.say()
    scribe.rounds(20)
    scribe.answer()
    scribe.say('next')
    const by = idle(scribe, { isWarm: true, capabilities: cacheEdits })
    const proposal = scribe.settle(layer, by)
    expect(deleted(proposal)).toEqual([])
    expect(stubbed(proposal)).toHaveLength(15)
    expect(priceOf(proposal).kind).toBe('time')
    expect(layer.decide(scribe.view(), by)).toBeNull()
  })

  it('[Z13] can be switched off by itself', () => {
    const { scribe } = eight()
    expect(microcompact({ timeClearing: false }).decide(scribe.view(), idle(scribe))).toBeNull()
  })
})

describe('what stays', () => {
  it('[Z10] only results of tools that allow it are cleared', () => {
    for (const tool of ['mcp__notes__get', 'TaskList', 'AskUser', 'NotebookEdit']) {
      const { scribe } = eight({ tool })
      expect(layer.decide(scribe.view(), idle(scribe))).toBeNull()
    }
    const { scribe, places } = eight({ tool: 'mine' })
    const policyOf = () => ({ results: 'clear', maxResultChars: null }) as const
    expect(stubbed(microcompact({ policyOf }).decide(scribe.view(), idle(scribe)))).toEqual(
      places.slice(0, 3),
    )
    for (const results of ['keep', 'spill', 'never-clear'] as const) {
      const kept = eight({ tool: 'Bash' }).scribe
      const strict = microcompact({ policyOf: () => ({ results, maxResultChars: null }) })
      expect(strict.decide(kept.view(), idle(kept))).toBeNull()
    }
  })

  it('[Z21] results that may go only when superseded stay however old they are', () => {
    const scribe = new Scribe()
    scribe.say()
    const read = (id: string, file: string) =>
      scribe.work({ id, tool: 'Read', input: { file_path: file } })[0]
    const first = read('r0', '/a')
    for (let n = 1; n < 8; n++) read(`r${n}`, `/f${n}`)
    read('again', '/a')
    scribe.answer()
    const policyOf = () => ({ results: 'superseded', maxResultChars: null }) as const
    expect(stubbed(microcompact({ policyOf }).decide(scribe.view(), idle(scribe)))).toEqual([first])
    expect(stubbed(layer.decide(scribe.view(), idle(scribe))).length).toBeGreaterThan(1)
  })

  it('[Z10] errors and small results stay and do not count among the newest', () => {
    const scribe = new Scribe()
    scribe.say()
    const places = scribe.rounds(6)
    scribe.work({ id: 'e', output: lines(300), isError: true }, { id: 's', output: 'ok' })
    scribe.answer()
    expect(stubbed(layer.decide(scribe.view(), idle(scribe)))).toEqual([places[0]])
  })

  it('[Z10] what is pinned, restored by an undo or not yet answered to stays', () => {
    const { scribe, places } = eight()
    scribe.write({ type: 'pin', at: { seq: seq(places[0]!) } })
    const proposal = layer.decide(scribe.view(), idle(scribe))
    expect(stubbed(proposal)).toEqual([places[1], places[2]])
    const edit = scribe.write({
      type: 'view-edit',
      layer: 'microcompact',
      asked: 'automatic',
      edits: [{ kind: 'stub', at: { seq: seq(places[1]!), block: 0 }, text: '[gone]', ref: `${places[1]}` }],
      why: 'a test',
      tokensFreed: 1,
    })
    scribe.write({ type: 'undo', target: edit })
    expect(stubbed(layer.decide(scribe.view(), idle(scribe)))).toEqual([places[2]])
    const unsent = new Scribe()
    unsent.say()
    unsent.work(...Array.from({ length: 8 }, (_, index) => ({ id: `p${index}` })))
    expect(layer.decide(unsent.view(), idle(unsent))).toBeNull()
  })

  it('[Z10] a read that a later note of no change stands on stays', () => {
    const scribe = new Scribe()
    scribe.say()
    const [first] = scribe.work({ id: 'r1', tool: 'Read', input: { file_path: '/a.ts' } })
    const others = scribe.rounds(6)
    scribe.work({
      id: 'r2',
      tool: 'Read',
      input: { file_path: '/a.ts' },
      output: '[unchanged: /a.ts is as it was shown before (r1)]',
    })
    scribe.answer()
    const places = stubbed(layer.decide(scribe.view(), idle(scribe)))
    expect(places).not.toContain(first)
    expect(places).toEqual([others[0]])
  })
})

describe('superseded reads', () => {
  const read = (id: string, file: string, more: object = {}) =>
    ({ id, tool: 'Read', input: { file_path: file, ...more }, output: lines(1500) }) as const

  it('[Z11] shown again go even among the newest, and before anything else', () => {
    const scribe = new Scribe()
    scribe.say()
    const [old] = scribe.work(read('r1', '/a.ts'))
    scribe.work(read('r2', '/a.ts'))
    scribe.answer()
    scribe.say('next')
    const by = budget({ isWarm: false, now: scribe.now() })
    const proposal = layer.decide(scribe.view(), by)
    expect(stubbed(proposal)).toEqual([old])
    expect(priceOf(proposal)).toMatchObject({ kind: 'economy', costs: 0 })
  })

  it('[Z11] are not superseded by one that is itself no longer shown', () => {
    const scribe = new Scribe()
    scribe.say()
    const [old] = scribe.work(read('r1', '/a.ts'))
    const [newer] = scribe.work(read('r2', '/a.ts'))
    scribe.answer()
    const by = budget({ isWarm: false, now: scribe.now() })
    expect(stubbed(layer.decide(scribe.view(), by))).toEqual([old])
    const edits = [{ kind: 'stub', at: { seq: newer!, block: 0 }, text: '[x]', ref: '' }] as const
    scribe.write({ type: 'view-edit', layer: 'user', asked: 'user', edits, why: 'asked', tokensFreed: 1 })
    expect(layer.decide(scribe.view(), by)).toBeNull()
  })

  it('[Z11] need the same piece or the whole file to be shown again', () => {
    const scribe = new Scribe()
    scribe.say()
    const [whole] = scribe.work(read('r1', '/a.ts'))
    const [piece] = scribe.work(read('r2', '/a.ts', { offset: 10, limit: 20 }))
    scribe.answer()
    const by = budget({ isWarm: false, now: scribe.now() })
    expect(layer.decide(scribe.view(), by)).toBeNull()
    const [again] = scribe.work(read('r3', '/a.ts', { offset: 10, limit: 20 }))
    scribe.answer()
    expect(stubbed(layer.decide(scribe.view(), by))).toEqual([piece])
    expect([whole, again]).not.toContain(piece)
  })

  it('[Z11] edited later are old, but the newest five stay', () => {
    const scribe = new Scribe()
    scribe.say()
    const reads = ['/a', '/b', '/c', '/d', '/e', '/f'].map((file, index) =>
      scribe.work(read(`r${index}`, file)),
    )
    scribe.work({ id: 'w1', tool: 'Edit', input: { file_path: '/a' }, output: 'ok' })
    scribe.work({ id: 'w2', tool: 'Edit', input: { file_path: '/f' }, output: 'ok' })
    scribe.answer()
    const by = budget({ isWarm: false, now: scribe.now() })
    expect(stubbed(layer.decide(scribe.view(), by))).toEqual(reads[0])
  })
})

describe('cached clearing', () => {
  const warm = (over: Partial<Budget> = {}) => budget({ capabilities: cacheEdits, ...over })

  it('[Z14] at twelve active results has the server delete all but the newest five', () => {
    const scribe = new Scribe()
    scribe.say()
    const places = scribe.rounds(11)
    scribe.answer()
    expect(layer.decide(scribe.view(), warm({ now: scribe.now() }))).toBeNull()
    places.push(...scribe.work({ id: 'last' }))
    scribe.answer()
    const before = scribe.view()
    const proposal = scribe.settle(layer, warm({ now: scribe.now() }))
    expect(deleted(proposal)).toEqual(places.slice(0, 7))
    expect(stubbed(proposal)).toEqual([])
    expect(priceOf(proposal)).toMatchObject({ kind: 'cached', costs: 0, isWarm: true })
    expect(scribe.view().tokens).toBeLessThan(before.tokens)
    expect(layer.decide(scribe.view(), warm({ now: scribe.now() }))).toBeNull()
  })

  it('[Z14] runs only where it is declared, on the main thread, under a warm cache', () => {
    const scribe = new Scribe()
    scribe.say()
    scribe.rounds(14)
    scribe.answer()
    const now = scribe.now()
    for (const by of [budget({ now }), warm({ now, isMain: false }), warm({ now, isWarm: false })])
      expect(deleted(layer.decide(scribe.view(), by))).toEqual([])
    expect(deleted(microcompact({ cachedClearing: false }).decide(scribe.view(), warm({ now })))).toEqual([])
    const native = { ...cacheEdits, contextEditing: true }
    expect(
      microcompact({ nativeClearing: true }).decide(scribe.view(), warm({ now, capabilities: native })),
    ).toBeNull()
  })

  it('[Z15] becomes stubs when the cache is cold, was found lost, or the model has no such thing', () => {
    const cases: Partial<Budget>[] = [
      { isWarm: false },
      { cacheLost: true },
      { capabilities: { ...cacheEdits, cacheEdits: false } },
    ]
    for (const over of cases) {
      const scribe = new Scribe()
      scribe.say()
      const places = scribe.rounds(12)
      scribe.answer()
      scribe.settle(layer, warm({ now: scribe.now() }))
      const cleared = scribe.view().tokens
      scribe.sent()
      const proposal = scribe.settle(layer, warm({ now: scribe.now(), ...over }))
      expect(stubbed(proposal)).toEqual(places.slice(0, 7))
      expect(priceOf(proposal).kind).toBe('expired')
      const results = [...scribe.fold.parts()]
        .flatMap((part) => part.blocks)
        .filter((block) => 'cleared' in block)
      expect(results.filter((block) => 'cleared' in block && block.cleared !== undefined)).toEqual([])
      expect(scribe.view().tokens).toBeGreaterThan(cleared)
      expect(layer.decide(scribe.view(), warm({ now: scribe.now(), ...over }))).toBeNull()
    }
  })

  it('[Z15] takes along what becomes free because stubs stand before it', () => {
    const scribe = new Scribe()
    scribe.say()
    const places = scribe.rounds(12)
    scribe.answer()
    scribe.settle(layer, warm({ now: scribe.now() }))
    const read = { tool: 'Read', input: { file_path: '/a' }, output: lines(1500) }
    const [old] = scribe.work({ id: 'r1', ...read })
    scribe.work({ id: 'r2', ...read })
    scribe.answer()
    scribe.sent()
    const lost = warm({ now: scribe.now(), cacheLost: true, expectedRequests: 1 })
    const proposal = scribe.settle(layer, lost)
    expect(stubbed(proposal)).toEqual([...places.slice(0, 7), old])
    expect(layer.decide(scribe.view(), lost)).toBeNull()
  })

  it('[Z15] asks the server for nothing that lies behind a place that is written anew', () => {
    const scribe = new Scribe()
    scribe.say()
    const places = scribe.rounds(12)
    scribe.answer()
    scribe.sent()
    const edits = [{ kind: 'stub', at: { seq: places[3]!, block: 0 }, text: '[x]', ref: '' }] as const
    scribe.write({ type: 'view-edit', layer: 'user', asked: 'user', edits, why: 'asked', tokensFreed: 1 })
    const [more] = scribe.work({ id: 'more' })
    scribe.answer()
    const proposal = layer.decide(scribe.view(), warm({ now: scribe.now() }))
    expect(deleted(proposal)).toEqual(places.slice(0, 3))
    expect(stubbed(proposal)).toEqual(places.slice(4, 8))
    expect(more).toBeDefined()
  })

  it('[Z15] becomes stubs behind a place that is written anew anyway', () => {
    const scribe = new Scribe()
    const first = scribe.say('the first question')
    scribe.answer()
    scribe.say()
    const places = scribe.rounds(12)
    scribe.answer()
    scribe.settle(layer, warm({ now: scribe.now() }))
    scribe.sent()
    expect(layer.decide(scribe.view(), warm({ now: scribe.now() }))).toBeNull()
    const edits = [{ kind: 'drop', from: first, to: seq(first + 1) }] as const
    scribe.write({ type: 'view-edit', layer: 'snip', asked: 'model', edits, why: 'old', tokensFreed: 1 })
    expect(stubbed(layer.decide(scribe.view(), warm({ now: scribe.now() })))).toEqual(places.slice(0, 7))
  })
})

describe('the stub', () => {
  it('[Z17] says which call, how much, what of it, and how to see it', () => {
    const scribe = new Scribe()
    scribe.say()
    const output = `src/login/session.ts:42\nError: token expired after 3600 seconds in refreshToken\nparseHeader took 48213 ms\n${lines(100)}`
    const [place] = scribe.work({ id: 'a', input: { command: 'npm test' }, output })
    scribe.rounds(5)
    scribe.answer()
    const [text] = textsOf(layer.decide(scribe.view(), idle(scribe)))
    for (const words of [
      'Bash npm test',
      `${output.length} characters`,
      'src/login/session.ts:42',
      'Error: token expired',
      'parseHeader',
      '3600 seconds',
      `Expand {"ref": "${place}"}`,
    ])
      expect(text).toContain(words)
    // A number tells something only beside an error.
    expect(text).not.toContain('48213')
    expect(text!.startsWith(plainMarker.slice(0, -1))).toBe(true)
    const [plain] = textsOf(microcompact({ digestChars: 0 }).decide(scribe.view(), idle(scribe)))
    expect(plain).toBe('[Result cleared to save context]')
  })

  it('[Z17] is cut between characters, whatever it is cut from', () => {
    for (const start of ['', 'a']) {
      const scribe = new Scribe()
      scribe.say()
      const output = `${start}error ${'🔥'.repeat(4000)} error`
      scribe.work({ id: 'a', input: { command: `${start}${'🔥'.repeat(200)}` }, output })
      scribe.rounds(5)
      scribe.answer()
      const [text] = textsOf(microcompact({ digestChars: 1000 }).decide(scribe.view(), idle(scribe)))
      expect(text).toContain('🔥')
      expect(text).not.toContain('\uFFFD')
    }
  })

  it('[Z17] is never larger than what it replaces', () => {
    const scribe = new Scribe()
    scribe.say()
    const words = Array.from({ length: 45 }, (_, index) => `someName${index} /path/to/file${index}`).join(' ')
    scribe.rounds(8, { output: words })
    scribe.answer()
    const before = scribe.view().estimate
    const wordy = microcompact({ digestChars: 5000 })
    expect(wordy.decide(scribe.view(), idle(scribe))).toBeNull()
    scribe.settle(layer, idle(scribe))
    expect(scribe.view().estimate).toBeLessThan(before)
  })
})

describe('the economy', () => {
  /** Twenty large results; the view is past the level from which old ones may go for their price. */
  function long(): Scribe {
    const scribe = new Scribe()
    scribe.say()
    scribe.rounds(20, { output: lines(600) })
    scribe.sent()
    scribe.answer()
    scribe.say('next')
    return scribe
  }
  const roomFor = (scribe: Scribe, over: Partial<Budget> = {}): Budget =>
    budget({
      now: scribe.now(),
      threshold: Math.round(scribe.view().tokens * 1.2),
      target: Math.round(scribe.view().tokens * 0.5),
      ...over,
    })

  it('[Z18] clears under a warm cache when what it saves outweighs the rewrite, and writes down both', () => {
    const scribe = long()
    // What goes is not written again, so the rewrite costs the kept results and not all that lies behind.
    const proposal = layer.decide(scribe.view(), roomFor(scribe, { expectedRequests: 60 }))
    expect(stubbed(proposal).length).toBe(15)
    const price = priceOf(proposal)
    expect(price).toMatchObject({ kind: 'economy', isWarm: true, expectedRequests: 60, isWorth: true })
    expect(price.saves).toBeGreaterThan(defaults.clearing.margin * price.costs)
    expect(price.net).toBeCloseTo(price.saves - price.costs, 12)
  })

  it('[Z18] is silent when the rewrite would cost more', () => {
    const scribe = long()
    expect(layer.decide(scribe.view(), roomFor(scribe, { expectedRequests: 3 }))).toBeNull()
  })

  it('[Z18] wants more than the bare price: by the margin', () => {
    const scribe = long()
    const by = roomFor(scribe, { expectedRequests: 10 })
    expect(layer.decide(scribe.view(), by)).toBeNull()
    expect((layer.declined!(scribe.view(), by)!.price as ClearingPrice).isWorth).toBe(true)
  })

  it('[Z22] tells the numbers of what it left for its price, and nothing where there was nothing to weigh', () => {
    const scribe = long()
    const by = roomFor(scribe, { expectedRequests: 3 })
    const left = layer.declined!(scribe.view(), by)!
    const price = left.price as ClearingPrice
    expect(price).toMatchObject({ kind: 'economy', isWarm: true, expectedRequests: 3 })
    expect(left.tokens).toBeGreaterThan(defaults.clearing.minFreedTokens)
    expect(price.saves).toBeLessThan(defaults.clearing.margin * price.costs)
    expect(price.net).toBeCloseTo(price.saves - price.costs, 12)
    expect(layer.declined!(scribe.view(), roomFor(scribe, { expectedRequests: 60 }))).toBeNull()
    expect(microcompact().declined!(scribe.view(), by)).toBeNull()
  })

  it('[Z18] leaves what nothing supersedes alone while there is room', () => {
    const scribe = long()
    const roomy = budget({ now: scribe.now(), expectedRequests: 200, isWarm: false })
    expect(layer.decide(scribe.view(), roomy)).toBeNull()
  })

  it('[Z18] waits for the start of a turn on models that bind reasoning to its prefix', () => {
    const scribe = long()
    const binds = { cacheEdits: false, contextEditing: false, bindsPrefix: true }
    const by = () => roomFor(scribe, { expectedRequests: 200, capabilities: binds })
    expect(layer.decide(scribe.view(), by())).not.toBeNull()
    scribe.write(answered([call('mid', 'Bash')], { id: 'msg_mid' }))
    scribe.write(result('mid'))
    expect(layer.decide(scribe.view(), by())).toBeNull()
  })

  it('[Z18] takes what costs nothing because the prefix is rewritten anyway', () => {
    const scribe = long()
    const by = roomFor(scribe, { expectedRequests: 3 })
    const tenth = [...scribe.fold.parts()].filter((part) => part.kind === 'result')[9]!
    const edits = [{ kind: 'stub', at: { seq: tenth.from, block: 0 }, text: '[x]', ref: '' }] as const
    scribe.write({ type: 'view-edit', layer: 'user', asked: 'user', edits, why: 'asked', tokensFreed: 1 })
    const proposal = layer.decide(scribe.view(), by)
    // Those before it pay only for what stands between.
    expect(stubbed(proposal).length).toBe(14)
  })
})

describe('pressure', () => {
  it('[Z19] clears to the target, superseded first and then the oldest', () => {
    const scribe = new Scribe()
    scribe.say()
    const places = scribe.rounds(12, { output: lines(600) })
    const [read] = scribe.work({ id: 'r', tool: 'Read', input: { file_path: '/a' }, output: lines(600) })
    scribe.work({ id: 'r2', tool: 'Read', input: { file_path: '/a' }, output: lines(600) })
    scribe.answer()
    const { tokens } = scribe.view()
    const by = budget({
      now: scribe.now(),
      expectedRequests: 1,
      threshold: tokens,
      target: Math.round(tokens * 0.7),
    })
    const proposal = scribe.settle(layer, by)
    const gone = stubbed(proposal)
    expect(priceOf(proposal).kind).toBe('pressure')
    expect(gone).toContain(read)
    expect(gone.filter((place) => place !== read)).toEqual(places.slice(0, gone.length - 1))
    expect(gone.length).toBeLessThan(9)
    expect(scribe.view().tokens).toBeLessThanOrEqual(by.target * 1.05)
  })

  it('[Z19] takes results larger than any may be, however new, where the rest does not suffice', () => {
    const scribe = new Scribe()
    scribe.say()
    const [huge] = scribe.work({ id: 'h', tool: 'Read', output: lines(20_000) })
    scribe.answer()
    scribe.say('next')
    const by = budget({ now: scribe.now(), threshold: 60_000, target: 24_000 })
    expect(scribe.view().tokens).toBeGreaterThan(by.threshold)
    const proposal = scribe.settle(layer, by)
    expect(stubbed(proposal)).toEqual([huge])
    expect(scribe.view().tokens).toBeLessThan(by.target)
    expect(layer.decide(scribe.view(), by)).toBeNull()
  })
})
