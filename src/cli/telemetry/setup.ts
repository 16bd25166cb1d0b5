// Where telemetry goes and what is said of this program there: from the user's or managed settings and the variables that
// OpenTelemetry has for it. A project decides none of it. Small, and read at every start: it loads nothing.
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { memoryPlaces } from '../../memory/place.ts'
import type { Settings } from '../../settings/schema.ts'

type Environment = Readonly<Record<string, string | undefined>>

declare const PAL_VERSION: string | undefined
const version = typeof PAL_VERSION === 'string' ? PAL_VERSION : '0'

const off = 'off'

/** The collector, or null where telemetry is off. */
export function endpointOf({ telemetry }: Settings, environment: Environment): string | null {
  if (telemetry === undefined || telemetry === off) return null
  return environment['OTEL_SDK_DISABLED']?.trim().toLowerCase() === 'true' ? null : telemetry
}

/** `name=value,…`, values as in an address. */
function pairsOf(text: string | undefined): Readonly<Record<string, string>> {
  const pairs = (text ?? '').split(',').flatMap((pair) => {
    const at = pair.indexOf('=')
    const name = at < 0 ? '' : pair.slice(0, at).trim()
    return name === '' ? [] : [[name, decoded(pair.slice(at + 1).trim())] as const]
  })
  return Object.fromEntries(pairs)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export const headersOf = (environment: Environment): Readonly<Record<string, string>> =>
  pairsOf(environment['OTEL_EXPORTER_OTLP_HEADERS'])

/** How long a collector may take, also at the end of the program; left out, as by default. */
export function timeoutOf(environment: Environment): number | undefined {
  const ms = Number(environment['OTEL_EXPORTER_OTLP_TIMEOUT']?.trim() ?? '')
  return Number.isSafeInteger(ms) && ms > 0 ? Math.min(ms, longestMs) : undefined
}
const longestMs = 600_000

export function resourceOf(environment: Environment, instance?: string) {
  const { 'service.name': named, ...more } = pairsOf(environment['OTEL_RESOURCE_ATTRIBUTES'])
  const service = environment['OTEL_SERVICE_NAME']?.trim() ?? ''
  return { service: service === '' ? (named ?? 'pal') : service, version, instance, more }
}

/** Whether a path is that of a memory of this user or project. */
export function isMemoryOf(place: {
  readonly home: string
  readonly project: { readonly root: string; readonly slug: string }
  readonly settings: Settings
  readonly io: { readonly environment: Environment; readonly userHome: string; readonly cwd: string }
}): (path: string) => boolean {
  const { home, project, settings, io } = place
  const placed = memoryPlaces({
    home,
    userHome: io.userHome,
    slug: project.slug,
    projectRoot: project.root,
    environment: io.environment,
    directory: settings.memoryDirectory,
  })
  if (!placed.ok) return () => false
  const roots = Object.values(placed.places).map(({ root }) => root)
  return (path) => roots.some((root) => isInside(root, resolve(project.root, path)))
}

function isInside(root: string, path: string): boolean {
  const way = relative(root, path)
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}
