// Ends a test run with the files that took longest, and with the one line that continuous integration reads:
// `N passed, N failed, N skipped`.
import type { Reporter, TestModule } from 'vitest/node'

const shown = 10
const noteworthyMs = 10_000

export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 }
    for (const module of modules) {
      let failed = 0
      for (const test of module.children.allTests()) {
        const state = test.result().state
        // A test that needed a second try passed, but not unseen.
        if (test.diagnostic()?.flaky === true) process.stdout.write(`\nsecond try: ${test.fullName}`)
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
