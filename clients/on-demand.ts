// Packages of other makers, installed together into a folder below the temporary one and kept there: pinned, never a dependency.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const cache = join(tmpdir(), 'pal-clients-cache')
/** Against hanging, not a measure of speed. */
const mostMs = 600_000

/** Where packages of this name lie, once they are installed. */
export const folderFor = (name: string): string => join(cache, name.replaceAll('/', '-'))

/** The folder of packages that are installed already, named after the first; null where they are not. */
export function knownFolder([name = '']: readonly string[]): string | null {
  return isInstalled(name) ? folderFor(name) : null
}

/** Whether they are there already. */
export const isInstalled = (name: string): boolean => existsSync(join(folderFor(name), 'complete'))

/** The folder that holds them, or null where they cannot be installed. */
export function installed(name: string, packages: readonly string[]): string | null {
  const folder = folderFor(name)
  if (isInstalled(name)) return folder
  // Two runs at once must not meet in one folder.
  const fresh = `${folder}.${process.pid}`
  try {
    mkdirSync(fresh, { recursive: true })
    writeFileSync(join(fresh, 'package.json'), '{"private":true,"type":"module"}')
    process.stderr.write(`installing ${packages.join(' ')} …\n`)
    execFileSync('npm', ['install', '--no-audit', '--no-fund', ...packages], {
      cwd: fresh,
      stdio: 'ignore',
      timeout: mostMs,
    })
    writeFileSync(join(fresh, 'complete'), '')
    rmSync(folder, { recursive: true, force: true })
    renameSync(fresh, folder)
    return folder
  } catch {
    return null
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}

/** One line for each thing that was looked at; the exit code says whether all held. */
export function createVerdicts(): {
  check(what: string, isSo: boolean, detail?: string): void
  skip(what: string, why: string): void
  exitCode(): number
} {
  let failed = 0
  return {
    check: (what, isSo, detail = '') => {
      if (!isSo) failed += 1
      process.stdout.write(`${isSo ? 'ok  ' : 'FAIL'} ${what}${isSo ? '' : `: ${detail.slice(-1500)}`}\n`)
    },
    skip: (what, why) => void process.stdout.write(`skip ${what}: ${why}\n`),
    exitCode: () => (failed === 0 ? 0 : 1),
  }
}
