// What a gateway keeps is bounded: on the disk by age and size, in memory by number; what a living conversation names stays.
import { existsSync, readdirSync, readFileSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Recorder } from '../../src/gateway/index.ts'
import { toPrune } from '../../src/gateway/segments.ts'
import { Recent } from '../../src/gateway/recent.ts'
import { defaults } from '../../src/settings/defaults.ts'
import { createManualClock } from '../../src/simulator/index.ts'
import { fileStore } from '../../src/stores/index.ts'
import { isKnown } from '../../src/transcript/fact.ts'
import { sessionId, systemClock, systemIds } from '../../src/transcript/ids.ts'
import type { Store } from '../../src/transcript/store.ts'
import { until } from '../until.ts'
import {
  answers,
  asking,
  calls,
  gives,
  messageOf,
  replies,
  says,
  startUpstream,
  type Upstream,
} from './upstream.ts'
import { lines, newWorld, send, type World } from './world.ts'

let world: World
let behind: Upstream
beforeEach(async () => {
  world = newWorld()
  behind = await startUpstream((_asked, response) => answers(response, messageOf('ok')))
})
afterEach(async () => {
  await world.end()
  await behind.stop()
})

const keptFiles = (): readonly string[] =>
  readdirSync(world.folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.includes('/kept/') && name.endsWith('.txt'))
    .map((name) => join(world.folder, name))
const days = (count: number): Date => new Date(Date.now() - count * 24 * 60 * 60_000)

describe('what is kept', () => {
  it('[GW30] goes when its conversation has not gone on for long, and stays while it does', async () => {
    const first = await world.gateway(behind.url)
    const list = [says('go'), calls('a'), gives('a', lines(40_000, 1))]
    await send(`${first.url}/v1/messages`, asking(list))
    await send(
      `${first.url}/v1/messages`,
      asking([says('another'), calls('a'), gives('a', lines(40_000, 2))]),
    )
    await first.stop()
    expect(keptFiles()).toHaveLength(2)
    for (const file of keptFiles()) utimesSync(file, days(29), days(29))
    const second = await world.gateway(behind.url)
    // The first conversation goes on after all this time: what it names is in use again.
    await send(`${second.url}/v1/messages`, asking([...list, replies('ok'), says('and now?')]))
    const named = /in the file ([^:]+):/u.exec(behind.got.at(-1)!.body)![1]!
    await second.stop()
    const other = keptFiles().find((file) => file !== named)!
    utimesSync(other, days(31), days(31))
    const third = await world.gateway(behind.url)
    await until(() => !existsSync(other), 'the unused one to go')
    await third.stop()
    expect(keptFiles()).toEqual([named])
  })

  it('[GW30] is pruned oldest first where it is too much, and never what was used within a day', () => {
    const dayMs = 24 * 60 * 60_000
    const now = 100 * dayMs
    const files = [1, 40, 3, 20, 0.5].map((age, at) => ({
      path: `f${at}`,
      bytes: 1000,
      usedAt: now - age * dayMs,
    }))
    const gone = (keptBytes: number): readonly string[] =>
      toPrune(files, { ...defaults.gateway, keptBytes }, now).map(({ path }) => path)
    expect(gone(10_000)).toEqual(['f1'])
    expect(gone(3000)).toEqual(['f1', 'f3'])
    expect(gone(0)).toEqual(['f1', 'f3', 'f2'])
  })

  it('[GW34] what was decided goes with the days of its last use, a file at a time, and stays while a conversation goes on', async () => {
    const day = 24 * 60 * 60_000
    const clock = createManualClock(1000 * day)
    const list = [says('go'), calls('a'), gives('a', lines(40_000, 1))]
    const other = asking([says('another'), calls('a'), gives('a', lines(40_000, 2))])
    const segments = (): readonly string[] =>
      readdirSync(join(world.folder, 'gateway'), { recursive: true, encoding: 'utf8' })
        .filter((name) => /edits-\d+\.jsonl$/u.test(name))
        .toSorted()
    const first = await world.gateway(behind.url, { clock })
    await send(`${first.url}/v1/messages`, other)
    for (let round = 0; round < 6; round++) {
      await send(`${first.url}/v1/messages`, asking(list))
      list.push(replies('ok'), says(`and now ${round}?`))
      clock.advance(12 * day)
    }
    await first.stop()
    const before = segments()
    const second = await world.gateway(behind.url, { clock })
    await until(() => segments().length < before.length, 'the oldest to go')
    expect(segments()[0]).not.toBe(before[0])
    await send(`${second.url}/v1/messages`, asking(list))
    const short = behind.got.slice(1).map(({ body }) => body)
    expect(short).toHaveLength(7)
    // The one that went on is sent as it was; the one that did not is decided anew.
    for (const body of short) expect(body.startsWith(short[0]!.slice(0, -2))).toBe(true)
    await second.stop()
    const kept = segments().map((name) => readFileSync(join(world.folder, 'gateway', name), 'utf8'))
    expect(kept.join('')).not.toContain('line 0 of result 2')
    expect(kept.join('')).toContain('line 0 of result 1')
  })

  it('[GW30] in memory is what was used last', () => {
    const recent = new Recent<number>(2)
    recent.set('a', 1)
    recent.set('b', 2)
    recent.set('a', 3)
    expect(recent.set('c', 4)).toBe('b')
    expect([...recent.entries()]).toEqual([
      ['a', 3],
      ['c', 4],
    ])
  })

  it('[GW30] more sessions than are open at once are all recorded, and go on', async () => {
    const gateway = await world.gateway(behind.url)
    const talk = (at: number) => [says(`conversation ${at}`), replies('ok'), says('on')]
    for (let at = 0; at < 70; at++) await send(`${gateway.url}/v1/messages`, asking(talk(at).slice(0, 1)))
    for (let at = 0; at < 70; at += 10) await send(`${gateway.url}/v1/messages`, asking(talk(at)))
    await gateway.stop()
    expect(world.lines).toEqual([])
    expect(gateway.savings.sessions()).toHaveLength(70)
  })

  it('[GW24] a session that goes on while it is let go waits for that, and is recorded', async () => {
    const store = fileStore({ root: join(world.folder, 'sessions') })
    let [isReleasing, open] = [false, (): void => undefined]
    const opened = new Promise<void>((resolve) => (open = resolve))
    const release: Store['release'] = async (lease) => {
      isReleasing = true
      await opened
      return store.release(lease)
    }
    const slow = new Proxy(store, {
      get: (target, name: keyof Store) =>
        name === 'release' ? release : (target[name] as () => unknown).bind(target),
    })
    const tell = (line: string): void => void world.lines.push(line)
    const recorder = new Recorder({ store: slow, clock: systemClock, ids: systemIds(), tell })
    const gateway = await world.gateway(behind.url, { recorder })
    const talk = [says('conversation 0'), replies('ok'), says('on')]
    for (let at = 0; at < 70; at++)
      await send(`${gateway.url}/v1/messages`, asking([says(`conversation ${at}`)]))
    await until(() => isReleasing)
    const { headers } = await send(`${gateway.url}/v1/messages`, asking(talk))
    open()
    await gateway.stop()
    expect(world.lines).toEqual([])
    const said: string[] = []
    for await (const item of store.read(sessionId(String(headers['x-palimpsest-session']))))
      if (item.kind === 'entry' && isKnown(item.entry)) said.push(item.entry.fact.type)
    expect(said.filter((type) => type === 'request-sent' || type === 'assistant-message')).toEqual([
      'request-sent',
      'assistant-message',
      'request-sent',
      'assistant-message',
    ])
  })
})
