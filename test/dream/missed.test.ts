// What was said in sessions and saved by nobody, as a consolidation finds it.
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { consolidate } from '../../src/forks/memory/consolidation/consolidate.ts'
import { call } from '../../src/simulator/index.ts'
import { memoryText } from '../memory/memories.ts'
import { serving } from './answers.ts'
import { hour, openWorkspace } from './workspace.ts'

const said = 'We use heron for every release of the importer.'
const fact = (body: string, type = 'project'): string =>
  memoryText('importer', { type, description: body, body })

it('[DR33] a consolidation is shown what was said in recent sessions and stands nowhere, and may keep it word for word, as data', async () => {
  let file = ''
  const writes = (name: string, text: string) =>
    call('Write', { file_path: file.replace('importer.md', name), content: text })
  const model = serving('consolidate', () => [
    [
      writes('importer.md', fact(said)),
      writes('reworded.md', fact('Heron releases the importer.')),
      writes('rule.md', fact(said, 'feedback')),
    ],
  ])
  const at = await openWorkspace(model, { interactive: false })
  file = join(at.memories, 'importer.md')
  await at.save('tabs.md', memoryText('tabs', { body: 'We use tabs in all files.' }))
  const session = await at.talk(
    `Good morning. ${said} We use tabs in all files. Should we always ask? Look at the log now.`,
  )
  at.clock.ahead += 25 * hour
  const open = await at.open()
  const { list, options } = at.preset.memoryJobs
  const job = list.start('dream', open.id, at.clock.now())
  const done = await consolidate(options, at.keeper, open, job, { isDry: false, isAsked: true })
  expect(done).toMatchObject({ kind: 'changed' })
  const asked = JSON.stringify(at.asked('consolidate')[0]?.messages.at(-1))
  expect(asked).toContain(`- ${said}`)
  for (const other of ['- We use tabs', '- Should we always', '- Look at the log', '- Good morning'])
    expect(asked).not.toContain(other)
  const files = await at.files()
  expect(Object.keys(files)).toEqual(['MEMORY.md', 'importer.md', 'tabs.md'])
  expect(files['MEMORY.md']).not.toContain('heron')
  const read = await at.keeper.read('importer.md')
  expect(read).toMatchObject({
    memory: { standing: 'fenced', provenance: { trust: 'data', from: [`session:${session.id}`] } },
  })
  // What stands in a memory is not shown again.
  at.clock.ahead += 25 * hour
  await consolidate(options, at.keeper, await at.open(), job, { isDry: true, isAsked: true })
  expect(JSON.stringify(at.asked('consolidate').at(-1)?.messages.at(-1))).not.toContain(`- ${said}`)
})
