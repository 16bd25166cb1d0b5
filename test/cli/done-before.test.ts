// What an earlier run has done, or another program keeps, is neither undone twice nor lost.
import { existsSync, lstatSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { cp, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openWorkspace, type Workspace } from './pal.ts'

const task = `<task name="two">
1. read f.txt
2. edit f.txt "v0" -> "v1"
3. edit f.txt "v1" -> "v2"
4. write g.txt
<<<
new
>>>
5. say ok
</task>`

it('[TE3] a rewind that was killed over the files puts back the rest when it is asked again', async () => {
  const { pal, project } = await openWorkspace()
  const f = join(project, 'f.txt')
  writeFileSync(f, 'v0\n')
  await pal(['-p', '--offline', 'hello'])
  await pal(['-p', '--offline', '-c', '--permission-mode', 'bypass', task])
  expect(readFileSync(f, 'utf8')).toBe('v2\n')
  // As it is after the first two of three steps.
  rmSync(join(project, 'g.txt'))
  writeFileSync(f, 'v1\n')
  const at = /#(\d+) {2}<task/.exec((await pal(['messages'])).out)![1]!
  const { out } = await pal(['rewind', at, '--files'])
  expect(out).not.toContain('not restored')
  expect(readFileSync(f, 'utf8')).toBe('v0\n')
})

it('[TE3] a rewind whose files the disk refuses leaves the session where it was, so that it can be run again', async () => {
  const { pal, project } = await openWorkspace()
  const f = join(project, 'f.txt')
  writeFileSync(f, 'v0\n')
  await pal(['-p', '--offline', 'hello'])
  await pal(['-p', '--offline', '-c', '--permission-mode', 'bypass', task])
  const at = /#(\d+) {2}<task/.exec((await pal(['messages'])).out)![1]!
  const full = await pal(['rewind', at, '--files'], {
    environment: {
      NODE_OPTIONS: `--require ${join(import.meta.dirname, '..', 'faults', 'faulty-disk.cjs')}`,
      PAL_FAULT: 'full',
      PAL_FAULT_AT: '1',
      PAL_FAULT_UNDER: join(project, 'f.txt'),
    },
  })
  expect([full.code, full.out]).toEqual([1, ''])
  expect(full.err).toMatch(/f\.txt could not be restored: .*The session was not rewound: run it again/s)
  expect((await pal(['rewind', at, '--files'])).code).toBe(0)
  expect([readFileSync(f, 'utf8'), existsSync(join(project, 'g.txt'))]).toEqual(['v0\n', false])
})

/** Kills at the operation after the first rename of a file in the project, or at that rename. */
async function killedAt(
  { pal, project, state }: Workspace,
  words: readonly string[],
  at: 'rename' | 'after',
): Promise<void> {
  const count = join(project, '..', `operations-${at}`)
  const kept = join(project, '..', 'kept')
  for (const name of ['project', 'home'])
    await cp(join(project, '..', name), join(kept, name), { recursive: true })
  const under = {
    NODE_OPTIONS: `--require ${join(import.meta.dirname, '..', 'faults', 'faulty-disk.cjs')}`,
    PAL_FAULT_UNDER: `${project}/`,
  }
  await pal(words, { environment: { ...under, PAL_FAULT_COUNT: count } })
  const nth = readFileSync(count, 'utf8').split('\n').indexOf('rename') + (at === 'rename' ? 1 : 2)
  for (const name of [project, state]) rmSync(name, { recursive: true })
  for (const name of ['project', 'home'])
    await cp(join(kept, name), join(project, '..', name), { recursive: true })
  const { code } = await pal(words, {
    environment: { ...under, PAL_FAULT: 'kill', PAL_FAULT_AT: String(nth) },
  })
  expect(code).toBe(null)
}

it('[TE3] a rewind that was killed over a file leaves nothing in the project once it is run again', async () => {
  const at = await openWorkspace()
  const { pal, project } = at
  writeFileSync(join(project, 'f.txt'), 'v0\n')
  await pal(['-p', '--offline', 'hello'])
  await pal(['-p', '--offline', '-c', '--permission-mode', 'bypass', task])
  const message = /#(\d+) {2}<task/.exec((await pal(['messages'])).out)![1]!
  await killedAt(at, ['rewind', message, '--files'], 'rename')
  expect(readdirSync(project).filter((name) => name.startsWith('.pal-'))).toHaveLength(1)
  expect((await pal(['rewind', message, '--files'])).code).toBe(0)
  expect(readdirSync(project)).toEqual(['f.txt'])
  expect(readFileSync(join(project, 'f.txt'), 'utf8')).toBe('v0\n')
})

it('[TE3] a rewind restores what a call wrote that was killed before it had a result', async () => {
  const at = await openWorkspace()
  const { pal, project } = at
  const f = join(project, 'f.txt')
  writeFileSync(f, 'v0\n')
  await pal(['-p', '--offline', 'hello'])
  await killedAt(at, ['-p', '--offline', '-c', '--permission-mode', 'bypass', task], 'after')
  expect(readFileSync(f, 'utf8')).toBe('v1\n')
  const message = /#(\d+) {2}<task/.exec((await pal(['messages'])).out)![1]!
  const { out } = await pal(['rewind', message, '--files'])
  expect(out).toContain(`restored: ${f}`)
  expect(readFileSync(f, 'utf8')).toBe('v0\n')
})

it('[TE3] what stood in a file is kept before the file is changed', async () => {
  const { pal, project, state } = await openWorkspace()
  const f = join(project, 'f.txt')
  writeFileSync(f, 'v0\n')
  await pal(['-p', '--offline', 'hello'])
  const projects = join(state, 'projects')
  const sessions = join(projects, readdirSync(projects)[0]!, 'sessions')
  const { code } = await pal(['-p', '--offline', '-c', '--permission-mode', 'bypass', task], {
    environment: {
      NODE_OPTIONS: `--require ${join(import.meta.dirname, '..', 'faults', 'faulty-disk.cjs')}`,
      PAL_FAULT: 'kill',
      PAL_FAULT_AT: '1',
      PAL_FAULT_UNDER: join(sessions, readdirSync(sessions)[0]!, 'tool-results', 'before-'),
    },
  })
  expect([code, readFileSync(f, 'utf8')]).toEqual([null, 'v0\n'])
})

it('[TE3] a rewind in a fork puts back what the session before it changed', async () => {
  const { pal, project } = await openWorkspace()
  const f = join(project, 'f.txt')
  writeFileSync(f, 'v0\n')
  await pal(['-p', '--offline', '--permission-mode', 'bypass', task])
  const more = '<task name="three">\n1. read f.txt\n2. edit f.txt "v2" -> "v3"\n3. say ok\n</task>'
  await pal(['-p', '--offline', '-c', '--fork-session', '--permission-mode', 'bypass', more])
  expect(readFileSync(f, 'utf8')).toBe('v3\n')
  const at = /#(\d+) {2}<task name="two"/.exec((await pal(['messages'])).out)![1]!
  await pal(['rewind', at, '--files'])
  expect([readFileSync(f, 'utf8'), existsSync(join(project, 'g.txt'))]).toEqual(['v0\n', false])
})

it('[G16] keys that cannot be read are not written over, and a link to them stays one', async () => {
  const { pal, state, home } = await openWorkspace()
  await mkdir(state)
  const file = join(state, 'credentials.json')
  const damaged = '{"apiKey":"k-one","keys":{"openai":"k-two",}}'
  writeFileSync(file, damaged)
  const login = await pal(['login', 'google'], { input: 'k-three' })
  expect([login.code, login.err]).toEqual([1, expect.stringContaining('is not a JSON object; fix it')])
  expect((await pal(['logout', 'openai'])).code).toBe(1)
  expect(readFileSync(file, 'utf8')).toBe(damaged)
  rmSync(file)
  writeFileSync(join(home, 'kept.json'), damaged.replace(',}', '}'))
  symlinkSync(join(home, 'kept.json'), file)
  expect((await pal(['login', 'google'], { input: 'k-three' })).code).toBe(0)
  expect(lstatSync(file).isSymbolicLink()).toBe(true)
  expect(JSON.parse(readFileSync(join(home, 'kept.json'), 'utf8'))).toEqual({
    apiKey: 'k-one',
    keys: { openai: 'k-two', google: 'k-three' },
  })
})
