// One bundle of the command for a whole run of tests. As vitest's global setup it only gives the run a folder; the first test
// file that needs the command bundles it there, the others wait for it.
import { mkdirSync, mkdtempSync } from 'node:fs'
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { until } from './until.ts'

const root = join(import.meta.dirname, '..')
const variable = 'PAL_TEST_RUN'

/** Beside the packages, so that optional ones are found. */
export default function setup(): () => Promise<void> {
  const cache = join(root, 'node_modules', '.cache')
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, 'pal-test-'))
  process.env[variable] = folder
  // What a program that was just ended still writes comes between: it is tried again.
  return () => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

/** The command's file, as it is shipped. */
export async function palFile(): Promise<string> {
  // `npm run proofs` shows that a test fails on an earlier build.
  const other = process.env['PAL_UNDER_TEST']
  if (other !== undefined) return other
  const run = process.env[variable]
  if (run === undefined)
    throw new Error(`${variable} is not set: vitest.config.ts names test/one-bundle.ts as its setup`)
  const done = join(run, 'done')
  const failed = join(run, 'failed')
  const isFirst = await mkdir(join(run, 'begun')).then(
    () => true,
    () => false,
  )
  if (isFirst) {
    try {
      const url = pathToFileURL(join(root, 'scripts', 'bundle.mjs')).href
      const { bundle } = (await import(url)) as { bundle: (folder: string) => Promise<void> }
      await bundle(join(run, 'making'))
      await rename(join(run, 'making'), done)
    } catch (problem) {
      await writeFile(failed, String(problem))
      throw problem
    }
  }
  await until(async () => (await isThere(done)) || (await isThere(failed)), 'the command to be bundled')
  if (!(await isThere(done)))
    throw new Error('the command could not be bundled: see the first test file that failed')
  return join(done, 'pal.js')
}
