// Two processes that write to each other while one of them is killed every so often, until all has come; and what their
// transcripts say of it afterwards. The test and the long bench run the same.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ChildProcess } from 'node:child_process'
import { fileStore } from '../../src/stores/index.ts'
import { isKnown } from '../../src/transcript/fact.ts'
import { sessionId } from '../../src/transcript/ids.ts'
import { exited, linesOf, program } from '../faults/child.ts'

export interface Exchanged {
  readonly kills: number
  readonly ms: number
  /** Of each side: messages acted on, how many of them twice, how many never, and whether they came in order. */
  readonly sides: readonly {
    readonly name: string
    readonly acted: number
    readonly twice: number
    readonly lost: number
    readonly inOrder: boolean
  }[]
  readonly notices: readonly string[]
}

const names = ['ann', 'bob'] as const
/** Time at work before a kill, and how soon it is seen to be over. */
const workMs = 200
const readyPollMs = 20
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** `entry` is the child's program, as seen from the folder of whoever is run. */
export async function exchange(
  count: number,
  killEveryMs: number,
  entry = '../agents/mail-child.ts',
): Promise<Exchanged> {
  const root = await mkdtemp(join(tmpdir(), 'pal-exchange-'))
  const child = await program(entry)
  const notices: string[] = []
  const done = new Set<string>()
  const running = new Map<string, ChildProcess>()
  /** Since when each is at work: whoever is killed before that can do nothing wrong, nor get anything done. */
  const ready = new Map<string, number>()
  /** Who has been once through all it does: every second life gets that far, however busy the machine is. */
  const passed = new Set<string>()
  const over = new AbortController()
  const keep = async (self: string, other: string): Promise<void> => {
    while (!over.signal.aborted) {
      const one = child.run(root, self, other, String(count))
      running.set(self, one)
      for await (const line of linesOf(one)) {
        if (line === 'ready') {
          ready.set(self, performance.now())
          passed.delete(self)
        }
        if (line === 'passed') passed.add(self)
        if (line === 'done') done.add(self)
        if (line.startsWith('notice ')) notices.push(line)
      }
      const code = await exited(one)
      if (code !== null && code !== 0) throw new Error(`${self} broke off`)
    }
  }
  const startedAt = performance.now()
  const lives = Promise.all([keep(names[0], names[1]), keep(names[1], names[0])])
  let kills = 0
  const killing = (async () => {
    while (done.size < names.length) {
      await pause(killEveryMs)
      const next = (): string | undefined =>
        [names[kills % 2]!, names[(kills + 1) % 2]!].find(
          (name) =>
            performance.now() - (ready.get(name) ?? Infinity) > workMs &&
            (passed.has(name) || Math.floor(kills / 2) % 2 === 0),
        )
      while (next() === undefined && done.size < names.length) await pause(readyPollMs)
      const name = next()
      if (name === undefined || done.size === names.length) continue
      ready.delete(name)
      if (running.get(name)?.kill('SIGKILL') === true) kills++
    }
  })()
  try {
    await Promise.race([killing, lives])
    over.abort()
    for (const one of running.values()) one.kill('SIGKILL')
    await lives
    const ms = performance.now() - startedAt
    const sides = await Promise.all(names.map((name, at) => sideOf(root, name, names[1 - at]!, count)))
    return { kills, ms, sides, notices }
  } finally {
    over.abort()
    for (const one of running.values()) one.kill('SIGKILL')
    await rm(root, { recursive: true, force: true })
    await child.remove()
  }
}

async function sideOf(root: string, name: string, other: string, count: number) {
  const ids: string[] = []
  for await (const item of fileStore({ root: join(root, 'sessions') }).read(sessionId(name))) {
    if (item.kind !== 'entry' || !isKnown(item.entry)) continue
    const { fact } = item.entry
    if (fact.type === 'attachment' && fact.id !== undefined) ids.push(fact.id)
  }
  const wanted = Array.from({ length: count }, (_, at) => `${other}-${at}`)
  const known = new Set(ids)
  return {
    name,
    acted: ids.length,
    twice: ids.length - known.size,
    lost: wanted.filter((id) => !known.has(id)).length,
    inOrder: ids.every((id, at) => id === wanted[at]),
  }
}
