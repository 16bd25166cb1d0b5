// Real foreign clients save, search and recall memories over MCP, offline: Claude Code and opencode from the registry, with our
// simulator as their model and `pal mcp serve-memory` as their server. What one saved the other finds. `npm run clients --
// memory`; where one cannot be installed a line says so.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { call, createSimulator, text, type Answerer } from '../src/simulator/index.ts'
import { clientPackages, installClient, labelOf, type ClientPackage } from './install.ts'
import { makeWorld, Report, runClient, type Ran, type World } from './world.ts'

/** What a client is asked to save, each its own. */
const facts: Readonly<Record<string, { readonly name: string; readonly bird: string }>> = {
  'SAVE-ONE': { name: 'Staging', bird: 'heron' },
  'SAVE-TWO': { name: 'Production', bird: 'pelican' },
}

/** Saves when it is asked to save, searches when it is asked, and says what came back. */
const answerer: Answerer = {
  answer: ({ request }) => {
    const said = JSON.stringify(request.messages)
    // Each client has its own way to name the tools of a server.
    const named = (name: string): string | undefined =>
      (request.tools ?? []).map((tool) => tool.name).find((one) => one.endsWith(name))
    const isCalled = (name: string): boolean => said.includes(`"name":"${name}"`)
    const [save, search, wait] = ['memory_remember', 'memory_search', 'WaitForMcpServers'].map(named)
    const wanted = Object.keys(facts).find((word) => said.includes(word))
    // Servers that are slow to start are waited for by a tool of the client's own.
    if (/SAVE-|FIND-/u.test(said) && save === undefined && wait !== undefined && !isCalled(wait))
      return { content: [call(wait, {}, 'c0')], stop_reason: 'tool_use' }
    if (wanted !== undefined && save !== undefined && !isCalled(save)) {
      const { name, bird } = facts[wanted]!
      const input = {
        text: `The server is called ${bird}.`,
        name,
        description: `which machine ${name.toLowerCase()} is`,
        type: 'reference',
      }
      return { content: [call(save, input, 'c1')], stop_reason: 'tool_use' }
    }
    if (said.includes('FIND-') && search !== undefined && !isCalled(search))
      return {
        content: [call(search, { query: 'which machine is the server' }, 'c2')],
        stop_reason: 'tool_use',
      }
    const known = ['heron', 'pelican'].filter((bird) => said.includes(bird)).join(' and ')
    return {
      content: [text(known === '' ? 'I know nothing.' : `I know: ${known}.`)],
      stop_reason: 'end_turn',
    }
  },
}

type Ask = (prompt: string) => Promise<Ran>

/** The server as a client starts it. */
const serving = ({ pal, project }: World): readonly string[] => [
  process.execPath,
  pal,
  'mcp',
  'serve-memory',
  '--cwd',
  project,
]

function claude(world: World, url: string): Ask | null {
  const program = installClient(clientPackages.claude)
  if (program === null) return null
  const servers = join(world.folder, 'mcp.json')
  const [command, ...args] = serving(world)
  const memory = { command, args, env: { HOME: world.home } }
  writeFileSync(servers, JSON.stringify({ mcpServers: { memory } }))
  const tools = 'mcp__memory__memory_remember,mcp__memory__memory_search'
  const more = {
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'k',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  }
  const flags = ['--mcp-config', servers, '--strict-mcp-config', '--allowedTools', tools]
  return (prompt) => runClient(program, ['-p', prompt, ...flags], world, more)
}

function opencode(world: World, url: string): Ask | null {
  const program = installClient(clientPackages.opencode)
  if (program === null) return null
  const config = join(world.folder, 'opencode.json')
  const memory = { type: 'local', command: serving(world), environment: { HOME: world.home }, enabled: true }
  const provider = { anthropic: { options: { baseURL: `${url}/v1`, apiKey: 'k' } } }
  writeFileSync(config, JSON.stringify({ provider, mcp: { memory }, autoupdate: false, share: 'disabled' }))
  const more = { OPENCODE_CONFIG: config, OPENCODE_DISABLE_MODELS_FETCH: '1', ANTHROPIC_API_KEY: 'k' }
  return (prompt) =>
    runClient(program, ['run', '--model', 'anthropic/claude-sonnet-4-6', prompt], world, more)
}

/** Runs all of it; the exit code. */
export async function run(): Promise<number> {
  const report = new Report()
  const world = await makeWorld()
  const simulator = createSimulator({ answerer, capabilities: { systemMessages: 'all' } })
  const { url } = await simulator.start()
  const knows = async (
    ask: Ask,
    prompt: string,
    birds: readonly string[],
  ): Promise<readonly [boolean, string]> => {
    const { out, err } = await ask(prompt)
    return [birds.every((bird) => out.includes(bird)) && out.includes('I know: '), `${out}\n${err}`]
  }
  const clients: readonly (readonly [ClientPackage, Ask | null])[] = [
    [clientPackages.claude, claude(world, url)],
    [clientPackages.opencode, opencode(world, url)],
  ]
  const words = Object.keys(facts)
  const saved: string[] = []
  for (const [n, [client, ask]] of clients.entries()) {
    if (ask === null) {
      report.skip(labelOf(client), 'it cannot be installed here')
      continue
    }
    const { bird, name } = facts[words[n]!]!
    saved.push(bird)
    report.check(`${labelOf(client)}: saved over MCP`, ...(await knows(ask, `${words[n]} please`, [bird])))
    report.check(
      `${labelOf(client)}: found and recalled in another session, with what others saved`,
      ...(await knows(ask, 'FIND-ALL please', saved)),
    )
    const kept = world.ours('memory', '--json')
    const origins = world.ours('memory', 'show', `${name.toLowerCase()}.md`)
    report.check(
      `${labelOf(client)}: kept as data with the client as its origin`,
      kept.includes('"fenced"') && !kept.includes('"open"') && /mcp:\S*(?:claude|opencode)/u.test(origins),
      origins,
    )
  }
  if (process.argv.includes('--verbose'))
    for (const { status, error, body } of simulator.log.requests) {
      const { tools = [], model } = (body ?? {}) as {
        model?: string
        tools?: readonly { readonly name?: string }[]
      }
      const names = tools.map(({ name }) => name ?? '').filter((name) => name.includes('memory'))
      process.stderr.write(`${status} ${model} ${JSON.stringify(error)} ${names.join(' ')}\n`)
    }
  await simulator.stop()
  world.remove()
  return report.exitCode
}

process.exitCode = await run()
