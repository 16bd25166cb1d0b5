import { describe, expect, it } from 'vitest'
import { estimateText } from '../../projection/tokens.ts'
import { defaults } from '../../settings/defaults.ts'
import { cutToLimits, defaultTemplate, hasFrameOf, isEmpty, overlong, sectionsIn } from './template.ts'

const lines = (count: number): string =>
  Array.from({ length: count }, (_, at) => `- step ${at} of the work was done`).join('\n')
const filled = (title: string, body: string): string =>
  defaultTemplate.replace(new RegExp(`(# ${title}\\n_.*_\\n)`), (head) => `${head}${body}\n`)
const path = '/place/session-memory/summary.md'

describe('notes as a text', () => {
  it('[SN14] have ten sections with guidance, and are empty as long as they are the template', () => {
    expect(sectionsIn(defaultTemplate).length).toBe(10)
    expect(sectionsIn(defaultTemplate).every(({ guidance, body }) => guidance !== null && body === '')).toBe(
      true,
    )
    expect(isEmpty(defaultTemplate, defaultTemplate)).toBe(true)
    expect(isEmpty(filled('Worklog', '- began'), defaultTemplate)).toBe(false)
    expect(hasFrameOf(filled('Worklog', '- began'), defaultTemplate)).toBe(true)
    expect(hasFrameOf(defaultTemplate.replace('# Worklog', '# Diary'), defaultTemplate)).toBe(false)
  })

  it('[SN25] are cut section by section at the end of a line', () => {
    const cut = cutToLimits(filled('Worklog', lines(600)), path)
    const worklog = sectionsIn(cut).at(-1)!
    expect(sectionsIn(cut).map(({ heading, guidance }) => heading + guidance)).toEqual(
      sectionsIn(defaultTemplate).map(({ heading, guidance }) => heading + guidance),
    )
    const kept = worklog.body.split('\n')
    expect(kept.at(-1)).toBe(`[The rest of this section stands in ${path}.]`)
    expect(kept.slice(0, -1).every((line) => line.endsWith('was done'))).toBe(true)
    expect(estimateText(worklog.body)).toBeLessThan(defaults.notes.sectionTokens + 50)
    const short = filled('Worklog', '- began')
    expect(cutToLimits(short, path)).toContain('- began')
    expect(cutToLimits(short, path)).not.toContain(path)
  })

  it('[SN26] that are too long are named in the request', () => {
    expect(overlong(filled('Worklog', lines(20)))).toEqual([])
    const [section, ...more] = overlong(filled('Worklog', lines(600)))
    expect(section).toMatch(/"Worklog" has about \d+ tokens, over its limit of 2000/)
    expect(more).toEqual([])
    const both = overlong(filled('Worklog', lines(2500)))
    expect(both[0]).toMatch(/Before anything else, shorten it hard/)
    expect(both[1]).toContain('"Worklog"')
  })
})
