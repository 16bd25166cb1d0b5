// Real clients against our simulator and our servers: `npm run clients`, or `npm run clients -- memory companion` for parts of
// it. Each part is a program of its own; from the first argument that begins with `--` on everything goes to each of them.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

const parts = ['memory', 'companion', 'wires', 'sdks', 'fit', 'gateway']
const given = process.argv.slice(2)
const firstFlag = given.findIndex((argument) => argument.startsWith('--'))
const wanted = firstFlag === -1 ? given : given.slice(0, firstFlag)
const flags = firstFlag === -1 ? [] : given.slice(firstFlag)
const unknown = wanted.filter((name) => !parts.includes(name))
if (unknown.length > 0) {
  process.stderr.write(`no such part: ${unknown.join(', ')}\nthere are: ${parts.join(', ')}\n`)
  process.exit(2)
}
const root = dirname(import.meta.dirname)
const failed = (wanted.length === 0 ? parts : wanted).filter((name) => {
  const file = join('clients', `${name}.ts`)
  if (!existsSync(join(root, file))) return false
  process.stdout.write(`\n── ${name} ${'─'.repeat(Math.max(0, 70 - name.length))}\n`)
  const run = spawnSync(process.execPath, ['scripts/run-ts.mjs', file, ...flags], {
    cwd: root,
    stdio: 'inherit',
  })
  return run.status !== 0
})
if (failed.length > 0) process.stderr.write(`\nfailed: ${failed.join(', ')}\n`)
process.exitCode = failed.length === 0 ? 0 : 1
