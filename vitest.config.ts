import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import LongestFirst from './scripts/longest-first.ts'

// vitest 5 prints failures with Map.groupBy, which Node 20 does not have.
if (!('groupBy' in Map)) {
  Object.assign(Map, {
    groupBy<K, V>(items: Iterable<V>, keyOf: (item: V, index: number) => K): Map<K, V[]> {
      const groups = new Map<K, V[]>()
      let index = 0
      for (const item of items) {
        const key = keyOf(item, index++)
        groups.set(key, [...(groups.get(key) ?? []), item])
      }
      return groups
    },
  })
}

// Days are those of the machine's zone; tests say theirs in UTC.
process.env['TZ'] = 'UTC'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: ['test/one-bundle.ts'],
    setupFiles: ['test/open-handles.ts', 'test/same-draws.ts'],
    execArgv: ['--expose-gc'],
    sequence: { sequencer: LongestFirst },
    // Two more than there are cores: many tests wait for processes they started.
    maxWorkers: availableParallelism() + 2,
    // A limit against hanging, not a measure of speed: the machine may be very busy.
    testTimeout: 600_000,
    hookTimeout: 900_000,
    reporters: process.env['CI']
      ? ['dot', './scripts/count-reporter.ts']
      : ['default', './scripts/count-reporter.ts'],
  },
})
