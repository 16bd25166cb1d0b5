// A process that writes, for tests that kill it, pause it or let it meet others.
//   write <root> <bytes>      appends without end and says each acknowledged place
//   contend <root> <times>    takes the session, appends one entry, gives it back, so many times
//   take <root>               says how taking the session ends
//   hold <root>               takes the session, then appends one entry for every line it is told
import { createInterface } from 'node:readline'
import { machineProcesses } from '../../src/disk/processes.ts'
import { fileStore } from '../../src/stores/index.ts'
import { noteEntry } from '../../src/testing/store-steps.ts'
import { seq, sessionId } from '../../src/transcript/ids.ts'

const [mode, root, amount] = process.argv.slice(2)
const session = sessionId('s')
// PAL_TEST_MACHINE: says that it runs on another machine, which has the name of this one, and gives signs of life quickly.
const machine = process.env['PAL_TEST_MACHINE']
const processes = {
  ...machineProcesses,
  self: async () => ({ ...(await machineProcesses.self()), boot: machine!, machine: machine! }),
  repeat: (_: number, run: () => void) => machineProcesses.repeat(50, run),
}
const store = fileStore({
  root: root!,
  fsync: 'none',
  ...(machine === undefined ? {} : { machine: { processes } }),
})
const say = (text: string): boolean => process.stdout.write(`${text}\n`)

async function write(bytes: number): Promise<void> {
  const held = await store.lease(session)
  if (!held.ok) throw new Error(JSON.stringify(held))
  for (let place = (held.next ?? 0) as number; ; place++) {
    const outcome = await store.append(held.lease, [noteEntry(place, 'x'.repeat(bytes))], seq(place), 'now')
    if (!outcome.ok) throw new Error(JSON.stringify(outcome))
    say(`ack ${place}`)
  }
}

async function contend(times: number): Promise<void> {
  for (let left = times; left > 0;) {
    const held = await store.lease(session)
    if (!held.ok) {
      if (held.why === 'failed' && held.failure.code !== 'busy') throw new Error(JSON.stringify(held))
      await new Promise((resolve) => setTimeout(resolve, 2))
      continue
    }
    const place = held.next ?? seq(0)
    const outcome = await store.append(held.lease, [noteEntry(place, String(process.pid))], place, 'none')
    if (!outcome.ok) throw new Error(JSON.stringify(outcome))
    say(`ack ${place}`)
    await store.release(held.lease)
    left--
  }
}

async function hold(): Promise<void> {
  const held = await store.lease(session)
  if (!held.ok) throw new Error(JSON.stringify(held))
  say('held')
  let place = (held.next ?? 0) as number
  for await (const _ of createInterface({ input: process.stdin })) {
    const outcome = await store.append(held.lease, [noteEntry(place, 'held')], seq(place), 'now')
    if (outcome.ok) place++
    say(outcome.ok ? 'ok' : outcome.why)
  }
}

async function take(): Promise<void> {
  const held = await store.lease(session)
  say(held.ok ? 'ok' : held.why)
}

if (mode === 'take') await take()
else await (mode === 'write' ? write(Number(amount)) : mode === 'contend' ? contend(Number(amount)) : hold())
