// Results that were too large when they came are removals like all others: listed, and undone on the wire or refused with
// the reason; also in sessions that earlier versions wrote.
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { createEngine, fileStore } from '../../src/index.ts'
import { call } from '../../src/simulator/index.ts'
import { inMemoryStore } from '../../src/stores/index.ts'
import { countingIds, fixedClock } from '../../src/testing/builders.ts'
import { bashTool } from '../../src/tools/shell/bash.ts'
import { createJobs } from '../../src/tools/shell/jobs.ts'
import type { Tool } from '../../src/tools/tool.ts'
import { sessionId } from '../../src/transcript/ids.ts'
import { folder, later, refusals } from '../e2e/simulated.ts'
import { lines } from './scribe.ts'
import { plainBytes, resultsIn, stage, toolOf, type Stage } from './stage.ts'

const long = lines(4000, 'a line of a very long output, 行, 🔥')
const last = (play: Stage) => play.requests().at(-1)!
const steps = (...more: string[]) => [[call('Bash', {}, 'big')], 'seen', ...more]
const tools = [toolOf('Bash', () => long)]
const nothing = { layers: [] as const }

describe('a result that was too large when it came', () => {
  it('[Z35] is listed like every removal and comes back whole in the next request, after a resume and in forks too', async () => {
    const store = fileStore({ root: await folder() })
    const play = await stage(steps('and?', 'again', 'forked', 'more'), { engine: { store, tools } })
    await play.say('run it')
    const before = plainBytes(last(play))
    const [row, ...others] = await play.session.edits()
    expect(others).toEqual([])
    expect(row).toMatchObject({
      layer: 'result-limit',
      asked: 'automatic',
      does: [{ kind: 'spill', count: 1 }],
      state: 'live',
    })
    expect(row!.range).toEqual({ from: row!.seq, to: row!.seq })
    const sizes = play.session.view().tokens
    await play.session.undo(row!.seq)
    const grown = play.session.view().tokens - sizes
    expect(grown).toBeGreaterThan(10_000)
    expect(row!.tokensFreed).toBeGreaterThan(grown / 3)
    expect(row!.tokensFreed).toBeLessThan(grown * 3)
    expect((await play.session.edits())[0]!.state).toBe('undone')
    const events = await play.say('what else?')
    expect(resultsIn(last(play)).get('big')).toBe(long)
    expect(plainBytes(last(play)).startsWith(before.slice(0, before.indexOf('<persisted-output')))).toBe(true)
    expect(events.some((event) => event.type === 'notice' && event.code === 'cache-break')).toBe(false)
    const whole = plainBytes(last(play))
    await play.reopen()
    await play.say('go on')
    expect(plainBytes(last(play)).startsWith(whole.slice(0, whole.indexOf('what else?')))).toBe(true)
    await play.session.fork({ purpose: 'test', directive: 'look' })
    expect(resultsIn(last(play)).get('big')).toBe(long)
    expect(refusals(play.scene)).toEqual([])
  })

  it('[Z35] of a tool that keeps its output itself keeps what that says around it', async () => {
    const jobs = createJobs()
    later(() => jobs.close())
    const bash: Tool = bashTool({ environment: process.env, jobs })
    const command = 'for i in $(seq 1 20000); do echo "row $i"; done; exit 3'
    const play = await stage([[call('Bash', { command }, 'big')], 'seen', 'and'], {
      engine: { tools: [bash] },
    })
    await play.say('run it')
    expect(resultsIn(last(play)).get('big')).toMatch(/^<persisted-output [\s\S]*\n\[exit code 3\]$/)
    const [row] = await play.session.edits()
    await play.session.undo(row!.seq)
    await play.say('what else?')
    const rows = Array.from({ length: 20_000 }, (_, n) => `row ${n + 1}`).join('\n')
    expect(resultsIn(last(play)).get('big')).toBe(`${rows}\n[exit code 3]`)
  })

  it('[Z35] keeps pictures beside it, and a rewind takes the undo with it', async () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } } as const
    const tool: Tool = {
      ...tools[0]!,
      run: async () => ({ content: [image, { type: 'text', text: long }], isError: false }),
    }
    const play = await stage(steps('and', 'end'), { engine: { tools: [tool] } })
    await play.say('run it')
    const { upTo } = play.session.view()
    const [row] = await play.session.edits()
    await play.session.undo(row!.seq)
    await play.say('what else?')
    expect(resultsIn(last(play)).get('big')).toBe(long)
    expect(plainBytes(last(play))).toContain(png)
    await play.session.rewind(upTo)
    expect((await play.session.edits())[0]).toMatchObject({ state: 'live' })
    await play.say('once more')
    expect(resultsIn(last(play)).get('big')).toContain('<persisted-output')
    expect(plainBytes(last(play))).toContain(png)
  })

  it('[Z35] is refused with the reason where it cannot be true: no room, changed, covered, pinned, whole already', async () => {
    const root = await folder()
    const small = await stage(steps(), { engine: { tools, window: 40_000, ...nothing } })
    await small.say('run it')
    const [row] = await small.session.edits()
    await expect(small.session.undo(row!.seq)).rejects.toMatchObject({
      code: 'no-room',
      message: expect.stringMatching(
        /the whole result at \d+ the view would take about \d+,\d{3} tokens, and \d+,\d{3} fit/,
      ),
    })
    const play = await stage(steps('and'), { engine: { store: fileStore({ root }), tools, ...nothing } })
    await play.say('run it')
    const [mine] = await play.session.edits()
    const target = mine!.seq
    const pin = await play.session.pin({ seq: target })
    await expect(play.session.undo(target)).rejects.toMatchObject({
      code: 'pinned',
      message: expect.stringContaining(`release ${pin.seq} first`),
    })
    await play.session.release(pin.seq)
    const made = await play.session.compact()
    await expect(play.session.undo(target)).rejects.toMatchObject({
      code: 'covered',
      message: expect.stringContaining(`undo that first`),
    })
    await play.session.undo(made.seq!)
    const file = join(root, play.session.id, 'tool-results', 'big.txt')
    await writeFile(file, `${long} and more`)
    await expect(play.session.undo(target)).rejects.toMatchObject({
      code: 'damaged',
      message: expect.stringContaining('changed since'),
    })
    await writeFile(file, long)
    await play.session.undo(target)
    await expect(play.session.undo(target)).rejects.toMatchObject({
      message: expect.stringContaining('whole already'),
    })
  })

  it('[Z35] is held until it is released; a compaction after it is undone byte for byte, also after a resume', async () => {
    const store = fileStore({ root: await folder() })
    const play = await stage(steps('two', 'three', 'four', 'five'), {
      engine: { store, tools, window: 200_000 },
    })
    await play.say('run it')
    const [row] = await play.session.edits()
    const held = await play.session.undo(row!.seq)
    expect(play.session.view().holds).toEqual([row!.range])
    await play.say('next')
    await play.session.release(held.seq)
    expect(play.session.view().holds).toEqual([])
    const bytes = JSON.stringify([...play.session.view().messages])
    const made = await play.session.compact()
    expect(JSON.stringify([...play.session.view().messages])).not.toContain(long.slice(0, 50_000))
    const compacted = JSON.stringify([...play.session.view().messages])
    await play.reopen()
    expect(JSON.stringify([...play.session.view().messages])).toBe(compacted)
    await play.session.undo(made.seq!)
    const shown = [...play.session.view().messages].slice(0, JSON.parse(bytes).length)
    expect(JSON.stringify(shown.map(({ content }) => content))).toBe(
      JSON.stringify((JSON.parse(bytes) as { content: unknown }[]).map(({ content }) => content)),
    )
  })

  it('[Z35] of a session of an earlier version is listed and comes back too', async () => {
    cpSync(join(import.meta.dirname, '..', 'fixtures', 'state-50d1d98', 'home'), scratch, { recursive: true })
    const found: string[] = []
    for (const slug of readdirSync(join(scratch, 'projects'))) {
      const root = join(scratch, 'projects', slug, 'sessions')
      const engine = createEngine({
        store: fileStore({ root }),
        modelId: 'claude-sonnet-4-6',
        clock: fixedClock(0),
        ids: countingIds(7),
      })
      for (const id of readdirSync(root)) {
        const session = await engine.open(sessionId(id))
        const row = (await session.edits()).find(({ layer }) => layer === 'result-limit')
        if (row !== undefined) {
          // What a compaction covers comes back with it, newest first.
          for (const { seq, state, range } of (await session.edits()).toReversed())
            if (state === 'live' && range !== null && range.from < row.seq && row.seq < range.to)
              await session.undo(seq)
          const before = JSON.stringify([...session.view().messages])
          await session.undo(row.seq)
          const after = JSON.stringify([...session.view().messages])
          expect(before).toContain('<persisted-output')
          expect(after.length).toBeGreaterThan(before.length + row.tokensFreed)
          found.push(id)
        }
        await session.close()
      }
    }
    expect(found.length).toBeGreaterThan(0)
  })

  it('[Z35] with a store of one’s own too', async () => {
    const play = await stage(steps('and'), { engine: { store: inMemoryStore(), tools } })
    await play.say('run it')
    await play.session.undo((await play.session.edits())[0]!.seq)
    await play.say('what else?')
    expect(resultsIn(last(play)).get('big')).toBe(long)
  })
})

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const scratch = mkdtempSync(join(tmpdir(), 'pal-kept-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))
