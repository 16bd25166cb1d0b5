import { describe, expect, it } from 'vitest'
import { budget, Scribe } from '../../../test/layers/scribe.ts'
import type { Proposal } from '../layer.ts'
import { toolResultBudget } from './tool-result-budget.ts'

const layer = toolResultBudget()
const spilled = (proposal: Proposal | null): number[] =>
  proposal?.kind === 'spill' ? proposal.at.map((at) => at.seq) : []
const chars = (count: number): string => 'x'.repeat(count)

describe('the tool-result budget', () => {
  it('[Z4] writes out the largest fresh results of one message until their sum fits', () => {
    const scribe = new Scribe()
    scribe.say()
    const [small, large, middle] = scribe.work(
      { id: 'a', tool: 'Query', output: chars(40_000) },
      { id: 'b', tool: 'Query', output: chars(120_000) },
      { id: 'c', tool: 'Query', output: chars(49_000) },
    )
    const limits = { results: 'keep', maxResultChars: 150_000 } as const
    const proposal = toolResultBudget({ policyOf: () => limits }).decide(scribe.view(), budget())
    expect(spilled(proposal)).toEqual([large])
    const tight = toolResultBudget({ policyOf: () => limits, messageChars: 60_000 })
    expect(spilled(tight.decide(scribe.view(), budget()))).toEqual([large, middle])
    expect(small).toBeDefined()
  })

  it('[Z4] leaves a message alone that keeps both limits', () => {
    const scribe = new Scribe()
    scribe.say()
    scribe.work({ id: 'a', output: chars(49_000) }, { id: 'b', output: chars(49_000) })
    expect(layer.decide(scribe.view(), budget())).toBeNull()
  })

  it('[Z4] counts what a tool that pages by itself gave, and writes out the others', () => {
    const scribe = new Scribe()
    scribe.say()
    const [, bash] = scribe.work(
      { id: 'a', tool: 'Read', output: chars(190_000) },
      { id: 'b', tool: 'Bash', output: chars(30_000) },
    )
    expect(spilled(layer.decide(scribe.view(), budget()))).toEqual([bash])
  })

  it('[Z4] does not write out images, nor what a preview would not make smaller', () => {
    const scribe = new Scribe()
    scribe.say()
    const image = {
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: 'AAAA' },
    } as const
    scribe.work(
      { id: 'a', output: [{ type: 'text', text: chars(300_000) }, image] },
      { id: 'b', output: chars(3000) },
    )
    expect(layer.decide(scribe.view(), budget())).toBeNull()
  })

  it('[Z5] never touches what was sent, and says nothing twice', () => {
    const scribe = new Scribe()
    scribe.say()
    scribe.work({ id: 'a', output: chars(45_000) })
    scribe.sent()
    scribe.say('and now')
    expect(layer.decide(scribe.view(), budget())).toBeNull()
    const tight = toolResultBudget({ messageChars: 10 })
    expect(tight.decide(scribe.view(), budget())).toBeNull()
    scribe.answer()
    scribe.work({ id: 'b', output: chars(45_000) })
    expect(spilled(scribe.settle(tight, budget()))).toHaveLength(1)
    expect(tight.decide(scribe.view(), budget())).toBeNull()
  })
})
