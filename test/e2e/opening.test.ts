// Opening a session: damage, sessions of a later version, a second opener, and a store that fails in the middle.
import { appendFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { machineFileSystem } from '../../src/disk/fs.ts'
import { checkpointFor, resume } from '../../src/engine/opening/resume.ts'
import {
  createEngine,
  fileStore,
  inMemoryStore,
  modelTable,
  type EngineOptions,
  type LiveEvent,
} from '../../src/index.ts'
import { call } from '../../src/simulator/index.ts'
import { expandTool } from '../../src/tools/context.ts'
import { storeWith } from '../../src/transcript/store.ts'
import { hookedFileSystem, systemError } from '../faults/hooked-fs.ts'
import {
  factsOf,
  folder,
  modelId,
  ofType,
  refusals,
  simulated,
  tool,
  turn,
  words,
  type SimulatedApi,
} from './simulated.ts'

async function filed(scene: SimulatedApi, more: Partial<EngineOptions> = {}) {
  const root = await folder()
  const options = (): EngineOptions => ({ store: fileStore({ root }), modelId, model: scene.model, ...more })
  const transcript = (id: string) => join(root, id, 'transcript.jsonl')
  return { root, options, transcript }
}

/** The line of an entry as a store would write it. */
function line(entry: Readonly<Record<string, unknown>>): string {
  const body = JSON.stringify(entry).slice(0, -1)
  return `${body},"crc":"${crc32(body).toString(16).padStart(8, '0')}"}\n`
}

describe('damage', () => {
  it('[T12] a line of forks has no longest length', async () => {
    const scene = await simulated(['one', 'two'])
    const { options } = await filed(scene)
    const engine = createEngine(options())
    let session = await engine.open()
    await turn(session.send('the very first words'))
    for (let fork = 0; fork < 70; fork++) {
      await session.close()
      expect(await engine.read(session.id)).toMatchObject({ ok: true })
      session = await engine.branch(session.id)
    }
    await session.close()
    expect(await createEngine(options()).read(session.id)).toMatchObject({ ok: true })
    const again = await createEngine(options()).open(session.id)
    expect((await turn(again.send('and on'))).outcome).toBe('done')
    expect(JSON.stringify(scene.simulator.log.last()?.body)).toContain('the very first words')
    await again.close()
  })

  it('[T12] a line of forks that comes back to itself is refused by name', async () => {
    const { options, transcript } = await filed(await simulated(['one']))
    const engine = createEngine(options())
    const session = await engine.open()
    await session.close()
    const first = { ...JSON.parse((await readFile(transcript(session.id), 'utf8')).split('\n')[0]!) }
    delete first.crc
    first.fact.parent = { session: session.id, upTo: 0 }
    await writeFile(transcript(session.id), line(first))
    await expect(createEngine(options()).open(session.id)).rejects.toMatchObject({ code: 'bad-lineage' })
  })

  it('[Z24] a kept result that was cut or changed is not shown for the one that was written', async () => {
    const long = 'a line of output\n'.repeat(20_000)
    const seen: string[] = []
    const look = (request: { messages: readonly unknown[] }): string => {
      seen.push(JSON.stringify(request.messages.at(-1)))
      return 'seen'
    }
    const ask = (id: string) => [call('Expand', { ref: 'big' }, id)]
    const scene = await simulated([
      [call('look', {}, 'big')],
      'kept',
      ...[1, 2, 3].flatMap((round) => [() => ask(`e${round}`), look as never]),
    ])
    const { root, options } = await filed(scene, {
      tools: [
        { ...tool('look', () => long), policy: { readOnly: true, results: 'keep', maxResultChars: 10_000 } },
        expandTool(),
      ],
    })
    const session = await createEngine(options()).open()
    await turn(session.send('look'))
    const blob = join(root, session.id, 'tool-results', 'big.txt')
    const whole = await readFile(blob)
    for (const bytes of [
      whole,
      whole.subarray(0, 1000),
      Buffer.from(whole.toString().replace('line', 'lime')),
    ]) {
      await writeFile(blob, bytes)
      await turn(session.send('expand it'))
    }
    await session.close()
    expect(seen[0]).toContain('a line of output')
    expect(seen[1]).toContain(`was cut since (1000 of ${whole.byteLength} bytes)`)
    expect(seen[2]).toContain('was changed since')
    expect(seen[2]).not.toContain('lime')
  })

  it('[E10] found on open is shown, written down once, and the session goes on', async () => {
    const scene = await simulated([[call('look', {})], 'one', 'two', 'three'])
    const { options, transcript } = await filed(scene, { tools: [tool('look', () => 'seen')] })
    const session = await createEngine(options()).open()
    await turn(session.send('first'))
    await session.close()
    const lines = (await readFile(transcript(session.id), 'utf8')).split('\n')
    const at = lines.findIndex((each) => each.includes('"type":"tool-result"'))
    lines[at] = lines[at]!.replace('seen', 'sEEn')
    await writeFile(transcript(session.id), lines.join('\n'))

    const told: LiveEvent[] = []
    const branching = createEngine({ ...options(), listen: (event) => told.push(event) })
    await (await branching.branch(session.id)).close()
    expect(told).toMatchObject([{ type: 'notice', code: 'damage' }])
    const engine = createEngine(options())
    const opened = await engine.openWith(session.id)
    expect(opened.damage.map(({ where, what }) => ({ where, what }))).toEqual([
      { where: `transcript.jsonl:${at + 1}`, what: 'the checksum does not fit' },
    ])
    expect((await turn(opened.session.send('second'))).outcome).toBe('done')
    await opened.session.close()
    const heard: LiveEvent[] = []
    const listening = createEngine({ ...options(), listen: (event) => heard.push(event) })
    await (await listening.open(session.id)).close()
    expect(heard).toEqual([])
    const again = await engine.openWith(session.id)
    const facts = await factsOf(options().store, session.id)
    expect(ofType(facts, 'damage-found')).toMatchObject([{ lost: [{ from: at, to: at }] }])
    expect((await turn(again.session.send('third'))).outcome).toBe('done')
    expect(JSON.stringify(scene.simulator.log.last()?.body)).toMatch(/could not be read from disk/)
    expect(refusals(scene)).toEqual([])
    await again.session.close()
  })

  it('[E10] in what a checkpoint needs is not passed over: everything is read and the loss is said', async () => {
    const scene = await simulated([words(300), 'two'])
    const { options, transcript } = await filed(scene)
    const { store } = options()
    const session = await createEngine({ ...options(), store }).open()
    await turn(session.send('first'))
    await session.close()
    // A checkpoint of a session as long as this would not be written by itself.
    const resumed = await resume(store, session.id, modelTable())
    const lease = await store.lease(session.id)
    if (!resumed.ok || !lease.ok) throw new Error('cannot be opened')
    const put = await store.putCheckpoint(lease.lease, checkpointFor(resumed))
    expect(put.ok).toBe(true)
    await store.release(lease.lease)
    const bytes = await readFile(transcript(session.id), 'utf8')
    await writeFile(transcript(session.id), bytes.replace('lorem', 'lOrem'))
    const opened = await createEngine(options()).openWith(session.id)
    expect(opened.damage.length).toBe(1)
    await opened.session.close()
  })
})

describe('a session of a later version', () => {
  it('[E11] with an edit nobody knows yet can be read and branched off, but not written', async () => {
    const scene = await simulated(['one', 'two'])
    const { options, transcript } = await filed(scene)
    const session = await createEngine(options()).open()
    await turn(session.send('first'))
    const next = session.view().upTo + 1
    await session.close()
    const uuid = '00000000-0000-7000-8000-000000000001'
    const fact = {
      type: 'view-edit',
      layer: 'x',
      asked: 'user',
      why: '',
      tokensFreed: 0,
      edits: [{ kind: 'fold-in-half' }],
    }
    await appendFile(transcript(session.id), line({ v: 1, seq: next, uuid, parent: null, at: 1, fact }))

    const engine = createEngine(options())
    await expect(engine.open(session.id)).rejects.toMatchObject({
      code: 'read-only',
      message: expect.stringContaining(`entry ${next}`) as string,
    })
    const read = await engine.read(session.id)
    expect(read.ok && read.readOnly).toContain('newer version')
    expect(read.ok && read.fold.view().messages.length).toBe(2)
    const branch = await engine.branch(session.id)
    expect((await turn(branch.send('go on here'))).outcome).toBe('done')
    await branch.close()
    // The branch stands on what was before that edit, so it opens again.
    await (await createEngine(options()).open(branch.id)).close()
    expect(refusals(scene)).toEqual([])
  })
})

describe('a second opener', () => {
  it('[T2] is told who holds the session, and can read it or branch off', async () => {
    const scene = await simulated(['one', 'from the branch', 'two'])
    const { options } = await filed(scene)
    const session = await createEngine(options()).open()
    await turn(session.send('first'))
    const second = createEngine(options())
    await expect(second.open(session.id)).rejects.toMatchObject({
      code: 'session-open',
      message: expect.stringContaining(`process ${process.pid} on`) as string,
    })
    const read = await second.read(session.id)
    expect(read.ok && read.fold.view().messages.length).toBe(2)
    const branch = await second.branch(session.id)
    expect((await turn(branch.send('elsewhere'))).outcome).toBe('done')
    expect((await turn(session.send('second'))).outcome).toBe('done')
    expect(branch.view().messages.length).toBe(4)
    expect(refusals(scene)).toEqual([])
    await branch.close()
    await session.close()
  })

  it('[E12] a session that others stand on is not deleted without them', async () => {
    const scene = await simulated(['one', 'two', 'three'])
    const { options } = await filed(scene)
    const engine = createEngine(options())
    const session = await engine.open()
    await turn(session.send('first'))
    const branch = await engine.branch(session.id)
    await turn(branch.send('second'))
    const grandchild = await engine.branch(branch.id)
    for (const one of [session, branch, grandchild]) await one.close()
    const refused = await engine.remove(session.id)
    expect(refused).toMatchObject({ ok: false, failure: { code: 'has-forks' } })
    expect(!refused.ok && refused.failure.message).toContain(branch.id)
    expect(!refused.ok && refused.failure.message).toContain(grandchild.id)
    expect(await engine.remove(grandchild.id)).toEqual({ ok: true, sessions: [grandchild.id] })
    const all = await engine.remove(session.id, { withForks: true })
    expect(all.ok && new Set(all.sessions)).toEqual(new Set([session.id, branch.id]))
    const left: unknown[] = []
    for await (const info of engine.sessions()) left.push(info)
    expect(left).toEqual([])
  })
})

describe('a store that fails in the middle', () => {
  const full = { ok: false, why: 'failed', failure: { code: 'disk-full', message: 'no space left' } } as const

  it('[E1] ends the turn with the failure, loses nothing acknowledged, and goes on when there is space again', async () => {
    const scene = await simulated([[call('fill', {})], 'after all'])
    let isFull = false
    const inner = inMemoryStore()
    const store = storeWith(inner, {
      append: (...facts) => (isFull ? Promise.resolve(full) : inner.append(...facts)),
    })
    const fill = tool('fill', () => ((isFull = true), 'filled'))
    const session = await createEngine({ store, modelId, model: scene.model, tools: [fill] }).open()
    const first = await turn(session.send('fill it'))
    expect(first).toMatchObject({ outcome: 'failed', failure: { code: 'disk-full' } })
    expect((await turn(session.send('still?'))).failure?.code).toBe('disk-full')
    isFull = false
    expect((await turn(session.send('and now?'))).outcome).toBe('done')
    const facts = await factsOf(store, session.id)
    expect(ofType(facts, 'user-message').map((fact) => fact.content[0])).toMatchObject([
      { text: 'fill it' },
      { text: 'and now?' },
    ])
    expect(ofType(facts, 'tool-result').length).toBe(1)
    expect(refusals(scene)).toEqual([])
  })

  it('[E1] every call of the file system may fail once: the turn always ends, what was said is there, and it resumes', async () => {
    let calls = 0
    let failAt = Infinity
    const fs = hookedFileSystem(machineFileSystem, {
      before: () => {
        if (++calls === failAt) throw systemError('EIO')
      },
    })
    const look = tool('look', () => 'seen')
    const outcomes = new Set<string>()
    for (let at = 1; ; at += 3) {
      const scene = await simulated([[call('look', {})], 'one', 'two'])
      const root = await folder()
      const options: EngineOptions = {
        store: fileStore({ root, machine: { fs } }),
        modelId,
        model: scene.model,
        tools: [look],
      }
      failAt = Infinity
      const session = await createEngine(options).open()
      calls = 0
      failAt = at
      const ended = await turn(session.send('look'))
      outcomes.add(ended.outcome)
      if (ended.outcome === 'failed') expect(ended.failure?.message).not.toBe('')
      const wasHit = calls >= at
      failAt = Infinity
      await session.close().catch(() => undefined)
      const again = await createEngine({ ...options, store: fileStore({ root }) }).open(session.id)
      // A request is sent only once the input is written.
      if (ended.events.some((event) => event.type === 'request-start'))
        expect(JSON.stringify([...again.view().messages])).toContain('"text":"look"')
      expect((await turn(again.send('and again'))).outcome).toBe('done')
      expect(refusals(scene)).toEqual([])
      await again.close()
      if (!wasHit) break
    }
    expect([...outcomes].sort()).toEqual(['done', 'failed'])
  })
})
