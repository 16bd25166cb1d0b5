// `pal memory search` and recall in `pal -p`, as they are shipped, in a child process.
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { machineFileSystem } from '../../src/disk/fs.ts'
import { projectOf } from '../../src/preset/project.ts'
import { call, text, type Answerer } from '../../src/simulator/index.ts'
import { openWorkspace, server, type Workspace } from '../cli/pal.ts'
import { memoryText, plant, type Planted } from './memory-folder.ts'

async function remembering(at: Workspace, planted: readonly Planted[]): Promise<void> {
  const found = await projectOf(machineFileSystem, at.project)
  if (!found.ok) throw new Error(found.failure.message)
  const own = join(at.state, 'projects', found.project.slug)
  await plant({ scope: 'project', root: join(own, 'memory'), state: join(own, 'memory-state') }, planted)
}

const zephyr: Planted = {
  file: 'zephyr.md',
  text: memoryText('zephyr builds need the linker flag', 'Pass --no-zephyr to the linker for zephyr builds.'),
}

describe('pal', () => {
  it('[RC38] finds memories and what was said, as text and as JSON', async () => {
    const at = await openWorkspace()
    await remembering(at, [zephyr, { file: 'held.md', text: memoryText('zephyr held', 'x'), trust: null }])
    const { access, simulator } = await server(['The build is fine.', 'Pass the flag.'])
    const environment = { ...access, PALIMPSEST_RECALL_MODEL: 'off' }
    expect((await at.pal(['-p', 'does the quuxbuild pass?'], { environment })).code).toBe(0)
    expect(JSON.stringify(simulator.log.last()?.body)).not.toContain('--no-zephyr')
    const found = await at.pal(['memory', 'search', 'zephyr', 'linker', '--json'])
    expect(found.code).toBe(0)
    const { memories } = JSON.parse(found.out) as { memories: { name: string; standing: string }[] }
    expect(memories.map(({ name, standing }) => [name, standing])).toEqual([
      ['project/zephyr.md', 'open'],
      ['project/held.md', 'held'],
    ])
    const said = await at.pal(['memory', 'search', 'quuxbuild', '--transcripts'])
    expect(said.out).toContain('no memory matches')
    const place = /^(\S+:\d+) .*quuxbuild/mu.exec(said.out)![1]!
    expect((await at.pal(['memory', 'search', '--expand', place])).out).toContain('The build is fine.')
    expect((await at.pal(['memory', 'search'])).code).toBe(2)
  })

  it('[RC28] puts a memory before the model, unless it is switched off', async () => {
    const at = await openWorkspace()
    await remembering(at, [zephyr])
    // It comes with the first request or, on a busy machine, with a later one.
    let [rounds, most] = [0, 400]
    const answerer: Answerer = {
      answer: ({ request }) =>
        JSON.stringify(request).includes('Pass --no-zephyr') || ++rounds > most
          ? { content: [text('Pass the flag.')], stop_reason: 'end_turn' }
          : { content: [call('Glob', { pattern: '*' }, `c${rounds}`)], stop_reason: 'tool_use' },
    }
    const { access, simulator } = await server([], { answerer })
    const environment = { ...access, PALIMPSEST_RECALL_MODEL: 'off' }
    const words = ['-p', 'which flag do zephyr builds need?']
    expect((await at.pal(words, { environment })).code).toBe(0)
    expect(JSON.stringify(simulator.log.last()?.body)).toContain('Pass --no-zephyr')
    ;[rounds, most] = [0, 2]
    const off = { ...environment, PALIMPSEST_RECALL: 'off' }
    expect((await at.pal(words, { environment: off })).code).toBe(0)
    expect(JSON.stringify(simulator.log.last()?.body)).not.toContain('Pass --no-zephyr')
  })

  it.each([500, 5000])(
    '[RC40] a prompt of one request has the right one of %i memories in it, with and without an index on disk',
    async (count) => {
      const at = await openWorkspace()
      // Names of two words each, so that one is told from another by more than a number.
      const parts =
        'amber birch cedar delta ember flint grove heron islet jasper kelp larch mango nadir onyx pearl'.split(
          ' ',
        )
      const nameOf = (n: number): string =>
        `${parts[n % 16]}${parts[(n >> 4) % 16]} ${parts[(n >> 8) % 16]}${parts[(n >> 12) % 16]}${n}`
      await remembering(
        at,
        Array.from({ length: count }, (_, n) => ({
          file: `note-${n}.md`,
          text: memoryText(
            `deploying ${nameOf(n)} needs a ticket first`,
            `The ticket belongs to team ${n % 13}. FACT-${n}.`,
          ),
        })),
      )
      const { access, simulator } = await server(['First.', 'Second.', 'Third.'])
      for (const [run, wanted] of [count - 3, 7, count - 1].entries()) {
        const asked = `how is ${nameOf(wanted)} deployed?`
        const ran = await at.pal(['-p', asked], { environment: { ...access } })
        expect([ran.code, ran.err]).toEqual([0, expect.not.stringContaining('without them')])
        // No selector is asked: there is one request, and the memory stands in it.
        expect(simulator.log.requests).toHaveLength(run + 1)
        expect(JSON.stringify(simulator.log.last()?.body)).toContain(`FACT-${wanted}.`)
      }
    },
    240_000,
  )
})
