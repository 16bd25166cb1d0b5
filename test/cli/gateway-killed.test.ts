// The gateway as a process that is killed at each point of a request: a client that tries again goes on, and whatever was sent
// for a conversation is sent for it in the same bytes by the next gateway.
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { freePort } from '../free-port.ts'
import { answers, asking, calls, gives, messageOf, says, startUpstream } from '../gateway/upstream.ts'
import { lines, send } from '../gateway/world.ts'
import { openWorkspace, until, type Running } from './pal.ts'

/** Where a request is when its gateway dies. */
type Point = 'as it comes' | 'before the answer' | 'in the stream' | 'behind the answer'
const points: readonly Point[] = [
  'as it comes',
  'before the answer',
  'in the stream',
  'behind the answer',
  'as it comes',
  'in the stream',
]

describe('pal gateway, killed', () => {
  it('[GW31] G8: at each point of a request: the client goes on, the same beginning is sent in the same bytes, no file is torn', async () => {
    let [dies, kill]: [Point | null, () => void] = [null, () => undefined]
    const behind = await startUpstream((_asked, response) => {
      if (dies === 'before the answer') return kill()
      if (dies !== 'in the stream') return answers(response, messageOf('ok'))
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('event: ping\ndata: {"type":"ping"}\n\n', () => kill())
    })
    const { start, pal } = await openWorkspace({ ANTHROPIC_API_KEY: 'k-canary-123' })
    const port = await freePort()
    const url = `http://127.0.0.1:${port}/v1/messages`
    const begin = async (): Promise<Running> => {
      const gateway = await start(
        ['gateway', '--port', String(port), '--upstream', behind.url, '--level', 'trim'],
        {},
      )
      await until(async () => (await fetch(`http://127.0.0.1:${port}/`).catch(() => null))?.ok === true)
      return gateway
    }
    let gateway = await begin()
    const list = [says('go')]
    const sent = new Map<string, Set<string>>()
    for (const [round, point] of points.entries()) {
      list.push(calls(`c${round}`), gives(`c${round}`, lines(40_000, round)))
      const body = asking(list)
      const from = behind.got.length
      const { child, ended } = gateway
      dies = point
      kill = () => void child.kill('SIGKILL')
      const lost = send(url, body).catch(() => null)
      if (point === 'as it comes') setTimeout(kill, round)
      await lost
      kill()
      await ended
      dies = null
      gateway = await begin()
      const again = await send(url, body)
      expect(again.status, point).toBe(200)
      expect(again.headers['x-palimpsest'], point).toBe(
        `trim; blocks=${round + 1}; characters=-${/-(\d+)/u.exec(again.headers['x-palimpsest'] as string)![1]}`,
      )
      sent.set(body, new Set(behind.got.slice(from).map((each) => each.body)))
    }
    for (const bodies of sent.values()) expect(bodies.size).toBe(1)
    const last = behind.got.at(-1)!.body
    const named = [...last.matchAll(/in the file ([^:]+):/gu)].map(([, path]) => path!)
    expect(named).toHaveLength(points.length)
    for (const [round, path] of named.entries()) {
      expect(existsSync(path)).toBe(true)
      expect(readFileSync(path, 'utf8')).toBe(lines(40_000, round))
    }
    gateway.child.kill('SIGINT')
    await gateway.ended
    const listed = await pal(['sessions', '--json'])
    expect(listed).toMatchObject({ code: 0 })
    await behind.stop()
  })
})
