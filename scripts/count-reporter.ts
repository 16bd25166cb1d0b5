// Ends a test run with the one line that continuous integration reads: `N passed, N failed, N skipped`.
import type { Reporter, TestModule } from 'vitest/node'

export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 }
    for (const module of modules) {
      let tests = 0
      for (const test of module.children.allTests()) {
        tests++
        const state = test.result().state
        // A test that needed a second try passed, but not unseen.
        if (test.diagnostic()?.flaky === true) process.stdout.write(`\nsecond try: ${test.fullName}`)
        if (state === 'passed') counts.passed++
        else if (state === 'failed') counts.failed++
        else counts.skipped++
      }
      // A file that could not be loaded has no tests; it must not count as silence.
      if (tests === 0 && module.state() === 'failed') counts.failed++
    }
    process.stdout.write(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`)
  }
}
