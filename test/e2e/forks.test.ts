// Forks: children on a parent's prefix. The judge's cache says whether the bytes are the same.
import { describe, expect, it } from 'vitest'
import { createEngine, fileStore, inMemoryStore, type EngineOptions, type Session } from '../../src/index.ts'
import { call, text, type LoggedRequest } from '../../src/simulator/index.ts'
import { restriction } from '../../src/tools/permission/pipeline.ts'
import type { ReadFiles, Tool } from '../../src/tools/tool.ts'
import {
  factsOf,
  folder,
  later,
  modelId,
  ofType,
  refusals,
  simulated,
  tool,
  turn,
  words,
  type SimulatedApi,
} from './simulated.ts'
import { until } from '../until.ts'

const system = words(1500, 'rule')

async function opened(scene: SimulatedApi, options: Partial<EngineOptions> = {}): Promise<Session> {
  const session = await createEngine({
    store: inMemoryStore(),
    modelId,
    model: scene.model,
    system,
    tools: [tool('look', () => 'seen')],
    ...options,
  }).open()
  later(() => session.close())
  return session
}

const withoutMarks = (request: LoggedRequest | undefined): string =>
  JSON.stringify(request?.body, (key, value: unknown) => (key === 'cache_control' ? undefined : value))
const messages = (request: LoggedRequest | undefined): readonly unknown[] =>
  (JSON.parse(withoutMarks(request)) as { messages: readonly unknown[] }).messages

describe('a fork', () => {
  it('[C1] begins with its parent’s bytes, reads them all from the cache and writes nothing', async () => {
    const scene = await simulated([words(1200), 'summary', 'two'])
    const session = await opened(scene)
    await turn(session.send('first'))
    const outcome = await session.fork({ purpose: 'summary', directive: 'sum up' })
    expect(outcome).toMatchObject({ outcome: 'done', text: 'summary', failure: null })
    const [parent, child] = scene.simulator.log.requests
    expect(messages(child).slice(0, messages(parent).length)).toEqual(messages(parent))
    expect(child!.usage).toMatchObject({
      cache_read_input_tokens: parent!.usage!.cache_creation_input_tokens,
      cache_creation_input_tokens: 0,
    })
    // The parent's next request is none the wiser.
    await turn(session.send('second'))
    const next = scene.simulator.log.last()!
    expect(messages(next).slice(0, messages(parent).length)).toEqual(messages(parent))
    expect(next.usage!.cache_read_input_tokens).toBe(parent!.usage!.cache_creation_input_tokens)
    expect(refusals(scene)).toEqual([])
  })

  it('[F1] keeps every tool in its list and refuses to run them, or those it is told to refuse', async () => {
    const ran: string[] = []
    const names = ['look', 'touch']
    const tools = names.map((name) => tool(name, () => (ran.push(name), `${name} done`)))
    const both = [call('look', {}), call('touch', {})]
    const scene = await simulated(['one', both, 'refused twice', both, 'one of two'])
    const session = await opened(scene, { tools })
    await turn(session.send('first'))
    await session.fork({ purpose: 'a', directive: 'try' })
    expect(ran).toEqual([])
    const judges = [restriction('test', ({ name }) => (name === 'touch' ? 'only look' : null))]
    await session.fork({ purpose: 'b', directive: 'try', judges })
    expect(ran).toEqual(['look'])
    const lists = scene.simulator.log.requests.map((request) =>
      (request.body as { tools: { name: string }[] }).tools.map((each) => each.name),
    )
    expect(lists).toEqual(lists.map(() => names))
    expect(JSON.stringify(scene.simulator.log.last()?.body)).toContain('only look')
    expect(refusals(scene)).toEqual([])
  })

  it('[F2] of parallel ones only the last block differs: open calls get the same placeholder in each', async () => {
    const scene = await simulated([
      [text('dividing the work'), call('spawn', {}), call('spawn', {})],
      'a',
      'b',
      'c',
      'done',
    ])
    const forked: Promise<unknown>[] = []
    const spawn: Tool = tool('spawn', async () => {
      if (forked.length > 0) return 'nothing'
      for (const name of ['one', 'two', 'three'])
        forked.push(session.fork({ purpose: 'agent', directive: `work on ${name}`, writesCache: true }))
      await Promise.all(forked)
      return 'all came back'
    })
    const session = await opened(scene, { tools: [spawn] })
    expect((await turn(session.send('divide'))).outcome).toBe('done')
    const children = scene.simulator.log.bySource('agent')
    expect(children.length).toBe(3)
    const [first, ...others] = children.map((child) => messages(child))
    const last = (list: readonly unknown[] | undefined) => list!.at(-1) as { content: { type: string }[] }
    for (const other of others) {
      expect(other.slice(0, -1)).toEqual(first!.slice(0, -1))
      expect(last(other).content.slice(0, -1)).toEqual(last(first).content.slice(0, -1))
      expect(last(other).content.at(-1)).not.toEqual(last(first).content.at(-1))
    }
    expect(last(first).content.map((block) => block.type)).toEqual(['tool_result', 'tool_result', 'text'])
    expect(refusals(scene)).toEqual([])
  })

  it('[F3] copies what can change: files the child reads stay the child’s', async () => {
    const seen: [string, ReadFiles][] = []
    const read: Tool = {
      ...tool('read', () => ''),
      run: (input, env) => {
        const path = String(input['path'])
        seen.push([path, env.readFiles])
        env.readFiles.set(path, { sha256: '', mtimeMs: 0, bytes: 0, part: null, callId: env.callId })
        return Promise.resolve({ content: [{ type: 'text', text: 'read' }], isError: false })
      },
    }
    const scene = await simulated([
      [call('read', { path: 'a' })],
      'one',
      [call('read', { path: 'b' })],
      'two',
    ])
    const session = await opened(scene, { tools: [read] })
    await turn(session.send('read a'))
    await session.fork({ purpose: 'agent', directive: 'read b', judges: [] })
    const [mine, childs] = seen.map(([, files]) => files.entries().map(([path]) => path))
    expect(mine).toEqual(['a'])
    expect(childs).toEqual(['a', 'b'])
  })

  it('[F4] ends with its parent’s turn and with its session, and never the other way round', async () => {
    const scene = await simulated(['one', [call('spawn', {})], 'slow child', 'after', 'slow again'], {
      faults: [
        { at: 3, fault: { kind: 'hang' } },
        { at: 4, fault: { kind: 'hang' } },
      ],
    })
    const asked = (requests: number): Promise<void> =>
      until(() => scene.simulator.log.requests.length === requests, `request ${requests}`)
    const outcomes: string[] = []
    const abort = new AbortController()
    const spawn: Tool = tool('spawn', async () => {
      void asked(3).then(() => abort.abort())
      outcomes.push((await session.fork({ purpose: 'agent', directive: 'work' })).outcome)
      return 'back'
    })
    const session = await opened(scene, { tools: [spawn] })
    await turn(session.send('first'))
    expect((await turn(session.send('spawn', abort.signal))).outcome).toBe('aborted')
    expect(outcomes).toEqual(['aborted'])
    // The child alone is stopped: the parent talks on.
    const alone = await turn(
      (async function* () {
        const stop = new AbortController()
        const child = session.fork({ purpose: 'agent', directive: 'alone' }, stop.signal)
        await asked(4)
        stop.abort()
        expect((await child).outcome).toBe('aborted')
        scene.simulator.faults.clear()
        yield* session.send('third')
      })(),
    )
    expect(alone.outcome).toBe('done')
    // Closing the session stops what still runs beside it.
    scene.simulator.faults.add({ at: () => true, fault: { kind: 'hang' } })
    const running = session.fork({ purpose: 'agent', directive: 'to the end' })
    await asked(6)
    await session.close()
    expect((await running).outcome).toBe('aborted')
    expect(refusals(scene)).toEqual([])
  })

  it('[F6] of a resumed session marks where the last request ended, and its own transcript resumes by its lineage', async () => {
    const scene = await simulated([words(1200), 'from the fork', 'the fork goes on', 'the parent too'])
    const root = await folder()
    const options = (): EngineOptions => ({
      store: fileStore({ root }),
      modelId,
      model: scene.model,
      system,
      tools: [tool('look', () => 'seen')],
    })
    const session = await createEngine(options()).open()
    await turn(session.send('first'))
    await session.close()
    const again = await createEngine(options()).open(session.id)
    const outcome = await again.fork({ purpose: 'agent', directive: 'work' })
    const [parent, child] = scene.simulator.log.requests
    expect(child!.usage).toMatchObject({
      cache_read_input_tokens: parent!.usage!.cache_creation_input_tokens,
      cache_creation_input_tokens: 0,
    })
    await turn(again.send('meanwhile'))
    await again.close()
    const engine = createEngine(options())
    const forked = await engine.open(outcome.session!)
    expect((await turn(forked.send('go on'))).outcome).toBe('done')
    const shown = JSON.stringify([...forked.view().messages])
    expect(shown).toContain('lorem')
    expect(shown).toContain('from the fork')
    expect(shown).not.toContain('meanwhile')
    expect(forked.spent().requests).toBe(2)
    await forked.close()
    const ends = ofType(await factsOf(options().store, session.id), 'fork-end')
    expect(ends).toMatchObject([{ child: outcome.session, outcome: 'done', text: 'from the fork' }])
    expect((await engine.remove(session.id)).ok).toBe(false)
    expect(refusals(scene)).toEqual([])
  })

  it('[E1] of a closed session is refused', async () => {
    const scene = await simulated(['one'])
    const session = await opened(scene)
    await turn(session.send('first'))
    await session.close()
    await session.close()
    const late = await session.fork({ purpose: 'agent', directive: 'too late' })
    expect(late).toMatchObject({ outcome: 'failed', session: null, failure: { code: 'closed' } })
    expect(scene.simulator.log.requests.length).toBe(1)
  })
})
