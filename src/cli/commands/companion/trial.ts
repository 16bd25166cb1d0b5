// One agent tried offline: a home of its own below the temporary folder, a fake key, our simulator as its model, and the
// companion installed there as it would be here. What the agent sent and what the hooks kept says which points work.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { HookClient } from '../../../companion/hook/options.ts'
import { makeOwnFolder } from '../../../disk/own-folders.ts'
import { call, createSimulator, text, type Answerer } from '../../../simulator/index.ts'

export interface Point {
  readonly event: string
  readonly what: string
  readonly works: boolean
  /** Why it does not, or could not be tried. */
  readonly why?: string | undefined
}

export interface Trial {
  readonly points: readonly Point[]
  /** Why the agent could not be run at all. */
  readonly why?: string | undefined
}

/** A word that stands nowhere else. */
const canary = 'CANARY-7Q4'
const rule = `Write the parser. Never touch the ${canary} file.`
/** Against hanging: agents may start slowly. */
const mostMs = 180_000

/** One long result of a command, so that a small window is full; then nothing but words. */
function createAnswerer(): Answerer {
  let isCalled = false
  return {
    answer: ({ request }) => {
      const tools = new Set((request.tools ?? []).map(({ name }) => name))
      const tool = Object.keys(commands).find((name) => tools.has(name))
      if (isCalled || tool === undefined || !JSON.stringify(request.messages).includes(canary))
        return { content: [text('<summary>Some work was done.</summary>')], stop_reason: 'end_turn' }
      isCalled = true
      const { name, input } = commands[tool]!
      return { content: [call(name, input, 'c1')], stop_reason: 'tool_use' }
    },
  }
}

/** Tools of agents that compact by themselves, by a name that only they offer. */
const commands: Readonly<
  Record<string, { readonly name: string; readonly input: Readonly<Record<string, unknown>> }>
> = {
  exec: { name: 'exec_command', input: { cmd: 'seq 1 5000; false' } },
  bash: { name: 'bash', input: { command: 'seq 1 5000; false', description: 'count' } },
}

interface Place {
  readonly home: string
  readonly project: string
  readonly url: string
  readonly program: string
  readonly environment: Readonly<Record<string, string>>
}

export type InstallThere = (home: string, client: HookClient) => Promise<boolean>

export async function tryClient(
  client: HookClient,
  program: string,
  path: string,
  install: InstallThere,
): Promise<Trial> {
  const folder = await makeOwnFolder('pal-companion')
  const [home, project] = [join(folder, 'home'), join(folder, 'project')]
  for (const one of [home, project]) mkdirSync(one, { mode: 0o700 })
  const simulator = createSimulator({ answerer: createAnswerer() })
  try {
    if (!(await install(home, client)))
      return { points: [], why: 'the companion could not be installed in a fresh home' }
    // The agent waits for the hooks as long as it must; their own clock is not what is tried here.
    writeFileSync(join(home, '.palimpsest', 'companion', 'options.json'), '{"clockMs":60000}')
    const { url } = await simulator.start()
    const place = { home, project, url, program, environment: { PATH: path, HOME: home, TERM: 'dumb' } }
    const why = await drives[client](place)
    if (why !== null) return { points: [], why }
    const sent = simulator.log.requests.map(({ body }) => JSON.stringify(body ?? ''))
    return { points: pointsOf(client, join(home, '.palimpsest', 'companion'), sent.at(-1) ?? '') }
  } finally {
    await simulator.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Null: it went through; else what the agent said. */
async function driveClaude(place: Place): Promise<string | null> {
  const environment = {
    ANTHROPIC_BASE_URL: place.url,
    ANTHROPIC_API_KEY: 'k',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
  }
  for (const args of [
    ['-p', rule],
    ['-p', '--continue', '/compact'],
    ['-p', '--continue', 'go on'],
  ]) {
    const why = await runOnce(place, args, environment)
    if (why !== null) return why
  }
  return null
}

async function driveOpencode(place: Place): Promise<string | null> {
  const folder = join(place.home, '.config', 'opencode')
  mkdirSync(folder, { recursive: true })
  // More than prompt and summary take, less than the prompt with one long result.
  const models = { 'claude-sonnet-4-5': { limit: { context: 11_000, output: 1000 } } }
  const config = { provider: { anthropic: { options: { baseURL: `${place.url}/v1`, apiKey: 'k' }, models } } }
  writeFileSync(join(folder, 'opencode.json'), JSON.stringify(config))
  const environment = { OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1' }
  const model = ['--model', 'anthropic/claude-sonnet-4-5']
  return (
    (await runOnce(place, ['run', ...model, rule], environment)) ??
    (await runOnce(place, ['run', ...model, '--continue', 'go on'], environment)) ??
    (await runOnce(place, ['run', ...model, '--continue', 'and on'], environment))
  )
}

async function driveCodex(place: Place): Promise<string | null> {
  // Less than the first prompt takes, so that it compacts at every turn.
  const config = `model = "gpt-6-sol"
model_provider = "simulator"
model_auto_compact_token_limit = 12650
[model_providers.simulator]
name = "simulator"
base_url = "${place.url}/v1"
wire_api = "responses"
env_key = "PAL_FAKE_KEY"
`
  writeFileSync(join(place.home, '.codex', 'config.toml'), config)
  const environment = { PAL_FAKE_KEY: 'k' }
  // In this home the companion's hooks are the only ones there are.
  const exec = ['exec', '--skip-git-repo-check', '--dangerously-bypass-hook-trust']
  return (
    (await runOnce(place, [...exec, rule], environment)) ??
    (await runOnce(place, [...exec, 'resume', '--last', 'go on'], environment))
  )
}

const drives: Readonly<Record<HookClient, (place: Place) => Promise<string | null>>> = {
  claude: driveClaude,
  codex: driveCodex,
  opencode: driveOpencode,
}

const runOnce = (
  { program, project, environment }: Place,
  args: readonly string[],
  more: Readonly<Record<string, string>>,
): Promise<string | null> =>
  new Promise((resolve) => {
    const options = { cwd: project, env: { ...environment, ...more }, timeout: mostMs, maxBuffer: 64_000_000 }
    const child = execFile(program, args, options, (error, out, err) =>
      resolve(
        error === null
          ? null
          : `${args.join(' ')}: ${(err.trim() || out.trim() || error.message).slice(0, 300)}`,
      ),
    )
    child.stdin?.end()
  })

function pointsOf(client: HookClient, root: string, last: string): readonly Point[] {
  const sessions = join(root, 'sessions')
  const folder = existsSync(sessions)
    ? readdirSync(sessions).find((name) => name.startsWith(`${client}-`))
    : undefined
  const kept = (name: string): string => {
    const path = join(sessions, folder ?? '', name)
    return folder !== undefined && existsSync(path) ? readFileSync(path, 'utf8') : ''
  }
  const times = last.split(canary).length - 1
  const isSaid = last.includes('<companion') && times === 1
  const said: Omit<Point, 'event'> = {
    what: 'the block stands in the request after the compaction, once',
    works: isSaid,
    ...(isSaid ? {} : { why: times > 1 ? `it stands there ${times} times` : 'it is not there' }),
  }
  const typed = { what: 'typed words reach the ledger', works: kept('typed.jsonl').includes(canary) }
  if (client === 'opencode')
    return [
      { event: 'chat.message', ...typed },
      { event: 'experimental.chat.messages.transform', ...said },
    ]
  return [
    { event: 'UserPromptSubmit', ...typed },
    {
      event: 'PreCompact',
      what: 'the block is prepared before the compaction',
      works: kept('block.json') !== '' || kept('said.json') !== '',
    },
    { event: 'SessionStart', ...said },
    {
      event: 'PostCompact',
      what: 'the summary is audited after it',
      works: kept('audit.json').includes('"words":{'),
    },
  ]
}
