// `pal simulate`: the simulator as a server of its own, for trying things without a key. Runs until it is interrupted.
import { isRecord, jsonIn } from '../../transcript/json.ts'
import { errorText } from '../../disk/failure.ts'
import { machineFileSystem } from '../../disk/fs.ts'
import { defaults } from '../../settings/defaults.ts'
import {
  createSimulator,
  recorded,
  ruleModel,
  type LoggedRequest,
  type Mode,
  type ServerName,
} from '../../simulator/index.ts'
import { complain, exits, refuse, type Exit, type Refusal } from '../exit-codes.ts'
import { readText } from '../workplace/files.ts'
import { interrupted, type Io } from '../terminal/io.ts'
import { safeLine } from '../terminal/safe-text.ts'
import { dollars, whole } from '../terminal/tables.ts'

export interface SimulateFlags {
  readonly port?: number | undefined
  readonly script?: string | undefined
  readonly recorded?: string | undefined
  readonly mode?: Mode | undefined
  readonly server?: ServerName | undefined
  readonly systemMessages?: boolean | undefined
}

export async function simulate(io: Io, flags: SimulateFlags): Promise<Exit> {
  const answerer = await answererFor(flags)
  if ('exit' in answerer) return complain(io, answerer)
  const simulator = createSimulator({
    answerer,
    heard: (request) => io.err(`${requestLine(request)}\n`),
    ...(flags.port === undefined ? {} : { port: flags.port }),
    ...(flags.server === undefined ? {} : { server: flags.server }),
    ...(flags.systemMessages === true ? { capabilities: { systemMessages: 'all' } } : {}),
  })
  const started = await simulator.start().then(
    ({ url }) => url,
    (error: unknown) => refuse(exits.failed, `it cannot listen (${errorText(error)}); choose another --port`),
  )
  if (typeof started !== 'string') return complain(io, started)
  io.out(`${started}\n`)
  io.err(
    `pal: a scripted model answers here; it understands nothing. In another terminal: ANTHROPIC_BASE_URL=${started} pal -p "PROMPT". Clients of OpenAI take ${started}/v1 as their base URL, clients of Gemini ${started}. Press Ctrl-C to stop\n`,
  )
  await interrupted(io)
  await simulator.stop()
  return exits.done
}

/** One line for each request: what came of it, and what it would have cost in tokens. */
function requestLine({
  number,
  path,
  model,
  status,
  error,
  fault,
  usage,
  bill,
  at,
  endedAt,
}: LoggedRequest): string {
  const head = `${path} #${number} ${status ?? 'cut'}${model === null ? '' : ` ${model}`}`
  const figures =
    usage === null
      ? []
      : [
          `input ${whole(usage.input_tokens)}`,
          `cache read ${whole(usage.cache_read_input_tokens ?? 0)}`,
          `cache write ${whole(usage.cache_creation_input_tokens ?? 0)}`,
          `output ${whole(usage.output_tokens)}`,
          ...(bill === null || bill.dollars === null ? [] : [dollars(bill.dollars)]),
        ]
  const parts = [
    head,
    ...(error === null ? figures : [`${error.type}: ${error.message}`]),
    ...(fault === null ? [] : [`fault: ${fault}`]),
    ...(endedAt === null ? [] : [`${endedAt - at} ms`]),
  ]
  return safeLine(parts.join(' · '))
}

type Answerer = Parameters<typeof createSimulator>[0]['answerer']

async function answererFor(flags: SimulateFlags): Promise<Answerer | Refusal> {
  if (flags.script !== undefined && flags.recorded !== undefined)
    return refuse(exits.usage, '--script and --recorded cannot be combined')
  const file = flags.script ?? flags.recorded
  if (file === undefined) return ruleModel({ mode: flags.mode })
  const read = await readText(machineFileSystem, file, defaults.cli.recordingBytes)
  if (!read.ok || read.text === null)
    return refuse(
      exits.usage,
      `${file} cannot be read${read.ok ? ': there is no such file' : ` (${read.why})`}`,
    )
  if (flags.script !== undefined) return ruleModel({ mode: flags.mode, task: read.text })
  const messages = messagesIn(read.text)
  return messages === null
    ? refuse(
        exits.usage,
        `${file} is not a list of messages; expected [{"role": "user", "content": "…"}, …] or {"messages": […]}`,
      )
    : recorded(messages)
}

function messagesIn(text: string): Parameters<typeof recorded>[0] | null {
  const value = jsonIn(text)
  const list = isRecord(value) ? value['messages'] : value
  return Array.isArray(list) && list.length > 0 ? list : null
}
