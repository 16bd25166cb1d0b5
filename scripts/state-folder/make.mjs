// `npm run state-folder [FOLDER]`: builds the earlier commit, lets it write a state folder, and asks it for the next
// request of every session in it.
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { nextRequests } from './next-requests.mjs'

const here = dirname(fileURLToPath(import.meta.url))
const root = dirname(dirname(here))
const revision = '50d1d98'
const target = resolve(process.argv[2] ?? join(root, 'test', 'fixtures', `state-${revision}`))
const scratch = mkdtempSync(join(tmpdir(), 'state-'))
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }))
const tree = join(scratch, 'tree')
mkdirSync(tree)
execFileSync('tar', ['-x', '-C', tree], {
  input: execFileSync('git', ['archive', revision], { cwd: root, maxBuffer: 1 << 28 }),
})
symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'))
execFileSync('npm', ['run', '--silent', 'build'], { cwd: tree, stdio: 'inherit' })
const dist = join(tree, 'dist')
cpSync(join(here, 'write.mjs'), join(tree, 'write.mjs'))
// A path that says nothing of the machine it was made on.
const project = join(tmpdir(), 'palimpsest-state', 'project')
rmSync(dirname(project), { recursive: true, force: true })
const home = join(dirname(project), 'user', '.palimpsest')
const run = spawnSync(process.execPath, [join(tree, 'write.mjs'), dist, home, project], { stdio: 'inherit' })
if (run.status !== 0) process.exit(1)
const copy = join(scratch, 'copy')
cpSync(home, copy, { recursive: true })
const door = (path) => import(pathToFileURL(join(dist, path)).href)
const rows = await nextRequests(await door('index.js'), await door('testing/index.js'), copy)
rmSync(target, { recursive: true, force: true })
// Who held a session is of that moment and of that machine.
for (const name of readdirSync(home, { recursive: true }))
  if (basename(name) === 'lock') rmSync(join(home, name), { recursive: true, force: true })
cpSync(home, join(target, 'home'), { recursive: true })
writeFileSync(join(target, 'next-requests.json'), `${JSON.stringify(rows, null, 2)}\n`)
rmSync(dirname(project), { recursive: true, force: true })
process.stdout.write(`${Object.keys(rows).length} sessions\n`)
