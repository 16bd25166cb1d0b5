// Everyday command lines, judged as a session would: through the package's public door, with the sandbox
// off, in a real project.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toolsDoor } from '../doors.ts'
import { everyday } from './everyday.ts'
import { makeFixture } from './fuzz/fixture.ts'

const base = realpathSync(mkdtempSync(join(tmpdir(), 'pal-lines-')))
beforeAll(() => {
  makeFixture(join(base, 'everyday'), false)
})
afterAll(() => rmSync(base, { recursive: true }))

/** The verdict on each line, as far as one is not wanted. */
async function unlike(
  where: 'everyday',
  lines: readonly string[],
  mode: 'default' | 'plan',
  isWanted: (kind: string) => boolean,
): Promise<string[]> {
  const { createPermission, machineFileSystem } = await toolsDoor()
  const root = join(base, where, 'project')
  const place = { fs: machineFileSystem, root, cwd: root, home: join(base, where, 'home') }
  const permission = createPermission({ ...place, rules: [], mode })
  const found: string[] = []
  for (const command of lines) {
    const { kind, why } = await permission.judge({ name: 'Bash', input: { command } }, false)
    if (!isWanted(kind)) found.push(`${command}  (${why})`)
  }
  return found
}
const isRun = (kind: string): boolean => kind === 'allow'

describe('everyday lines', () => {
  it('[PM41] none of 150 named everyday read-only lines asks, in default and in plan mode', async () => {
    expect(new Set(everyday).size).toBeGreaterThanOrEqual(150)
    for (const mode of ['default', 'plan'] as const)
      expect(await unlike('everyday', everyday, mode, isRun)).toEqual([])
  })
})
