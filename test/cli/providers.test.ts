// `pal` with models of other providers, against the dialects of the simulator over HTTP.
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { call } from '../../src/simulator/index.ts'
import { open, serve } from '../stream-server.ts'
import { openWorkspace, server, type Workspace } from './pal.ts'

async function withProviders(
  url: string,
  environment: Readonly<Record<string, string>> = {},
  settings: object = {},
): Promise<Workspace> {
  const place = await openWorkspace(environment)
  await mkdir(place.state, { recursive: true })
  const providers = {
    openai: { baseUrl: `${url}/v1` },
    google: { baseUrl: url },
    ollama: { baseUrl: `${url}/v1` },
  }
  await writeFile(join(place.state, 'settings.json'), JSON.stringify({ providers, ...settings }))
  return place
}

describe('the key of a provider', () => {
  it('[B27] whatever its variable is called, no command, hook or server gets it', async () => {
    const show = 'printf "%s|" "$HOUSE_DOOR" "$HOUSE_COLOUR"'
    const { access, simulator } = await server([[call('Bash', { command: show })], 'done'])
    const at = await openWorkspace({ ...access, HOUSE_DOOR: 'opensesame', HOUSE_COLOUR: 'green' })
    await mkdir(at.state, { recursive: true })
    const settings = {
      providers: { house: { baseUrl: 'http://127.0.0.1:9', keyVariable: 'HOUSE_DOOR' } },
      hooks: { UserPromptSubmit: [{ command: show }] },
    }
    await writeFile(join(at.state, 'settings.json'), JSON.stringify(settings))
    expect((await at.pal(['-p', '--allow', 'Bash', 'go'])).code).toBe(0)
    const seen = JSON.stringify(simulator.log.last()?.body)
    expect(seen).not.toContain('opensesame')
    expect(seen.split('|green|')).toHaveLength(3)
  })
})

describe('pal with another provider', () => {
  it('[G2] json says how many requests were counted by size, since their server reports nothing', async () => {
    const event = {
      id: 'c',
      model: 'm',
      choices: [{ index: 0, delta: { content: 'hi' }, finish_reason: 'stop' }],
    }
    const { url } = await serve(
      (response) => void open(response).end(`data: ${JSON.stringify(event)}\n\ndata: [DONE]\n\n`),
    )
    const place = await withProviders(url, {}, { window: 100_000 })
    const asked = ['-p', 'hi', '--model', 'ollama/local', '--output-format']
    const json = JSON.parse((await place.pal([...asked, 'json'])).out) as Record<string, unknown>
    expect(json).toMatchObject({ text: 'hi', requests: 1, estimated: 1 })
    const last = (await place.pal([...asked, 'stream-json'])).out.trim().split('\n').at(-1)!
    expect(JSON.parse(last)).toMatchObject({ type: 'result', requests: 1, estimated: 1 })
    const { access } = await server(['hello'])
    const counted = await openWorkspace(access)
    expect(JSON.parse((await counted.pal(['-p', 'hi', '--output-format', 'json'])).out)).toMatchObject({
      requests: 1,
      estimated: 0,
    })
  })

  it('[WS2] answers through each wire with the key of its variable or of pal login, and [WS5] pal doctor PROVIDER asks it', async () => {
    const { access } = await server([
      'hello from one',
      'hello from two',
      'hello from three',
      'hello from four',
    ])
    const place = await withProviders(access['ANTHROPIC_BASE_URL']!, { OPENAI_API_KEY: 'sk-test' })
    const one = await place.pal(['-p', 'hi', '--model', 'openai/gpt-6-sol'])
    expect([one.code, one.out.trim()], one.err).toEqual([0, 'hello from one'])
    const none = await place.pal(['-p', 'hi', '--model', 'google/gemini-4-argon'])
    expect(none.code).toBe(1)
    expect(none.err).toMatch(/GEMINI_API_KEY, or run pal login google/)
    const unknown = await place.pal(['login', 'gogle'], { input: 'g-test' })
    expect([unknown.code, unknown.out]).toEqual([2, ''])
    expect(unknown.err).toMatch(/no provider gogle; nothing was stored\..*google/)
    expect((await place.pal(['login', 'google'], { input: 'g-test' })).code).toBe(0)
    const kept = join(place.state, 'credentials.json')
    expect(JSON.parse(await readFile(kept, 'utf8'))).toEqual({ keys: { google: 'g-test' } })
    expect((await stat(kept)).mode & 0o077).toBe(0)
    const two = await place.pal(['-p', 'hi', '--model', 'google/gemini-4-argon'])
    expect([two.code, two.out.trim()], two.err).toEqual([0, 'hello from two'])
    const asked = await place.pal(['doctor', '--ask', '--json'], {
      environment: { PALIMPSEST_MODEL: 'openai/gpt-6-sol' },
    })
    expect(asked.out).toMatch(/gpt-6-sol answered in \d+ ms/)
    const google = await place.pal(['doctor', 'google'])
    expect([google.code, google.out]).toEqual([
      0,
      expect.stringMatching(/google\/gemini-\S+ answered in \d+ ms/),
    ])
    const nobody = await place.pal(['doctor', 'nobody'])
    expect([nobody.code, nobody.out]).toEqual([1, expect.stringContaining('there is no such provider')])
    const home = await place.pal(['doctor', 'ollama'])
    expect([home.code, home.out]).toEqual([1, expect.stringContaining('PALIMPSEST_MODEL=ollama/NAME')])
    const groq = await place.pal(['doctor', 'deepseek'])
    expect([groq.code, groq.out]).toEqual([
      1,
      expect.stringMatching(/no model of it is known|DEEPSEEK_API_KEY/),
    ])
    expect((await place.pal(['logout', 'google'])).out).toContain('deleted')
  })

  it('[WS3] whose window is not known says which setting names it, [WS6] whose provider is not says which there are, and nothing is sent', async () => {
    const { access, simulator } = await server(['never'])
    const place = await withProviders(access['ANTHROPIC_BASE_URL']!)
    const refused = await place.pal(['-p', 'hi', '--model', 'ollama/qwen3:8b'])
    expect(refused.code).toBe(2)
    expect(refused.err).toMatch(
      /the window of ollama\/qwen3:8b is not known: add it to models in the settings/,
    )
    const nobody = await place.pal(['-p', 'hi', '--model', 'nosuch/x'])
    expect([nobody.code, nobody.err], '[WS6]').toEqual([
      2,
      expect.stringMatching(
        /^pal: nosuch\/x names the provider nosuch, and there is none: there are anthropic, openai, .*the setting providers adds one/,
      ),
    ])
    expect(simulator.log.requests).toHaveLength(0)
  })

  it('[WS4] going on with another model says the price before the request is sent, and [WI12] pal context names its cache', async () => {
    const { access, simulator } = await server(['one', 'two', 'three', 'four'])
    const keys = { OPENAI_API_KEY: 'sk-test', GEMINI_API_KEY: 'g-test' }
    const place = await withProviders(access['ANTHROPIC_BASE_URL']!, keys)
    const first = await place.pal(['-p', 'hi', '--model', 'openai/gpt-6-sol'])
    expect(first.err).not.toContain('anew')
    const context = await place.pal(['context'])
    expect(context.out).toContain('the same hash as the one sent')
    expect(context.out).toMatch(
      /Cache: prefixes, without breakpoints, kept for 30m; expires in \d+ (?:s|min)/,
    )
    const same = await place.pal(['-p', 'more', '--continue', '--model', 'openai/gpt-6-sol'])
    expect([same.code, same.err.includes('anew')], same.err).toEqual([0, false])
    const other = await place.pal(['-p', 'more', '--continue', '--model', 'google/gemini-4-argon'])
    expect(other.code, other.err).toBe(0)
    expect(other.err).toMatch(
      /the last answer is by gpt-6-sol, the model is now google\/gemini-4-argon\. The next request sends the whole conversation anew, [\d.,]+K? tokens for about \$/,
    )
    expect(simulator.log.requests.map(({ path }) => path).at(-1)).toContain('gemini-4-argon')
    const json = JSON.parse((await place.pal(['context', '--json'])).out) as { readonly cache: object }
    expect(json.cache).toMatchObject({ wire: 'gemini', kind: 'implicit', promised: false, reported: true })
    expect((await place.pal(['context'])).out).toContain('kept without promise')
    const back = await place.pal(['-p', 'more', '--continue', '--model', 'openai/gpt-6-sol'])
    expect([back.code, back.err], '[WS7]').toEqual([
      0,
      expect.stringMatching(
        /the model is now openai\/gpt-6-sol\. The next request sends the whole conversation again, [\d.,]+K? of it from the cache of earlier answers: [\d.,]+K? tokens for about \$/,
      ),
    ])
  })
})
