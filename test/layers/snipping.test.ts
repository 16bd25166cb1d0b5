// Snip at work: tags in the request copy, the tool, its refusals, resume and undo, over HTTP.
import { describe, expect, it } from 'vitest'
import type { WireBlock, WireRequest } from '../../src/model/wire.ts'
import { call, type ScriptStep } from '../../src/simulator/index.ts'
import { snipTool } from '../../src/tools/context.ts'
import { openWorkspace } from '../tools/workspace.ts'
import { microcompact, type ClearingPrice } from '../../src/projection/layers/index.ts'
import { ofType, refusals } from '../e2e/simulated.ts'
import { budget, lines, minute, Scribe, stubbed } from './scribe.ts'
import { plainBytes, resultsIn, stage, toolOf } from './stage.ts'

const tools = [toolOf('Bash', () => lines(50)), snipTool()]

const textOf = (block: WireBlock | undefined): string =>
  typeof block?.['text'] === 'string' ? block['text'] : ''

/** The tags of a request, in order, and the texts they stand behind. */
function tagged(request: WireRequest): readonly (readonly [text: string, tag: string])[] {
  return request.messages.flatMap(({ role, content }) => {
    if (role !== 'user' || typeof content === 'string') return []
    return content.flatMap((block, index) => {
      const tag = /^\[id:([0-9a-f]+)\]$/.exec(textOf(block))?.[1]
      return tag === undefined ? [] : [[textOf(content[index - 1]), tag] as const]
    })
  })
}
/** A call of Snip with the tags of these inputs, by number. */
const snipping =
  (id: string, ...numbers: readonly number[]): ScriptStep =>
  (request) => [call('Snip', { ids: numbers.map((n) => tagged(request)[n]![1]), reason: 'solved' }, id)]

describe('tags', () => {
  it('[Z7] stand behind every real input in the request, and nowhere in the transcript', async () => {
    const hooks = {
      fire: (name: string) =>
        Promise.resolve({
          context: name === 'PostToolUse' ? 'a hook speaks' : null,
          block: null,
          failures: [],
        }),
    }
    const play = await stage(['one', [call('Bash', {}, 'b')], 'two'], { engine: { tools, hooks } })
    await play.say('first')
    await play.say('second')
    const last = play.requests().at(-1)!
    expect(tagged(last).map(([text]) => text)).toEqual(['first', 'second'])
    expect(new Set(tagged(last).map(([, tag]) => tag)).size).toBe(2)
    for (const [, tag] of tagged(last)) expect(tag).toMatch(/^[0-9a-f]{6}$/)
    expect(JSON.stringify(await play.facts())).not.toMatch(/\[id:[0-9a-f]/)
    expect(refusals(play.scene)).toEqual([])
  })

  it('[Z7] are sent only in sessions that have the tool', async () => {
    const play = await stage(['one'], { engine: { tools: [tools[0]!] } })
    await play.say('first')
    expect(tagged(play.requests()[0]!)).toEqual([])
  })
})

describe('the Snip tool', () => {
  it('[Z8] removes a whole turn with its pairs; a resume sends the same bytes; undo gives it back', async () => {
    const steps = [[call('Bash', {}, 'b')], 'one', 'two', snipping('s', 0), 'snipped', 'four', 'five']
    const run = async (resumes: boolean) => {
      const play = await stage(steps, { engine: { tools }, resumes })
      for (const text of ['first', 'second', 'third', 'fourth']) await play.say(text)
      const bodies = play.requests().map(plainBytes)
      const [row] = await play.session.edits()
      expect(row).toMatchObject({
        layer: 'snip',
        asked: 'model',
        why: 'solved',
        does: [{ kind: 'drop', count: 1 }],
        price: { kind: 'asked', isWarm: true, freedTokens: row!.tokensFreed },
      })
      // What stays behind the turn is written again, and that is far less than was there.
      const { tailTokens } = row!.price as ClearingPrice
      expect(tailTokens).toBeGreaterThan(0)
      expect(tailTokens).toBeLessThan(row!.tokensFreed)
      expect(row!.saved).not.toBeNull()
      await play.session.undo(row!.seq)
      await play.say('fifth')
      expect(refusals(play.scene)).toEqual([])
      return { bodies, last: play.requests().at(-1)! }
    }
    const straight = await run(false)
    const gone = straight.bodies.at(-2)!
    expect(gone).not.toContain('"first"')
    expect(gone).not.toContain('one line of plain output')
    expect(gone).toContain('"second"')
    expect(tagged(straight.last).map(([text]) => text)).toEqual([
      'first',
      'second',
      'third',
      'fourth',
      'fifth',
    ])
    expect((await run(true)).bodies).toEqual(straight.bodies)
  })

  it('[Z9] refuses the current turn, an unknown id and an empty list, and shrugs at a second time', async () => {
    const again: ScriptStep = () => [call('Snip', { ids: [first], reason: 'once more' }, 's5')]
    let first = ''
    const steps: ScriptStep[] = [
      'one',
      snipping('s1', 1),
      [call('Snip', { ids: ['ffffff'], reason: 'x' }, 's2')],
      [call('Snip', { ids: [], reason: 'x' }, 's3')],
      (request, context) => {
        first = tagged(request)[0]![1]
        const step = snipping('s4', 0)
        return typeof step === 'function' ? step(request, context) : step
      },
      again,
      'end',
    ]
    const play = await stage(steps, { engine: { tools } })
    await play.say('first')
    await play.say('second')
    const results = resultsIn(play.requests().at(-1)!)
    expect(results.get('s1')).toContain('current turn')
    expect(results.get('s2')).toContain('no message with id ffffff')
    expect(results.get('s2')).toContain(first)
    expect(results.get('s3')).toContain('no id was given')
    expect(results.get('s4')).toContain('One turn removed')
    expect(results.get('s5')).toContain('already')
    expect(ofType(await play.facts(), 'view-edit')).toHaveLength(1)
    expect(refusals(play.scene)).toEqual([])
  })
})

describe('Read and clearing', () => {
  it('[Z10] the note that a file has not changed, as Read writes it, keeps the read it points at', async () => {
    const place = openWorkspace()
    place.put('a.ts', lines(200))
    const scribe = new Scribe()
    scribe.say()
    const read = await place.read({ file_path: 'a.ts' })
    const shownBy = place.env.readFiles.entries()[0]![1].callId
    place.shown.add(shownBy)
    const note = await place.read({ file_path: 'a.ts' })
    expect(JSON.stringify(note.content)).toContain('[unchanged')
    const [first] = scribe.work({
      id: shownBy,
      tool: 'Read',
      input: { file_path: 'a.ts' },
      output: read.content,
    })
    scribe.rounds(6)
    scribe.work({ id: 'again', tool: 'Read', input: { file_path: 'a.ts' }, output: note.content })
    scribe.answer()
    const by = budget({ now: scribe.now() + 61 * minute, isWarm: false })
    expect(stubbed(microcompact().decide(scribe.view(), by))).toHaveLength(1)
    expect(stubbed(microcompact().decide(scribe.view(), by))).not.toContain(first)
  })
})
