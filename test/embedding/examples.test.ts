// Every example, run as it stands against the simulator.
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { examples, madeOnce, missingFor, runExample, type Made } from '../../examples/run.ts'

const folder = join(import.meta.dirname, '..', '..', 'examples')

describe('examples', () => {
  let made: Made
  beforeAll(async () => {
    made = await madeOnce()
  })
  afterAll(() => made.remove())

  it('[EM5] every one is run, and its page names it', () => {
    const files = readdirSync(folder).filter((name) => !['README.md', 'run.ts', 'log.ts'].includes(name))
    expect(files.sort()).toEqual(Object.keys(examples).sort())
    const page = readFileSync(join(folder, 'README.md'), 'utf8')
    expect(files.filter((name) => !page.includes(`(${name})`))).toEqual([])
  })

  it.for(Object.keys(examples))('[EM5] %s does what it says', async (name, { skip }) => {
    const missing = missingFor(name)
    if (missing !== null) skip(missing)
    const { code, out, problems } = await runExample(name, made)
    expect({ out, code, problems }).toEqual({ out, code: 0, problems: [] })
  })
})
