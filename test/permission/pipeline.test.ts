// One way for permission: what a rule says holds for sessions, agents, tools that stand for others, and hooks alike.
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { call } from '../../src/simulator/index.ts'
import { git, repository } from '../agents/desk.ts'
import { desk, server } from '../cli/pal.ts'

const program = join(import.meta.dirname, '..', 'extensions', 'tool-server.mjs')
const denied = 'mcp__words__tool-77'

/** A project under git with a server so large that its tools are deferred. */
async function deferring(steps: Parameters<typeof server>[0]) {
  const { access, simulator } = await server(steps)
  const at = await desk(access)
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
    const at = await desk(access)
    await mkdir(at.state)
    const settings = JSON.stringify({ hooks: { PreToolUse: [{ command }] } })
    await writeFile(join(at.state, 'settings.json'), settings)
    await at.pal(['-p', '--allow', 'Bash', 'go'])
    expect(existsSync(join(at.project, 'made.txt'))).toBe(false)
    expect(JSON.stringify(simulator.log.last()?.body)).toContain(why)
  })
})
