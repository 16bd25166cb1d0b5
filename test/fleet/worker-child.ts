// A worker as a process of its own, for tests and benches that kill it. What it does is told on stdout, one line of JSON each.
import { parseArgs } from 'node:util'
import { runWorker } from '../../src/fleet/index.ts'
import { encode } from '../../src/transcript/codec.ts'
import { engineOver, fleetOn, modelAt } from './fleet.ts'
import { sumOf } from './steps.ts'

const { values } = parseArgs({
  options: {
    simulator: { type: 'string' },
    lease: { type: 'string', default: '3000' },
    sessions: { type: 'string', default: '8' },
    connections: { type: 'string', default: '6' },
    patience: { type: 'string', default: '60000' },
    acknowledged: { type: 'boolean', default: false },
  },
})
const leaseMs = Number(values.lease)
const fleet = fleetOn(process.env['PAL_DATABASE_URL']!, {
  leaseMs,
  renewMs: leaseMs / 4,
  connections: Number(values.connections),
  patienceMs: Number(values.patience),
  answerMs: 5000,
})
const stop = new AbortController()
process.on('SIGTERM', () => stop.abort())
const say = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`)
// What was acknowledged is said before anything acts on it, so that a bench can look for it afterwards.
const append = fleet.store.append.bind(fleet.store)
if (values.acknowledged)
  fleet.store.append = async (...given) => {
    const done = await append(...given)
    const [{ session }, entries, from] = given
    if (done.ok)
      say({ type: 'acknowledged', session, from, sums: entries.map((entry) => sumOf(encode(entry))) })
    return done
  }
say({ at: Date.now(), type: 'ready' })
await runWorker(
  {
    ...fleet,
    openEngine: engineOver(fleet, modelAt(values.simulator!)),
    leaseMs,
    sessions: Number(values.sessions),
    mostTries: 1000,
    tell: (event) => say({ at: Date.now(), ...event }),
  },
  stop.signal,
)
await fleet.close()
say({ at: Date.now(), type: 'stopped' })
