import { describe, expect, it } from 'vitest'
import { renderSections, dynamicSections, staticSections } from './sections.ts'

const names = (sections: readonly { readonly name: string }[]): string[] => sections.map(({ name }) => name)

describe('sections', () => {
  it('[Q1] come in the order of the specification, own ones behind ours on their side', () => {
    const ours = [
      ...staticSections.map((name) => ({ name, side: 'static' as const, compute: () => name })),
      ...dynamicSections.map((name) => ({ name, side: 'dynamic' as const, compute: () => name })),
    ]
    const sections = renderSections([
      { name: 'own:late', side: 'dynamic', compute: () => 'late' },
      { name: 'own:early', side: 'static', compute: () => 'early' },
      ...ours.toReversed(),
    ])
    expect(names(sections)).toEqual([...staticSections, 'own:early', ...dynamicSections, 'own:late'])
  })

  it('[Q4] without a text are left out', () => {
    const sections = renderSections([
      { name: 'tone', side: 'static', compute: () => null },
      { name: 'language', side: 'dynamic', compute: () => ' \n' },
      { name: 'budgets', side: 'dynamic', compute: () => 'budgets' },
    ])
    expect(names(sections)).toEqual(['budgets'])
  })

  it('[Q5] are all replaced by a caller’s own prompt, one block with no static part', () => {
    const compute = () => {
      throw new Error('not asked')
    }
    const sections = renderSections([{ name: 'identity', side: 'static', compute }], {
      ownPrompt: 'be brief',
    })
    expect(sections).toEqual([{ name: 'own:prompt', side: 'dynamic', text: 'be brief' }])
  })
})
