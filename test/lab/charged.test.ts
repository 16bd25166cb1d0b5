// The same walk charged at the prices of another model.
import { expect, it } from 'vitest'
import { policyNamed } from '../../src/lab/policies/list.ts'
import { prepareReplay, replay, replayOnce } from '../../src/lab/replay.ts'
import { sampleSession } from '../../src/lab/sample.ts'
import type { CacheRules } from '../../src/model/cache-rules.ts'
import { lookUp, modelTable, type ModelInfo } from '../../src/model/models.ts'
import type { WireRequest } from '../../src/model/wire.ts'
import { geminiWire } from '../../src/wires/gemini/wire.ts'
import { openAiResponsesWire } from '../../src/wires/openai-responses/wire.ts'

const prepared = prepareReplay(sampleSession(0, { requests: 12, files: 4, lines: 60 }))
const model = 'claude-sonnet-4-6'
const infoOf = (name: string): ModelInfo => lookUp(modelTable(), name)!
const figuresAt = async (name: string | null) => {
  const charged = name === null ? undefined : { info: infoOf(name) }
  const policy = policyNamed('append-only')!
  return (await replay(prepared, { policy, window: 200_000, model, charged })).figures['5m']
}

it('[LB31] tokens stay, money is the other model’s; where writing costs nothing extra it costs plain input', async () => {
  const [own, sol, argon] = [
    await figuresAt(null),
    await figuresAt('gpt-6-sol'),
    await figuresAt('gemini-4-argon'),
  ]
  const tokens = ({ fresh, read, written5m }: typeof own) => ({ fresh, read, written5m })
  expect(tokens(sol)).toEqual(tokens(own))
  expect(tokens(argon)).toEqual(tokens(own))
  const input = (figures: typeof own, read: number, write: number, fresh: number) =>
    (figures.read * read + figures.written5m * write + figures.fresh * fresh) / 1_000_000
  expect(sol.read).toBeGreaterThan(0)
  expect(sol.dollars - input(sol, 0.2, 2.5, 2)).toBeCloseTo(argon.dollars - input(argon, 0.1, 2, 2), 6)
  expect(own.dollars).toBeGreaterThan(sol.dollars)
})

const under = async (
  name: string,
  cache: CacheRules,
  more: {
    readonly hitShare?: number
    readonly policy?: string
    readonly watch?: (sent: WireRequest) => void
  } = {},
) => {
  const { policy = 'append-only', hitShare, watch } = more
  const charged = { info: infoOf(name), cache, hitShare }
  const options = { policy: policyNamed(policy)!, window: 200_000, model, charged, watch }
  return (await replayOnce(prepared, options)).figures
}

it('[LB45] a cache without breakpoints gets none, reads in whole steps from its least size on, and hits as often as is said', async () => {
  const cache = openAiResponsesWire.cacheRules(infoOf('gpt-6-sol'))
  const sent: WireRequest[] = []
  const sol = await under('gpt-6-sol', cache, { watch: (request) => sent.push(request) })
  expect(sent.length).toBe(sol.requests)
  expect(JSON.stringify(sent)).not.toContain('cache_control')
  expect(sol.read).toBeGreaterThan(0)
  expect(sol.read % cache.stepTokens).toBe(0)
  const whole = sol.read + sol.written5m + sol.fresh
  const marked = await figuresAt('gpt-6-sol')
  expect(whole).toBe(marked.read + marked.written5m + marked.fresh)
  // A least size that nothing reaches, and a lifetime that ends before the next request.
  const never = await under('gpt-6-sol', { ...cache, minTokens: 10_000_000 })
  expect({ read: never.read, written: never.written5m }).toEqual({ read: 0, written: 0 })
  const short = await under('gpt-6-sol', { ...cache, lifetimes: ['0m'] })
  expect(short.read).toBe(0)
  expect(short.dollars).toBeGreaterThan(sol.dollars)
  const gemini = geminiWire.cacheRules(infoOf('gemini-4-argon'))
  const [always, half, none] = [
    await under('gemini-4-argon', gemini),
    await under('gemini-4-argon', gemini, { hitShare: 0.5 }),
    await under('gemini-4-argon', gemini, { hitShare: 0 }),
  ]
  expect(none.read).toBe(0)
  expect(half.read).toBeGreaterThan(always.read * 0.3)
  expect(half.read).toBeLessThan(always.read * 0.7)
  expect(always.dollars).toBeLessThan(half.dollars)
  expect(half.dollars).toBeLessThan(none.dollars)
})

it('[LB45] the engine weighs by those rules: where nothing is ever read, a boundary comes earlier', async () => {
  const long = prepareReplay(sampleSession(1, { requests: 90, files: 12, lines: 200 }))
  const cache = geminiWire.cacheRules(infoOf('gemini-4-argon'))
  const largest = async (hitShare: number) => {
    const charged = { info: infoOf('gemini-4-argon'), cache, hitShare }
    const policy = policyNamed('standard')!
    return (await replayOnce(long, { policy, window: 200_000, model, charged })).figures
  }
  const [always, none] = [await largest(1), await largest(0)]
  expect(none.rejected + always.rejected).toBe(0)
  const carried = ({ read, written5m, fresh, requests }: typeof none) => (read + written5m + fresh) / requests
  expect(carried(none)).toBeLessThan(carried(always))
})
