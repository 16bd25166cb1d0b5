// A real foreign client saves, searches and recalls memories over MCP, offline: Claude Code from the registry, with our simulator
// as its model and `pal mcp serve-memory` as its server. `npm run clients`. Where it cannot be installed a line says so.
import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundledPal } from '../bench/first-request.ts'
import { call, createSimulator, text, type Answerer } from '../src/simulator/index.ts'

const client = '@anthropic-ai/claude-code@2.1.197'
const folder = mkdtempSync(join(tmpdir(), 'pal-clients-'))
const [home, project] = [join(folder, 'home'), join(folder, 'project')]
for (const path of [home, project]) mkdirSync(path)

function install(): string | null {
  try {
    writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}')
    execFileSync('npm', ['install', '--no-audit', '--no-fund', client], {
      cwd: folder,
      stdio: 'ignore',
      timeout: 300_000,
    })
    return join(folder, 'node_modules', '.bin', 'claude')
  } catch {
    return null
  }
}

/** Saves when it is asked to save, searches when it is asked, and says what came back. */
const answerer: Answerer = {
  answer: ({ request }) => {
    const said = JSON.stringify(request.messages)
    const has = (name: string): boolean => (request.tools ?? []).some((tool) => tool.name === name)
    const wait = 'WaitForMcpServers'
    const isCalled = (name: string): boolean => said.includes(`"name":"${name}"`)
    const save = 'mcp__memory__memory_remember'
    const search = 'mcp__memory__memory_search'
    // Servers that are slow to start are waited for by a tool of the client's own.
    if (/SAVE-IT|FIND-IT/u.test(said) && !has(save) && has(wait) && !isCalled(wait))
      return { content: [call(wait, {}, 'c0')], stop_reason: 'tool_use' }
    if (said.includes('SAVE-IT') && has(save) && !isCalled(save))
      return {
        content: [
          call(
            save,
            {
              text: 'The staging server is called heron.',
              name: 'Staging',
              description: 'which machine staging is',
              type: 'reference',
            },
            'c1',
          ),
        ],
        stop_reason: 'tool_use',
      }
    if (said.includes('FIND-IT') && has(search) && !isCalled(search))
      return { content: [call(search, { query: 'staging server' }, 'c2')], stop_reason: 'tool_use' }
    return {
      content: [text(said.includes('heron') ? 'I know: heron.' : 'I know nothing.')],
      stop_reason: 'end_turn',
    }
  },
}

const pal = await bundledPal(folder)
const program = install()
if (program === null) {
  process.stdout.write(`skipped: ${client} cannot be installed here\n`)
  rmSync(folder, { recursive: true, force: true })
  process.exit(0)
}
const simulator = createSimulator({ answerer })
const { url } = await simulator.start()
const servers = join(folder, 'mcp.json')
writeFileSync(
  servers,
  JSON.stringify({
    mcpServers: {
      memory: {
        command: process.execPath,
        args: [pal, 'mcp', 'serve-memory', '--cwd', project],
        env: { HOME: home },
      },
    },
  }),
)
const run = (prompt: string): Promise<string> =>
  new Promise((resolve) => {
    const env = {
      PATH: process.env['PATH'],
      HOME: home,
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: 'k',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    }
    const words = [
      '-p',
      prompt,
      '--mcp-config',
      servers,
      '--strict-mcp-config',
      '--allowedTools',
      'mcp__memory__memory_remember,mcp__memory__memory_search',
    ]
    const child = execFile(program, words, { cwd: project, env, timeout: 240_000 }, (error, out, err) => {
      resolve(`${out}${error === null ? '' : `\n${error.message.slice(0, 300)}\n${err.slice(0, 500)}`}`)
    })
    child.stdin?.end()
  })
const steps: readonly (readonly [string, boolean])[] = [
  ['saved over MCP', (await run('SAVE-IT please')).includes('I know: heron.')],
  ['found and recalled in another session', (await run('FIND-IT please')).includes('I know: heron.')],
]
const kept = execFileSync(process.execPath, [pal, 'memory', '--json'], {
  cwd: project,
  env: { PATH: process.env['PATH'], HOME: home } as NodeJS.ProcessEnv,
}).toString('utf8')
const all = [
  ...steps,
  [
    'kept as data with the client as its origin',
    /"fenced"/u.test(kept) && kept.includes('staging.md'),
  ] as const,
]
for (const [what, isSo] of all) process.stdout.write(`${isSo ? 'ok  ' : 'FAIL'} ${client}: ${what}\n`)
if (process.argv.includes('--verbose'))
  for (const { status, error, body } of simulator.log.requests) {
    const { tools = [] } = (body ?? {}) as { tools?: readonly { readonly name?: string }[] }
    const names = tools.map(({ name }) => name ?? '').filter((name) => /mcp|search/iu.test(name))
    process.stderr.write(
      `${status} ${JSON.stringify(error)} ${tools.length} tools, of them ${names.join(' ')}\n`,
    )
  }
await simulator.stop()
rmSync(folder, { recursive: true, force: true })
process.exitCode = all.every(([, isSo]) => isSo) ? 0 : 1
