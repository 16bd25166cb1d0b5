// The bytes of the Messages API as they were before wires could be exchanged: equal ever after. A change that is meant
// writes them anew with `GOLDEN=write npx vitest run test/wires/golden-bytes.test.ts`.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { corpusFiles, corpusFolder } from '../shared-data.ts'
import { frozenMadeUp, frozenRecorded, type Frozen } from './golden-bytes.ts'

if (corpusFiles.length === 0) process.stderr.write('skipped: no recorded sessions\n')

interface Golden {
  readonly madeUp: Readonly<Record<string, Frozen>>
  readonly recorded: Readonly<Record<string, Frozen>>
}
const file = join(import.meta.dirname, 'golden-bytes.json')
const isWriting = process.env['GOLDEN'] === 'write'
const seeds = Array.from({ length: 300 }, (_, seed) => seed + 1)

const read = (): Golden => JSON.parse(readFileSync(file, 'utf8')) as Golden

describe.skipIf(!isWriting)('writing', () => {
  it('freezes what is sent now', async () => {
    const recorded: Record<string, Frozen> = {}
    for (const name of corpusFiles) recorded[name] = await frozenRecorded(corpusFolder, name)
    const madeUp = Object.fromEntries(seeds.map((seed) => [String(seed), frozenMadeUp(seed)]))
    writeFileSync(file, `${JSON.stringify({ madeUp, recorded }, null, 2)}\n`)
  })
})

describe.skipIf(isWriting)('the Messages API', () => {
  it('[WI1] gets the bytes of made-up sessions that it always got', () => {
    const { madeUp } = read()
    expect(Object.fromEntries(seeds.map((seed) => [String(seed), frozenMadeUp(seed)]))).toEqual(madeUp)
    const requests = Object.values(madeUp).reduce((sum, one) => sum + one.requests, 0)
    expect(requests).toBeGreaterThan(1000)
  })

  it.skipIf(corpusFiles.length === 0)(
    '[WI1] gets the bytes of recorded sessions that it always got',
    async () => {
      const { recorded } = read()
      expect(Object.keys(recorded).length).toBeGreaterThan(0)
      for (const [name, frozen] of Object.entries(recorded))
        if (corpusFiles.includes(name)) expect(await frozenRecorded(corpusFolder, name), name).toEqual(frozen)
    },
  )
})
