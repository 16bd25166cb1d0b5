// A home, a project and a model of its own for a client under test: isolated, offline, with a fake key.
import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { bundledPal } from '../bench/first-request.ts'

export interface World {
  readonly folder: string
  readonly home: string
  readonly project: string
  /** `pal.js` with what is bundled beside it. */
  readonly pal: string
  readonly environment: Readonly<Record<string, string>>
  /** Runs our own command in this home. */
  ours(...args: readonly string[]): string
  remove(): void
}

export async function makeWorld(pal?: string): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'pal-clients-'))
  const [home, project, built] = [join(folder, 'home'), join(folder, 'project'), join(folder, 'pal')]
  for (const path of [home, project, built]) mkdirSync(path, { mode: 0o700 })
  const program = pal ?? (await bundledPal(built))
  const environment = { PATH: process.env['PATH'] ?? '', HOME: home, TERM: 'xterm-256color' }
  return {
    folder,
    home,
    project,
    pal: program,
    environment,
    ours: (...args) =>
      execFileSync(process.execPath, [program, ...args], {
        cwd: project,
        env: environment,
        encoding: 'utf8',
      }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

export interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Against hanging, not a measure of speed. */
const mostMs = 300_000

export const runClient = (
  program: string,
  args: readonly string[],
  { project, environment }: Pick<World, 'project' | 'environment'>,
  more: Readonly<Record<string, string>> = {},
): Promise<Ran> =>
  new Promise((resolve) => {
    const options = { cwd: project, env: { ...environment, ...more }, timeout: mostMs, maxBuffer: 64_000_000 }
    const child = execFile(program, args, options, (error, out, err) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : null
      resolve({ code, out, err })
    })
    child.stdin?.end()
  })

/** Lets hooks take their time: on a busy machine their own clock would make them silent. */
export function slowClock({ home }: Pick<World, 'home'>, more: object = {}): void {
  const folder = join(home, '.palimpsest', 'companion')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeFileSync(join(folder, 'options.json'), JSON.stringify({ clockMs: 60_000, ...more }))
}

/** Every file below a folder with its bytes, for comparing before and after. */
export function snapshot(folder: string, under = folder): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    if (statSync(path).isDirectory()) for (const [key, text] of snapshot(path, under)) found.set(key, text)
    else found.set(relative(under, path), readFileSync(path, 'base64'))
  }
  return found
}

/** How a part says what it found. */
export class Report {
  #failed = 0

  check(name: string, isSo: boolean, detail = ''): void {
    if (!isSo) this.#failed++
    process.stdout.write(
      `${isSo ? 'ok  ' : 'FAIL'} ${name}${isSo || detail === '' ? '' : `: ${detail.slice(0, 600)}`}\n`,
    )
  }

  skip(name: string, why: string): void {
    process.stdout.write(`skip ${name}: ${why}\n`)
  }

  get exitCode(): number {
    return this.#failed === 0 ? 0 : 1
  }
}
