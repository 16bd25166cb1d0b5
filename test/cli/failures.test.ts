// The first failure of `pal -p` is its outcome: in words, in the exit code, and without anything asked again.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { call } from '../../src/simulator/index.ts'
import { linesOf, openWorkspace, server, type Ended } from './pal.ts'

const failingDisk = (pattern: string, more: Record<string, string> = {}): Record<string, string> => ({
  NODE_OPTIONS: `--require ${join(import.meta.dirname, 'failing-disk.cjs')}`,
  PAL_FAIL_WRITE: pattern,
  ...more,
})

describe('pal -p that fails', () => {
  it.skipIf(!existsSync('/dev/full'))(
    '[G70] an output that is full is said in a sentence and is no success, and a full error stream costs no answer',
    async () => {
      const { access } = await server(['the answer', 'the answer'])
      const { file, project, environment } = await openWorkspace(access)
      const run = (words: string): Promise<Ended> =>
        new Promise((resolve) => {
          const args = ['-c', `"$0" "$1" -p ${words}`, process.execPath, file]
          const child = execFile('sh', args, { cwd: project, env: environment }, (_, out, err) =>
            resolve({ code: child.exitCode, out, err }),
          )
          child.stdin?.end()
        })
      expect(await run('--verbose hi 2> /dev/full')).toEqual({ code: 0, out: 'the answer\n', err: '' })
      const { code, err } = await run('hi > /dev/full')
      expect({ code, lines: err.trim().split('\n').length }).toEqual({ code: 1, lines: 1 })
      expect(err).toContain('stdout cannot be written to')
    },
  )

  it.skipIf(!existsSync('/dev/full'))(
    '[G70] a version that cannot be written is said in a sentence, and a reader that leaves is nothing to report',
    async () => {
      const { file, project, environment } = await openWorkspace()
      const run = (words: string): Promise<Ended> =>
        new Promise((resolve) => {
          const args = ['-c', words, process.execPath, file]
          const child = execFile('bash', args, { cwd: project, env: environment }, (_, out, err) =>
            resolve({ code: child.exitCode, out, err }),
          )
          child.stdin?.end()
        })
      const version = await run('"$0" "$1" --version > /dev/full')
      expect(version).toMatchObject({
        code: 1,
        err: expect.stringMatching(/^pal: stdout cannot be [^\n]*\n$/),
      })
      // The reader is gone before it begins.
      const left = await run('exec 3> >(true); wait $!; "$0" "$1" --help >&3; echo $?')
      expect(left).toEqual({ code: 0, out: '141\n', err: '' })
    },
  )

  it('[G60] a refusal of the provider is asked once', async () => {
    const { access, simulator } = await server(['fine'], { keys: ['other'] })
    const { pal } = await openWorkspace(access)
    const { code, err } = await pal(['-p', 'hi'])
    expect(simulator.log.requests.length).toBe(1)
    expect({ code, says: err.includes('does not accept the key') }).toEqual({ code: 1, says: true })
  })

  it('[G60] a disk that is full for a moment ends the turn: no second turn hides it', async () => {
    const { access, simulator } = await server([[call('Glob', { pattern: '*' })], 'never asked', 'nor this'])
    const { pal } = await openWorkspace(access)
    const { code, out, err } = await pal(['-p', '--output-format', 'stream-json', 'look'], {
      environment: failingDisk('"type":"tool-result"'),
    })
    const ends = linesOf(out).filter(({ type }) => type === 'turn-end')
    expect({ code, ends: ends.length, asked: simulator.log.requests.length }).toEqual({
      code: 1,
      ends: 1,
      asked: 1,
    })
    expect(linesOf(out).at(-1)).toMatchObject({ outcome: 'failed', failure: { code: 'disk-full' } })
    expect(err).toContain('no space left on device')
  })

  it('[G60] a disk that stays full is named, not what it led to', async () => {
    const { access } = await server([[call('Glob', { pattern: '*' })], 'never asked'])
    const { pal } = await openWorkspace(access)
    const { code, err } = await pal(['-p', 'look'], {
      environment: failingDisk('"type":"(tool-result|turn-end)"', { PAL_FAIL_COUNT: '1000' }),
    })
    expect(code).toBe(1)
    expect(err).toContain('no space left on device')
    expect(err).not.toContain('calls wait for their results')
  })

  it('[G61] the answer is printed even if the session cannot be closed, and that is said', async () => {
    const { access } = await server(['The answer.', 'The answer.', 'and on'])
    const { pal } = await openWorkspace(access)
    const environment = failingDisk('^\\{"free":true', { PAL_FAIL_CUT: 'yes' })
    const { code, out, err } = await pal(['-p', 'hi'], { environment })
    expect({ out, code }).toEqual({ out: 'The answer.\n', code: 1 })
    expect(err).toMatch(/could not be closed: .*no space left/)
    const json = JSON.parse(
      (await pal(['-p', '--output-format', 'json', 'hi'], { environment })).out,
    ) as object
    expect(json).toMatchObject({ outcome: 'done', text: 'The answer.', unclosed: { code: 'disk-full' } })
    expect((await pal(['-p', '--continue', 'go on'])).out).toBe('and on\n')
  })

  it('[G62] a decision that cannot be written is said to the person, not to the model alone', async () => {
    const { access } = await server([
      [call('Write', { file_path: 'a.txt', content: 'x' })],
      'It did not work.',
    ])
    const { pal } = await openWorkspace(access)
    const { err } = await pal(['-p', '--allow', 'Write', 'write it'], {
      environment: failingDisk('"type":"permission'),
    })
    expect(err).toMatch(/Write was not run\. The decision could not be written: .*no space left/)
  })

  it('[G80] a prompt that was piped in and not answered is kept with the session, and the way back to it is said', async () => {
    const { access, simulator } = await server(['now it works'], { keys: ['the-key'] })
    const at = await openWorkspace({ ...access, ANTHROPIC_API_KEY: 'the-key' })
    const failed = await at.pal(['-p', 'look at this:'], {
      input: 'a long text from a pipe',
      environment: { ANTHROPIC_API_KEY: 'a-wrong-one' },
    })
    expect(failed.code).toBe(1)
    const id = /is kept, unanswered, in session (\S+); ask again with pal -p --resume \1 "go on"/.exec(
      failed.err,
    )?.[1]
    const again = await at.pal(['-p', '--resume', id ?? 'none', 'go on'])
    expect([again.code, again.out.trim()]).toEqual([0, 'now it works'])
    expect(JSON.stringify(simulator.log.last()?.body)).toContain('a long text from a pipe')
    // Where nothing could be written, that is said as well.
    const full = await at.pal(['-p', 'look:'], {
      input: 'more text',
      environment: failingDisk('"type":"user-message'),
    })
    expect([full.code, full.err]).toEqual([1, expect.stringContaining('what was piped in is not kept')])
  })

  it('[G7] without a key it fails and says how to go on; nothing answers', async () => {
    const { pal } = await openWorkspace()
    for (const words of [['-p', 'review this'], ['-p', '--output-format', 'json', 'hi'], []]) {
      const { code, out, err } = await pal(words, { input: 'hi\n' })
      expect({ code, out }).toEqual({ code: 1, out: '' })
      expect(err).toMatch(/no API key: set ANTHROPIC_API_KEY, run pal login.*--offline.*pal demo/)
    }
    // A command that does not take the option does not name it.
    const dream = await pal(['dream'])
    expect([dream.code, dream.err]).toEqual([1, expect.stringMatching(/no API key: .*run pal login/)])
    expect(dream.err).not.toContain('--offline')
  })
})
