// One of two processes that write to each other: `mail-child ROOT SELF OTHER COUNT`. It is a session on disk that sends
// COUNT messages and takes what comes by the engine's own delivery. Killed at any moment and started again it goes on.
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { machineFileSystem } from '../../src/disk/fs.ts'
import { machineProcesses } from '../../src/disk/processes.ts'
import { replaceFile } from '../../src/disk/replace.ts'
import { deliverBackground } from '../../src/engine/background/deliver.ts'
import { Core } from '../../src/engine/core.ts'
import { resume } from '../../src/engine/opening/resume.ts'
import { ready } from '../../src/engine/options.ts'
import { runFork } from '../../src/engine/fork.ts'
import { main } from '../../src/engine/role.ts'
import { newState } from '../../src/engine/state.ts'
import { companionOf, Inbox } from '../../src/forks/agents/inbox.ts'
import { createDirectory } from '../../src/forks/mailbox/directory.ts'
import { fileStore } from '../../src/stores/index.ts'
import { seq, sessionId, systemIds } from '../../src/transcript/ids.ts'

const [root = '', self = '', other = '', wanted = '0'] = process.argv.slice(2)
const count = Number(wanted)
const journal = join(root, `sent-${self}`)
/** Sends that may be repeated after a kill; each is known by its id. */
const stride = 16

const fail = (what: string): never => {
  throw new Error(what)
}
const ids = systemIds()
const ports = { fs: machineFileSystem, now: () => Date.now(), unique: () => ids.uuid() }
const directory = createDirectory(join(root, 'mail'), { ...ports, processes: machineProcesses })
const inbox = new Inbox()
const session = sessionId(self)
const store = fileStore({ root: join(root, 'sessions') })
const options = ready({ store, modelId: 'none', companion: companionOf(() => inbox) })

async function open(): Promise<Core> {
  const leased = await store.lease(session)
  if (!leased.ok) return fail(`the session is not to be had: ${JSON.stringify(leased)}`)
  const links = [{ session, from: seq(0), to: seq(Number.MAX_SAFE_INTEGER) }]
  const parts = { options, session, source: 'main', role: main, fork: runFork, lease: leased.lease, links }
  if (leased.next === null) {
    const core = new Core({ ...parts, state: newState() })
    await core.append([{ type: 'session-start', session, purpose: 'main' }])
    return core
  }
  const resumed = await resume(store, session, options.models)
  return resumed.ok ? new Core({ ...parts, state: resumed }) : fail(resumed.failure.message)
}

/** What was sent is written whole or not at all: a sender that forgets it would send what nobody remembers any more. */
async function keepSent(sent: number): Promise<void> {
  const bytes = new TextEncoder().encode(String(sent))
  const kept = await replaceFile(machineFileSystem, journal, bytes, { mode: 0o600, unique: ports.unique })
  if (!kept.ok) fail(kept.failure.message)
}

await mkdir(root, { recursive: true })
const opened = await directory.open({ name: self, session: self })
if (!opened.ok) fail(opened.failure.message)
else inbox.box = Promise.resolve(opened.box)
const core = await open()
// What was delivered before is known from the transcript alone.
let received = [...core.state.fold.parts()].length
let sent = Number(await readFile(journal, 'utf8').catch(() => '0')) || 0
process.stdout.write('ready\n')

let isTold = false
let hasPassed = false
for (;;) {
  const far = await directory.boxOf(other)
  for (let at = 0; far.ok && at < stride && sent < count; at++) {
    const posted = await far.box.post({
      id: `${self}-${sent}`,
      from: { name: self, session: self },
      to: other,
      kind: 'message',
      summary: `number ${sent}`,
      text: `message ${sent}`,
      at: Date.now(),
    })
    if (!posted.ok && posted.failure.code === 'box-full') break
    if (!posted.ok) fail(posted.failure.message)
    sent++
  }
  if (sent < count || !isTold) await keepSent(sent)
  const before = core.transcript.tail.next
  const notices: string[] = []
  const failure = await deliverBackground(core, (event) => {
    if (event.type === 'notice') notices.push(event.message)
  })
  if (failure !== null) fail(failure.message)
  for (const notice of notices) process.stdout.write(`notice ${notice}\n`)
  // Nothing else is written here than what was delivered.
  received += core.transcript.tail.next - before
  const isDone = sent >= count && received >= count
  if (isDone && !isTold) process.stdout.write('done\n')
  isTold ||= isDone
  if (!hasPassed) process.stdout.write('passed\n')
  hasPassed = true
  if (isDone || sent >= count) await new Promise((resolve) => setTimeout(resolve, 20))
}
