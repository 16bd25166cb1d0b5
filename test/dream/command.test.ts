// `pal consolidate` as it is shipped, in a child process, with the scripted model.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { machineFileSystem } from '../../src/disk/fs.ts'
import { applyWrite } from '../../src/memory/keeping/apply.ts'
import { openKeeper } from '../../src/memory/keeping/keeper.ts'
import { projectOf } from '../../src/preset/project.ts'
import { ruleModel } from '../../src/simulator/index.ts'
import { openWorkspace, server } from '../cli/pal.ts'
import { from, keeperOptions, memoryText } from '../memory/memories.ts'
import { filesIn } from './workspace.ts'

it('[DR21] pal consolidate shows, does and takes back, as text and as JSON', async () => {
  const { access } = await server([], { answerer: ruleModel() })
  const at = await openWorkspace(access)
  const found = await projectOf(machineFileSystem, at.project)
  if (!found.ok) throw new Error(found.failure.message)
  const own = join(at.state, 'projects', found.project.slug)
  const place = { scope: 'project', root: join(own, 'memory'), state: join(own, 'memory-state') } as const
  const keeper = openKeeper(place, keeperOptions())
  const save = (file: string, type: string, body: string) =>
    applyWrite(keeper, [{ file, text: memoryText(file, { type, description: body, body }) }], from(), {
      via: 'session',
    })
  await save('old.md', 'feedback', 'Always run the linter before tests.')
  await save('new.md', 'feedback', 'Never run the linter before tests.')
  await save('date.md', 'project', 'The release is tomorrow.')
  const before = await filesIn(place.root)
  const shown = await at.pal(['consolidate', '--dry-run'])
  expect(shown.code).toBe(0)
  expect(shown.out).toMatch(/retired old\.md: new\.md replaces it[\s\S]*-The release is tomorrow\./u)
  expect(shown.out).toContain('nothing was written')
  expect(await filesIn(place.root)).toEqual(before)
  const made = await at.pal(['consolidate', '--json'])
  expect(JSON.parse(made.out)).toMatchObject({
    kind: 'changed',
    read: 3,
    changes: expect.arrayContaining([{ file: 'old.md', removed: true, trust: 'user' }]) as unknown,
  })
  expect(Object.keys(await filesIn(place.root))).toEqual(['MEMORY.md', 'date.md', 'new.md'])
  expect((await at.pal(['consolidate'])).out).toContain('2 memories need no changes')
  expect((await at.pal(['memory', 'log', 'old'])).out).toMatch(/remove \(dream\)/u)
  const undone = await at.pal(['consolidate', '--undo'])
  expect(undone.out).toContain('reverted: ')
  expect(await filesIn(place.root)).toEqual(before)
  expect((await at.pal(['dream', '--undo'])).code).toBe(1)
  // Nobody goes on from it: it leaves no session behind.
  expect((await at.pal(['sessions', '--json'])).out).not.toContain('"session"')
  expect(await readFile(join(place.root, 'new.md'), 'utf8')).toContain('Never run')
})
