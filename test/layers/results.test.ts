// The tool-result budget at work: the gate at production, the sum per message, and choices that stay made.
import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { call } from '../../src/simulator/index.ts'
import { fileStore, inMemoryStore } from '../../src/stores/index.ts'
import { expandTool } from '../../src/tools/context.ts'
import type { Tool } from '../../src/tools/tool.ts'
import type { Seq } from '../../src/transcript/ids.ts'
import { ofType, folder, refusals } from '../e2e/simulated.ts'
import { lines } from './scribe.ts'
import { plainBytes, resultsIn, stage, toolOf, type StageOptions } from './stage.ts'

const long = lines(4000, 'a line of a very long output, 行, 🔥')

describe('the gate', () => {
  it('[Z1] keeps an oversized result whole in a file and shows both ends at line ends, with size and path', async () => {
    const store = fileStore({ root: await folder() })
    const tools = [toolOf('Bash', () => long)]
    const play = await stage([[call('Bash', {}, 'big')], 'seen'], { engine: { store, tools } })
    await play.say('run it')
    const shown = resultsIn(play.requests()[1]!).get('big')!
    expect(shown.length).toBeLessThan(4000)
    const [, bytes, path] = /<persisted-output ref="[^"]+" bytes="(\d+)" path="([^"]+)">/.exec(shown)!
    expect(await readFile(path!, 'utf8')).toBe(long)
    expect(Number(bytes)).toBe(Buffer.byteLength(long))
    const [first, ...rest] = shown.split('\n').slice(1)
    expect(first).toBe(long.split('\n')[0])
    const gap = rest.findIndex((line) => line.startsWith('[…'))
    expect(long.split('\n')).toContain(rest[gap - 1])
    expect(long.split('\n')).toContain(rest[gap + 1])
    expect(rest.at(-2)).toBe(long.split('\n').at(-1))
    const [result] = ofType(await play.facts(), 'tool-result')
    expect(result!.spill).toMatchObject({ bytes: Buffer.byteLength(long) })
    expect(refusals(play.scene)).toEqual([])
  })

  it('[Z1] cuts one endless line between characters', async () => {
    const tools = [toolOf('Bash', () => '🔥'.repeat(40_000))]
    const play = await stage([[call('Bash', {}, 'big')], 'seen'], { engine: { tools } })
    await play.say('run it')
    const shown = resultsIn(play.requests()[1]!).get('big')!
    expect(shown.isWellFormed()).toBe(true)
    expect(shown).not.toContain('\uFFFD')
    const [fire] = /🔥+/u.exec(shown)!
    expect(Buffer.byteLength(fire)).toBe(2048)
    const three = await stage([[call('Bash', {}, 'big')], 'seen'], {
      engine: { tools: [toolOf('Bash', () => '行'.repeat(60_000))] },
    })
    await three.say('run it')
    expect(resultsIn(three.requests()[1]!).get('big')).not.toContain('\uFFFD')
  })

  it('[Z2] is passed by unknown tools, by the four verbs and by hooks; nothing at all becomes a marker', async () => {
    const hooks = {
      fire: (name: string) =>
        Promise.resolve({ context: name === 'UserPromptSubmit' ? long : null, block: null, failures: [] }),
    }
    const play = await stage(['hello'], { engine: { hooks, tools: [] } })
    await play.say('hi')
    expect(plainBytes(play.requests()[0]!)).toContain('‹persisted-output')
    const verbs = await stage([[call('mcp__x', {}, 'm1'), call('mcp__x', {}, 'm2')], 'ok'])
    await verbs.session.say('go')
    await verbs.session.request()
    await verbs.session.receive({
      id: 'msg',
      model: 'm',
      content: [call('mcp__x', {}, 'm1'), call('mcp__x', {}, 'm2')],
      stop_reason: 'tool_use',
      usage: {
        input_tokens: 1,
        output_tokens: 1,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
      },
    })
    await verbs.session.result('m1', long)
    await verbs.session.result('m2', ' ')
    const [large, empty] = ofType(await verbs.facts(), 'tool-result')
    expect(JSON.stringify(large!.content)).toContain('<persisted-output')
    expect(empty!.content).toEqual([{ type: 'text', text: '[no output]' }])
  })

  it('[Z2] a tool that pages by itself is never written out, and a setting overrides the limit of a tool', async () => {
    const tools = [toolOf('Read', () => long, { maxResultChars: null }), toolOf('Bash', () => lines(100))]
    const toolPolicies = { Bash: { maxResultChars: 1000 } }
    const play = await stage([[call('Read', {}, 'r'), call('Bash', {}, 'b')], 'ok'], {
      engine: { tools, toolPolicies },
    })
    await play.say('go')
    const shown = resultsIn(play.requests()[1]!)
    expect(shown.get('r')).toBe(long)
    expect(shown.get('b')).toContain('<persisted-output')
  })

  it('[Z21] a limit that was set holds at the gate and for the layer behind it', async () => {
    const text = lines(3000)
    expect(text.length).toBeGreaterThan(50_000)
    for (const maxResultChars of [100_000, null]) {
      const toolPolicies = { Bash: { maxResultChars } }
      const tools = [toolOf('Bash', () => text)]
      const play = await stage([[call('Bash', {}, 'b')], 'ok'], {
        engine: { tools, toolPolicies, layers: undefined },
      })
      await play.say('go')
      expect(resultsIn(play.requests()[1]!).get('b')).toBe(text)
    }
  })

  it('[Z1] what a tool has kept by itself stays kept, also where its preview is larger than may be', async () => {
    const bash = toolOf('Bash', () => '')
    const kept: Tool = {
      ...bash,
      run: async (_input, env) => {
        const done = await env.spill!(env.callId, new TextEncoder().encode(long))
        if (!done.ok) throw new Error(done.why)
        return { content: [{ type: 'text', text: lines(200) }], isError: false, spill: done }
      },
    }
    const steps = [[call('Bash', {}, 'b')], [call('Expand', { ref: 'b', limit: 50_000 }, 'e')], 'ok']
    const play = await stage(steps, {
      engine: { tools: [kept, expandTool()], toolPolicies: { Bash: { maxResultChars: 3000 } } },
    })
    await play.say('go')
    const shown = resultsIn(play.requests()[2]!)
    expect(shown.get('b')!.length).toBeLessThan(3500)
    expect(shown.get('b')).toContain(`bytes="${Buffer.byteLength(long)}"`)
    expect(long.startsWith(shown.get('e')!.slice(0, 49_000))).toBe(true)
    const [result] = ofType(await play.facts(), 'tool-result')
    expect(result!.spill).toMatchObject({ blob: 'b', bytes: Buffer.byteLength(long) })
  })

  it('[Z1] of two results under one id both are kept whole', async () => {
    let round = 0
    const tools = [toolOf('Bash', () => `${++round} ${long}`)]
    const again = () => [call('Bash', { round }, 'same')]
    const play = await stage([again, 'one', again, 'two'], { engine: { tools } })
    await play.say('go')
    await play.session.rewind(
      (await play.facts()).findIndex(({ type }) => type === 'instructions-set') as Seq,
    )
    await play.say('once more')
    const spills = ofType(await play.facts(), 'tool-result').map(({ spill }) => spill!.blob)
    expect(new Set(spills).size).toBe(2)
    for (const [index, blob] of spills.entries()) {
      const found = await play.store.getBlob(play.session.id, blob)
      expect(found.ok && new TextDecoder().decode(found.bytes)).toBe(`${index + 1} ${long}`)
    }
  })

  it('[B18] what was kept comes back page by page, no character halved, lost or twice', async () => {
    const whole = lines(6000, '行 🔥🔥')
    const pages: string[] = []
    const steps = Array.from({ length: 12 }, (_, page) => (request: Parameters<typeof resultsIn>[0]) => {
      const results = resultsIn(request)
      const before = results.get(`e${page - 1}`)
      if (before !== undefined) pages.push(before.replace(/\n\[characters \d+ to \d+ of \d+.*\]$/, ''))
      const next = before === undefined ? '0' : /; go on with offset (\d+)\]$/.exec(before)?.[1]
      if (next === undefined) return 'read'
      const [, ref] = /Expand \{"ref": "([^"]+)"\} returns/.exec(results.get('big')!)!
      return [call('Expand', { ref, offset: Number(next), limit: 20_001 }, `e${page}`)]
    })
    const play = await stage([[call('Bash', {}, 'big')], ...steps], {
      engine: { tools: [toolOf('Bash', () => whole), expandTool()] },
    })
    await play.say('run it')
    expect(pages.join('')).toBe(whole)
    expect(pages.length).toBe(Math.ceil(whole.length / 20_000))
  })

  it('[Z3] cuts in place, with a note, what a full quota or disk cannot take; the turn goes on', async () => {
    const store = inMemoryStore({ spillQuotaBytes: 1000 })
    const tools = [toolOf('Bash', () => long)]
    const play = await stage([[call('Bash', {}, 'big')], 'ok'], { engine: { store, tools } })
    const events = await play.say('go')
    expect(events.at(-1)).toMatchObject({ outcome: 'done' })
    const notices = events.flatMap((event) => (event.type === 'notice' ? [event] : []))
    expect(notices).toMatchObject([
      { code: 'quota', message: expect.stringMatching(/only both ends of big/) },
    ])
    const shown = resultsIn(play.requests()[1]!).get('big')!
    expect(shown).toMatch(/\[cut here: \d+ more characters could not be kept \(.*\)\]$/)
    expect(Buffer.byteLength(shown)).toBeLessThan(51_000)
  })
})

describe('the sum of a message', () => {
  const big = (input: Record<string, unknown>): string =>
    lines(1500, `output ${String(input['n'])} of a parallel batch`)
  const batch = [0, 1, 2, 3, 4, 5].map((n) => call('Bash', { n }, `p${n}`))
  const five: StageOptions['engine'] = { tools: [toolOf('Bash', big), expandTool()] }

  it('[Z4] holds for parallel results that are each under the cap and together over it (fixture E4)', async () => {
    const play = await stage([batch, 'ok'], { engine: five })
    await play.say('go')
    const results = [...resultsIn(play.requests()[1]!).values()]
    expect(results.reduce((sum, text) => sum + text.length, 0)).toBeLessThanOrEqual(200_000)
    const out = results.filter((text) => text.startsWith('<persisted-output'))
    expect(out.length).toBeGreaterThan(0)
    expect(out.length).toBeLessThan(6)
    expect(ofType(await play.facts(), 'view-edit')).toMatchObject([
      { layer: 'tool-result-budget', asked: 'automatic', price: { kind: 'unsent', costs: 0 } },
    ])
    expect((await play.session.edits())[0]!.saved).toBeGreaterThan(0)
    expect(refusals(play.scene)).toEqual([])
  })

  it('[Z4] what was written out comes back by expand', async () => {
    const steps = [
      batch,
      (request: Parameters<typeof resultsIn>[0]) => {
        const [, ref] = /Expand \{"ref": "(\d+)"\}/.exec([...resultsIn(request).values()].join('\n'))!
        return [call('Expand', { ref, limit: 50_000 }, 'e')]
      },
      'ok',
    ]
    const play = await stage(steps, { engine: five })
    await play.say('go')
    const shown = resultsIn(play.requests()[2]!).get('e')!
    expect(shown).toMatch(/output \d of a parallel batch 0\n/)
    expect(shown).toContain('of a parallel batch 900')
  })

  it('[Z3] is kept also when the disk takes nothing', async () => {
    const play = await stage([batch, 'ok'], {
      engine: { ...five, store: inMemoryStore({ spillQuotaBytes: 10 }) },
    })
    const events = await play.say('go')
    expect(events.at(-1)).toMatchObject({ outcome: 'done' })
    const results = [...resultsIn(play.requests()[1]!).values()]
    expect(results.reduce((sum, text) => sum + text.length, 0)).toBeLessThanOrEqual(200_000)
    expect(results.some((text) => text.includes('could not be kept'))).toBe(true)
  })

  it('[Z5] is decided once: later requests, a resumed session and a fork send the same bytes', async () => {
    const steps = [
      batch,
      'one',
      batch.map((block, n) => ({ ...block, id: `q${n}` })),
      'two',
      'three',
      'from the fork',
    ]
    const run = async (resumes: boolean): Promise<readonly string[]> => {
      const play = await stage(steps, { engine: { tools: [toolOf('Bash', big)] }, resumes })
      await play.say('go')
      await play.say('again')
      await play.say('and again')
      const fork = await play.session.fork({ purpose: 'notes', directive: 'write notes' })
      expect(fork.outcome).toBe('done')
      expect(refusals(play.scene)).toEqual([])
      return play.requests().map(plainBytes)
    }
    const straight = await run(false)
    expect(straight).toHaveLength(6)
    expect(await run(true)).toEqual(straight)
    const messagesOf = (body: string) => (JSON.parse(body) as { messages: unknown[] }).messages
    for (const [index, body] of straight.entries()) {
      const before = straight[index - 1]
      if (before !== undefined)
        expect(JSON.stringify(messagesOf(body).slice(0, messagesOf(before).length))).toBe(
          JSON.stringify(messagesOf(before)),
        )
    }
  })
})

describe('fixtures', () => {
  it('[Z1] E2: one result of 1.68 MB does not reach a window of 131,072 tokens', async () => {
    const tools = [toolOf('Bash', () => 'x'.repeat(99).concat('\n').repeat(16_800))]
    const play = await stage([[call('Bash', {}, 'big')], 'ok'], { engine: { tools, window: 131_072 } })
    const events = await play.say('go')
    expect(events.at(-1)).toMatchObject({ outcome: 'done' })
    expect(play.session.view().tokens).toBeLessThan(5000)
  })
})
