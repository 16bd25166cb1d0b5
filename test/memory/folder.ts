// A real folder that is gone when the test is.
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

export async function folder(): Promise<string> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'pal-memory-')))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return path
}
