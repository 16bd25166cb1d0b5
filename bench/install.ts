// From nothing to the first answer: the packed package is installed into an empty project and plays its demo; other terminal
// agents are installed beside it in the same run. Their first answer needs a key, so theirs is the time to `--version`.
//
//   npm run bench -- install [--only pal]
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const only = process.argv.includes('--only') ? process.argv[process.argv.indexOf('--only') + 1] : undefined
const folder = mkdtempSync(join(tmpdir(), 'pal-install-'))

interface Candidate {
  readonly name: string
  readonly package: string
  readonly command: readonly [string, ...string[]]
  readonly shows: string
}

function packed(): string {
  execFileSync('npm', ['run', 'build'], { cwd: root, stdio: 'ignore' })
  const lines = execFileSync('npm', ['pack', '--pack-destination', folder], { cwd: root, encoding: 'utf8' })
  return join(folder, lines.trim().split('\n').at(-1)!)
}

const timed = <T>(work: () => T): readonly [T, number] => {
  const began = performance.now()
  return [work(), (performance.now() - began) / 1000]
}

function sizeOf(place: string): { readonly bytes: number; readonly packages: number } {
  let [bytes, packages] = [0, 0]
  for (const name of readdirSync(place, { recursive: true }).map(String)) {
    const stats = statSync(join(place, name), { throwIfNoEntry: false })
    if (stats?.isFile() === true) bytes += stats.size
    if (/(^|node_modules\/)(@[^/]+\/)?[^/@.]+\/package\.json$/.test(name) && stats?.isFile() === true) {
      const { name: own, version } = JSON.parse(readFileSync(join(place, name), 'utf8')) as Record<
        string,
        unknown
      >
      if (own !== undefined && version !== undefined) packages += 1
    }
  }
  return { bytes, packages }
}

function measured({ name, package: wanted, command: [program, ...words], shows }: Candidate): string {
  const project = mkdtempSync(join(folder, 'project-'))
  writeFileSync(join(project, 'package.json'), '{"private":true}')
  const [installed, installSeconds] = timed(() =>
    spawnSync('npm', ['install', '--no-audit', '--no-fund', wanted], { cwd: project, encoding: 'utf8' }),
  )
  if (installed.status !== 0)
    return `${name.padEnd(12)} could not be installed here: ${/npm error (?!code).*/.exec(installed.stderr)?.[0]}`
  const { bytes, packages } = sizeOf(join(project, 'node_modules'))
  const home = mkdtempSync(join(folder, 'home-'))
  const run = () =>
    spawnSync('npx', ['--no-install', program, ...words], {
      cwd: project,
      encoding: 'utf8',
      env: { ...process.env, HOME: home, CI: '1' },
      input: '',
    })
  const [ran, seconds] = timed(run)
  const outcome =
    ran.status === 0
      ? `${seconds.toFixed(1)} s`
      : `failed (${ran.stderr.trim().split('\n')[0]?.slice(0, 60)})`
  return [
    name.padEnd(12),
    `${installSeconds.toFixed(1)} s`.padStart(9),
    `${(bytes / 1e6).toFixed(0)} MB`.padStart(8),
    String(packages).padStart(9),
    `  ${shows}: ${outcome}`,
  ].join('')
}

const candidates: readonly (() => Candidate)[] = [
  () => ({ name: 'pal', package: packed(), command: ['pal', 'demo'], shows: 'demo played to its end' }),
  () => ({
    name: 'pi',
    package: '@earendil-works/pi-coding-agent@0.87.1',
    command: ['pi', '--version'],
    shows: '--version',
  }),
  () => ({
    name: 'opencode',
    package: 'opencode-ai@1.18.33',
    command: ['opencode', '--version'],
    shows: '--version',
  }),
]

try {
  console.log(`${'program'.padEnd(12)}${'install'.padStart(9)}${'size'.padStart(8)}${'packages'.padStart(9)}`)
  for (const candidate of candidates) {
    const made = candidate()
    if (only === undefined || only === made.name) console.log(measured(made))
  }
  console.log('Install times include the registry and its cache; sizes are what lies in node_modules.')
} finally {
  rmSync(folder, { recursive: true, force: true })
}
