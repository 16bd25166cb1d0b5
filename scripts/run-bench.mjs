// Runs the benchmarks one after the other: `npm run bench`, or `npm run bench -- fold compose` for some of them.
// Arguments that begin with `--` go to each of them.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const all = [
  'store',
  'fold',
  'resume',
  'count',
  'growth',
  'compose',
  'corpus-cache',
  'forks',
  'agents',
  'mail',
  'turns',
  'layers',
  'compaction',
  'summary',
  'redact',
  'permission',
  'start',
  'adapter-start',
  'peers',
  'recall',
  'recall-start',
  'drift',
]
const names = all.filter((name) => existsSync(join(root, 'bench', `${name}.ts`)))
const flags = process.argv.slice(2).filter((argument) => argument.startsWith('--'))
const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const unknown = wanted.filter((name) => !names.includes(name))
if (unknown.length > 0) {
  process.stderr.write(`no such benchmark: ${unknown.join(', ')}\nthere are: ${names.join(', ')}\n`)
  process.exit(2)
}
const failed = (wanted.length === 0 ? names : wanted).filter((name) => {
  process.stdout.write(`\n── ${name} ${'─'.repeat(Math.max(0, 70 - name.length))}\n`)
  const run = spawnSync(process.execPath, ['scripts/run-ts.mjs', `bench/${name}.ts`, ...flags], {
    cwd: root,
    stdio: 'inherit',
  })
  return run.status !== 0
})
if (failed.length > 0) process.stderr.write(`\nfailed: ${failed.join(', ')}\n`)
process.exit(failed.length === 0 ? 0 : 1)
