// Agents that work for longer than their window holds, and those that cannot go on.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { WireBlock, WireRequest } from '../../src/model/wire.ts'
import { call, text } from '../../src/simulator/index.ts'
import { factsOf, ofType, turn, words } from '../e2e/simulated.ts'
import { agent, refusedOf, replies, stage, taskOf, type Stage } from './simulated-agents.ts'

const rounds = 64
const window = 30_000
const settings = { model: 'claude-sonnet-4-6', window, maxOutputTokens: 2000 }
const files = Array.from({ length: rounds }, (_, at) => `big-${at}.txt`)

/** An answer for each round: what was found last, and the next file. */
const reading = (more = '') =>
  files.map((file, at): readonly WireBlock[] => [
    text(`FOUND-${at} ${more}`),
    call('Read', { file_path: file }),
  ])

async function large({ project }: Stage, size = 1500): Promise<void> {
  for (const [at, file] of files.entries()) await writeFile(join(project, file), words(size, `word${at}\n`))
}

const requestsOf = ({ simulator }: Stage, task: string) =>
  simulator.log.requests.filter(({ body }) => body !== null && taskOf(body as WireRequest).includes(task))

describe('an agent that outgrows its window', () => {
  it('[AG24] alone: answers after more than sixty rounds, and no request is too long', async () => {
    const made = await stage(
      [
        { when: 'main', answers: replies({ 'read it': [agent('reader', 'read much')] }) },
        { when: 'read much', answers: [...reading(), 'READ-ALL'] },
      ],
      { settings },
    )
    await large(made)
    const session = await made.preset.engine.open()
    expect((await turn(session.send('read it'))).outcome).toBe('done')
    expect(session.agents()).toMatchObject([{ state: 'done' }])
    expect(ofType(await factsOf(made.preset.store, session.id), 'fork-end').at(-1)?.text).toBe('READ-ALL')
    expect(requestsOf(made, 'read much')).toHaveLength(rounds + 1)
    for (const { prompt } of requestsOf(made, 'read much')) expect(prompt!.totalTokens).toBeLessThan(window)
    expect(refusedOf(made.simulator)).toEqual([])
    await session.close()
  })

  it('[AG24] as a fork: puts away what it did itself, and the talk it began with stays as it was sent', async () => {
    const talk = words(1500, 'talked ')
    const made = await stage(
      [
        { when: 'main', answers: replies({ 'read it': [agent('reader', 'read much', { fork: true })] }) },
        { when: 'read much', answers: [...reading(), 'READ-ALL'] },
      ],
      { settings },
    )
    await large(made)
    const { preset, simulator } = made
    const session = await preset.engine.open()
    await turn(session.send(talk))
    expect((await turn(session.send('read it'))).outcome).toBe('done')
    const [row] = session.agents()
    expect(row).toMatchObject({ state: 'done', forked: true })
    const child = await factsOf(preset.store, row!.child)
    expect(ofType(child, 'boundary').length).toBeGreaterThan(1)
    expect(ofType(await factsOf(preset.store, session.id), 'fork-end').at(-1)?.text).toBe('READ-ALL')
    const own = requestsOf(made, 'read much')
    expect(own).toHaveLength(rounds + 1)
    const bodies = own.map(({ body }) => body as WireRequest)
    // The text for what it did comes after its task, in the same message.
    const shared = withoutMarks(JSON.stringify(bodies[0]!.messages)).slice(0, -closing.length)
    for (const { system, tools, messages } of bodies) {
      expect({ system, tools }).toEqual({ system: bodies[0]!.system, tools: bodies[0]!.tools })
      expect(withoutMarks(JSON.stringify(messages)).startsWith(shared)).toBe(true)
    }
    for (const { prompt } of own) expect(prompt!.totalTokens).toBeLessThan(window)
    // Where its own part has changed, the mark may stand too far from what is cached; the next request reads all again.
    const prefix = own[0]!.prompt!.hit!.endTokens
    const short = own.filter(({ prompt }) => prompt!.hit!.endTokens < prefix)
    expect(short.length).toBeLessThanOrEqual(ofType(child, 'boundary').length)
    expect(refusedOf(simulator)).toEqual([])
    // Its parent has put nothing away.
    const facts = await factsOf(preset.store, session.id)
    expect([...ofType(facts, 'boundary'), ...ofType(facts, 'view-edit')]).toEqual([])
    await session.close()
  })

  it('[AG25] that cannot go on says which limit it met, and its parent has what it had found', async () => {
    const made = await stage(
      [
        { when: 'main', answers: replies({ 'read it': [agent('reader', 'read much', { fork: true })] }) },
        { when: 'read much', answers: [...reading(), 'READ-ALL'] },
      ],
      { settings: { ...settings, autocompact: false, microcompact: false } },
    )
    await large(made)
    const session = await made.preset.engine.open()
    await turn(session.send('hello'))
    expect((await turn(session.send('read it'))).outcome).toBe('done')
    expect(session.agents()).toMatchObject([{ state: 'failed', forked: true }])
    const facts = await factsOf(made.preset.store, session.id)
    const result = JSON.stringify(ofType(facts, 'tool-result').at(-1))
    expect(result).toContain('It did not finish')
    expect(result).toContain(`of the ${window.toLocaleString('en-US')} token window`)
    expect(result).toContain('FOUND-0')
    expect(result).toContain('FOUND-3')
    expect(refusedOf(made.simulator)).toEqual([])
    await session.close()
  })
})

const closing = ']}]'
const withoutMarks = (body: string): string => body.replaceAll(/,?"cache_control":\{[^}]*\}/g, '')
