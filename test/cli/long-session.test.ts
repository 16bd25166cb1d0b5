// A session that no boundary has ever made small, in a process that may use little memory.
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { writeTranscript } from '../../bench/long-transcript.ts'
import { sessionId } from '../../src/transcript/ids.ts'
import { openWorkspace, server } from './pal.ts'

const MB = 1024 * 1024

describe('a session that holds more than fits into memory', () => {
  it('[E51] is refused by name with what to do, opens with more memory, and opens with little once it was compacted', async () => {
    const { access } = await server(Array.from({ length: 6 }, () => 'on'))
    const at = await openWorkspace(access)
    await at.pal(['-p', 'first words'])
    const projects = join(at.state, 'projects')
    const sessions = join(projects, (await readdir(projects))[0]!, 'sessions')
    for (const id of await readdir(sessions)) await rm(join(sessions, id), { recursive: true })
    await mkdir(sessions, { recursive: true })
    const id = sessionId('a-long-session')
    await writeTranscript(sessions, id, {
      bytes: 60 * MB,
      tailBytes: 0,
      boundaryBytes: null,
      hasPin: false,
    })
    const within = (megabytes: number) => ({
      environment: { NODE_OPTIONS: `--max-old-space-size=${megabytes}` },
    })
    for (const words of [
      ['-p', '-c', 'and on'],
      ['context', id],
      ['compact', id],
    ]) {
      const { code, err } = await at.pal(words, within(96))
      expect([words[0], code, err]).toEqual([
        words[0],
        1,
        expect.stringMatching(/a-long-session holds more than \d+ MB .*max-old-space-size.*\/compact/s),
      ])
    }
    // What only looks through it needs no more than a line at a time.
    for (const words of [['edits', id], ['cost', id], ['doctor']]) {
      const { code, err } = await at.pal(words, within(96))
      expect([words[0], code, err]).toEqual([words[0], 0, expect.not.stringContaining('memory')])
    }
    const compacted = await at.pal(['compact', id], within(800))
    expect([compacted.code, compacted.err]).toEqual([0, expect.not.stringContaining('memory')])
    const after = await at.pal(['-p', '-c', 'and on'], within(96))
    // The fixture's answers are of another model: going on with this one is said, and nothing else.
    expect([after.code, after.out.trim(), after.err]).toEqual([
      0,
      'on',
      expect.stringMatching(/^pal: the last answer is by claude-sonnet-4-6, [^\n]*\n$/),
    ])
  })
})
