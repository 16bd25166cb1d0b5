// The question of trust as a person meets it: when a conversation begins, and with /trust.
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openWorkspace, server, until } from '../cli/pal.ts'
import { answer, isShown, leave, open, say, sees, shows } from './seen.ts'
import { keys } from './terminal.ts'

const bodies = (simulator: Awaited<ReturnType<typeof server>>['simulator']): string[] =>
  simulator.log.requests.map(({ body }) => JSON.stringify(body))

describe('the question of trust', () => {
  it('[PM77] comes at the start, names what would take effect, shows it, and a yes counts without a restart', async () => {
    const { access, simulator } = await server(['hello there'])
    const at = await openWorkspace(access)
    const ran = join(at.home, 'ran')
    await writeFile(join(at.project, 'AGENTS.md'), 'Speak of herons.\n')
    const mcp = { mcpServers: { planted: { command: 'touch', args: [ran] } } }
    await writeFile(join(at.project, '.mcp.json'), JSON.stringify(mcp))
    await mkdir(join(at.project, '.palimpsest', 'commands'), { recursive: true })
    await writeFile(join(at.project, '.palimpsest', 'settings.json'), '{"allow": ["Bash(npm test)"]}')
    await writeFile(join(at.project, '.palimpsest', 'commands', 'nest.md'), 'build a nest')
    const seen = open(at, [], 140)
    expect(await sees(seen, /Trust .*\? 4 files in it would take effect/), seen.all()).toBe(true)
    for (const line of ['AGENTS.md  instructions, 17 bytes', 'planted: starts touch', 'allow Bash(npm test)'])
      await shows(seen, line)
    expect(existsSync(ran)).toBe(false)
    await answer(seen, 's', 'Show the contents first')
    await shows(seen, 'Speak of herons.')
    await until(() => isShown(seen, 'Yes, trust these contents'), 'the question again')
    await answer(seen, 'y', 'Yes, trust these contents')
    await shows(seen, 'trusted: 4 files of this folder now in effect')
    await until(() => existsSync(ran), 'the server that was approved')
    await say(seen, 'hello')
    await shows(seen, 'hello there')
    expect(bodies(simulator)[0]).toContain('Speak of herons.')
    await say(seen, '/trust list')
    await shows(seen, 'is trusted')
    await leave(seen)
    const again = open(at)
    await shows(again, '/help')
    expect(again.all()).not.toContain('would take effect')
    await leave(again)
  })

  it('[PM78] a no is kept, and /trust changes it in the same conversation', async () => {
    const { access, simulator } = await server(['first answer', 'second answer', 'third answer'])
    const at = await openWorkspace(access)
    await writeFile(join(at.project, 'AGENTS.md'), 'Speak of herons.\n')
    const seen = open(at)
    await shows(seen, '1 file in it would take effect')
    await answer(seen, 'n', 'No')
    await shows(seen, '1 file of this folder not in effect')
    await say(seen, 'hello')
    await shows(seen, 'first answer')
    await leave(seen)
    const again = open(at)
    await shows(again, 'you chose not to trust it')
    await say(again, 'hello again')
    await shows(again, 'second answer')
    await say(again, '/trust')
    await shows(again, '1 file in it would take effect')
    await answer(again, 'y', 'Yes, trust these contents')
    await shows(again, 'trusted: 1 file')
    await say(again, 'and now')
    await shows(again, 'third answer')
    const [first, second, third] = bodies(simulator)
    expect(first).not.toContain('herons')
    expect(second).not.toContain('herons')
    expect(third).toContain('Speak of herons.')
    // The session is the same.
    expect(third).toContain('hello again')
    await leave(again)
  })

  it('[PM78] a change is shown as a diff, and turning away decides nothing', async () => {
    const { access, simulator } = await server(['an answer', 'another'])
    const at = await openWorkspace(access)
    await writeFile(join(at.project, 'AGENTS.md'), 'Speak of herons.\nOften.\n')
    await at.pal(['trust'])
    await writeFile(join(at.project, 'AGENTS.md'), 'Speak of egrets.\nOften.\n')
    for (const round of [0, 1]) {
      const seen = open(at)
      await shows(seen, /1 file of .* is new or changed since you trusted it/)
      await shows(seen, '-Speak of herons.')
      await shows(seen, '+Speak of egrets.')
      if (round === 0) seen.type(keys.escape)
      else await answer(seen, 'y', 'Yes, trust these contents')
      await shows(seen, round === 0 ? 'not in effect' : 'trusted: 1 file')
      await say(seen, 'hello')
      await shows(seen, round === 0 ? 'an answer' : 'another')
      expect(bodies(simulator)[round]!.includes('egrets')).toBe(round === 1)
      expect(bodies(simulator)[round]).not.toContain('herons')
      await leave(seen)
    }
  })

  it('[PM77] is asked in plain lines too', async () => {
    const { access, simulator } = await server(['an answer'])
    const at = await openWorkspace(access)
    await writeFile(join(at.project, 'AGENTS.md'), 'Speak of herons.\n')
    const seen = open(at, ['--lines'])
    await shows(seen, '1 file in it would take effect')
    await shows(seen, 'A letter selects')
    seen.type('/answer\r')
    await until(() => seen.all().split('A letter selects').length > 2, 'the answers again')
    seen.type('y\r')
    await shows(seen, 'an empty line confirms, any other line does not')
    seen.type('\r')
    await shows(seen, 'trusted: 1 file')
    seen.type('hello\r')
    await shows(seen, 'an answer')
    expect(bodies(simulator)[0]).toContain('Speak of herons.')
    seen.type('/quit\r')
    await seen.ended
  })
})
