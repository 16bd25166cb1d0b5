// `pal` with models of other providers, against the dialects of the simulator over HTTP.
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openWorkspace, server, type Workspace } from './pal.ts'

const minute = 60_000

async function withProviders(
  url: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Workspace> {
  const place = await openWorkspace(environment)
  await mkdir(place.state, { recursive: true })
  const providers = {
    openai: { baseUrl: `${url}/v1` },
    google: { baseUrl: url },
    ollama: { baseUrl: `${url}/v1` },
  }
  await writeFile(join(place.state, 'settings.json'), JSON.stringify({ providers }))
  return place
}

describe('pal with another provider', () => {
  it(
    '[WS2] answers through each wire with the key of its variable or of pal login',
    { timeout: 3 * minute },
    async () => {
      const { access } = await server(['hello from one', 'hello from two', 'hello from three'])
      const place = await withProviders(access['ANTHROPIC_BASE_URL']!, { OPENAI_API_KEY: 'sk-test' })
      const one = await place.pal(['-p', 'hi', '--model', 'openai/gpt-6-sol'])
      expect([one.code, one.out.trim()], one.err).toEqual([0, 'hello from one'])
      const none = await place.pal(['-p', 'hi', '--model', 'google/gemini-4-argon'])
      expect(none.code).toBe(1)
      expect(none.err).toMatch(/GEMINI_API_KEY, or run pal login google/)
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
      expect((await place.pal(['logout', 'google'])).out).toContain('deleted')
    },
  )

  it(
    '[WS3] whose window is not known says which setting names it, and sends nothing',
    { timeout: 2 * minute },
    async () => {
      const { access, simulator } = await server(['never'])
      const place = await withProviders(access['ANTHROPIC_BASE_URL']!)
      const refused = await place.pal(['-p', 'hi', '--model', 'ollama/qwen3:8b'])
      expect(refused.code).toBe(2)
      expect(refused.err).toMatch(
        /the window of ollama\/qwen3:8b is not known: add it to models in the settings/,
      )
      expect(simulator.log.requests).toHaveLength(0)
    },
  )
})
