// A whole task over HTTP with the real tools on real files: look, run the tests, mend, run them again.
import { randomUUID } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createEngine, fileStore } from '../../src/index.ts'
import { ruleModel } from '../../src/simulator/index.ts'
import { machineFileSystem, standardTools } from '../../src/tools/index.ts'
import { factsOf, folder, later, modelId, ofType, refusals, simulated, turn } from './simulated.ts'

const task = `Mend the cart, please.
<task name="cart">
1. read cart.mjs
2. also search "total" in .
3. run node --test
4. if failed: edit cart.mjs "a - b" -> "a + b"
5. run node --test
6. if passed: say The cart adds up again.
</task>`

it('[N1] a task with edits and tests runs to its end over HTTP and leaves a whole transcript', async () => {
  const path = await folder()
  await writeFile(join(path, 'cart.mjs'), 'export const total = (a, b) => a - b\n')
  await writeFile(
    join(path, 'cart.test.mjs'),
    `import test from 'node:test'
import assert from 'node:assert'
import { total } from './cart.mjs'
test('adds', () => assert.equal(total(1, 2), 3))
`,
  )
  const standard = standardTools({
    roots: [path],
    fs: machineFileSystem,
    // The runner of this very test must not be taken for the parent of theirs.
    environment: { PATH: process.env['PATH'] },
    unique: () => randomUUID(),
  })
  later(() => standard.close())
  const scene = await simulated([], { answerer: ruleModel({ root: path }) })
  const store = fileStore({ root: await folder() })
  const { tools } = standard
  const session = await createEngine({ store, modelId, model: scene.model, tools, cwd: path }).open()
  const { outcome, events } = await turn(session.send(task))
  await session.close()
  expect(outcome).toBe('done')
  expect(await readFile(join(path, 'cart.mjs'), 'utf8')).toContain('a + b')
  const said = events.flatMap((event) => (event.type === 'text-delta' ? [event.text] : [])).join('')
  expect(said).toContain('The cart adds up again.')
  const results = ofType(await factsOf(store, session.id), 'tool-result')
  expect(results.length).toBe(5)
  expect(refusals(scene)).toEqual([])
})
