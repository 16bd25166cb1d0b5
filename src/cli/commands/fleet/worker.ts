// `pal fleet worker`: works on the sessions of one tenant until it is told to stop. Tools run in the folder it was started in, with
// this user's rights and without the address of the database.
import { unknownOf } from '../../../preset/model-choice.ts'
import { postgresMemories, postgresStore, type Queue } from '../../../postgres/index.ts'
import {
  presetEngine,
  priceIn,
  queueMetrics,
  runWorker,
  workerMetrics,
  type WorkerEvent,
} from '../../../fleet/index.ts'
import { complain, exits, fail, type Exit } from '../../exit-codes.ts'
import { loadExtensions, typesFor } from '../../extensions/load.ts'
import type { Io } from '../../terminal/io.ts'
import { safeJson, safeLine } from '../../terminal/safe-text.ts'
import { counted } from '../../terminal/tables.ts'
import type { LiveTelemetry } from '../../telemetry/live.ts'
import { telemetryFor } from '../../telemetry/start.ts'
import { noAccess } from '../../workplace/access.ts'
import { instructionRefusal, openWorkplace, sayLeftOut, showProblems } from '../../workplace/workplace.ts'
import { failedWith, readiness, withFleet, type FleetFlags, type OpenedFleet } from './open.ts'

export interface WorkerFlags extends FleetFlags {
  readonly sessions?: number | undefined
  readonly cwd?: string | undefined
}

/** Where the memories of sessions without a project lie. */
const sharedPlace = 'shared'
/** A server that restarts is waited for so long. */
const patienceMs = 60_000

export const fleetWorker = (io: Io, flags: WorkerFlags): Promise<Exit> =>
  withFleet(io, flags, (fleet) => workIn(io, flags, fleet), patienceMs)

async function workIn(io: Io, flags: WorkerFlags, fleet: OpenedFleet): Promise<Exit> {
  // The database first: without it a key is of no use.
  const ready = await reached(io, fleet)
  if (!ready.ok) return failedWith(io, ready.failure)
  const place = await openWorkplace(io, { cwd: flags.cwd })
  if (!place.ok) return complain(io, place)
  showProblems(place)
  if (place.access === null) return fail(io, exits.failed, noAccess(false, place.accessMissing))
  const unusable = unknownOf(place.settings)
  if (unusable !== null) return fail(io, exits.usage, unusable)
  const { connection, queue, budgets, tenant } = fleet
  const store = postgresStore({ connection, tenant, price: priceIn(place.settings) })
  const loaded = await loadExtensions(place)
  const agents = await typesFor(place)
  for (const problem of [...loaded.problems, ...agents.problems]) io.err(`pal: ${safeLine(problem)}\n`)
  sayLeftOut(place)
  const telemetry = await telemetryFor(place, undefined)
  const openEngine = presetEngine({
    queue,
    budgets,
    memories: ({ project }) => [
      postgresMemories({ connection, tenant, scope: 'team', place: project ?? sharedPlace }),
    ],
    preset: {
      ...place,
      agentTypes: agents.types,
      environment: io.environment,
      userHome: io.userHome,
      model: place.access,
      observe: telemetry?.observe,
      extensions: loaded.extensions,
      rules: place.loaded.rules,
      instructionRefusal: instructionRefusal(place),
    },
  })
  const stop = new AbortController()
  const stopListening = io.onInterrupt(() => stop.abort())
  io.err(
    `pal: working on sessions of tenant ${tenant} in ${safeLine(place.project.root)}. Press Ctrl-C to stop\n`,
  )
  const metrics = telemetry === null ? null : metricsOf(queue, telemetry)
  const tell = (event: WorkerEvent): void => {
    metrics?.tell(event)
    const line = lineOf(event)
    if (flags.json === true) io.out(`${safeJson({ at: Date.now(), ...event })}\n`)
    else if (line !== null) io.err(`pal: ${safeLine(line)}\n`)
  }
  await runWorker({ store, queue, openEngine, sessions: flags.sessions, tell }, stop.signal)
  await metrics?.stop()
  await telemetry?.close()
  stopListening()
  await loaded.close()
  await store.close()
  io.err('pal: stopped; every session was released\n')
  return exits.done
}

/** A server that does not answer is named at once, and only then waited for. */
async function reached(io: Io, { connection, tenant }: OpenedFleet) {
  const seen = await connection.alone((client) => client.query('select 1'))
  if (!seen.ok && seen.failure.code === 'network')
    io.err(`pal: ${safeLine(seen.failure.message)}; it is tried again for ${patienceMs / 1000} s\n`)
  return readiness(connection, tenant, 'writes')
}

function metricsOf(queue: Queue, { port }: LiveTelemetry) {
  const now = (): number => Date.now()
  const watching = queueMetrics(queue, port, now)
  return { tell: workerMetrics(port, now), stop: () => watching.stop() }
}

function lineOf(event: WorkerEvent): string | null {
  switch (event.type) {
    case 'claimed':
      return event.isTakeover ? `${event.session}: taken over from a worker that ended` : null
    case 'ended': {
      const { outcome } = event
      return outcome.kind === 'failed'
        ? `${event.session}: failed: ${outcome.failure.message}`
        : `${event.session}: ${outcome.kind}, ${counted(outcome.turns, 'turn')}`
    }
    case 'parked':
      return `${event.session}: parked: ${event.why}`
    case 'fenced-itself':
      return `${event.session}: stopped, because its lease could not be renewed`
    case 'problem':
      return event.failure.message
  }
}
