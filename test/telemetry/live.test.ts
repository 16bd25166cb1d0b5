// Telemetry while a session runs: nothing where it is off, nobody waits where the collector is dead, and a crash loses no span.
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { createEngine } from '../../src/engine/engine.ts'
import { modelTable } from '../../src/model/models.ts'
import { inMemoryStore } from '../../src/stores/index.ts'
import { createSender, observed, postOtlp, type Observed, type Sender } from '../../src/telemetry/index.ts'
import { seq, sessionId } from '../../src/transcript/ids.ts'
import { storeWith, type Store } from '../../src/transcript/store.ts'
import { openWorkspace, server, until } from '../cli/pal.ts'
import { later, modelId, simulated, turn } from '../e2e/simulated.ts'
import { defaults } from '../../src/settings/defaults.ts'
import { call, text } from '../../src/simulator/index.ts'
import { collector, patient } from './collector.ts'
import { entriesOf, Told } from './told.ts'

const resource = { service: 'test', version: '1' }
const now = (): number => Date.now()

function senderTo(
  endpoint: string,
  said: string[] = [],
  more: { closeMs?: number; flushMs?: number } = {},
): Sender {
  const sender = createSender({ endpoint, resource, now, tell: (message) => said.push(message), ...more })
  later(() => sender.close())
  return sender
}
const watched = (store: Store, sender: Sender): Observed =>
  observed(store, { port: sender.recorder, models: modelTable(), now })

describe('telemetry that is off', () => {
  it('[TM8] loads no module of this room or of OpenTelemetry; with it on, of this room alone', async () => {
    const got = await collector()
    const { access } = await server([[text('done')], [text('done')]])
    const at = await openWorkspace({ ...access, PALIMPSEST_MODEL: modelId })
    const loaded = join(at.home, 'loaded.txt')
    const hooks = join(at.home, 'hooks.mjs')
    await writeFile(
      hooks,
      [
        `import { appendFileSync } from 'node:fs'`,
        `export async function load(url, context, next) {`,
        `  const loaded = await next(url, context)`,
        `  const isRoom = String(loaded.source ?? '').includes('schemas/gen-ai-dev')`,
        `  appendFileSync(${JSON.stringify(loaded)}, url + (isRoom ? ' ROOM' : '') + String.fromCharCode(10))`,
        `  return loaded`,
        `}`,
      ].join('\n'),
    )
    const register = join(at.home, 'register.mjs')
    await writeFile(
      register,
      `import { register } from 'node:module'; register(${JSON.stringify(pathToFileURL(hooks).href)})`,
    )
    const run = async (more: Record<string, string>): Promise<string> => {
      await rm(loaded, { force: true })
      const environment = { NODE_OPTIONS: `--import ${pathToFileURL(register).href}`, ...more }
      expect((await at.pal(['-p', 'hello'], { environment })).code).toBe(0)
      return readFile(loaded, 'utf8')
    }
    const off = await run({})
    expect(off).toContain('pal.js')
    expect(off.split('\n').filter((line) => /ROOM|opentelemetry/.test(line))).toEqual([])
    const on = await run({ ...patient, OTEL_EXPORTER_OTLP_ENDPOINT: got.url })
    expect(on).toContain('ROOM')
    expect(on).not.toContain('opentelemetry')
    expect(got.spans().length).toBeGreaterThan(1)
  })

  it('[TM8] OTEL_SDK_DISABLED and "off" switch it off', async () => {
    const got = await collector()
    const { access } = await server([[text('done')], [text('done')], [text('done')]])
    const at = await openWorkspace({ ...access, PALIMPSEST_MODEL: modelId })
    const offs: readonly Record<string, string>[] = [
      { OTEL_EXPORTER_OTLP_ENDPOINT: got.url, OTEL_SDK_DISABLED: 'true' },
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'off' },
    ]
    for (const environment of offs) expect((await at.pal(['-p', 'hello'], { environment })).code).toBe(0)
    expect(got.requests()).toBe(0)
    const environment = { ...patient, OTEL_EXPORTER_OTLP_ENDPOINT: got.url }
    expect((await at.pal(['-p', 'hello'], { environment })).code).toBe(0)
    expect(got.spans().length).toBeGreaterThan(1)
  })
})

describe('who may switch it on', () => {
  it('[TM5] content is a matter of the user’s own settings: a project and the environment cannot', async () => {
    const got = await collector()
    const { access } = await server([[text('first-answer')], [text('second-answer')]])
    const at = await openWorkspace({ ...access, PALIMPSEST_MODEL: modelId })
    await mkdir(join(at.project, '.palimpsest'))
    const settings = { telemetry: got.url, telemetryContent: true }
    await writeFile(join(at.project, '.palimpsest', 'settings.json'), JSON.stringify(settings))
    const project = await at.pal(['-p', '--trust', 'words-of-mine'], {
      environment: { PALIMPSEST_TELEMETRY_CONTENT: 'true' },
    })
    expect(project.code).toBe(0)
    expect(project.err).toContain('telemetryContent may not be set by a project')
    expect(project.err).toContain('telemetry may not be set by a project')
    expect(got.requests()).toBe(0)
    await writeFile(join(at.state, 'settings.json'), JSON.stringify(settings))
    expect((await at.pal(['-p', 'words-of-mine'], { environment: patient })).code).toBe(0)
    expect(got.raw.join('')).toContain('words-of-mine')
    expect(got.raw.join('')).toContain('second-answer')
  })
})

describe('a collector in trouble', () => {
  async function turnsWith(endpoint: string, closeMs: number) {
    const { model } = await simulated([[text('one')], [text('two')], [text('three')]])
    const said: string[] = []
    const sender = senderTo(endpoint, said, { closeMs, flushMs: 1 })
    const { store } = watched(inMemoryStore(), sender)
    const session = await createEngine({ store, modelId, model }).open()
    const outcomes: string[] = []
    for (const words of ['a', 'b', 'c']) outcomes.push((await turn(session.send(words))).outcome)
    await session.close()
    return { said, outcomes, sender }
  }

  it('[TM9] that is not there is said once, and turns go on', async () => {
    const gone = await collector()
    await gone.stop()
    const { outcomes, said, sender } = await turnsWith(gone.url, 1000)
    expect(outcomes).toEqual(['done', 'done', 'done'])
    await until(() => said.length > 0, 'the collector to be missed')
    await sender.flush()
    await sender.flush()
    await sender.close()
    expect(said.filter((line) => line.includes('cannot be reached'))).toHaveLength(1)
    expect(said.filter((line) => line.includes('were not sent'))).toHaveLength(1)
    expect(said).toHaveLength(2)
  })

  it('[TM9] that never answers holds up neither a turn nor the end', async () => {
    const silent = await collector({ hang: true })
    const { outcomes, sender } = await turnsWith(silent.url, 50)
    expect(outcomes).toEqual(['done', 'done', 'done'])
    await sender.close()
    expect(sender.recorder.waiting).toBeGreaterThan(0)
  })

  it('[TM9] that refuses is said with its answer; what waits is bounded', async () => {
    const refusing = await collector({ status: 503 })
    const { said, sender } = await turnsWith(refusing.url, 1000)
    await until(() => said.length > 0, 'the refusal to be heard')
    await sender.close()
    expect(said[0]).toContain('503')
    const most = 8192
    for (let at = 0; at < most + 10; at++) {
      const span = { traceId: '0'.repeat(32), spanId: String(at).padStart(16, '0') }
      sender.recorder.begin({
        ...span,
        name: 'x',
        kind: 'internal',
        parent: null,
        links: [],
        at,
        attributes: {},
      })
      sender.recorder.end(span, { at, attributes: {}, error: null })
    }
    expect(sender.recorder.waiting).toBe(most)
    expect(sender.recorder.dropped).toBeGreaterThan(9)
  })

  it('[TM9] behind a user and a password is reached, and neither they nor a header are shown', async () => {
    const got = await collector()
    const withUser = (url: string): string => url.replace('://', '://me:open%20sesame@')
    const { said } = await turnsWith(withUser(got.url), 1000)
    await until(() => got.spans().length > 0, 'the spans to come')
    expect(got.headers[0]!.authorization).toBe(`Basic ${Buffer.from('me:open sesame').toString('base64')}`)
    expect(said).toEqual([])
    await got.stop()
    const post = (headers: Record<string, string>) =>
      postOtlp({ endpoint: withUser(got.url), headers }, 'traces', '{}', new AbortController().signal)
    const broken: readonly Record<string, string>[] = [{}, { authorization: 'Bearer gehe\nim' }]
    for (const headers of broken) {
      const posted = await post(headers)
      expect(posted.ok ? '' : posted.why).toMatch(
        'authorization' in headers ? /"authorization" cannot be sent/u : /cannot be reached/u,
      )
      expect(JSON.stringify(posted)).not.toMatch(/sesame|gehe/u)
    }
    const gone = await turnsWith(`${withUser(got.url)}/?key=geheim`, 1000)
    await gone.sender.close()
    expect(gone.said.join('\n')).toMatch(/were not sent to http:\/\/127/u)
    expect(gone.said.join('\n')).not.toMatch(/sesame|geheim/u)
  })

  it('[TM9] pal ends in time and with its own exit code', async () => {
    const silent = await collector({ hang: true })
    const { access } = await server([[text('fine')]])
    const at = await openWorkspace({
      ...access,
      PALIMPSEST_MODEL: modelId,
      OTEL_EXPORTER_OTLP_ENDPOINT: silent.url,
    })
    const ended = await at.pal(['-p', 'hello'])
    expect(ended.code).toBe(0)
    expect(ended.out).toBe('fine\n')
    expect(ended.err.match(/telemetry is not sent/g)).toHaveLength(1)
  })

  it('[TM9] OTEL_EXPORTER_OTLP_TIMEOUT says how long one that is slow is waited for, at the end too', async () => {
    const slow = await collector({ afterMs: defaults.telemetry.closeMs + 1000 })
    const { access } = await server([[text('fine')]])
    const at = await openWorkspace({
      ...access,
      ...patient,
      PALIMPSEST_MODEL: modelId,
      OTEL_EXPORTER_OTLP_ENDPOINT: slow.url,
    })
    expect(await at.pal(['-p', 'hello'])).toMatchObject({ code: 0, out: 'fine\n', err: '' })
    expect(slow.points().length).toBeGreaterThan(0)
  })
})

describe('sessions that are opened again', () => {
  const names = (spans: readonly { name: string }[]): readonly string[] =>
    spans.map(({ name }) => name).sort()

  it('[TM11] are read from their beginning, quietly, and what was open in them ends', async () => {
    const store = inMemoryStore()
    const { model } = await simulated([[text('two')]])
    const id = sessionId('broken-off')
    const usage = { input: 1, cacheRead: 2, cacheWrite: 3, output: 100_000 }
    const asked = {
      type: 'request-sent',
      source: 'main',
      model: modelId,
      upTo: seq(2),
      hash: 'h',
      tokens: 9,
      marks: [],
    } as const
    const entries = entriesOf([
      { type: 'session-start', session: id, purpose: 'main' },
      { type: 'instructions-set', sections: [], tools: [] },
      { type: 'user-message', content: [{ type: 'text', text: 'go' }], origin: 'typed' },
      asked,
      {
        type: 'assistant-message',
        content: [{ type: 'tool_use', id: 'c1', name: 'Echo', input: {} }],
        messageId: 'm',
        stop: 'tool_use',
        model: modelId,
        usage,
      },
    ])
    const leased = await store.lease(id)
    if (!leased.ok) throw new Error('no lease')
    expect(await store.append(leased.lease, entries, seq(0), 'now')).toEqual({ ok: true })
    await store.release(leased.lease)
    const told = new Told()
    const watching = observed(store, { port: told, models: modelTable(), now })
    const session = await createEngine({ store: watching.store, modelId, model }).open(id)
    expect((await turn(session.send('more'))).outcome).toBe('done')
    await session.close()
    await watching.settled()
    expect(names(told.spans())).toEqual([
      `chat ${modelId}`,
      'execute_tool Echo',
      'invoke_agent main',
      'invoke_agent main',
    ])
    expect(told.spans().every(({ ending }) => ending !== null)).toBe(true)
    const [broken] = told.named('invoke_agent')
    expect(broken?.at).toBe(entries[2]?.at)
    // The answer of the first life was counted then.
    expect(told.sum('gen_ai.client.token.usage', { 'gen_ai.token.type': 'output' })).toBeLessThan(100_000)
  })

  it('[TM11] opened at the same time, what is open in the past of one is not begun by another', async () => {
    const past = (id: string) =>
      entriesOf([
        { type: 'session-start', session: sessionId(id), purpose: 'main' },
        { type: 'user-message', content: [{ type: 'text', text: 'go' }], origin: 'typed' },
        { type: 'turn-end', outcome: 'done' },
      ])
    const more = entriesOf(
      [{ type: 'user-message', content: [{ type: 'text', text: 'on' }], origin: 'typed' }],
      3,
    )
    const inner = inMemoryStore()
    let letGo = (): void => undefined
    const gate = new Promise<void>((resolve) => (letGo = resolve))
    const told = new Told()
    const watching = observed(
      storeWith(inner, {
        // Of one session the past is read only up to the middle of its turn until the other is under way.
        async *read(session, range) {
          for await (const item of inner.read(session, range)) {
            if (session === 'slow' && item.kind === 'entry' && item.entry.seq === 2) await gate
            yield item
          }
        },
      }),
      { port: told, models: modelTable(), now },
    )
    for (const id of ['slow', 'quick'].map(sessionId)) {
      const leased = await inner.lease(id)
      if (!leased.ok) throw new Error('no lease')
      expect(await inner.append(leased.lease, past(id), seq(0), 'now')).toEqual({ ok: true })
      expect(await watching.store.append(leased.lease, more, seq(3), 'now')).toEqual({ ok: true })
    }
    await until(() => told.named('invoke_agent').length > 0, 'the quick one to be told')
    letGo()
    await watching.settled()
    // The turns that are under way, and none of the past.
    expect(told.spans().map(({ at }) => at)).toEqual([more[0]!.at, more[0]!.at])
  })

  it('[TM10][TM14] a kill -9 in the middle of a turn loses no span of the later export', async () => {
    const got = await collector()
    const { access, simulator } = await server([
      [call('Bash', { command: 'echo one' })],
      [text('never seen')],
    ])
    simulator.faults.add({ at: 2, fault: { kind: 'hang' } })
    const at = await openWorkspace({
      ...access,
      PALIMPSEST_MODEL: modelId,
      PALIMPSEST_ALLOW: 'Bash(echo *)',
      OTEL_EXPORTER_OTLP_ENDPOINT: got.url,
    })
    const running = await at.start(['-p', 'go'])
    await until(() => simulator.log.requests.length >= 2, 'the second request')
    running.child.kill('SIGKILL')
    await running.ended
    const file = join(at.home, 'spans.jsonl')
    const sent = await at.pal(['sessions', 'export', '--otlp', file])
    expect(sent.code).toBe(0)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    const lines = (await readFile(file, 'utf8')).trim().split('\n')
    type Span = { name: string; status?: { message: string } }
    type Body = { resourceSpans?: { scopeSpans: { spans: Span[] }[] }[] }
    const spans = lines.flatMap((line) =>
      ((JSON.parse(line) as Body).resourceSpans ?? []).flatMap(({ scopeSpans }) =>
        scopeSpans.flatMap((one) => one.spans),
      ),
    )
    expect(names(spans)).toEqual([
      'chat claude-sonnet-4-6',
      'chat claude-sonnet-4-6',
      'execute_tool Bash',
      'invoke_agent main',
    ])
    const status = (name: string) =>
      spans.filter((span) => span.name.startsWith(name)).map((span) => span.status?.message ?? null)
    expect(status('chat')).toEqual([null, 'unfinished'])
    expect(status('invoke_agent')).toEqual(['unfinished'])
    // A file that is there stays as it is.
    const twice = await at.pal(['sessions', 'export', '--otlp', file])
    expect(twice.code).toBe(1)
    expect(twice.err).toContain('not overwritten')
  })
})
