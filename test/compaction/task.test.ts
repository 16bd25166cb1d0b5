// A task of many steps in a window that holds few of them, followed by the rule-based model, which knows of what it did
// only what the request tells. It proves the mechanics, not how well a real model works on.
import { randomUUID } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createEngine, inMemoryStore } from '../../src/index.ts'
import { standardLayers } from '../../src/projection/layers/index.ts'
import { ruleModel } from '../../src/simulator/index.ts'
import { machineFileSystem, standardTools } from '../../src/tools/index.ts'
import { factsOf, folder, later, modelId, ofType, refusals, simulated, turn } from '../e2e/simulated.ts'
import { smallModel } from './sessions.ts'

const window = 16_000
const files = 44

it('[O11] a task goes on through compactions to its end and does nothing twice', async () => {
  const path = await folder()
  const names = Array.from({ length: files }, (_, index) => `part${index}.txt`)
  for (const name of names)
    await writeFile(
      join(path, name),
      `${name} is open\n${'It says many things, old ones among them.\n'.repeat(45)}`,
    )
  const steps = names.flatMap((name) => [
    `read ${name}`,
    `edit ${name} "${name} is open" -> "${name} is seen"`,
  ])
  const task = `Look through all parts.\n<task name="parts">\n${[...steps, 'say All parts were seen.'].map((step, index) => `${index + 1}. ${step}`).join('\n')}\n</task>`
  const standard = standardTools({
    roots: [path],
    fs: machineFileSystem,
    environment: { PATH: process.env['PATH'] },
    unique: () => randomUUID(),
  })
  later(() => standard.close())
  const scene = await simulated([], { answerer: ruleModel({ root: path }), models: smallModel(window) })
  const store = inMemoryStore()
  const layers = standardLayers({ budget: false, microcompact: false })
  const { tools } = standard
  const session = await createEngine({
    store,
    modelId,
    model: scene.model,
    tools,
    cwd: path,
    window,
    layers,
  }).open()
  const { outcome, events } = await turn(session.send(task))
  expect(outcome).toBe('done')
  expect(refusals(scene)).toEqual([])
  const facts = await factsOf(store, session.id)
  expect(ofType(facts, 'boundary').length).toBeGreaterThan(1)
  const said = events.flatMap((event) => (event.type === 'text-delta' ? [event.text] : [])).join('')
  expect(said).toContain('All parts were seen.')
  for (const name of names) expect(await readFile(join(path, name), 'utf8')).toContain(`${name} is seen`)
  expect(ofType(facts, 'tool-result').length).toBe(2 * files)
})
