// How long caches live, whether they promise it and whether they say so: data of a wire, a model and a server.
import { describe, expect, it } from 'vitest'
import { cacheText, cacheView } from '../../src/cli/commands/context.ts'
import { Gains } from '../../src/lab/stats/gains.ts'
import { spendingOf, type BilledRequest } from '../../src/lab/usage/totals.ts'
import { createEngine, inMemoryStore, modelTable } from '../../src/index.ts'
import { scriptedMessage, scriptedModel } from '../../src/model/scripted.ts'
import { fixedClock } from '../../src/testing/builders.ts'
import { lifetimeMs, type Lifetime } from '../../src/transcript/lifetime.ts'
import { providersOf } from '../../src/wires/providers.ts'
import { wireChooser } from '../../src/wires/routing.ts'

const minute = 60_000
const table = modelTable([{ id: 'at-home', window: 32_000, provider: 'ollama' }])
const wire = wireChooser(providersOf(), table)

async function stateAfter(modelId: string) {
  const clock = fixedClock()
  const model = scriptedModel([scriptedMessage('yes', { model: modelId })])
  const session = await createEngine({
    store: inMemoryStore(),
    modelId,
    model,
    wire,
    models: table,
    clock,
  }).open()
  const before = session.cacheState()
  for await (const _ of session.send('hi')) void _
  const after = session.cacheState()
  await session.close()
  return { before, after, now: clock.now() }
}

describe('the cache of a session', () => {
  it.each<readonly [string, string, Lifetime, boolean, boolean]>([
    ['claude-opus-5', 'explicit', '5m', true, true],
    ['openai/gpt-6-sol', 'implicit', '30m', true, true],
    ['openai/gpt-5.5', 'implicit', '5m', true, true],
    ['google/gemini-4-argon', 'implicit', '5m', false, true],
    ['ollama/at-home', 'implicit', '5m', true, false],
  ])('[WI12] of %s', async (id, kind, lifetime, promised, reported) => {
    const { before, after, now } = await stateAfter(id)
    expect(before).toEqual({ kind, lifetime, promised, reported, warmUntil: null })
    expect(after.warmUntil).toBeGreaterThan(now - lifetimeMs(lifetime))
    expect(after.warmUntil).toBeLessThanOrEqual(now + lifetimeMs(lifetime))
  })

  it('[WI12] in words', () => {
    const text = (id: string, lifetime: Lifetime, now: number) =>
      cacheText(cacheView(wire(id), table, { at: 0, fact: { lifetime } }), now)
    expect(text('claude-opus-5', '1h', 59 * minute)).toBe(
      'Cache: up to breakpoints, kept for 1h; expires in 1 min',
    )
    expect(text('openai/gpt-6-sol', '24h', 25 * 60 * minute)).toBe(
      'Cache: prefixes, without breakpoints, kept for 24h; expired 60 min ago',
    )
    expect(text('google/gemini-4-argon', '5m', 0)).toBe(
      'Cache: prefixes, without breakpoints, kept without promise',
    )
    expect(text('ollama/at-home', '5m', 4.5 * minute)).toBe(
      'Cache: prefixes, without breakpoints, kept for 5m; expires in 30 s; the server does not report what it reads from it',
    )
  })
})

describe('records of other providers', () => {
  const usage = (cacheRead: number, input: number) => ({ input, cacheRead, cacheWrite: 0, output: 1 })

  it('[WI12] usage takes a pause for one by the lifetime of the model', () => {
    const request = (model: string, at: number, read: number): BilledRequest =>
      ({
        program: 'p',
        session: 's',
        chain: 'c',
        model,
        at,
        usage: usage(read, 50_000 - read),
        output: 1,
      }) as BilledRequest
    const causes = (model: string) =>
      spendingOf(
        [request(model, 0, 0), request(model, minute, 49_000), request(model, 12 * minute, 0)],
        table,
      ).worst.map(({ cause }) => cause)
    expect(causes('gpt-5.5')).toEqual(['a pause'])
    expect(causes('gpt-6-sol')).toEqual(['something before it changed'])
  })

  it('[WI12] stats know whether the cache was warm', () => {
    const rewritten = (model: string) => {
      const gains = new Gains(table)
      gains.answer(0, model, usage(40_000, 10))
      gains.edit('layer', 1000, false)
      gains.answer(12 * minute, model, usage(0, 39_000))
      return gains.layers().get('layer')!.rewritten
    }
    expect(rewritten('gpt-6-sol')).toBeGreaterThan(0)
    expect(rewritten('gpt-5.5')).toBe(0)
  })
})
