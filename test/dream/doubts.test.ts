// What is remembered of a project, held against the project: consolidations over the preset, in a folder whose files change.
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { machineFileSystem } from '../../src/disk/fs.ts'
import { consolidate } from '../../src/forks/memory/consolidation/consolidate.ts'
import { claimsIn, keyOf, lookAt } from '../../src/forks/memory/consolidation/project-look.ts'
import { undoSet } from '../../src/memory/keeping/change-sets.ts'
import { recalledText } from '../../src/memory/recall/recall-text.ts'
import { ruleModel } from '../../src/simulator/index.ts'
import { folder } from '../memory/folder.ts'
import { memoryText } from '../memory/memories.ts'
import { hour, openWorkspace, type Workspace } from './workspace.ts'

const fact = (body: string): string => memoryText('fact', { description: body, body })

async function put(root: string, file: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, file)), { recursive: true })
  await writeFile(join(root, file), text)
}

async function nextDay(at: Workspace): Promise<readonly string[]> {
  at.clock.ahead += 25 * hour
  const session = await at.open()
  const { list, options } = at.preset.memoryJobs
  const job = list.start('dream', session.id, at.clock.now())
  const done = await consolidate(options, at.keeper, session, job, { isDry: false, isAsked: true })
  await session.close()
  if (done.kind !== 'changed' && done.kind !== 'nothing') throw new Error(JSON.stringify(done))
  return done.report
}

async function doubtOf(at: Workspace, file: string): Promise<string | undefined> {
  const read = await at.keeper.read(file)
  if (!read.ok) throw new Error(read.failure.message)
  return read.memory.doubtful
}

const manifest = (test: string): string =>
  JSON.stringify({
    scripts: { check: 'tsc' },
    devDependencies: { [test]: '1.0.0' },
    engines: { node: '>=20' },
  })

async function service(): Promise<Workspace> {
  const at = await openWorkspace(ruleModel(), { interactive: false })
  await put(at.root, 'package.json', manifest('jest'))
  await put(at.root, 'src/config.ts', 'export const config = { serverPort: 8443 }\n')
  await put(at.root, 'src/deploy.ts', 'export function shipIt() {}\n')
  await at.save('runner.md', fact('Tests run with jest.'))
  await at.save('port.md', fact('The server listens on port 8443.'))
  await at.save('deploy.md', fact('Deployments are made by shipIt() in src/deploy.ts.'))
  await at.save('check.md', fact('Run npm run check before each commit to heron.'))
  return at
}

it('[DR29] what the project had and has no longer is doubtful since that day, and what it never had is not', async () => {
  const at = await service()
  expect(await nextDay(at)).toEqual([])
  await put(at.root, 'package.json', manifest('vitest'))
  await put(at.root, 'README.md', 'Tests once ran with jest, on port 8443.\n')
  await put(at.root, 'src/config.ts', 'export const config = { serverPort: 9000 }\n')
  await rename(join(at.root, 'src/deploy.ts'), join(at.root, 'src/release.ts'))
  await nextDay(at)
  const day = new Date(at.clock.now()).toISOString().slice(0, 10)
  expect(await doubtOf(at, 'runner.md')).toBe(`since ${day}: jest is no longer a dependency`)
  expect(await doubtOf(at, 'port.md')).toMatch(/8443 no longer stands beside server or/)
  expect(await doubtOf(at, 'deploy.md')).toBe(`since ${day}: src/deploy.ts is no longer there`)
  expect(await doubtOf(at, 'check.md')).toBeUndefined()
})

it('[DR30] it keeps its words and trust, is shown with its doubt, and loses it when the project shows it again', async () => {
  const at = await service()
  await nextDay(at)
  await rm(join(at.root, 'src/deploy.ts'))
  expect((await nextDay(at)).join()).toContain('doubtful deploy.md: since')
  const read = await at.keeper.read('deploy.md')
  if (!read.ok) throw new Error(read.failure.message)
  expect(read.text).toContain('Deployments are made by shipIt() in src/deploy.ts.')
  expect(read.memory).toMatchObject({ standing: 'open', provenance: { trust: 'user' } })
  expect((await at.files())['MEMORY.md']).toMatch(/deploy\.md\).*\(doubtful since \d{4}-\d\d-\d\d\)/)
  const shown = { name: 'deploy.md', path: '/m/deploy.md', memory: read.memory, text: read.text }
  expect(recalledText([shown as never], at.clock.now())).toMatch(
    /doubtful="since [\d-]+: src\/deploy\.ts is no longer there"/,
  )
  // A second look changes nothing; the first can be taken back.
  expect(await nextDay(at)).toEqual([])
  await put(at.root, 'src/deploy.ts', 'export function shipIt() {}\n')
  expect((await nextDay(at)).join()).toContain('no longer doubtful: deploy.md')
  expect(await doubtOf(at, 'deploy.md')).toBeUndefined()
  expect(await undoSet(at.keeper, 'undo-1')).toMatchObject({ ok: true })
  expect(await doubtOf(at, 'deploy.md')).toBeDefined()
})

it('[DR29] a memory of what is gone already is not doubted, nor one that was written after', async () => {
  const at = await service()
  await nextDay(at)
  await rm(join(at.root, 'src/deploy.ts'))
  at.clock.ahead += hour
  await at.save('gone.md', fact('There was a script in src/deploy.ts until today.'))
  await at.save('never.md', fact('The old code lay in lib/legacy.ts.'))
  await nextDay(at)
  await nextDay(at)
  expect(await doubtOf(at, 'deploy.md')).toBeDefined()
  expect(await doubtOf(at, 'gone.md')).toBeUndefined()
  expect(await doubtOf(at, 'never.md')).toBeUndefined()
})

it('[DR29] neither keys nor the packages of others are looked into', async () => {
  const root = await folder()
  await put(root, '.env', 'SECRET_PORT=8443\n')
  await put(root, 'node_modules/a/index.js', 'const handMade = 8443\n')
  await put(root, 'src/a.ts', 'export const other = 1\n')
  const claims = claimsIn(fact('SECRET_PORT is 8443 and handMade() lies in src/a.ts.'))
  const { confirmed, isWhole } = await lookAt(machineFileSystem, root, claims)
  expect([[...confirmed], isWhole]).toEqual([['path:src/a.ts'], true])
  expect(claims.map(keyOf)).toContain('name:SECRET_PORT')
  expect(await readFile(join(root, '.env'), 'utf8')).toContain('8443')
})
