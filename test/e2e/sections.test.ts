// The system prompt of a session is that of its own beginning, through the public package and over HTTP.
import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { machineFileSystem } from '../../src/disk/fs.ts'
import { defaults } from '../../src/settings/defaults.ts'
import { createManualClock } from '../../src/simulator/index.ts'
import { mainDoor } from '../doors.ts'
import { folder, later, simulated, turn, words } from './simulated.ts'

const day = 24 * 60 * 60 * 1000
const systemOf = (body: unknown): string => JSON.stringify((body as { system: unknown }).system)

async function opened(settings: Record<string, unknown> = {}, more: { PATH?: string } = {}) {
  const { createPreset, projectOf } = await mainDoor()
  const scene = await simulated(Array.from({ length: 6 }, (_, n) => `answer ${n} ${words(6000)}`))
  const [home, place] = [await folder(), await folder()]
  const git = (...args: string[]) => execFileSync('git', args, { cwd: place, stdio: 'ignore' })
  git('init', '-q', '-b', 'first')
  await writeFile(join(place, 'changed.txt'), 'x')
  const found = await projectOf(machineFileSystem, place)
  if (!found.ok) throw new Error(found.failure.message)
  const clock = createManualClock(Date.UTC(2026, 0, 1))
  const environment = { PATH: process.env['PATH'] ?? '', HOME: home, SHELL: '/bin/zsh', ...more }
  const preset = createPreset({
    home,
    project: found.project,
    settings: { notes: false, autoMemory: false, modelSummary: false, ...settings } as never,
    environment,
    model: scene.model,
    clock,
  } as never)
  // A session lies on files: it is closed behind the test.
  const open = async () => {
    const session = await preset.engine.open()
    later(() => session.close())
    return session
  }
  const prompts = () => scene.simulator.log.requests.map(({ body }) => systemOf(body))
  return { preset, open, clock, git, prompts }
}

it('[Q6] each session begins with the day, branch and changes of its own moment, and keeps them', async () => {
  const { preset, open, clock, git, prompts } = await opened()
  const first = await open()
  await turn(first.send('hello'))
  clock.advance(2 * day)
  git('checkout', '-q', '-b', 'second')
  await turn(first.send('still here'))
  const second = await open()
  await turn(second.send('hello again'))
  const [one, two, three] = prompts()
  expect(two).toBe(one)
  expect([one, three].map((prompt) => /[Ss]ession began(?::| on) ([\d-]+)/u.exec(prompt!)?.[1])).toEqual([
    '2026-01-01',
    '2026-01-03',
  ])
  expect(one).toMatch(/<git-state>\\nBranch: first\\n.*\?\? changed\.txt\\n<\/git-state>/u)
  expect(three).toContain('Branch: second')
  for (const told of ['Shell: /bin/zsh', `Platform: ${process.platform} (`]) expect(one).toContain(told)
  await preset.close()
})

it('[Q6] git that takes its time is waited for where nobody waits at a screen', async () => {
  const path = process.env['PATH'] ?? ''
  const programs = await folder()
  const seconds = defaults.preset.gitStatusMs / 1000 + 1
  const slow = `#!/bin/sh\ncase " $* " in *" status "*) sleep ${seconds};; esac\nPATH='${path}' exec git "$@"\n`
  await writeFile(join(programs, 'git'), slow, { mode: 0o755 })
  const { preset, open, prompts } = await opened({}, { PATH: `${programs}:${path}` })
  await turn((await open()).send('hello'))
  expect(prompts()[0]).toContain('Branch: first')
  await preset.close()
})

it('[Q6] after a compaction of the beginning they are read again; after one of a later part they stay', async () => {
  const { preset, open, clock, prompts } = await opened()
  const session = await open()
  for (const wish of ['one', 'two', 'three']) await turn(session.send(wish))
  clock.advance(day)
  const messages = [...session.view().messages].filter(({ role }) => role === 'user')
  await session.compact({ from: messages.at(-1)!.from })
  await turn(session.send('four'))
  expect(prompts().at(-1)).toBe(prompts()[0])
  await session.compact()
  await turn(session.send('five'))
  expect(prompts().at(-1)).toContain('Session began: 2026-01-02')
  await preset.close()
})

it('[Q7] the language of the settings and the room of an answer are told', async () => {
  const { preset, open, prompts } = await opened({ language: 'German', maxOutputTokens: 4000 })
  const session = await open()
  await turn(session.send('hello'))
  expect(prompts()[0]).toContain('Reply in German')
  expect(prompts()[0]).toContain('about 4,000 tokens')
  await preset.close()
})
