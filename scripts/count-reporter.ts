// Ends a test run with the files that took longest, and with the one line that continuous integration reads:
// `N passed, N failed, N skipped`. The files that failed are left in a list for scripts/failed-alone.ts.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'

export const failedFiles = join('node_modules', '.cache', 'failed-tests.json')
const shown = 10
const noteworthyMs = 10_000

export default class CountReporter implements Reporter {
  onInit(): void {
    rmSync(failedFiles, { force: true })
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 }
    const files = modules.filter((module) => module.state() === 'failed')
    // An error that belongs to no file cannot be looked at alone.
    if (files.length > 0 && unhandledErrors.length === 0) {
      mkdirSync(dirname(failedFiles), { recursive: true })
      writeFileSync(failedFiles, JSON.stringify(files.map(({ relativeModuleId }) => relativeModuleId)))
    }
    for (const module of modules) {
      let failed = 0
      for (const test of module.children.allTests()) {
        const state = test.result().state
        if (state === 'passed') counts.passed++
        else if (state === 'failed') failed++
        else counts.skipped++
      }
      // A file that could not be loaded, or fails behind its last test, must not count as silence.
      counts.failed += failed === 0 && module.state() === 'failed' ? 1 : failed
    }
    const slow = modules
      .map((module) => ({ file: module.relativeModuleId, ms: module.diagnostic().duration }))
      .filter(({ ms }) => ms > noteworthyMs)
      .toSorted((a, b) => b.ms - a.ms)
      .slice(0, shown)
    for (const { file, ms } of slow) process.stdout.write(`\n${Math.round(ms / 1000)} s: ${file}`)
    process.stdout.write(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`)
  }
}
