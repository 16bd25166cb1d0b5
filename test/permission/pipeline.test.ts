// One way for permission: what a rule says holds for sessions, agents, tools that stand for others, and hooks alike.
import { existsSync } from 'node:fs'
import { mkdir, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { machineFileSystem } from '../../src/disk/fs.ts'
import { createPreset } from '../../src/preset.ts'
import { projectOf } from '../../src/preset/project.ts'
import { call } from '../../src/simulator/index.ts'
import { git, repository } from '../agents/simulated-agents.ts'
import { openWorkspace, server } from '../cli/pal.ts'
import { folder } from '../e2e/simulated.ts'

const program = join(import.meta.dirname, '..', 'extensions', 'tool-server.mjs')
const denied = 'mcp__words__tool-77'

/** A project under git with a server so large that its tools are deferred. */
async function deferring(steps: Parameters<typeof server>[0]) {
  const { access, simulator } = await server(steps)
  const at = await openWorkspace(access)
  const servers = { words: { command: process.execPath, args: [program, '200'] } }
  await repository(at.project, { '.mcp.json': JSON.stringify({ mcpServers: servers }), 'a.txt': 'a\n' })
  return { at, simulator }
}
const windowed = { environment: { PALIMPSEST_WINDOW: '200000' } }
const deferred = call('McpCall', { tool: denied, input: '{"words":"it ran"}' })

describe('one way for permission', () => {
  it.each([
    ['bypass', ['--permission-mode', 'bypass']],
    ['an allowed McpCall', ['--allow', 'McpCall']],
  ])(
    '[PM50] a denied tool of a server stays denied for an agent in a worktree under %s',
    async (_, flags) => {
      const { at, simulator } = await deferring([
        [call('Agent', { label: 'w', prompt: 'use the tool', worktree: true })],
        [deferred],
        'agent done',
        'done',
      ])
      const ended = await at.pal(['-p', '--trust', ...flags, '--deny', denied, 'go'], windowed)
      expect(ended).toMatchObject({ code: 0, out: 'done\n' })
      expect((await git(at.project, 'worktree', 'list')).split('\n')).toHaveLength(1)
      const bodies = simulator.log.requests.map(({ body }) => JSON.stringify(body))
      expect(bodies.some((body) => body.includes('"name":"McpCall"'))).toBe(true)
      expect(bodies.filter((body) => body.includes('tool-77: it ran'))).toEqual([])
      expect(bodies.some((body) => body.includes(`the rule ${denied} forbids`))).toBe(true)
    },
  )

  it('[PM50] a hook for a tool of a server hears the call that reaches it through McpCall', async () => {
    const { at, simulator } = await deferring([[deferred], 'done'])
    const hook = { command: `echo '{"block": "the hook saw it"}'`, tools: [denied] }
    const settings = JSON.stringify({ hooks: { PreToolUse: [hook] } })
    await mkdir(at.state)
    await writeFile(join(at.state, 'settings.json'), settings)
    await at.pal(['-p', '--trust', '--allow', denied, 'go'], windowed)
    const last = JSON.stringify(simulator.log.last()?.body)
    expect(last).toContain('the hook saw it')
    expect(last).not.toContain('tool-77: it ran')
  })

  it.each([
    ['exit 2', 'echo too late today >&2; exit 2', 'too late today'],
    ['exit 1', 'exit 1', 'ended with code 1'],
    ['broken JSON', `echo '{"block": '`, 'JSON that cannot be read'],
  ])('[PM53] a hook that ends with %s stops the call, and the model reads why', async (_, command, why) => {
    const { access, simulator } = await server([[call('Bash', { command: 'touch made.txt' })], 'done'])
    const at = await openWorkspace(access)
    await mkdir(at.state)
    const settings = JSON.stringify({ hooks: { PreToolUse: [{ command }] } })
    await writeFile(join(at.state, 'settings.json'), settings)
    await at.pal(['-p', '--allow', 'Bash', 'go'])
    expect(existsSync(join(at.project, 'made.txt'))).toBe(false)
    expect(JSON.stringify(simulator.log.last()?.body)).toContain(why)
  })

  it.each([
    ['the home is a link', 'Read(~/notes/**)', '~/notes/n.md'],
    ['the rule names a link', 'Read(LINK/notes/**)', 'HOME/notes/n.md'],
  ])('[PM51] a denied file stays unread where %s', async (_, rule, path) => {
    const steps: Parameters<typeof server>[0][number][] = []
    const { access, simulator } = await server(steps)
    const at = await openWorkspace(access)
    const linked = `${at.home}-link`
    await symlink(at.home, linked)
    const fill = (text: string): string => text.replace('LINK', linked).replace('HOME', at.home)
    await mkdir(join(at.home, 'notes'))
    await writeFile(join(at.home, 'notes', 'n.md'), 'what is written there\n')
    steps.push([call('Read', { file_path: fill(path) })], 'done')
    const options = { environment: { HOME: linked } }
    const ended = await at.pal(['-p', '--permission-mode', 'bypass', '--deny', fill(rule), 'go'], options)
    await rm(linked)
    expect(ended.code).toBe(0)
    const last = JSON.stringify(simulator.log.last()?.body)
    expect(last).toContain('tool_result')
    expect(last).not.toContain('what is written there')
  })

  it('[PM51] without HOME in the environment the rules know the home they are handed', async () => {
    const base = await realpath(await folder())
    const [home, project] = [join(base, 'home'), join(base, 'project')]
    await mkdir(join(home, 'notes'), { recursive: true })
    await mkdir(project)
    const found = await projectOf(machineFileSystem, project)
    if (!found.ok) throw new Error(found.failure.message)
    const preset = createPreset({
      project: found.project,
      home: join(home, '.palimpsest'),
      userHome: home,
      settings: { deny: ['Read(~/notes/**)'], permissionMode: 'bypass' },
      environment: {},
      model: undefined,
    })
    const judged = (file_path: string) =>
      preset.permission.judge({ name: 'Read', input: { file_path } }, true)
    expect((await judged(join(home, 'notes', 'n.md'))).kind).toBe('deny')
    expect((await judged('a.txt')).kind).toBe('allow')
    await preset.close()
  })

  it('[PM52] a command does not show what a rule keeps from Read, although Bash is allowed', async () => {
    const commands = [
      'cat secrets/x',
      'grep -r . secrets',
      'cp secrets/x y && cat y',
      'git show HEAD:secrets/x',
    ]
    const { access, simulator } = await server([
      ...commands.map((command) => [call('Bash', { command })]),
      'done',
    ])
    const at = await openWorkspace(access)
    await mkdir(join(at.project, 'secrets'))
    await writeFile(join(at.project, 'secrets', 'x'), 'what is written there\n')
    await repository(at.project, {})
    const ended = await at.pal(['-p', '--allow', 'Bash', '--deny', 'Read(secrets/**)', 'go'])
    expect(ended.code).toBe(0)
    const last = JSON.stringify(simulator.log.last()?.body)
    expect(last.match(/was denied/g)).toHaveLength(commands.length)
    expect(last).not.toContain('what is written there')
  })

  it('[PM33] a denied command does not run through a shell that reads its input, although Bash is allowed', async () => {
    const commands = ['echo rm kept.txt | sh', "sh <<< 'rm kept.txt'", 'bash <<E\nrm kept.txt\nE']
    const { access, simulator } = await server([
      ...commands.map((command) => [call('Bash', { command })]),
      'done',
    ])
    const at = await openWorkspace(access)
    await writeFile(join(at.project, 'kept.txt'), 'kept\n')
    await at.pal(['-p', '--allow', 'Bash', '--deny', 'Bash(rm *)', 'go'])
    expect(existsSync(join(at.project, 'kept.txt'))).toBe(true)
    const last = JSON.stringify(simulator.log.last()?.body)
    expect(last.match(/was denied/g)).toHaveLength(commands.length)
  })
})
