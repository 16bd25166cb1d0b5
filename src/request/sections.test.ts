import { describe, expect, it } from 'vitest'
import { createSections, dynamicSections, staticSections } from './sections.ts'

const names = (sections: readonly { readonly name: string }[]): string[] => sections.map(({ name }) => name)

describe('sections', () => {
  it('[Q1] come in the order of the specification, own ones behind ours on their side', () => {
    const ours = [
      ...staticSections.map((name) => ({ name, side: 'static' as const, compute: () => name })),
      ...dynamicSections.map((name) => ({ name, side: 'dynamic' as const, compute: () => name })),
    ]
    const sections = createSections([
      { name: 'own:late', side: 'dynamic', compute: () => 'late' },
      { name: 'own:early', side: 'static', compute: () => 'early' },
      ...ours.toReversed(),
    ])
    expect(names(sections.render())).toEqual([...staticSections, 'own:early', ...dynamicSections, 'own:late'])
  })

  it('[Q2] are computed once and kept until they are reset', () => {
    let count = 0
    const sections = createSections([
      { name: 'environment', side: 'dynamic', compute: () => `at ${++count}` },
    ])
    const first = sections.render()
    expect(first).toEqual([{ name: 'environment', side: 'dynamic', text: 'at 1' }])
    expect(sections.render()).toBe(first)
    sections.reset()
    expect(sections.render()[0]?.text).toBe('at 2')
  })

  it('[Q3] are computed for every request where a reason says so, and the list changes only with a text', () => {
    let text = 'a'
    let fixed = 0
    const sections = createSections([
      { name: 'identity', side: 'static', compute: () => `${++fixed}` },
      { name: 'mcp-instructions', side: 'dynamic', compute: () => text, volatile: 'servers come and go' },
    ])
    const first = sections.render()
    expect(sections.render()).toBe(first)
    text = 'b'
    expect(sections.render().map((section) => section.text)).toEqual(['1', 'b'])
  })

  it('[Q4] without a text are left out', () => {
    const sections = createSections([
      { name: 'tone', side: 'static', compute: () => null },
      { name: 'language', side: 'dynamic', compute: () => ' \n' },
      { name: 'budgets', side: 'dynamic', compute: () => 'budgets' },
    ])
    expect(names(sections.render())).toEqual(['budgets'])
  })

  it('[Q5] are all replaced by a caller’s own prompt, one block with no static part', () => {
    const compute = () => {
      throw new Error('not asked')
    }
    const sections = createSections([{ name: 'identity', side: 'static', compute }], {
      ownPrompt: 'be brief',
    })
    expect(sections.render()).toEqual([{ name: 'own:prompt', side: 'dynamic', text: 'be brief' }])
  })
})
