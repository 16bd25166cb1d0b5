// What a gateway has recorded of a foreign agent is an ordinary session: every command that reads sessions reads it.
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { call, createSimulator, text } from '../../src/simulator/index.ts'
import { openWorkspace } from './pal.ts'

/** Three prompts of some calls each, with large results; before the last prompt a tool comes. */
const client = `
const url = process.env.ANTHROPIC_BASE_URL + '/v1/messages'
const headers = { 'content-type': 'application/json', 'x-api-key': process.env.ANTHROPIC_API_KEY, 'anthropic-version': '2023-06-01', 'x-session-id': 'one' }
const messages = [{ role: 'user', content: 'do the first part' }]
const lines = (n, seed) => Array.from({ length: n }, (_, at) => \`line \${at} of result \${seed}: xxxxxxxxxxxxxx\`).join('\\n')
let tools = [{ name: 'shell', description: 'runs', input_schema: { type: 'object' } }]
let prompts = 0
for (let step = 0; step < 40; step++) {
  const sent = messages.map((m, i) => i < messages.length - 1 ? m : { ...m, content: (typeof m.content === 'string' ? [{ type: 'text', text: m.content }] : m.content).map((b, j, l) => j === l.length - 1 ? { ...b, cache_control: { type: 'ephemeral' } } : b) })
  const body = { model: 'claude-opus-5', max_tokens: 1000, system: [{ type: 'text', text: 'You are foreign. '.repeat(400), cache_control: { type: 'ephemeral' } }], tools, messages: sent }
  const reply = await fetch(url, { method: 'POST', body: JSON.stringify(body), headers })
  const answer = await reply.json()
  if (reply.status !== 200) { console.log(reply.status, JSON.stringify(answer)); process.exit(1) }
  messages.push({ role: 'assistant', content: answer.content })
  const calls = answer.content.filter((b) => b.type === 'tool_use')
  if (calls.length === 0) {
    if (++prompts === 3) break
    if (prompts === 2) tools = [...tools, { name: 'extra', description: 'more', input_schema: { type: 'object' } }]
    messages.push({ role: 'user', content: \`now part \${prompts + 1}, and keep the canary-\${prompts}\` })
  } else messages.push({ role: 'user', content: calls.map((c) => ({ type: 'tool_result', tool_use_id: c.id, content: lines(700, step) })) })
}
console.log('all parts are done')
`

describe('a session of a foreign agent', () => {
  it('[GW29] is read by sessions, messages, context, edits, cost, stats and replay; undo says why it cannot', async () => {
    const simulator = createSimulator({
      answerer: {
        answer: ({ request }) => {
          const from = request.messages.findLastIndex(
            ({ role, content }) => role === 'user' && !JSON.stringify(content).includes('tool_result'),
          )
          const done = request.messages.slice(from).filter(({ role }) => role === 'assistant').length
          const id = `toolu_${request.messages.length}`
          return done < 6
            ? { content: [call('shell', { command: `step ${done}` }, id)], stop_reason: 'tool_use' }
            : { content: [text('this part is done')], stop_reason: 'end_turn' }
        },
      },
    })
    const { url } = await simulator.start()
    const access = { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'test-key-0123' }
    const { pal, project, state } = await openWorkspace(access)
    await writeFile(join(project, 'client.mjs'), client)
    const ended = await pal(['gateway', '--level', 'trim', '--', process.execPath, 'client.mjs'])
    expect(ended).toMatchObject({ code: 0, out: 'all parts are done\n' })
    expect(ended.err).toMatch(/paid \$[\d.]+; .* would have cost \$[\d.]+ \([\d.]+% less\)/u)
    expect(ended.err).toContain('the prompt cache was lost once')
    expect(ended.err).toContain('tools +1/−0 (+extra)')

    const commands: readonly (readonly [word: string, shows: RegExp, holds: RegExp])[] = [
      ['sessions', /do the first part/u, /gateway:|do the first part/u],
      ['messages', /canary-2/u, /canary-2/u],
      ['context', /tokens/u, /tokens/u],
      ['edits', /gateway-trim/u, /gateway-trim/u],
      ['cost', /\(\+extra\)/u, /\+extra/u],
      ['stats', /cache/iu, /cache/iu],
    ]
    for (const [word, shows, holds] of commands) {
      const shown = await pal([word])
      expect(shown, word).toMatchObject({ code: 0 })
      expect(shown.out, word).toMatch(shows)
      const json = await pal([word, '--json'])
      expect(json, word).toMatchObject({ code: 0 })
      expect(json.out, word).toMatch(holds)
    }
    const files = await readdir(state, { recursive: true })
    const recorded = files.filter((name) => name.includes('sessions') && name.endsWith('.jsonl'))
    const replayed = await pal(['replay', join(state, recorded[0]!), '--json'])
    expect(replayed, replayed.err).toMatchObject({ code: 0 })
    expect(replayed.out).toContain('requests')

    const { edits } = JSON.parse((await pal(['edits', '--json'])).out) as { edits: { seq: number }[] }
    const undone = await pal(['undo', String(edits[0]!.seq)])
    expect(undone.code).toBe(1)
    expect(undone.err).toContain("can't be undone here")
    await simulator.stop()
  })
})
