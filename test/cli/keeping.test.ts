import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openWorkspace, server } from './pal.ts'

describe('pal import', () => {
  it('[TE11] makes a session that can be gone on with of a line that stands twice and of a block that no API knows', async () => {
    const { access, simulator } = await server(['gone on'])
    const at = await openWorkspace(access)
    const call = { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'ls' } }
    const asked = { role: 'assistant', content: [call, { type: 'hologram', of: 'HERON' }] }
    const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'EGRET' }] }
    const messages = [{ role: 'user', content: 'look' }, asked, asked, result]
    const file = join(at.home, 'twice.jsonl')
    await writeFile(file, messages.map((line) => JSON.stringify(line)).join('\n'))
    expect((await at.pal(['import', file])).code).toBe(0)
    expect(await at.pal(['-p', '-c', 'go on'])).toMatchObject({ code: 0, out: 'gone on\n' })
    const sent = JSON.stringify(simulator.log.last()!.body)
    expect(sent).toMatch(/HERON.*EGRET/)
  })

  it('[TE11] makes a session of another program one of ours: its words go on, its bill and its secrets stay behind', async () => {
    const { access, simulator } = await server(['gone on'])
    const at = await openWorkspace(access)
    const secret = `sk-ant-api03-${'a1B2'.repeat(20)}`
    const base = { sessionId: 's', cwd: '/elsewhere', version: '2', isSidechain: false }
    const usage = {
      input_tokens: 5,
      cache_read_input_tokens: 90_000,
      cache_creation_input_tokens: 10,
      output_tokens: 7,
    }
    const lines = [
      {
        ...base,
        type: 'user',
        uuid: 'u1',
        parentUuid: null,
        timestamp: '2026-01-02T03:04:05.000Z',
        message: { role: 'user', content: 'find the ORCHID' },
      },
      {
        ...base,
        type: 'assistant',
        uuid: 'a1',
        parentUuid: 'u1',
        timestamp: '2026-01-02T03:04:09.000Z',
        message: {
          id: 'm1',
          role: 'assistant',
          model: 'claude-sonnet-4-5',
          usage,
          stop_reason: 'tool_use',
          content: [{ type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'env' } }],
        },
      },
      {
        ...base,
        type: 'user',
        uuid: 'u2',
        parentUuid: 'a1',
        timestamp: '2026-01-02T03:04:10.000Z',
        message: {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 't1', content: `KEY=${secret}` }],
        },
      },
    ]
    const file = join(at.home, 'old.jsonl')
    await writeFile(file, lines.map((line) => JSON.stringify(line)).join('\n'))
    const { code, out } = await at.pal(['import', file, '--json'])
    expect(code).toBe(0)
    const { session } = JSON.parse(out) as { session: string }
    const cost = JSON.parse((await at.pal(['cost', session, '--json'])).out) as Record<string, unknown>
    expect(JSON.stringify(cost)).not.toContain('90000')
    expect((await at.pal(['-p', '--resume', session, 'and now'])).out).toBe('gone on\n')
    const sent = JSON.stringify(simulator.log.last()?.body)
    expect(sent).toContain('find the ORCHID')
    expect(sent).toContain('"command":"env"')
    expect(sent).toContain('[secret:')
    expect(sent).not.toContain(secret)
    expect((await at.pal(['import', join(at.home, 'nothing')])).code).toBe(2)
  })
})

describe('pal config', () => {
  it('[TE12] shows what is in force and who set it, sets and unsets, and keeps the rest of the file', async () => {
    const at = await openWorkspace({ PALIMPSEST_WINDOW: '150000' })
    await mkdir(at.state, { recursive: true })
    const file = join(at.state, 'settings.json')
    await writeFile(file, JSON.stringify({ effort: 'high', unknownToUs: { a: 1 } }))
    expect((await at.pal(['config', 'maxCost', '2.5'])).code).toBe(0)
    expect((await at.pal(['config', 'snip', 'off'])).code).toBe(0)
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
      effort: 'high',
      unknownToUs: { a: 1 },
      maxCost: 2.5,
      snip: false,
    })
    const listed = JSON.parse((await at.pal(['config', '--json'])).out) as { key: string; from: string }[]
    expect(listed.map(({ key, from }) => `${key} ${from}`).toSorted()).toEqual([
      'effort user',
      'maxCost user',
      'snip user',
      'window environment',
    ])
    expect((await at.pal(['config', 'window', '90000'])).out).toContain('environment settings override it')
    expect((await at.pal(['config', 'maxCost', 'much'])).code).toBe(2)
    expect((await at.pal(['config', 'nonsense'])).code).toBe(2)
    const before = await readFile(file, 'utf8')
    for (const words of [['model', 'x', '--unset'], ['--unset']])
      expect((await at.pal(['config', ...words])).code).toBe(2)
    expect(await readFile(file, 'utf8')).toBe(before)
    const set = await at.pal(['config', 'thrift', '0.5', '--json'])
    expect(set.out).toMatch(/^\{/)
    expect(JSON.parse(set.out)).toEqual({ key: 'thrift', value: 0.5, otherScopes: [] })
    const unset = await at.pal(['config', 'thrift', '--unset', '--json'])
    expect(JSON.parse(unset.out)).toEqual({ key: 'thrift', value: null, otherScopes: [] })
    const bypass = await at.pal(['config', 'permissionMode', 'bypass'])
    expect([bypass.code, bypass.out, bypass.err]).toEqual([2, '', expect.stringContaining('only behind')])
    expect((await at.pal(['config', 'maxCost', '--unset'])).code).toBe(0)
    expect(JSON.parse(await readFile(file, 'utf8'))).not.toHaveProperty('maxCost')
  })

  it('[TE12] of rules, which are gathered, every scope is named that set some, and none overrides another', async () => {
    const at = await openWorkspace({ PALIMPSEST_DENY: 'WebFetch' })
    const set = await at.pal(['config', 'deny', '["Edit"]'])
    expect(set.out).toMatch(/^deny is \["Edit"\] in your settings; here the environment settings add to it\./)
    expect((await at.pal(['config', 'deny'])).out).toMatch(
      /^deny is \["Edit","WebFetch"\] \(user, environment\)/,
    )
  })
})
