// `pal sessions export --otlp`: a session with everything it started as OTLP, with the times it has; to a collector, or into
// a file with one body on each line.
import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { attempt } from '../../disk/fs.ts'
import { tableOf } from '../../preset.ts'
import { defaults } from '../../settings/defaults.ts'
import { collectorName, otlpOf, postOtlp, type OtlpBody } from '../../telemetry/index.ts'
import type { SessionId } from '../../transcript/ids.ts'
import type { Store } from '../../transcript/store.ts'
import { print, complain, exits, fail, refuse, type Exit, type Refusal } from '../exit-codes.ts'
import { endpointOf, headersOf, isMemoryOf, resourceOf, timeoutOf } from '../telemetry/setup.ts'
import { safeLine } from '../terminal/safe-text.ts'
import { whole } from '../terminal/tables.ts'
import type { Workplace } from '../workplace/workplace.ts'

type Send = (body: OtlpBody) => Promise<string | null>
interface Target {
  readonly ok: true
  readonly name: string
  readonly send: Send
  close(): Promise<void>
}

/** `to`: an address, a file, or true for the collector of the settings. */
export async function exportOtlp(
  place: Workplace,
  store: Store,
  sessions: readonly SessionId[],
  to: string | true,
  json: boolean,
): Promise<Exit> {
  const { io, settings } = place
  const target = await targetOf(place, to)
  if (!target.ok) return complain(io, target)
  const options = {
    models: tableOf(settings),
    content: settings.telemetryContent === true,
    isMemory: isMemoryOf(place),
    resource: resourceOf(io.environment),
  }
  let spans = 0
  try {
    for (const session of sessions)
      for await (const item of otlpOf(store, session, options)) {
        if (!item.ok) return fail(io, exits.failed, item.failure.message)
        if (item.body === null) {
          io.err(`pal: session ${session} is damaged: ${safeLine(item.damage)}; the rest is exported\n`)
          continue
        }
        const why = await target.send(item.body)
        if (why !== null)
          return fail(
            io,
            exits.failed,
            `${why}, so not everything was exported. Run the command again; spans keep their ids`,
          )
        spans += item.body.spans
      }
  } finally {
    await target.close()
  }
  return print(
    io,
    json,
    { sessions, spans, to: target.name },
    () =>
      `${whole(spans)} spans of ${sessions.length === 1 ? `session ${sessions[0]}` : `${sessions.length} sessions`} sent to ${safeLine(target.name)}\n`,
  )
}

export const isAddress = (text: string): boolean => /^https?:\/\//i.test(text)

async function targetOf({ io, settings }: Workplace, to: string | true): Promise<Target | Refusal> {
  const endpoint = to === true ? endpointOf(settings, io.environment) : isAddress(to) ? to : null
  if (endpoint !== null) {
    const posting = { endpoint, headers: headersOf(io.environment) }
    const send: Send = async ({ signal, body }) => {
      const within = AbortSignal.timeout(timeoutOf(io.environment) ?? defaults.telemetry.requestMs)
      const posted = await postOtlp(posting, signal, body, within)
      return posted.ok ? null : posted.why
    }
    return { ok: true, name: collectorName(endpoint), send, close: async () => undefined }
  }
  if (to === true)
    return refuse(
      exits.usage,
      'no collector is set. Name one, or a file: pal sessions export ID --otlp http://127.0.0.1:4318',
    )
  const path = resolve(io.cwd, to)
  const opened = await attempt(`writing ${to}`, async () => ({ file: await open(path, 'wx', fileMode) }))
  if (!opened.ok)
    return refuse(
      exits.failed,
      `${opened.failure.message}. A file that is there is not overwritten; name another`,
    )
  const { file } = opened
  const send: Send = async ({ body }) => {
    const written = await attempt(`writing ${to}`, async () => ({ done: await file.appendFile(`${body}\n`) }))
    return written.ok ? null : written.failure.message
  }
  return { ok: true, name: path, send, close: () => file.close() }
}
/** What was said may be in it, where content is switched on. */
const fileMode = 0o600
