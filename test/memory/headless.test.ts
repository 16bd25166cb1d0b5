// What `pal -p` leaves in memory, through the command itself.
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { machineFileSystem } from '../../src/disk/fs.ts'
import { projectOf } from '../../src/preset/project.ts'
import { call, ruleModel } from '../../src/simulator/index.ts'
import { openWorkspace, server, type Workspace } from '../cli/pal.ts'
import { filesIn } from '../dream/workspace.ts'

const said = 'Remember that the staging server is called pelican.'

async function memoriesOf({ project, state }: Workspace): Promise<Record<string, string>> {
  const found = await projectOf(machineFileSystem, project)
  if (!found.ok) throw new Error(found.failure.message)
  return await filesIn(join(state, 'projects', found.project.slug, 'memory'))
}

async function workspace(environment: Readonly<Record<string, string>>): Promise<Workspace> {
  const { access } = await server([], { answerer: ruleModel() })
  return await openWorkspace({ ...access, ...environment })
}

it('[DR14] a run with -p feeds no memory, unless the user wants it', async () => {
  const at = await workspace({})
  expect((await at.pal(['-p', said])).code).toBe(0)
  expect(await memoriesOf(at)).toEqual({})
})

it('[DR31] where it does, what it was called with is data: found by searching, in no index, and said on stderr', async () => {
  const at = await workspace({ PALIMPSEST_MEMORY_HEADLESS: 'on' })
  const { code, err } = await at.pal(['-p', said])
  expect(code).toBe(0)
  expect(err).toMatch(/remembered: \S+\.md/u)
  const files = await memoriesOf(at)
  expect(Object.values(files).join()).toContain('pelican')
  expect(files['MEMORY.md'] ?? '').not.toContain('pelican')
  const listed = JSON.parse((await at.pal(['memory', '--json'])).out) as {
    readonly memories: readonly {
      readonly standing: string
      readonly provenance: { readonly trust: string }
    }[]
  }
  expect(listed.memories).toMatchObject([
    { standing: 'fenced', provenance: { trust: 'data', from: ['prompt'] } },
  ])
})

it('[DR31] the line on what was saved comes with extraction switched on alone, where the words count as typed', async () => {
  const at = await workspace({ PALIMPSEST_EXTRACTION: 'on' })
  const { err } = await at.pal(['-p', said])
  expect(err).toMatch(/remembered: \S+\.md/u)
  expect((await memoriesOf(at))['MEMORY.md']).toContain('pelican')
})

it('[ME75] an index or memory that is not there yet is said to be missing by its own path', async () => {
  const steps: Parameters<typeof server>[0][number][] = []
  const { access, simulator } = await server(steps)
  const at = await openWorkspace(access)
  const found = await projectOf(machineFileSystem, at.project)
  if (!found.ok) throw new Error(found.failure.message)
  const index = join(at.state, 'projects', found.project.slug, 'memory', 'MEMORY.md')
  steps.push([call('Read', { file_path: index })], 'done')
  expect((await at.pal(['-p', 'What do you know?'])).code).toBe(0)
  const sent = JSON.stringify(simulator.log.requests.at(-1)?.body)
  expect(sent).toContain(`${index} does not exist.`)
  expect(sent).not.toContain('ENOENT')
})
