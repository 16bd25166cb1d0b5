// The order of test files. Vitest begins with the longest of the last run, and after a fresh install with the largest; some of
// ours are short and take a minute or more, since they start many processes: at the end they would run almost alone.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The slowest files of CI, and two of forty seconds and more among the smallest of all, the longest first. */
const slow = [
  'test/memory/processes.test.ts',
  'test/evals.test.ts',
  'test/dream/dream.test.ts',
  'test/faults/damage.test.ts',
  'test/extensions/memory-server.test.ts',
  'test/screen/widths.test.ts',
  'test/embedding/examples.test.ts',
  'test/e2e/kills.test.ts',
  'test/faults/sweep.test.ts',
  'test/cli/house-keeping.test.ts',
  'test/faults/pal-sweep.test.ts',
  'test/faults/random-damage.test.ts',
].map((name) => join(import.meta.dirname, '..', name))

for (const name of slow) if (!existsSync(name)) throw new Error(`scripts/longest-first.ts names ${name}`)

export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const placeOf = ({ moduleId }: TestSpecification): number => {
      const at = slow.indexOf(moduleId)
      return at === -1 ? slow.length : at
    }
    return sorted.toSorted((a, b) => placeOf(a) - placeOf(b))
  }
}
