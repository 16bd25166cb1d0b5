// The commands that were really given to shells in the recorded sessions, where these are at hand.
import { describe, expect, it } from 'vitest'
import { askRates } from '../../bench/permission/ask-rate.ts'
import { label } from '../../bench/permission/label.ts'
import { corpusFolder, hasCorpus } from '../shared-data.ts'
import { acting } from './commands.ts'
import { shapes } from './shapes/index.ts'

if (!hasCorpus) console.warn(`skipped: no recorded sessions at ${corpusFolder}, so no ask rate`)

describe.skipIf(!hasCorpus)('recorded commands (skipped: no recorded sessions)', () => {
  it('[PM43] of those that are read-only inside their project fewer than one in twenty is asked about', async () => {
    const row = (await askRates(corpusFolder)).find((one) => one.label === 'read-only')
    console.log(`${row?.asked} of ${row?.commands} read-only recorded commands are asked about`)
    expect(row?.commands).toBeGreaterThan(500)
    expect(row!.asked / row!.commands).toBeLessThan(0.05)
  })
})

describe('the labeller', () => {
  it('[PM43] labels almost no hostile line read-only: the rate is not bought with them', () => {
    const lines = [...acting, ...Object.values(shapes).flat()]
    const wrong = lines.filter((line) => label(line, '/project') === 'read-only')
    // Some are read-only but for a link, a key file or an option of a kind that no recorded command has.
    console.log(`${wrong.length} of ${lines.length} hostile lines are labelled read-only`)
    expect(wrong.length / lines.length).toBeLessThan(0.08)
  })
})
