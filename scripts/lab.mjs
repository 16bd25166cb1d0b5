// `npm run lab -- [FOLDER] [options of pal replay]`: every policy that has a name over the recordings of a folder; with
// no folder over sessions that are made up, so that a fresh clone has something to show.
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle } from './bundle.mjs'

const cache = join(dirname(dirname(fileURLToPath(import.meta.url))), 'node_modules', '.cache')
mkdirSync(cache, { recursive: true })
// `companion` measures what the block adds to other programs' summaries.
if (process.argv[2] === 'companion') {
  const root = dirname(dirname(fileURLToPath(import.meta.url)))
  const run = [
    join(root, 'scripts', 'run-ts.mjs'),
    join(root, 'bench', 'companion.ts'),
    ...process.argv.slice(3),
  ]
  const { status } = spawnSync(process.execPath, run, { stdio: 'inherit' })
  process.exit(status ?? 1)
}
const folder = mkdtempSync(join(cache, 'lab-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
await bundle(folder)
// `compactions` judges what compactions kept instead of playing policies.
const isJudging = process.argv[2] === 'compactions'
const given = isJudging ? ['--compactions', ...process.argv.slice(3)] : process.argv.slice(2)
// A path may stand anywhere; the values of options are no paths.
const isValue = (at) =>
  at > 0 && /^--(?:policy|against|window|model|report|since|limit|jobs|show)$/.test(given[at - 1])
const hasSource = given.some(
  (word, at) => word === '--own' || word === '--sample' || (!word.startsWith('-') && !isValue(at)),
)
const chosen = hasSource ? [] : ['--sample']
const policy = isJudging || given.some((word) => word.startsWith('--policy')) ? [] : ['--policy', 'all']
const child = spawn(process.execPath, [join(folder, 'pal.js'), 'replay', ...given, ...chosen, ...policy], {
  stdio: 'inherit',
})
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
child.on('exit', (code, signal) => process.exit(signal === null ? (code ?? 1) : 1))
