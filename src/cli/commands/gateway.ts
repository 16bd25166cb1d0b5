// `pal gateway`: a local address that other agents use as their API. `pal gateway -- CLIENT …` starts one for a single run
// of that client and says at its end what it cost and what was saved.
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { interrupted } from '../terminal/io.ts'
import { errorText } from '../../disk/failure.ts'
import { machineFileSystem } from '../../disk/fs.ts'
import {
  isLoopback,
  pointingFor,
  programName,
  readOrMakeSalt,
  Recorder,
  startGateway,
  Tenants,
  upstreamVariables,
  vendorUpstreams,
  type Figures,
  type Gateway,
  type Level,
  type Pointing,
} from '../../gateway/index.ts'
import type { WireName } from '../../model/model.ts'
import { modelTable } from '../../model/models.ts'
import { projectStore } from '../../preset.ts'
import { defaults } from '../../settings/defaults.ts'
import { systemClock, systemIds } from '../../transcript/ids.ts'
import { complain, exits, fail, refuse, type Exit, type Refusal } from '../exit-codes.ts'
import type { Io } from '../terminal/io.ts'
import { safeJson, safeLine } from '../terminal/safe-text.ts'
import { dollars, whole } from '../terminal/tables.ts'
import { openWorkplace, type Workplace } from '../workplace/workplace.ts'

export interface GatewayFlags {
  readonly level?: Level | undefined
  readonly port?: number | undefined
  readonly listen?: string | undefined
  readonly upstream?: string | undefined
  readonly keep?: boolean | undefined
  readonly json?: boolean | undefined
}

export async function gateway(io: Io, command: readonly string[], flags: GatewayFlags): Promise<Exit> {
  const place = await openWorkplace(io, {})
  if (!place.ok) return complain(io, place)
  const upstreams = upstreamsFor(io, flags)
  if ('exit' in upstreams) return complain(io, upstreams)
  const started = await start(io, place, flags, upstreams)
  if ('exit' in started) return complain(io, started)
  const { running, token } = started
  const level = flags.level ?? 'watch'
  try {
    const kept = level === 'watch' ? null : join(place.home, 'gateway')
    if (command.length > 0)
      return await runClient(io, running, command, { own: join(place.home, 'gateway'), kept })
    io.out(`${running.url}\n`)
    io.err(`pal: gateway at level ${level}. Set a client's base URL to this address. Press Ctrl-C to stop\n`)
    if (!isLoopback(flags.listen ?? loopback))
      io.err(
        `pal: every request needs this token, as x-palimpsest-token or as ${running.url}/token/${token} before the path\n`,
      )
    await interrupted(io)
    return exits.done
  } finally {
    await running.stop()
    report(io, level, running, flags.json === true)
  }
}

const loopback = '127.0.0.1'

function upstreamsFor(io: Io, { upstream }: GatewayFlags): Readonly<Record<WireName, URL>> | Refusal {
  const urls: [WireName, URL][] = []
  for (const wire of Object.keys(vendorUpstreams) as WireName[]) {
    const variable = upstreamVariables[wire]
    const address = upstream ?? io.environment[variable] ?? vendorUpstreams[wire]
    const url = URL.canParse(address) ? new URL(address) : null
    if (url === null || !/^https?:$/u.test(url.protocol))
      return refuse(
        exits.usage,
        `${address} is no address of an API (${upstream === undefined ? variable : '--upstream'}); expected https://HOST`,
      )
    urls.push([wire, url])
  }
  return Object.fromEntries(urls) as Record<WireName, URL>
}

async function start(
  io: Io,
  place: Workplace,
  flags: GatewayFlags,
  upstreams: Readonly<Record<WireName, URL>>,
): Promise<{ readonly running: Gateway; readonly token: string } | Refusal> {
  const folder = join(place.home, 'gateway')
  const salt = await readOrMakeSalt(machineFileSystem, folder)
  if (!salt.ok) return refuse(exits.failed, salt.failure.message)
  // A variable that a script leaves empty is not set.
  const token = io.environment['PALIMPSEST_GATEWAY_TOKEN']?.trim() || randomBytes(24).toString('base64url')
  const tell = (line: string): void => io.err(`pal: ${safeLine(line)}\n`)
  const recorder = new Recorder({ store: projectStore(place), clock: systemClock, ids: systemIds(), tell })
  try {
    const running = await startGateway({
      level: flags.level ?? 'watch',
      upstreams,
      listen: { host: flags.listen ?? loopback, port: flags.port ?? 0 },
      token,
      salt: salt.salt,
      limits: defaults.gateway,
      keptFolder: folder,
      tenants: new Tenants(machineFileSystem, folder, systemClock),
      recorder: flags.keep === false ? null : recorder,
      models: modelTable(),
      clock: systemClock,
      tell,
    })
    return { running, token }
  } catch (error) {
    const why = errorText(error)
    return refuse(exits.failed, `the gateway cannot listen (${why}); choose another --port`)
  }
}

/** Runs a client with its own terminal. Ctrl-C goes to it; the gateway lives as long as it does. */
async function runClient(
  io: Io,
  { url }: Gateway,
  [program, ...args]: readonly string[],
  folders: { readonly own: string; readonly kept: string | null },
): Promise<Exit> {
  const pointing = pointingFor(program!, url, folders.kept)
  // Not in the temporary folder: some clients read no settings below one that everybody may write to.
  const folder = pointing.files === undefined ? null : await mkdtemp(join(folders.own, 'run-'))
  const filled = (text: string): string => text.replaceAll('{folder}', folder ?? '')
  for (const [name, text] of Object.entries(pointing.files ?? {}))
    await writeFile(join(folder!, name), text, { mode: 0o600 })
  if (pointing.note !== undefined) io.err(`pal: ${pointing.note}\n`)
  const ignore = io.onInterrupt(() => {})
  try {
    return await ended(
      io,
      program!,
      [...pointing.before.map(filled), ...args],
      environmentOf(io, pointing, filled),
    )
  } finally {
    ignore()
    if (folder !== null) await rm(folder, { recursive: true, force: true })
  }
}

const environmentOf = (
  io: Io,
  { environment }: Pointing,
  filled: (text: string) => string,
): NodeJS.ProcessEnv => ({
  ...io.environment,
  ...Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, filled(value)])),
})

function ended(io: Io, program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Exit> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: 'inherit', env })
    child.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'ENOENT' ? 'it is not installed, or not on PATH' : error.message
      resolve(fail(io, exits.failed, `${programName(program)} cannot be started: ${why}`))
    })
    child.once('exit', (code, signal) =>
      resolve((signal === 'SIGINT' ? exits.interrupted : (code ?? exits.failed)) as Exit),
    )
  })
}

function report(io: Io, level: Level, { savings, breaks }: Gateway, asJson: boolean): void {
  const figures: Figures = savings.all
  const listed = { count: breaks.count, cost: breaks.cost, newest: breaks.newest }
  if (asJson) return io.err(`${safeJson({ level, ...figures, breaks: listed })}\n`)
  if (figures.requests === 0) return io.err('pal: no answered request passed the gateway\n')
  const { requests, cacheRead, cacheWrite, input, output, cost, untouchedCost, unpriced, unreported } =
    figures
  io.err(
    `pal: ${whole(requests)} requests, input ${whole(input)}, cache read ${whole(cacheRead)}, cache write ${whole(cacheWrite)}, output ${whole(output)}\n`,
  )
  io.err(`pal: ${paidWords(cost, untouchedCost)}\n`)
  if (figures.readBacks > 0)
    io.err(
      `pal: ${whole(figures.readBacks)} of them only read what had been left out; they count as paid, not as untouched\n`,
    )
  if (unpriced > 0)
    io.err(`pal: ${whole(unpriced)} requests are not in these dollars: their model has no known price\n`)
  if (unreported > 0)
    io.err(
      `pal: ${whole(unreported)} requests are in none of these figures: their answers did not say what they took\n`,
    )
  reportBreaks(io, breaks)
}

/** Less is noise of the count, in dollars. */
const even = 0.00005

function paidWords(cost: number, untouched: number): string {
  const saved = untouched - cost
  if (Math.abs(saved) < even) return `paid ${dollars(cost)}; nothing was changed`
  const share =
    untouched > 0
      ? ` (${((100 * Math.abs(saved)) / untouched).toFixed(1)}% ${saved > 0 ? 'less' : 'more'})`
      : ''
  return `paid ${dollars(cost)}; the same requests untouched would have cost ${dollars(untouched)}${share}`
}

/** So many are said in words at the end. */
const shownBreaks = 5

function reportBreaks(io: Io, { count, cost, newest }: Gateway['breaks']): void {
  if (count === 0) return
  const times = count === 1 ? 'once' : `${whole(count)} times`
  io.err(`pal: the prompt cache was lost ${times}, for ${dollars(cost)}\n`)
  for (const each of newest.slice(-shownBreaks))
    io.err(
      `pal:   ${whole(each.tokens)} tokens, ${dollars(each.cost)}: ${safeLine(each.causes.join('; '))}\n`,
    )
  if (count > shownBreaks)
    io.err(`pal:   and ${whole(count - shownBreaks)} before; pal cost shows each with its turn\n`)
}
