import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { skillRestorer } from '../../src/preset/skills.ts'
import { estimateText } from '../../src/projection/tokens.ts'
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

  it('[RS31] used skills have a budget of their own: three of them are restored whole', async () => {
    const names = ['alpha', 'beta', 'gamma']
    const steps = [
      ...names.map((name) => [call('Skill', { name })]),
      'I know how',
      ...Array.from({ length: 9 }, () => `so ${'word '.repeat(12_000)}`),
    ]
    const { access, simulator } = await server(steps)
    const at = await openWorkspace({ ...access, PALIMPSEST_WINDOW: '200000', PALIMPSEST_NOTES: 'false' })
    const lines = Array.from({ length: 160 }, (_, n) => `Step ${n}: look at the list and go on with care.`)
    for (const name of names)
      await put(
        join(at.state, 'skills', name, 'SKILL.md'),
        `---\ndescription: how ${name} is done\n---\n${lines.join('\n')}\nEND OF ${name}\n`,
      )
    await at.pal(['-p', 'do all three'])
    for (const wish of ['more', 'and more', 'still more']) await at.pal(['-p', '--continue', wish])
    expect((await at.pal(['compact'])).code).toBe(0)
    await at.pal(['-p', '--continue', 'go on'])
    const whole = bodyOf(simulator.log.last()?.body)
    for (const name of names) expect(whole).toContain(`END OF ${name}`)
    expect(whole.match(/<skill name=/gu)?.length).toBe(whole.match(/<\/skill>/gu)?.length)
  })

  it('[RS31] in little room the newest skill is restored whole and the others by name, over two compactions', async () => {
    const page = 'Look at the list and go on with care.\n'.repeat(100)
    const skills = ['alpha', 'beta', 'gamma'].map((name) => ({
      name,
      path: `/s/${name}/SKILL.md`,
      fields: {},
      body: page,
    }))
    const restorer = skillRestorer(skills as never, async () => page)
    const used = skills.map(({ name }) => ({
      blocks: [{ type: 'tool_use', name: 'Skill', id: name, input: { name } }],
    }))
    const scene = (gone: unknown) =>
      ({ session: '', kept: [], gone, signal: new AbortController().signal }) as never
    const allowance = { tokens: Math.ceil(1.3 * estimateText(page)), cost: estimateText }
    const text = (await restorer.restore(scene(used), allowance))!
    expect(text.match(/<skill name="\w+"/gu)).toEqual(['<skill name="gamma"'])
    expect(text).toContain('</skill>')
    expect(text).toMatch(/skills-by-name>\n\["beta","alpha"\]/u)
    const again = [{ attachment: { kind: 'skills' }, blocks: [{ type: 'text', text }] }]
    expect(await restorer.restore(scene(again), allowance)).toBe(text)
    const wide = await restorer.restore(scene(again), { ...allowance, tokens: 20_000 })
    expect(wide?.match(/<skill name="\w+"/gu)?.length).toBe(3)
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
    expect(untrusted.err).toContain('unknown command /deploy')
    const missing = await at.pal(['-p', 'x'], { environment: { PALIMPSEST_OUTPUT_STYLE: 'nothing' } })
    expect(missing.err).toContain('unknown output style nothing; there are: terse')
  })
})
