// The gateway as a command: a client that is run behind it, in a process of its own.
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openWorkspace, server } from './pal.ts'

/** A foreign client: one question with a large result in it, to wherever its environment points. */
const client = `
const text = 'a line of the result\\n'.repeat(3000)
const body = { model: 'claude-opus-5', max_tokens: 100, tools: [{ name: 't', description: 'd', input_schema: { type: 'object' } }],
  messages: [{ role: 'user', content: 'go' }, { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 't', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: text }] }] }
const reply = await fetch(process.env.ANTHROPIC_BASE_URL + '/v1/messages', { method: 'POST', body: JSON.stringify(body),
  headers: { 'content-type': 'application/json', 'x-api-key': process.env.ANTHROPIC_API_KEY, 'anthropic-version': '2023-06-01' } })
console.log(reply.status, reply.headers.get('x-palimpsest'), (await reply.json()).content[0].text)
process.exit(7)
`

describe('pal gateway -- CLIENT', () => {
  it('[GW16] points the client at itself for one run, ends as it ends, says what was saved, and leaves a session', async () => {
    const { access, simulator } = await server(['the answer'])
    const { pal, project, home } = await openWorkspace(access)
    await writeFile(join(project, 'client.mjs'), client)
    const before = await readdir(home)
    const ended = await pal(['gateway', '--level', 'trim', '--', process.execPath, 'client.mjs'])
    expect(ended.code).toBe(7)
    expect(ended.out).toMatch(/^200 trim; blocks=1; characters=-\d+ the answer\n$/u)
    expect(ended.err).toMatch(
      /1 requests, .*\n.*paid \$0\.\d+; the same requests untouched would have cost \$0\.\d+/u,
    )
    expect(simulator.log.requests).toHaveLength(1)
    expect((await readdir(home)).filter((name) => !before.includes(name))).toEqual(
      before.includes('.palimpsest') ? [] : ['.palimpsest'],
    )
    const listed = await pal(['sessions', '--json'])
    expect(listed.out).toContain('go')
    expect((await pal(['edits'])).out).toContain('gateway-trim')
  })

  it('[GW16] says what is wrong with an upstream and with a client that is not there', async () => {
    const { pal } = await openWorkspace({})
    const bad = await pal(['gateway', '--upstream', 'not-a-url'])
    expect(bad).toMatchObject({ code: 2, out: '' })
    expect(bad.err).toContain('--upstream')
    const none = await pal(['gateway', '--', 'no-such-program-here'])
    expect(none.code).toBe(1)
    expect(none.err).toContain('cannot be started: it is not installed, or not on PATH')
  })
})
