import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { call } from '../../src/simulator/index.ts'
import { openWorkspace, server } from '../cli/pal.ts'

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}

const bodyOf = (request: unknown): string => JSON.stringify(request)

describe('pages of the user’s own', () => {
  it('[EX6] lists skills, shows one when asked, and gives it back after a compaction', async () => {
    const answers = [[call('Skill', { name: 'release' })], 'I know how', 'later', 'after'] as const
    const { access, simulator } = await server([...answers])
    const at = await openWorkspace(access)
    const skill = join(at.state, 'skills', 'release', 'SKILL.md')
    await put(skill, '---\ndescription: how a version is published\n---\nRun the SEVENTEEN steps.\n')
    await put(join(at.state, 'skills', 'bad', 'SKILL.md'), '---\na: [\n---\n')
    const first = await at.pal(['-p', 'publish it'])
    expect(first.err).toContain('bad')
    const sent = bodyOf(simulator.log.requests[0]?.body)
    expect(sent).toContain('release: how a version is published')
    expect(sent).not.toContain('SEVENTEEN')
    expect(bodyOf(simulator.log.requests[1]?.body)).toContain('SEVENTEEN steps')
    await at.pal(['-p', '--continue', `more ${'words '.repeat(3000)}`])
    await put(skill, '---\ndescription: how a version is published\n---\nRun the EIGHTEEN steps.\n')
    expect((await at.pal(['compact'])).code).toBe(0)
    await at.pal(['-p', '--continue', 'go on'])
    const last = bodyOf(simulator.log.last()?.body)
    expect(last).toContain('EIGHTEEN steps')
    expect(last).not.toContain('SEVENTEEN steps')
  })

  it('[EX7] a style changes the prompt, a command of one’s own becomes a turn; a project’s count when trusted', async () => {
    const { access, simulator } = await server(['one', 'two', 'three'])
    const at = await openWorkspace(access)
    await put(join(at.state, 'output-styles', 'terse.md'), 'Answer in THREE words.')
    await put(
      join(at.state, 'commands', 'greet.md'),
      '---\ndescription: says hello\n---\nGreet $1 and then $ARGUMENTS!',
    )
    await put(join(at.project, '.palimpsest', 'commands', 'deploy.md'), 'Deploy everything.')
    const styled = await at.pal(['--trust'], {
      input: '/greet ann bob\n/deploy now\n/help\n',
      environment: { PALIMPSEST_OUTPUT_STYLE: 'terse' },
    })
    expect(styled.code).toBe(0)
    expect(styled.out).toContain('says hello')
    const [first, second] = simulator.log.requests.map(({ body }) => bodyOf(body))
    expect(first).toContain('Answer in THREE words.')
    expect(first).toContain('Greet ann and then ann bob!')
    expect(second).toContain('Deploy everything.\\n\\nnow')
    const untrusted = await at.pal([], { input: '/deploy\n' })
    expect(untrusted.err).toContain('there is no command /deploy')
    const missing = await at.pal(['-p', 'x'], { environment: { PALIMPSEST_OUTPUT_STYLE: 'nothing' } })
    expect(missing.err).toContain('there is no output style nothing; there are: terse')
  })
})
