// Hostile command lines and everyday ones, judged as a session would: through the package's public door, with the sandbox
// off, in a real project.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toolsDoor } from '../doors.ts'
import { acting } from './commands.ts'
import { everyday } from './everyday.ts'
import { makeFixture } from './fuzz/fixture.ts'
import { shapes } from './shapes/index.ts'

const base = realpathSync(mkdtempSync(join(tmpdir(), 'pal-lines-')))
beforeAll(() => {
  makeFixture(join(base, 'hostile'))
  makeFixture(join(base, 'everyday'), false)
})
afterAll(() => rmSync(base, { recursive: true }))

/** The verdict on each line, as far as one is not wanted. */
async function unlike(
  where: 'hostile' | 'everyday',
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
const isStopped = (kind: string): boolean => kind !== 'allow'
const isRun = (kind: string): boolean => kind === 'allow'

const wraps: readonly ((command: string) => string)[] = [
  (command) => command,
  (command) => `env ${command}`,
  (command) => `timeout 5 ${command}`,
  (command) => `nice ${command}`,
  (command) => `\n\n${command}`,
  (command) => `# nothing to see\n${command}`,
  (command) => `true && ${command}`,
  (command) => `ls; ${command}`,
  (command) => `( ${command}\n)`,
  (command) => `ls | cat\n${command}`,
]
const hostile = [...new Set([...acting, ...Object.values(shapes).flat()])]

describe('hostile lines', () => {
  it('[PM40] none of 1,500 and more hostile lines runs unasked, in default and in plan mode, with the sandbox off', async () => {
    const own = new Set(Object.values(shapes).flat()).size
    const wrapped = acting.flatMap((command) => wraps.map((wrap) => wrap(command)))
    console.log(
      `${own} shapes in ${Object.keys(shapes).length} classes, ${acting.length} lines of the older list x ${wraps.length} wrappings: ` +
        `${new Set([...hostile, ...wrapped]).size} distinct lines in the modes default and plan`,
    )
    expect(own).toBeGreaterThanOrEqual(700)
    expect(new Set([...hostile, ...wrapped]).size).toBeGreaterThanOrEqual(1500)
    for (const mode of ['default', 'plan'] as const)
      expect(await unlike('hostile', [...hostile, ...wrapped], mode, isStopped)).toEqual([])
  })
})

describe('everyday lines', () => {
  it('[PM41] none of 150 named everyday read-only lines asks, in default and in plan mode', async () => {
    expect(new Set(everyday).size).toBeGreaterThanOrEqual(150)
    for (const mode of ['default', 'plan'] as const)
      expect(await unlike('everyday', everyday, mode, isRun)).toEqual([])
  })
})
