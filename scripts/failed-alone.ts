// After a test run that failed: are the few files that failed sound when nothing runs beside them? What fails only beside
// others is a race, of a test or of ours, and is to be found; but work of hours is not thrown away for it. Nothing is
// hidden: the first run has printed the failure, and this names the files once more. See docs/decisions/024-a-second-look.md.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { failedFiles } from './count-reporter.ts'

/** More than these at once are not chance. */
const most = 2

const tell = (line: string): boolean => process.stdout.write(`${line}\n`)
if (!existsSync(failedFiles)) {
  tell('The run failed before or beside its tests: there is nothing to look at alone.')
  process.exit(1)
}
const files = JSON.parse(readFileSync(failedFiles, 'utf8')) as readonly string[]
if (files.length > most) {
  tell(`${files.length} files failed: more than ${most} are not looked at again.`)
  process.exit(1)
}
const vitest = join('node_modules', 'vitest', 'vitest.mjs')
const { status } = spawnSync(process.execPath, [vitest, 'run', '--maxWorkers=1', ...files], {
  stdio: 'inherit',
})
if (status !== 0) {
  tell(`Failed alone too: ${files.join(', ')}`)
  process.exit(1)
}
for (const file of files) tell(`RACE: ${file} failed beside other tests and passed alone. Find out why.`)
