// A state folder that cannot be written to: what is there can be looked at, and a conversation goes on unsaved.
import { execFileSync, spawn } from 'node:child_process'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { writeTranscript } from '../../bench/long-transcript.ts'
import { sessionId } from '../../src/transcript/ids.ts'
import { open, shows } from '../screen/seen.ts'
import { runInTerminal } from '../screen/terminal.ts'
import { openWorkspace, server, type Ended, type Workspace } from './pal.ts'

function canMount(): boolean {
  try {
    execFileSync('bwrap', ['--dev-bind', '/', '/', '--ro-bind', '/usr', '/usr', 'true'], { stdio: 'ignore' })
    return true
  } catch {
    console.log(
      'skipped: this machine has no bubblewrap that works, so no folder can be made read-only for root',
    )
    return false
  }
}

/** Everything as it is, but the user's home is read-only. */
const box = (at: Workspace): readonly string[] => [
  '--dev-bind',
  '/',
  '/',
  '--ro-bind',
  at.home,
  at.home,
  process.execPath,
  at.file,
]

async function readOnly(at: Workspace, ...words: string[]): Promise<Ended> {
  const child = spawn('bwrap', [...box(at), ...words], {
    cwd: at.project,
    env: at.environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, out, err }
}

async function transcriptsOf(at: Workspace): Promise<readonly string[]> {
  const names = (await readdir(at.state, { recursive: true })).filter((name) =>
    name.endsWith('transcript.jsonl'),
  )
  return Promise.all(names.sort().map((name) => readFile(join(at.state, name), 'utf8')))
}

describe.skipIf(!canMount())('a read-only state folder', () => {
  it('[G68] can be looked at', async () => {
    const { access } = await server(['an answer'])
    const at = await openWorkspace(access)
    await at.pal(['-p', 'the first message'])
    for (const [words, part] of [
      [['sessions'], 'the first message'],
      [['messages'], 'the first message'],
      [['context'], 'messages'],
      [['cost'], '1'],
      [['edits'], ''],
      [['stats'], ''],
      [['agents'], ''],
      [['tasks'], ''],
      [['memory'], ''],
      [['sessions', 'prune'], ''],
    ] as const) {
      const { code, out, err } = await readOnly(at, ...words)
      expect({ words, code, err, out: out.includes(part) }).toEqual({ words, code: 0, err: '', out: true })
    }
    for (const words of [['pin', '3'], ['compact'], ['sessions', 'prune', '--delete']]) {
      const { code, err } = await readOnly(at, ...words)
      expect({ words, code }).toEqual({ words, code: 1 })
      expect(err).toMatch(
        /^pal: the state folder [^\n]* read-only file system\), so nothing was changed\. [^\n]*PALIMPSEST_HOME[^\n]*\n$/,
      )
    }
    expect((await readOnly(at, 'config', 'thrift', '0.3')).err).toMatch(
      /^pal: [^\n]*the file system is read-only\n$/,
    )
    const doctor = await readOnly(at, 'doctor')
    expect(doctor.code).toBe(1)
    expect(doctor.out).toMatch(/BAD {3}sessions: .*read-only[^\n]*\n.*PALIMPSEST_HOME.*--unsaved/)
  })

  it('[G68] a prompt says what to do, and goes on unsaved where that is asked for, from a kept session too', async () => {
    const { access, simulator } = await server(['one', 'two', 'three', 'four'])
    const at = await openWorkspace(access)
    await at.pal(['-p', 'the first message'])
    const before = await transcriptsOf(at)
    const refused = await readOnly(at, '-p', 'hi')
    expect({ code: refused.code, out: refused.out }).toEqual({ code: 1, out: '' })
    expect(refused.err).toMatch(
      /^pal: [^\n]*read-only file system\), so this conversation could not be saved\. [^\n]*PALIMPSEST_HOME[^\n]*--unsaved[^\n]*\n$/,
    )
    const fresh = await readOnly(at, '-p', '--unsaved', 'hi')
    expect(fresh).toMatchObject({ code: 0, out: 'two\n' })
    expect(fresh.err).toContain('this conversation is not saved')
    const on = await readOnly(at, '-p', '--unsaved', '--continue', 'and on')
    expect(on).toMatchObject({ code: 0, out: 'three\n' })
    const { messages } = simulator.log.last()!.body as { messages: unknown[] }
    expect(messages.length).toBe(3)
    expect(await transcriptsOf(at)).toEqual(before)
  })

  it('[G68] a person at a terminal is asked; a no ends it, a yes goes on', async () => {
    const { access } = await server(['one', 'an unsaved answer'])
    const at = await openWorkspace(access)
    await at.pal(['-p', 'the first message'])
    const start = () =>
      runInTerminal('bwrap', [...box(at)], {
        cwd: at.project,
        environment: { PALIMPSEST_EXTRACTION: 'off', PALIMPSEST_NOTES: 'off', ...at.environment },
        columns: 100,
      })
    const no = start()
    await shows(no, 'Continue without saving')
    no.type('n\r')
    expect(await no.ended).toBe(1)
    const yes = start()
    await shows(yes, 'Continue without saving')
    yes.type('y\r')
    await shows(yes, '/help')
    yes.type('hello\r')
    await shows(yes, 'an unsaved answer')
    yes.type('\u0004')
    expect(await yes.ended).toBe(0)
  })

  it('[G68] messages of a long session without a checkpoint are listed without a word about one', async () => {
    const { access } = await server(['one'])
    const at = await openWorkspace(access)
    await at.pal(['-p', 'the first message'])
    const [slug] = await readdir(join(at.state, 'projects'))
    const id = sessionId('a-long-session')
    const length = { bytes: 6_000_000, tailBytes: 0, boundaryBytes: null, hasPin: false }
    await writeTranscript(join(at.state, 'projects', slug!, 'sessions'), id, length)
    expect(await at.pal(['messages', id])).toMatchObject({ code: 0, err: '' })
  })

  it('[G68] messages are listed while another process writes', async () => {
    const { access } = await server(['one', 'two'])
    const at = await openWorkspace(access)
    await at.pal(['-p', 'the first message'])
    const writer = open(at, ['--continue'])
    await shows(writer, 'the first message')
    expect(await at.pal(['messages'])).toMatchObject({ code: 0, err: '' })
    writer.type('\u0004')
    await writer.ended
  })
})
