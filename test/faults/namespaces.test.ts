// A lock seen from other name spaces: a process number means nothing there, and the name of the host can change.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Store } from '../../src/transcript/store.ts'
import { exited, linesOf, program, type Program } from './child.ts'
import { lease, session, storeFolder, type StoreFolder } from './store-folder.ts'

const works = (...args: readonly string[]): boolean => {
  try {
    execFileSync('unshare', [...args, 'true'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
const hostNamed = ['--user', '--map-root-user', '--uts']
const numbered = ['--user', '--map-root-user', '--pid', '--fork', '--kill-child', '--mount-proc']
const canName = works(...hostNamed)
const canNumber = works(...numbered)
if (!canName || !canNumber) console.log('name spaces: unshare is not allowed here; these tests are skipped')

/** The epoch under which the session could be taken, or who has it. */
async function takenBy(store: Store): Promise<unknown> {
  const outcome = await store.lease(session)
  if (!outcome.ok) return outcome
  await store.release(outcome.lease)
  return outcome.lease.epoch
}

describe('a lock and other name spaces', () => {
  let writer: Program
  let at: StoreFolder
  const children: ChildProcess[] = []
  beforeAll(async () => {
    writer = await program('writer-child.ts')
  })
  afterAll(() => writer.remove())
  beforeEach(async () => {
    at = await storeFolder()
  })
  afterEach(async () => {
    for (const child of children.splice(0)) {
      child.kill('SIGKILL')
      await exited(child)
    }
    await at.end()
  })

  /** A holder of the session behind `unshare`, with the lines it says. */
  const holder = async (...before: readonly string[]) => {
    const child = spawn('unshare', [...before, process.execPath, writer.file, 'hold', at.root], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    children.push(child)
    const lines = linesOf(child)[Symbol.asyncIterator]()
    expect((await lines.next()).value).toBe('held')
    return { child, lines }
  }

  it.runIf(canName)('[T14] a dead holder is known after the host has changed its name', async () => {
    const { child } = await holder(...hostNamed, 'sh', '-c', 'hostname other; exec "$@"', 'sh')
    const taken = await at.store().lease(session)
    expect(taken).toMatchObject({ ok: false, why: 'taken', owner: { host: 'other' } })
    child.kill('SIGKILL')
    await exited(child)
    expect(await takenBy(at.store())).toBe(2)
  })

  it.runIf(canNumber)(
    '[T14] a living holder in another name space of numbers is not robbed, a dead one is',
    async () => {
      const { child, lines } = await holder(...numbered)
      expect(await at.store().lease(session)).toMatchObject({ ok: false, why: 'taken' })
      child.stdin!.write('go\n')
      expect((await lines.next()).value).toBe('ok')
      child.kill('SIGKILL')
      // The first of the numbers dies with the one that made them.
      for await (const line of { [Symbol.asyncIterator]: () => lines }) expect(line).toBe('')
      expect(await takenBy(at.store())).toBe(2)
    },
  )

  it.runIf(canNumber)(
    '[T14] and the other way round: from inside, the holder outside is not robbed',
    async () => {
      const { lease: held } = await lease(at.store())
      expect(held.epoch).toBe(1)
      const child = spawn('unshare', [...numbered, process.execPath, writer.file, 'take', at.root], {
        stdio: ['pipe', 'pipe', 'inherit'],
      })
      children.push(child)
      const { value } = await linesOf(child)[Symbol.asyncIterator]().next()
      expect(value).toBe('taken')
    },
  )
})
