import { readdir, readFile, stat, writeFile, appendFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { call } from '../../src/simulator/index.ts'
import { openWorkspace, server, until } from './pal.ts'

async function talked() {
  const { access, simulator } = await server([
    [call('Glob', { pattern: '*' }), call('Read', { file_path: 'notes.txt' })],
    'It says hello.',
    'Bye.',
  ])
  const at = await openWorkspace(access)
  await writeFile(join(at.project, 'notes.txt'), 'hello\n'.repeat(200))
  await at.pal(['-p', 'read the notes'])
  await at.pal(['-p', '--continue', 'good bye'])
  return { ...at, simulator }
}

interface Context {
  tokens: number
  counted: string
  isExact: boolean
  sources: { source: string; blocks: number; tokens: number }[]
}

/** Of a request what is measured here. */
interface Body {
  readonly messages: readonly {
    readonly content: readonly { readonly type: string; readonly content?: unknown }[]
  }[]
  readonly tools: readonly { readonly name: string }[]
}

describe('looking at sessions', () => {
  it("[G13] the context is the request really sent, and its parts sum to the provider's count", async () => {
    const { pal, simulator } = await talked()
    const context = JSON.parse((await pal(['context', '--json'])).out) as Context
    const last = simulator.log.requests.at(-1)
    const usage = last?.usage
    const counted =
      (usage?.input_tokens ?? 0) +
      (usage?.cache_read_input_tokens ?? 0) +
      (usage?.cache_creation_input_tokens ?? 0)
    expect(context).toMatchObject({ tokens: counted, counted: 'provider', isExact: true })
    expect(context.sources.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(counted)
    const names = context.sources.map(({ source }) => source)
    const expected = ['your messages', 'answers', 'tool calls', 'Read results', 'Glob results', 'tool Bash']
    expect(names).toEqual(
      expect.arrayContaining([...expected, 'system, static part', 'system, dynamic part']),
    )
    const body = last?.body as { messages: { content: unknown[] }[]; tools: unknown[]; system: unknown[] }
    const blocks = body.messages.reduce((sum, { content }) => sum + content.length, 0)
    const all = blocks + body.tools.length + body.system.length
    expect(context.sources.reduce((sum, source) => sum + source.blocks, 0)).toBe(all)
    expect((await pal(['context'])).out).toContain('the same hash as the one sent')
  })

  it('[G44] each row of the context is about as large as its own bytes, a large result and a small tool alike', async () => {
    const { access, simulator } = await server([[call('Read', { file_path: 'story.txt' })], 'Read.'])
    const { pal, project } = await openWorkspace(access)
    const line = 'The old keeper walked along the shore and counted the boats that had come home.\n'
    await writeFile(join(project, 'story.txt'), line.repeat(500))
    await pal(['-p', 'read the story'])
    const context = JSON.parse((await pal(['context', '--json'])).out) as Context
    const body = JSON.parse(JSON.stringify(simulator.log.requests.at(-1)?.body)) as Body
    const result = body.messages.flatMap(({ content }) => content).find(({ type }) => type === 'tool_result')
    const bytes = (part: unknown) => JSON.stringify(part).length
    const all = bytes(body)
    const rowOf = (name: string) => context.sources.find(({ source }) => source === name)?.tokens ?? 0
    const isNear = (name: string, part: unknown) => {
      const share = rowOf(name) / context.tokens / (bytes(part) / all)
      return [name, share > 0.6 && share < 1.6, share > 0.6 && share < 1.6 ? '' : share]
    }
    expect(isNear('Read results', result?.content)).toEqual(['Read results', true, ''])
    for (const name of ['Bash', 'Agent', 'Read']) {
      const tool = body.tools.find((one) => one.name === name)
      expect(isNear(`tool ${name}`, tool)).toEqual([`tool ${name}`, true, ''])
    }
  })

  it('[G13] the cost of each turn is what the provider reported', async () => {
    const { pal, simulator } = await talked()
    const cost = JSON.parse((await pal(['cost', '--json'])).out) as {
      turns: { words: string; requests: number; dollars: number }[]
      total: { requests: number; cacheRead: number; output: number; simulated: number }
    }
    expect(cost.turns.map(({ words, requests }) => [words, requests])).toEqual([
      ['read the notes', 2],
      ['good bye', 1],
    ])
    const sum = (key: 'cache_read_input_tokens' | 'output_tokens') =>
      simulator.log.requests.reduce((all, { usage }) => all + (usage?.[key] ?? 0), 0)
    expect(cost.total).toMatchObject({
      requests: 3,
      cacheRead: sum('cache_read_input_tokens'),
      output: sum('output_tokens'),
      simulated: 3,
    })
    expect(cost.total.cacheRead).toBeGreaterThan(0)
    const shown = (await pal(['cost'])).out
    expect(shown).toContain('good bye')
    expect(shown.replaceAll(/\s+/g, ' ')).toContain('Every answer is simulated: nothing was paid')
  })

  it('[X16] a break of the cache between two runs is said, with its cause; a compaction between them is none', async () => {
    const { access } = await server(['one', 'two', 'three', 'four', 'five', 'six', 'seven'])
    const { pal } = await openWorkspace(access)
    const asked = `remember this: ${'some words to keep '.repeat(2500)}`
    await pal(['-p', asked])
    const same = await pal(['-p', '--continue', 'go on'])
    expect(same.err).not.toContain('cached tokens were sent again')
    const changed = await pal(['-p', '--continue', 'and on'], { environment: { PALIMPSEST_THINKING: 'off' } })
    expect(changed.code).toBe(0)
    expect(changed.err).toMatch(/[\d.,]+ cached tokens were sent again.*thinking/u)
    await pal(['compact'])
    const after = await pal(['-p', '--continue', 'still'], { environment: { PALIMPSEST_THINKING: 'off' } })
    expect(after.err).not.toContain('cached tokens were sent again')
  })

  it('[G14] sessions are listed with their first words', async () => {
    const { pal } = await talked()
    const [only, ...others] = JSON.parse((await pal(['sessions', '--json'])).out) as {
      session: string
      words: string
    }[]
    expect(others).toEqual([])
    expect(only?.words).toBe('read the notes')
    expect((await pal(['sessions'])).out).toContain(only?.session.slice(-8))
    expect((await (await openWorkspace()).pal(['sessions'])).out).toContain('No sessions in this project yet')
  })

  it('[G15] the doctor finds what is wrong and says how to fix it', async () => {
    const { pal, state } = await talked()
    expect((await pal(['doctor'])).code).toBe(0)
    const checks = async () =>
      JSON.parse((await pal(['doctor', '--json'])).out) as {
        what: string
        state: string
        found: string
        fix: string
      }[]
    expect((await checks()).filter((check) => check.state === 'bad')).toEqual([])
    await writeFile(join(state, 'settings.json'), '{"window": "wide"}')
    const folder = join(state, 'projects', (await readdir(join(state, 'projects')))[0]!, 'sessions')
    const transcript = join(folder, (await readdir(folder))[0]!, 'transcript.jsonl')
    await appendFile(transcript, 'no entry\n')
    const bad = (await checks()).filter((check) => check.state === 'bad')
    expect(bad.map(({ found }) => found).join('\n')).toMatch(
      /settings\.json: window is invalid[\s\S]*transcript\.jsonl/,
    )
    expect(bad.every(({ fix }) => fix.length > 0)).toBe(true)
    expect((await pal(['doctor'])).code).toBe(1)
  })

  it('[G16] a key is kept for its owner only, used, and forgotten', async () => {
    const { access } = await server(['fine'], { keys: ['sk-kept'] })
    const at = await openWorkspace({ ANTHROPIC_BASE_URL: access['ANTHROPIC_BASE_URL']! })
    expect((await at.pal(['-p', 'hi'])).code).toBe(1)
    expect((await at.pal(['login'], { input: 'sk-kept\n' })).code).toBe(0)
    const file = join(at.state, 'credentials.json')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect((await at.pal(['-p', 'hi'])).code).toBe(0)
    expect((await at.pal(['logout'])).out).toContain('deleted')
    await expect(readFile(file)).rejects.toThrow('ENOENT')
    expect((await at.pal(['login'], { input: 'two words\n' })).code).toBe(2)
  })
})

describe('playing', () => {
  it('[G17] the demo works offline with a scripted label, every layer acts, and nothing is left behind', async () => {
    const at = await openWorkspace({ TMPDIR: tmpdir() })
    const before = (await readdir(tmpdir())).filter((name) => name.startsWith('pal-demo-'))
    const { code, out, err } = await at.pal(['demo'])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toContain('The model is SCRIPTED')
    for (const layer of ['result gate', 'tool-result-budget', 'snip', 'microcompact', 'autocompact'])
      expect(out).toMatch(new RegExp(`^${layer} +[1-9]`, 'm'))
    expect(out).toMatch(/less than sending everything uncached/)
    expect(out.match(/Bash node --test/g)?.length).toBe(4)
    expect(out).toContain('[calls 5/5]')
    const after = (await readdir(tmpdir())).filter((name) => name.startsWith('pal-demo-'))
    expect(after.filter((name) => !before.includes(name))).toEqual([])
    expect(await readdir(at.home)).toEqual([])
  })

  it('[G18] [G76] simulate serves a script until it is stopped, and says what it was asked', async () => {
    const at = await openWorkspace()
    await writeFile(join(at.project, 'task.txt'), '1. say hello from the script\n')
    const { child, ended } = await at.start(['simulate', '--script', 'task.txt'])
    let url = ''
    child.stdout?.on('data', (text: string) => (url += text))
    await until(() => url.endsWith('\n'), 'the address')
    const answer = await at.pal(['-p', 'go'], { environment: { ANTHROPIC_BASE_URL: url.trim() } })
    expect(answer.out).toContain('hello from the script')
    const chat = await fetch(`${url.trim()}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer k', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-5.5', messages: [{ role: 'user', content: 'go' }] }),
    })
    expect(await chat.text()).toContain('hello from the script')
    child.kill('SIGINT')
    const over = await ended
    expect(over.code).toBe(0)
    expect(over.err).toMatch(/\/v1\/chat\/completions #1 200 gpt-5\.5 · .* · \$0\.\d+ · \d+ ms/)
    expect(over.err).toMatch(
      /\/v1\/messages #1 200 \S+ · input [\d,]+ · cache read [\d,]+ · cache write [\d,]+ · output [\d,]+ · \$\d+\.\d+ · \d+ ms/,
    )
    expect((await at.pal(['simulate', '--script', 'no-such-file'])).code).toBe(2)
  })
})
