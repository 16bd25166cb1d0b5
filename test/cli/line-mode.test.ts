import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { call, text } from '../../src/simulator/index.ts'
import { openWorkspace, server, until, type Running } from './pal.ts'

interface Body {
  readonly messages: readonly { readonly content: readonly { readonly text?: string }[] }[]
}
const lastSaid = (body: unknown): string | undefined => (body as Body).messages.at(-1)?.content[0]?.text

/** What has been shown so far. */
function shown({ child }: Running): () => string {
  let seen = ''
  child.stdout?.on('data', (piece: string) => (seen += piece))
  child.stderr?.on('data', (piece: string) => (seen += piece))
  return () => seen
}

describe('pal alone, from a pipe', () => {
  it('[G30] takes one turn for each line, joins lines at a backslash, and shows every answer', async () => {
    const { access, simulator } = await server([
      [text('looking'), call('Glob', { pattern: '*' })],
      'one',
      'two',
      'three',
      'four',
    ])
    const { pal } = await openWorkspace(access)
    const { code, out, err } = await pal([], { input: 'first\n\nsecond\\\nline\n//path is what?\n' })
    expect({ code, out }).toEqual({ code: 0, out: 'looking\none\ntwo\nthree\n' })
    expect(err).toContain('line mode')
    const said = [0, 2, 3].map((index) => lastSaid(simulator.log.requests[index]?.body))
    expect(said).toEqual(['first', 'second\nline', '/path is what?'])
    const next = await pal(['--continue'], { input: 'more\n' })
    expect(next).toMatchObject({ code: 0, out: 'four\n' })
    expect(JSON.stringify(simulator.log.last()?.body)).toContain('second\\nline')
  })

  it('[G30] ends with the code of the worst turn, and a wrong command is no turn', async () => {
    const message = 'no'
    const fault = { kind: 'status', status: 400, type: 'invalid_request_error', message } as const
    const { access, simulator } = await server(['one', 'two'], {
      faults: [{ at: ({ number }) => number === 2, fault }],
    })
    const { pal } = await openWorkspace(access)
    const { code, out } = await pal([], { input: 'a\nb\nc\n' })
    expect({ code, out }).toEqual({ code: 1, out: 'one\ntwo\n' })
    expect((await pal([], { input: '/nothing\n/undo x\n' })).code).toBe(2)
    expect(simulator.log.requests.length).toBe(3)
    expect((await pal(['some', 'words'])).code).toBe(2)
    expect((await pal(['--resume', 'ffff'], { input: '' })).code).toBe(4)
  })

  it('[G46] /compact takes a message to begin from or to end at', async () => {
    const { access, simulator } = await server(
      Array.from({ length: 8 }, (_, n) => `answer-${n} ${'word '.repeat(9000)}`),
    )
    const { pal } = await openWorkspace({
      ...access,
      PALIMPSEST_WINDOW: '200000',
      PALIMPSEST_MODEL_SUMMARY: 'false',
    })
    const rows = async () =>
      JSON.parse((await pal(['messages', '--json'])).out) as { at: number; words: string }[]
    await pal([], { input: 'one\ntwo\nthree\n' })
    const at = (await rows()).find(({ words }) => words.includes('two'))!.at
    const { out } = await pal(['--continue'], { input: `/compact --from ${at} keep names\nfour\n` })
    expect(out).toContain('became')
    const whole = (n: number) => `answer-${n} ${'word '.repeat(8500)}`
    const body = JSON.stringify(simulator.log.last()?.body)
    expect(body.includes(whole(0))).toBe(true)
    expect(body.includes(whole(1))).toBe(false)
    const four = (await rows()).find(({ words }) => words.includes('four'))!.at
    const before = await pal(['--continue'], { input: `/compact --up-to ${four}\nfive\n` })
    expect(before.out).toContain('became')
    const later = JSON.stringify(simulator.log.last()?.body)
    expect([0, 1, 2, 3].map((n) => later.includes(whole(n)))).toEqual([false, false, false, true])
    for (const said of ['one', 'two', 'three', 'four', 'five']) expect(later).toContain(said)
    const wrong = await pal(['--continue'], { input: '/compact --from 99999\n' })
    expect(wrong.code).toBe(2)
    expect(wrong.err).toContain('five')
  })

  it('[G30] its commands look at the session and change what it shows', async () => {
    const { access, simulator } = await server(Array.from({ length: 6 }, () => 'word '.repeat(9000)))
    const { pal } = await openWorkspace({ ...access, PALIMPSEST_WINDOW: '200000' })
    const { code, out } = await pal([], {
      input:
        '/help\none\ntwo\nthree\n/context\n/cost\n/compact keep names\n/edits\n/model claude-opus-4-6\nfour\n/quit\nfive\n',
    })
    expect(code).toBe(0)
    for (const part of ['/undo N', 'your messages', 'read from the cache', 'tokens became', 'autocompact'])
      expect(out).toContain(part)
    expect(simulator.log.requests.map(({ body }) => lastSaid(body))).not.toContain('five')
    expect(simulator.log.last()?.body).toMatchObject({ model: 'claude-opus-4-6' })
    const place = /undo (\d+) restores it/.exec(out)?.[1]
    const undone = await pal(['--continue'], { input: `/undo ${place}\n/edits\n` })
    expect(undone.out).toMatch(/is undone[\s\S]*undone/)
  })

  it('[G30] offline says so, and refuses what is not allowed with the way to allow it', async () => {
    const { pal } = await openWorkspace()
    const scripted = await pal(['--offline'], { input: 'hi\n' })
    expect(scripted.code).toBe(0)
    expect(scripted.err).toContain('offline: a scripted model answers')
    const { access, simulator } = await server([[call('Bash', { command: 'touch made.txt' })], 'well'])
    expect((await (await openWorkspace(access)).pal([], { input: 'list\n' })).code).toBe(0)
    expect(JSON.stringify(simulator.log.last()?.body)).toContain("--allow 'Bash(touch made.txt)'")
    expect((await pal(['--offline'])).code).toBe(0)
  })

  it('[PM16] /permissions shows the rules with who gave them and sets the mode, bypass apart', async () => {
    const { access } = await server([[call('Write', { file_path: 'a.txt', content: 'x' })], 'well'])
    const at = await openWorkspace(access)
    const { out, err } = await at.pal(['--allow', 'Write', '--deny', 'Bash(rm *)'], {
      input: '/permissions\n/permissions bypass\n/permissions plan\nwrite\n',
    })
    expect(out).toMatch(
      /the mode is default\n.*\nallow +Write +the command line\ndeny +Bash\(rm \*\) +the command line\n/,
    )
    expect(err).toContain('modes: default, acceptEdits, plan, dontAsk')
    expect(out).toContain('the mode is plan')
    expect(existsSync(join(at.project, 'a.txt'))).toBe(false)
  })

  it('[G31] Ctrl-C stops the turn and the script, and the session goes on', async () => {
    const { access } = await server([[call('Bash', { command: 'echo > here.txt; sleep 600' })], 'went on'])
    const at = await openWorkspace(access)
    const running = await at.start(['--allow', 'Bash'], { input: 'sleep\nnever\n' })
    await until(() => existsSync(join(at.project, 'here.txt')), 'the command to run')
    running.child.kill('SIGINT')
    expect((await running.ended).code).toBe(130)
    expect(await at.pal(['--continue'], { input: 'go on\n' })).toMatchObject({ code: 0, out: 'went on\n' })
  })
})

const hasScript = spawnSync('script', ['--version']).status === 0

/** What works beside the talk would take answers that the script means for it. */
const alone = { PALIMPSEST_EXTRACTION: 'off', PALIMPSEST_DREAM: 'off' }

describe.skipIf(!hasScript)('pal alone, at a terminal (needs the program script)', () => {
  it('[G31] what is typed while a turn runs is queued and reaches the model in that turn', async () => {
    const { access, simulator } = await server([
      [call('Bash', { command: 'echo > here.txt; while [ ! -e go.txt ]; do sleep 0.1; done' })],
      'did both',
    ])
    const at = await openWorkspace({ ...access, ...alone })
    const running = await at.start(['--lines', '--allow', 'Bash'], { isOpen: true, inTerminal: true })
    const seen = shown(running)
    await until(() => seen().includes('> '), 'the prompt')
    running.child.stdin?.write('wait\n')
    await until(() => existsSync(join(at.project, 'here.txt')), 'the command to run')
    running.child.stdin?.write('and this too\n')
    await until(() => seen().includes('pal: queued'), 'the input to be queued')
    await writeFile(join(at.project, 'go.txt'), '')
    await until(() => seen().includes('did both'), 'the answer')
    running.child.stdin?.write('/quit\n')
    expect((await running.ended).code).toBe(0)
    expect(JSON.stringify(simulator.log.requests[1]?.body)).toContain('and this too')
    expect(simulator.log.requests.length).toBe(2)
  })

  it('[G31] Ctrl-C stops the turn, a line goes on, and Ctrl-C at rest leaves', async () => {
    const { access } = await server([[call('Bash', { command: 'echo > here.txt; sleep 600' })], 'went on'])
    const at = await openWorkspace({ ...access, ...alone })
    const running = await at.start(['--lines', '--allow', 'Bash'], { isOpen: true, inTerminal: true })
    const seen = shown(running)
    await until(() => seen().includes('> '), 'the prompt')
    running.child.stdin?.write('sleep\n')
    await until(() => existsSync(join(at.project, 'here.txt')), 'the command to run')
    running.child.stdin?.write('\u0003')
    await until(() => seen().includes('interrupting'), 'the turn to be stopped')
    await until(() => seen().trimEnd().endsWith('>'), 'the prompt again')
    running.child.stdin?.write('go on\n')
    // Before the prompt is there the turn has not ended, and the key would only stop it.
    await until(() => /went on[\s\S]*>$/.test(seen().trimEnd()), 'the answer, and the prompt again')
    running.child.stdin?.write('\u0003')
    expect((await running.ended).code).toBe(130)
  })

  it('[PM29] asks before what acts, takes only an answer for one, and keeps a rule where it is told to', async () => {
    const write = (name: string) => [call('Bash', { command: `touch ${name}` })]
    const { access, simulator } = await server([
      write('one.txt'),
      'first',
      write('two.txt'),
      'second',
      write('two.txt'),
      'third',
    ])
    const at = await openWorkspace({ ...access, ...alone })
    const running = await at.start(['--lines'], { isOpen: true, inTerminal: true })
    const seen = shown(running)
    const said = (words: string) => running.child.stdin?.write(`${words}\n`)
    await until(() => seen().includes('> '), 'the prompt')
    said('go')
    await until(() => seen().includes('| touch one.txt'), 'the question')
    expect(seen()).toContain('e  Yes, always: allows Bash(touch one.txt) in every project')
    expect(seen()).toContain('is not offered: this folder is not trusted')
    said('maybe yes')
    await until(() => seen().includes('/answer returns to it'), 'what was no answer is told')
    said('y')
    said('')
    said('/answer')
    await until(() => seen().split('A letter selects').length >= 3, 'the question again')
    said('n use two')
    await until(() => seen().includes('first'), 'the first answer')
    expect(existsSync(join(at.project, 'one.txt'))).toBe(false)
    expect(JSON.stringify(simulator.log.last()?.body)).toContain('says: use two')
    said('again')
    await until(() => seen().includes('| touch two.txt'), 'the second question')
    said('/answer')
    await until(() => seen().split('A letter selects').length >= 5, 'the answers again')
    said('e')
    await until(() => seen().includes('Yes, always: an empty line confirms'), 'the selection')
    expect(existsSync(join(at.project, 'two.txt'))).toBe(false)
    said('')
    await until(() => seen().includes('second'), 'the second answer')
    expect(existsSync(join(at.project, 'two.txt'))).toBe(true)
    expect(JSON.parse(await readFile(join(at.state, 'settings.json'), 'utf8'))).toEqual({
      allow: ['Bash(touch two.txt)'],
    })
    said('once more')
    await until(() => seen().includes('third'), 'the third answer, unasked')
    said('/quit')
    expect((await running.ended).code).toBe(0)
  })
})
