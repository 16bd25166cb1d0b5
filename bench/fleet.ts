// A fleet under faults: sessions on worker processes against the simulator, while workers and the server are killed, stopped and
// cut off. Everything is counted from outside: what the simulator billed, what the database kept.
//   npm run bench -- fleet [--sessions 1000] [--workers 8] [--minutes 10] [--inputs 3] [--quiet-faults]
//   npm run bench -- fleet --idle 10000      the claim with many idle sessions
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { readFileSync } from 'node:fs'
import { idleClaims } from './fleet/idle.ts'
import { faultRun } from './fleet/run.ts'
import { skipReason, startServer } from '../test/postgres/server.ts'

const { values } = parseArgs({
  allowPositionals: true,
  strict: false,
  options: {
    sessions: { type: 'string', default: '1000' },
    workers: { type: 'string', default: '8' },
    minutes: { type: 'string', default: '10' },
    inputs: { type: 'string', default: '3' },
    idle: { type: 'string' },
    calm: { type: 'boolean', default: false },
    size: { type: 'string' },
  },
})

if (skipReason !== null) {
  process.stdout.write(`fleet: not run: ${skipReason}\n`)
  process.exit(0)
}
const cores = readFileSync('/proc/cpuinfo', 'utf8').match(/^processor/gm)?.length ?? 0
const load = readFileSync('/proc/loadavg', 'utf8').split(' ')[0]
const version = spawnSync('node', ['--version'], { encoding: 'utf8' }).stdout.trim()
process.stdout.write(`fleet: ${cores} cores, load ${load} at the start, Node ${version}\n`)
const server = await startServer({ max_connections: '300', shared_buffers: '128MB', max_wal_size: '2GB' })
try {
  // A small run for those who only want to see that it works.
  const isSmall = values['size'] !== undefined
  if (values['idle'] !== undefined) await idleClaims(server, Number(values['idle']))
  else
    await faultRun(server, {
      sessions: isSmall ? 12 : Number(values['sessions']),
      workers: isSmall ? 2 : Number(values['workers']),
      minutes: isSmall ? 0.2 : Number(values['minutes']),
      inputs: isSmall ? 2 : Number(values['inputs']),
      isCalm: values['calm'] === true,
    })
} finally {
  await server.stop()
}
