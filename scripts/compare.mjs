// `npm run compare [-- --against REV] [--corpus FOLDER] [--sessions N] [--bench fold,compose]`: whether a change that
// should only move things did. Builds this tree and an earlier revision, plays recorded sessions through both by the
// public door `palimpsest/lab`, and compares per session and policy a hash over every request body and the figures.
// Benches that are named are run in both trees, one after the other, for their ratios.
import { createHash } from 'node:crypto'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const given = process.argv.slice(2)
const valueOf = (flag, otherwise) => (given.includes(flag) ? given[given.indexOf(flag) + 1] : otherwise)
const policies = ['standard', 'append-only']

if (given[0] === '--worker') {
  // One tree's figures: `--worker DIST CORPUS` and the names of sessions; a line of JSON for each.
  const [dist, corpus, ...names] = given.slice(1)
  const lab = await import(pathToFileURL(join(dist, 'lab', 'index.js')).href)
  for (const name of names) {
    const imported = await lab.importFile(join(corpus, name))
    const prepared = imported.ok ? lab.prepareReplay(imported.recording) : null
    for (const policyName of policies) {
      if (prepared === null) continue
      const hash = createHash('sha256')
      let requests = 0
      const { figures, problems } = await lab.replay(prepared, {
        policy: lab.policyNamed(policyName),
        window: 200_000,
        model: 'claude-sonnet-5',
        watch: (request) => {
          requests++
          hash.update(JSON.stringify(request))
        },
      })
      // The values alone, in their order: what a figure is called is no figure.
      const values = Object.entries(figures).map(([lifetime, each]) => [lifetime, ...Object.values(each)])
      const figuresHash = createHash('sha256')
        .update(JSON.stringify({ values, problems }))
        .digest('hex')
        .slice(0, 16)
      process.stdout.write(
        `${JSON.stringify({ name, policy: policyName, requests, bytes: hash.digest('hex').slice(0, 16), figures: figuresHash })}\n`,
      )
    }
  }
  process.exit(0)
}

const corpus = resolve(valueOf('--corpus', join(root, '..', 'shared', 'corpus')))
if (!existsSync(corpus)) {
  process.stderr.write(`there are no recorded sessions at ${corpus}; name their folder with --corpus\n`)
  process.exit(2)
}
const against = valueOf('--against', '50d1d98')
const names = readdirSync(corpus)
  .filter((name) => name.endsWith('.jsonl.gz') || name.endsWith('.jsonl'))
  .toSorted()
  .slice(0, Number(valueOf('--sessions', '1000')))

const scratch = mkdtempSync(join(tmpdir(), 'compare-'))
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }))
function tree(name, revision) {
  const folder = join(scratch, name)
  mkdirSync(folder)
  execFileSync('tar', ['-x', '-C', folder], {
    input: execFileSync('git', ['archive', revision], { cwd: root, maxBuffer: 1 << 28 }),
  })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  // The files one by one, as they are: a bundle is made for those who install it, and this tsc writes only declarations then.
  const emitted = ['--emitDeclarationOnly', 'false', '--declaration', 'false', '--noCheck']
  execFileSync(
    process.execPath,
    ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', ...emitted],
    { cwd: folder, stdio: 'inherit' },
  )
  return folder
}

/** The rows of one tree, its sessions shared out over the cores. */
async function play(folder, title) {
  const workers = Math.min(availableParallelism(), names.length)
  const rows = new Map()
  let done = 0
  await Promise.all(
    Array.from({ length: workers }, (_, at) => {
      const mine = names.filter((_name, index) => index % workers === at)
      const child = spawn(
        process.execPath,
        [fileURLToPath(import.meta.url), '--worker', join(folder, 'dist'), corpus, ...mine],
        { stdio: ['ignore', 'pipe', 'inherit'] },
      )
      let rest = ''
      child.stdout.on('data', (chunk) => {
        const lines = (rest + chunk).split('\n')
        rest = lines.pop()
        for (const line of lines) {
          const row = JSON.parse(line)
          rows.set(`${row.name} ${row.policy}`, row)
          process.stderr.write(`${title}: ${++done} of ${names.length * policies.length}\n`)
        }
      })
      return new Promise((settle, fail) => {
        child.on('exit', (code) =>
          code === 0 ? settle() : fail(new Error(`a worker of ${title} ended with ${code}`)),
        )
      })
    }),
  )
  return rows
}

const before = tree('before', against)
const now = tree('now', 'HEAD')
const [old, fresh] = [await play(before, against), await play(now, 'now')]
let different = 0
for (const [key, row] of old) {
  const other = fresh.get(key)
  const isSame = other?.bytes === row.bytes && other?.figures === row.figures
  if (!isSame) different++
  const mark = isSame ? 'same ' : other?.bytes === row.bytes ? 'FIGURES' : 'BYTES'
  process.stdout.write(
    `${mark.padEnd(8)}${key.padEnd(60)}${String(row.requests).padStart(6)}  ${row.bytes}\n`,
  )
}
process.stdout.write(
  `${old.size} replays, ${old.size - different} with the same bytes and figures, ${different} different\n`,
)
for (const bench of valueOf('--bench', '')
  .split(',')
  .filter((name) => name !== '')) {
  for (const [title, folder] of [
    [against, before],
    ['now', now],
  ]) {
    process.stdout.write(`\n${bench} on ${title}\n`)
    spawnSync(process.execPath, ['scripts/run-ts.mjs', `bench/${bench}.ts`], {
      cwd: folder,
      stdio: 'inherit',
    })
  }
}
process.exit(different === 0 ? 0 : 1)
