// Secrets in what a command's model sees and what is kept, by every way an output takes, through the command itself.
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { call } from '../../src/simulator/index.ts'
import { openWorkspace, server } from '../cli/pal.ts'
import { formats, randomFrom, secretSeed } from '../secret-formats.ts'

it(`[B6] [B15] no format is left in what Read, Bash, Grep and a job show, nor in what is kept (SECRET_SEED=${secretSeed})`, async () => {
  const random = randomFrom(secretSeed)
  const made = formats.map((format) => ({ name: format.name, ...format.make(random) }))
  const { access, simulator } = await server([
    [call('Read', { file_path: 'all.txt' }, 'c1')],
    [call('Bash', { command: 'cat all.txt' }, 'c2')],
    [call('Bash', { command: 'cat all.txt >&2' }, 'c3')],
    [call('Grep', { pattern: '.', path: 'all.txt', output_mode: 'content', limit: 1000 }, 'c4')],
    [call('Bash', { command: 'cat all.txt; echo > shown', background: true }, 'c5')],
    [call('Bash', { command: 'until [ -e shown ]; do sleep 0.1; done' }, 'c6')],
    [call('Jobs', { action: 'read', id: '1' }, 'c7')],
    'done',
  ])
  const at = await openWorkspace(access)
  await writeFile(join(at.project, 'all.txt'), made.map(({ text }) => text).join('\n---\n'))
  const { code, err } = await at.pal(['-p', '--allow', 'Bash', 'Look at all.txt'])
  expect([code, err]).toEqual([0, expect.any(String)])
  const sent = simulator.log.requests.map(({ body }) => JSON.stringify(body)).join('\n')
  expect(sent.match(/tool_result/g)!.length).toBeGreaterThan(5)
  const kept: string[] = []
  for (const file of await readdir(at.state, { recursive: true, withFileTypes: true }))
    if (file.isFile()) kept.push(await readFile(join(file.parentPath, file.name), 'utf8'))
  const left = (text: string) =>
    made.filter(({ parts }) => parts.some((part) => text.includes(part.slice(0, 10)))).map(({ name }) => name)
  expect(kept.join()).toContain('[secret:')
  expect([left(sent), left(kept.join('\n'))]).toEqual([[], []])
})

it('[B7] what the model writes into a call stays in its transcript and in no list for others', async () => {
  const random = randomFrom(secretSeed)
  const { text, parts } = formats.find(({ name }) => name === 'sshpass')!.make(random)
  const { access } = await server([
    [call('Bash', { command: `true ${text} || true`, background: true }, 'c1')],
    [call('Bash', { command: 'true' }, 'c2')],
    'done',
  ])
  const at = await openWorkspace(access)
  expect((await at.pal(['-p', '--allow', 'Bash', 'go'])).code).toBe(0)
  const kept = new Map<string, string>()
  for (const file of await readdir(at.state, { recursive: true, withFileTypes: true }))
    if (file.isFile()) kept.set(file.name, await readFile(join(file.parentPath, file.name), 'utf8'))
  const holding = [...kept].filter(([, words]) => words.includes(parts[0]!)).map(([name]) => name)
  expect(holding).toEqual([expect.stringMatching(/\.jsonl$/)])
  expect([...kept].filter(([, words]) => words.includes('sshpass')).length).toBeGreaterThan(1)
})
