// The whole way: corrected in one session, applied in the next; a contradiction replaces the old fact; five sessions and
// a day later everything is put in order.
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { WireRequest } from '../../src/model/wire.ts'
import { consolidate } from '../../src/forks/memory/consolidation/consolidate.ts'
import { call, jobOf, ruleModel, type Answerer } from '../../src/simulator/index.ts'
import { factsOf, ofType, refusals, turn } from '../e2e/simulated.ts'
import { memoryText } from '../memory/memories.ts'
import { openWorkspace, hour, quiet, type Workspace } from './workspace.ts'

const rule = ruleModel()

/** Follows rules, but saves something itself when it is asked to note it down. */
function noting(texts: Readonly<Record<string, string>>, at: () => Workspace): Answerer {
  return {
    answer: (context) => {
      const { messages } = context.request
      const last = JSON.stringify(messages.at(-1))
      if (jobOf(context.request) !== null || !last.includes('Note it down')) return rule.answer(context)
      const writes = Object.entries(texts).map(([file, content]) =>
        call('Write', { file_path: join(at().memories, file), content }),
      )
      return { content: writes, stop_reason: 'tool_use' }
    },
  }
}

const firstWords = (request: WireRequest | undefined): string => JSON.stringify(request?.messages[0])

it('[DR2] what is corrected in one session is known in the next, a contradiction replaces it, and five sessions and a day later it is put in order', async () => {
  let whole: Workspace | null = null
  const release = memoryText('release', {
    description: 'when the release train leaves',
    body: 'The release train leaves next Friday. See [the order](linter-tests.md).',
  })
  const order = memoryText('linter order', {
    type: 'feedback',
    description: 'Never run the linter before tests.',
    body: 'Never run the linter before tests.',
  })
  const at = await openWorkspace(noting({ 'release.md': release, 'linter-order.md': order }, () => whole!))
  whole = at
  // The first consolidation finds nothing; from it on the day is counted.
  const empty = await at.open()
  const { list, options } = at.preset.memoryJobs
  const now = { isDry: false, isAsked: true }
  const started = at.clock.now()
  expect(await consolidate(options, at.keeper, empty, list.start('dream', '', 0), now)).toMatchObject({
    kind: 'nothing',
  })

  await at.talk('Please write a test.', 'No. From now on always run the linter before tests.')
  expect((await at.files())['linter-tests.md']).toContain('always run the linter before tests')
  expect(at.events).toContainEqual({ type: 'memory', did: 'saved', files: ['linter-tests.md'] })

  const asked = at.scene.simulator.log.requests.length
  await at.talk('Mend the cart.')
  const second = at.scene.simulator.log.requests[asked]?.body as WireRequest
  expect(firstWords(second)).toContain('From now on always run the linter before tests.')

  await at.talk('Never run the linter before tests.')
  const third = await at.files()
  expect(third['linter-tests.md']).toContain('Never run the linter before tests.')
  expect(JSON.stringify(third)).not.toContain('always run the linter')
  expect(at.keeper.ledger.versionsOf('linter-tests.md').map(({ by, via }) => [by.trust, via])).toEqual([
    ['user', 'extraction'],
    ['user', 'extraction'],
  ])

  const extracted = at.asked('extract').length
  const fourth = await at.talk(
    'Note it down: the release train leaves next Friday, see the order. Never run the linter before tests.',
  )
  // The model has written memories itself, so nobody looks at that span again.
  expect(at.asked('extract')).toHaveLength(extracted)
  expect(ofType(await factsOf(at.preset.store, fourth.id), 'memories-extracted')).toMatchObject([
    { skipped: true, files: [] },
  ])
  await at.talk('Thanks.')
  expect(at.asked('consolidate')).toEqual([])

  at.clock.ahead = 25 * hour
  const sixth = await at.open()
  await turn(sixth.send('Good morning.'))
  await quiet(at)
  const done = await at.files()
  expect(Object.keys(done)).toEqual(['MEMORY.md', 'linter-order.md', 'release.md'])
  const friday = new Date(started)
  friday.setUTCDate(friday.getUTCDate() + ((5 - friday.getUTCDay() + 7) % 7 || 7))
  expect(done['release.md']).toContain(
    `leaves ${friday.toISOString().slice(0, 10)}. See [the order](linter-order.md).`,
  )
  expect(done['MEMORY.md']!.match(/\(([^)]+)\)/gu)).toEqual(['(linter-order.md)', '(release.md)'])
  expect(at.events).toContainEqual(expect.objectContaining({ code: 'consolidation-done' }))
  expect(at.preset.memoryJobs.list.looks().at(-1)).toMatchObject({ kind: 'dream', state: 'completed' })

  // Once is enough for a day.
  const times = at.asked('consolidate').length
  await turn(sixth.send('And now?'))
  await quiet(at)
  expect(at.asked('consolidate')).toHaveLength(times)
  expect(refusals(at.scene)).toEqual([])
})
