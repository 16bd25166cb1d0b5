// What was recalled and what was saved is said in every mode of the command.
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { machineFileSystem } from '../../src/disk/fs.ts'
import { projectOf } from '../../src/preset/project.ts'
import { call } from '../../src/simulator/index.ts'
import { linesOf, openWorkspace, server, until, type Workspace } from '../cli/pal.ts'
import { leave, open, say, shows } from '../screen/seen.ts'
import { memoryText } from './memories.ts'

const typed = 'Remember that the staging server is called pelican.'
const asked = 'Which machine is the staging server, and what is it called?'

type Steps = Parameters<typeof server>[0][number][]

/** A place whose model saves what it is told first, and answers afterwards. */
async function place(): Promise<{ readonly at: Workspace; readonly steps: Steps; readonly saves: Steps }> {
  const steps: Steps = []
  const { access } = await server(steps)
  const at = await openWorkspace(access)
  const found = await projectOf(machineFileSystem, at.project)
  if (!found.ok) throw new Error(found.failure.message)
  const file = join(at.state, 'projects', found.project.slug, 'memory', 'staging.md')
  const content = memoryText('staging', {
    description: 'The staging server is called pelican.',
    body: 'The staging server is called pelican.',
  })
  return { at, steps, saves: [[call('Write', { file_path: file, content })], 'noted'] }
}

describe('[DR34] what was saved and what was recalled is shown', () => {
  it('by pal -p on stderr, as text', async () => {
    const { at, steps, saves } = await place()
    steps.push(...saves, 'pelican')
    const saved = await at.pal(['-p', typed])
    expect(saved.err).toContain('pal: remembered: staging.md (pal memory shows them)')
    expect(saved.out).toBe('noted\n')
    const recalled = await at.pal(['-p', asked])
    expect(recalled.err).toMatch(/^pal: recalled: \S*staging\.md$/mu)
    expect(recalled.out).toBe('pelican\n')
  })

  it('by pal -p as JSON: in the result, and as events where they stream', async () => {
    const { at, steps, saves } = await place()
    steps.push(...saves, 'pelican', 'pelican', 'hello')
    const saved = JSON.parse((await at.pal(['-p', typed, '--output-format', 'json'])).out) as unknown
    expect(saved).toMatchObject({ memory: { recalled: [], saved: ['staging.md'], held: [] } })
    const recalled = JSON.parse((await at.pal(['-p', asked, '--output-format', 'json'])).out) as unknown
    expect(recalled).toMatchObject({
      memory: { recalled: [expect.stringMatching(/staging\.md$/u)], saved: [] },
    })
    const events = linesOf((await at.pal(['-p', asked, '--output-format', 'stream-json'])).out)
    expect(events.filter(({ type }) => type === 'memory')).toEqual([
      { type: 'memory', did: 'recalled', files: [expect.stringMatching(/staging\.md$/u)] },
    ])
    expect(events.findIndex(({ type }) => type === 'memory')).toBeLessThan(
      events.findIndex(({ type }) => type === 'request-start'),
    )
    const none = JSON.parse((await at.pal(['-p', 'Hello', '--output-format', 'json'])).out) as unknown
    expect(none).toMatchObject({ memory: { recalled: [], saved: [], held: [] } })
  })

  it('by a conversation in lines', async () => {
    const { at, steps, saves } = await place()
    steps.push(...saves)
    expect((await at.pal([], { input: `${typed}\n` })).err).toContain('remembered: staging.md')
    steps.push('pelican')
    expect((await at.pal([], { input: `${asked}\n` })).err).toMatch(/recalled: \S*staging\.md/u)
  })

  it('on the screen', async () => {
    const { at, steps, saves } = await place()
    steps.push(...saves, 'pelican')
    const first = open(at, [])
    await shows(first, '/help')
    await say(first, typed)
    await shows(first, 'remembered: staging.md')
    // The answer behind it too, or it would be the first of the second conversation.
    await shows(first, /^noted/mu)
    await leave(first)
    steps.push(...Array.from({ length: 12 }, () => 'pelican'))
    const second = open(at, [])
    await shows(second, '/help')
    // At a terminal the request waits for memories for a moment only: on a busy machine they come with the next one.
    const recalled = /recalled: \S*staging\.md/u
    for (let time = 1; time <= 3 && !recalled.test(second.all()); time++) {
      await say(second, asked)
      await until(() => second.all().split('\npelican').length > time, `answer ${time}`)
    }
    await shows(second, recalled)
    await leave(second)
  })
})
