// `pal inspect`: a page in the browser on the sessions of this project. It reads; what the page changes goes through the engine.
import { spawn } from 'node:child_process'
import { existsSync, realpathSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { interrupted } from '../../terminal/io.ts'
import { errorText } from '../../../disk/failure.ts'
import { isLoopback } from '../../../gateway/index.ts'
import { Replays } from '../../../inspector/replays.ts'
import { loadAssets, type Asset } from '../../../inspector/server/http.ts'
import { startServer, type ServerOptions } from '../../../inspector/server/server.ts'
import { projectStore } from '../../../preset.ts'
import { defaults } from '../../../settings/defaults.ts'
import type { SessionId } from '../../../transcript/ids.ts'
import type { Store } from '../../../transcript/store.ts'
import { complain, exits, fail, refuse, type Exit, type Refusal } from '../../exit-codes.ts'
import { findSession, newestSession } from '../../session-lookup.ts'
import type { Io } from '../../terminal/io.ts'
import { safeJson, safeLine } from '../../terminal/safe-text.ts'
import { openWorkplace, type ProjectFlags, type Workplace } from '../../workplace/workplace.ts'
import { database, storeAt, type Elsewhere } from '../sessions-export.ts'
import { inspectionOf } from './inspection.ts'

export interface InspectFlags extends ProjectFlags {
  readonly open?: boolean | undefined
  readonly port?: number | undefined
  readonly host?: string | undefined
  readonly tlsCert?: string | undefined
  readonly tlsKey?: string | undefined
  /** A file to write one session to, instead of serving; `raw` with what looks like a secret. */
  readonly export?: string | undefined
  readonly raw?: boolean | undefined
  /** Sessions that lie elsewhere: a folder of them, or `postgres`. */
  readonly from?: string | undefined
}

const loopback = '127.0.0.1'

export async function inspect(
  io: Io,
  id: string | undefined,
  flags: InspectFlags,
  version: string,
): Promise<Exit> {
  const place = await openWorkplace(io, { cwd: flags.cwd })
  if (!place.ok) return complain(io, place)
  if (flags.raw === true && flags.export === undefined)
    return fail(io, exits.usage, '--raw goes with --export FILE')
  const other = flags.from === undefined ? null : await sourceAt(io, flags.from)
  if (other !== null && !other.ok) return complain(io, other)
  try {
    const store = other?.store ?? projectStore(place)
    const found = id === undefined ? null : await findSession(store, id)
    if (found !== null && !found.ok) return complain(io, found)
    const session = found?.session ?? null
    const folder = programFolder()
    const assets = folder === null ? new Map() : await loadAssets(join(folder, 'inspector'))
    if (flags.export !== undefined) return await exported(place, store, session, assets, flags, version)
    const inspection = inspectionOf(place, other === null ? undefined : { store, scope: other.name })
    const replays = replaysAt(place, store, folder)
    return await served(io, { inspection, replays, assets, about: { version, session } }, flags)
  } finally {
    await other?.close()
  }
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/** A folder that is not there would show as one without sessions. */
async function sourceAt(io: Io, from: string): Promise<Elsewhere | Refusal> {
  const source = await storeAt(io, from)
  if (!source.ok || from === database || isFolder(source.name)) return source
  return refuse(
    exits.usage,
    `there is no folder ${source.name}. Name one that pal sessions export --to has written, or postgres`,
  )
}

async function served(
  io: Io,
  shown: Pick<ServerOptions, 'inspection' | 'replays' | 'assets' | 'about'>,
  flags: InspectFlags,
): Promise<Exit> {
  const tls = await tlsFor(flags)
  if (tls !== null && 'exit' in tls) return complain(io, tls)
  const started = await start({
    ...shown,
    host: flags.host ?? loopback,
    port: flags.port ?? 0,
    ...(tls === null ? {} : { tls }),
    tell: (line) => io.err(`pal: ${safeLine(line)}\n`),
  })
  if ('exit' in started) return complain(io, started)
  const { url, stop, port } = started
  try {
    const { session } = shown.about
    io.out(flags.json === true ? `${safeJson({ url, port, session })}\n` : `${url}\n`)
    io.err('pal: this address lets whoever has it read your sessions and undo edits. Press Ctrl-C to stop\n')
    if (flags.open !== false && io.outIsTerminal) openBrowser(url)
    await interrupted(io)
    return exits.done
  } finally {
    await stop()
  }
}

/** The session that was named, or the newest. */
async function exported(
  place: Workplace,
  store: Store,
  named: SessionId | null,
  assets: ReadonlyMap<string, Asset>,
  { export: file = '', from, raw, json }: InspectFlags,
  version: string,
): Promise<Exit> {
  const found = named === null ? await newestSession(store) : { ok: true as const, session: named }
  if (!found.ok && found.exit === exits.session && from !== undefined)
    return fail(place.io, exits.session, `there is no session in ${from} to export`)
  if (!found.ok) return complain(place.io, found)
  const { exportTo } = await import('./export.ts')
  const wish = { file, isRaw: raw === true, isJson: json === true, version }
  return exportTo(place, store, found.session, assets, wish)
}

async function start(options: ServerOptions): Promise<Awaited<ReturnType<typeof startServer>> | Refusal> {
  try {
    return await startServer(options)
  } catch (error) {
    const why = errorText(error)
    return refuse(exits.failed, `the inspector cannot listen (${why}); choose another --port or --host`)
  }
}

/** Beyond this machine only encrypted: the token would be read on the way. */
async function tlsFor({
  host = loopback,
  tlsCert,
  tlsKey,
}: InspectFlags): Promise<{ readonly cert: Buffer; readonly key: Buffer } | Refusal | null> {
  if (tlsCert === undefined && tlsKey === undefined)
    return isLoopback(host)
      ? null
      : refuse(
          exits.usage,
          `--host ${host} is beyond this machine: give --tls-cert FILE and --tls-key FILE with it`,
        )
  if (tlsCert === undefined || tlsKey === undefined)
    return refuse(exits.usage, '--tls-cert and --tls-key go together')
  try {
    return { cert: await readFile(tlsCert), key: await readFile(tlsKey) }
  } catch (error) {
    return refuse(exits.failed, `the TLS files cannot be read: ${errorText(error)}`)
  }
}

function replaysAt(place: Workplace, store: Store, folder: string | null): Replays | null {
  const worker = folder === null ? null : join(folder, 'inspect-replay.js')
  if (worker === null || !existsSync(worker)) return null
  return new Replays({
    store,
    window: place.settings.window,
    worker: pathToFileURL(worker),
    mostBytes: defaults.cli.recordingBytes,
  })
}

/** Where the files are that were bundled with `pal`. */
function programFolder(): string | null {
  const pal = process.argv[1]
  return pal === undefined || !existsSync(pal) ? null : dirname(realpathSync(pal))
}

/** As arguments, through no shell. Where there is no browser the address is on the screen. */
function openBrowser(url: string): void {
  const program = process.platform === 'darwin' ? 'open' : 'xdg-open'
  const child = spawn(program, [url], { stdio: 'ignore', detached: true })
  child.on('error', () => undefined)
  child.unref()
}
