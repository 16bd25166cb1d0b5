// `npm run proofs [-- WORD …]`: for every finding that was closed, takes its fix out of a scratch copy and shows that its
// test then fails by its assertion. With words, only the findings whose name or list (`terminal` for proofs/terminal.json)
// holds one of them. What goes through `pal` or
// the package's public doors is also run against the build the findings were made on.
// The list: proofs/*.json, each a list of
//   { finding, says, test, name, revert: [{ file, replace, by }], old?: true }
// where `replace` stands exactly once in `file`, and `old` asks for the run against the earlier build.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
/** The commit on which the findings were made. */
const earlier = '50d1d98'
/** How long a test waits for what should come, with the fix as well as without. */
const mostWaitMs = 20_000

const proofs = readdirSync(join(root, 'proofs'))
  .filter((name) => name.endsWith('.json'))
  .toSorted()
  .flatMap((name) =>
    JSON.parse(readFileSync(join(root, 'proofs', name), 'utf8')).map((proof) => ({ ...proof, list: name })),
  )
const words = process.argv.slice(2)
const wanted =
  words.length === 0
    ? proofs
    : proofs.filter(({ finding, list }) =>
        words.some((word) => finding.includes(word) || list === `${word}.json`),
      )
if (wanted.length === 0) {
  process.stderr.write(`no finding has ${words.join(' or ')} in its name; there are ${proofs.length}\n`)
  process.exit(2)
}

const scratch = mkdtempSync(join(tmpdir(), 'proofs-'))
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }))
const shared = join(root, '..', 'shared')
if (existsSync(shared)) symlinkSync(shared, join(scratch, 'shared'))
const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\0')
  .filter((name) => name !== '' && existsSync(join(root, name)))
/** A copy of the tree in which one fix at a time is taken out. */
function copied(at) {
  const tree = join(scratch, `main-${at}`)
  for (const file of files) {
    mkdirSync(dirname(join(tree, file)), { recursive: true })
    cpSync(join(root, file), join(tree, file))
  }
  symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'))
  return tree
}

let built = null
/** The package as it was: `pal.js` and the library, built once from that commit. */
function earlierBuild() {
  if (built !== null) return built
  const folder = join(scratch, 'earlier')
  mkdirSync(folder)
  execFileSync('tar', ['-x', '-C', folder], {
    input: execFileSync('git', ['archive', earlier], { cwd: root, maxBuffer: 1 << 28 }),
  })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] })
  built = join(folder, 'dist')
  return built
}

/** How a test ended: `passed`, `assertion`, `error` (it broke otherwise) or `none` (no such test ran). */
async function run(tree, { test, name }, environment) {
  const report = `${tree}.json`
  rmSync(report, { force: true })
  const pattern = name.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
  const running = spawn(
    process.execPath,
    [
      'node_modules/vitest/vitest.mjs',
      'run',
      test,
      '-t',
      pattern,
      '--reporter=json',
      `--outputFile=${report}`,
      // Kept by the paths of the copy, of which nobody has a use later.
      `--fsModuleCachePath=${join(scratch, 'transformed')}`,
    ],
    {
      cwd: tree,
      env: { ...process.env, CI: '', MOST_WAIT_MS: String(mostWaitMs), ...environment },
      stdio: 'ignore',
    },
  )
  await once(running, 'close')
  if (!existsSync(report)) return { how: 'error', why: 'the test file could not be run' }
  const all = JSON.parse(readFileSync(report, 'utf8'))
    .testResults.flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === 'passed' || status === 'failed')
  if (all.length === 0)
    return { how: 'none', why: 'no test of that name ran (skipped, or the file does not load)' }
  const failed = all.filter(({ status }) => status === 'failed')
  if (failed.length === 0) return { how: 'passed', why: '' }
  const messages = failed.flatMap(({ failureMessages }) => failureMessages)
  const first = (messages.find((text) => text.includes('AssertionError')) ?? messages[0] ?? '').split('\n')[0]
  return { how: messages.some((text) => text.includes('AssertionError')) ? 'assertion' : 'error', why: first }
}

let bad = 0
const show = (finding, how, isGood, why) => {
  if (!isGood) bad++
  process.stdout.write(
    `${isGood ? 'ok  ' : 'FAIL'} ${finding}: ${how}${why === '' ? '' : ` (${why.slice(0, 160)})`}\n`,
  )
}
async function prove(tree, proof) {
  const whole = await run(tree, proof, {})
  if (whole.how !== 'passed') return show(proof.finding, `with the fix: ${whole.how}`, false, whole.why)
  const kept = new Map()
  let misfit = null
  for (const { file, replace, by } of proof.revert) {
    const path = join(tree, file)
    const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
    if (text.split(replace).length !== 2) misfit = `${file} does not hold the text to take out exactly once`
    if (!kept.has(path)) kept.set(path, text)
    writeFileSync(
      path,
      text.replace(replace, () => by),
    )
  }
  const without = misfit === null ? await run(tree, proof, {}) : { how: 'error', why: misfit }
  for (const [path, text] of kept) writeFileSync(path, text)
  show(proof.finding, `without the fix: ${without.how}`, without.how === 'assertion', without.why)
  if (proof.old === true) {
    const dist = earlierBuild()
    const before = await run(tree, proof, {
      PAL_UNDER_TEST: join(dist, 'pal.js'),
      PALIMPSEST_UNDER_TEST: dist,
    })
    show(proof.finding, `on ${earlier}: ${before.how}`, before.how === 'assertion', before.why)
  }
}
// Most tests wait for processes they started: as many at once as there are cores.
const left = [...wanted]
const lanes = Array.from({ length: Math.min(wanted.length, availableParallelism()) }, async (_, at) => {
  const tree = copied(at)
  for (let proof = left.shift(); proof !== undefined; proof = left.shift()) await prove(tree, proof)
})
await Promise.all(lanes)
process.stdout.write(`${wanted.length} findings, ${bad} not proven\n`)
process.exit(bad === 0 ? 0 : 1)
