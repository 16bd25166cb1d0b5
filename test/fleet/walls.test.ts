// Walls between what a worker holds and what its tools see: a canary in every place a secret may lie, looked for in everything
// that tools, hooks and MCP servers of a real worker can show.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { findProgram } from '../../src/disk/programs.ts'
import { call, text } from '../../src/simulator/index.ts'
import { openWorkspace, server, until } from '../cli/pal.ts'
import { later, modelId } from '../e2e/simulated.ts'
import { skipReason, startServer } from '../postgres/server.ts'

const canary = 'CANARY7f3a91'
/** In two pieces, so that the command itself is no find. */
const inProcesses = `grep -aohs 'CANARY''7f3a91-[a-z]*' /proc/[0-9]*/environ; echo looked`
const hasSandbox = findProgram('bwrap', process.env['PATH'], []) !== null

it.skipIf(skipReason !== null)(
  '[FL14] tools, hooks and MCP servers of a worker see no database, key or collector, nor another tenant',
  async () => {
    const postgres = await startServer()
    later(() => postgres.stop())
    const { access, simulator } = await server([
      [call('Bash', { command: 'env; echo; set' })],
      // Where commands run in a sandbox, the environment of the worker itself is out of sight too.
      ...(hasSandbox ? [[call('Bash', { command: inProcesses })]] : []),
      [call('mcp__words__repeat', { words: 'hello' })],
      [text('all seen')],
    ])
    // The password is ignored by this server, so it can be a canary.
    const url = postgres.url('postgres').replace('postgres@', `postgres:${canary}-database@`)
    const secrets = {
      PAL_DATABASE_URL: url,
      PGPASSWORD: `${canary}-pg`,
      PGPASSFILE: `/${canary}-passfile`,
      ANTHROPIC_API_KEY: `${canary}-anthropic`,
      OPENAI_API_KEY: `${canary}-openai`,
      GEMINI_API_KEY: `${canary}-gemini`,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=${canary}-collector`,
      AWS_SECRET_ACCESS_KEY: `${canary}-aws`,
    }
    const environment = {
      ...access,
      ...secrets,
      PAL_TENANT: 'acme',
      PALIMPSEST_MODEL: modelId,
      PALIMPSEST_ALLOW: 'Bash,mcp__words__repeat',
    }
    const at = await openWorkspace()
    const pal = async (words: readonly string[], more: Readonly<Record<string, string>> = {}) =>
      at.pal(words, { environment: { ...environment, ...more } })
    expect((await pal(['fleet', 'migrate'])).code).toBe(0)
    expect((await pal(['fleet', 'migrate', '--tenant', 'other'])).code).toBe(0)
    const foreign = await pal([
      'fleet',
      'send',
      'new',
      'words of the other tenant',
      '--tenant',
      'other',
      '--json',
    ])
    expect(foreign.code).toBe(0)

    await mkdir(at.state, { recursive: true })
    const [hooked, served] = [join(at.home, 'hook.txt'), join(at.home, 'server.txt')]
    const program = join(at.home, 'server.mjs')
    const original = join(import.meta.dirname, '..', 'extensions', 'tool-server.mjs')
    await writeFile(
      program,
      `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(served)}, JSON.stringify(process.env)); await import(${JSON.stringify(original)})`,
    )
    const mcpServers = { words: { command: process.execPath, args: [program] } }
    await writeFile(join(at.state, 'mcp.json'), JSON.stringify({ mcpServers }))
    const hooks = { PreToolUse: [{ command: `env > ${hooked}` }] }
    await writeFile(join(at.state, 'settings.json'), JSON.stringify({ hooks }))

    const worker = await at.start(['fleet', 'worker', '--json'], { environment })
    expect((await pal(['fleet', 'send', 'new', 'look around'])).code).toBe(0)
    await until(() => simulator.log.requests.length >= (hasSandbox ? 4 : 3), 'all requests of the worker')
    await pal(['fleet', 'drain', '--seconds', '60'])
    worker.child.kill('SIGTERM')
    const ended = await worker.ended

    const sent = JSON.stringify(simulator.log.requests.map(({ body }) => body))
    expect(sent).toContain('PATH=')
    expect(sent).toContain('repeat: hello')
    const seen = {
      sent,
      hook: await readFile(hooked, 'utf8'),
      server: await readFile(served, 'utf8'),
      said: ended.out + ended.err,
    }
    for (const [where, all] of Object.entries(seen)) {
      expect(all, where).not.toContain(canary)
      expect(all, where).not.toContain(String(postgres.port))
      expect(all, where).not.toContain('words of the other tenant')
    }
  },
)
