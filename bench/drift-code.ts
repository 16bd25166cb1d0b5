// Facts about a project whose code changes: `npm run bench -- drift-code`, `--json`. Forty facts a user told, in a real
// repository; over thirty days twenty of them become false by a commit, among commits that change nothing of them, and each
// day ends with a consolidation over the preset and HTTP against the simulator's rule-based model. Printed: which are
// doubtful in the end, and which should not be. What is shown is the check of the project, which asks no model.
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { machineFileSystem } from '../src/disk/fs.ts'
import { consolidate } from '../src/forks/memory/consolidation/consolidate.ts'
import { applyWrite } from '../src/memory/keeping/apply.ts'
import type { Keeper } from '../src/memory/keeping/keeper.ts'
import { createPreset } from '../src/preset.ts'
import { projectOf } from '../src/preset/project.ts'
import { createSimulator, ruleModel } from '../src/simulator/index.ts'
import { facts, noise, project, type Edit } from './drift-project.ts'

const days = 30
const dayMs = 24 * 60 * 60 * 1000 + 1

async function put(root: string, file: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, file)), { recursive: true })
  await writeFile(join(root, file), text)
}

async function edit(root: string, steps: Edit): Promise<void> {
  for (const step of steps) {
    if ('remove' in step) await rm(join(root, step.remove))
    else if ('from' in step) {
      await mkdir(dirname(join(root, step.to)), { recursive: true })
      await rename(join(root, step.from), join(root, step.to))
    } else if ('text' in step) await put(root, step.file, step.text)
    else {
      const before = await readFile(join(root, step.file), 'utf8')
      if (!before.includes(step.replace)) throw new Error(`${step.file} has no ${step.replace}`)
      await writeFile(join(root, step.file), before.replaceAll(step.replace, step.by))
    }
  }
}

function commit(root: string, words: string): void {
  const git = (...words: readonly string[]) =>
    execFileSync('git', ['-C', root, ...words], { stdio: 'ignore' })
  git('add', '-A')
  git('-c', 'user.name=bench', '-c', 'user.email=bench@localhost', 'commit', '-qm', words, '--allow-empty')
}

async function save(keeper: Keeper, n: number, says: string): Promise<void> {
  const text = `---\nname: fact ${n}\ndescription: ${JSON.stringify(says)}\ntype: project\n---\n\n${says}\n`
  const at = keeper.clock.now()
  const by = { kind: 'user', trust: 'user', session: 's', message: null, from: [], at } as const
  const done = await applyWrite(keeper, [{ file: `fact-${n}.md`, text }], by, { via: 'session' })
  if (!done.ok) throw new Error(done.failure.message)
}

const base = await realpath(await mkdtemp(join(tmpdir(), 'pal-bench-drift-code-')))
const simulator = createSimulator({
  answerer: ruleModel({ mode: { extract: 'good', consolidate: 'good' } }),
  log: { requests: 10, bodies: 0 },
})
try {
  const { url } = await simulator.start()
  const root = join(base, 'work')
  for (const [file, text] of Object.entries(project)) await put(root, file, text)
  execFileSync('git', ['init', '-q', root], { stdio: 'ignore' })
  commit(root, 'as it was')
  const found = await projectOf(machineFileSystem, root)
  if (!found.ok) throw new Error(found.failure.message)
  let ahead = 0
  const preset = createPreset({
    project: found.project,
    home: join(base, 'home', '.palimpsest'),
    settings: {
      model: 'claude-sonnet-4-6',
      sync: 'none',
      notes: false,
      recallModel: 'off',
      agents: false,
      dream: false,
    },
    environment: { HOME: join(base, 'home') },
    model: { apiKey: 'none', baseUrl: url },
    clock: { now: () => Date.now() + ahead },
  })
  const keeper = preset.memoryJobs.options.keepers[0]!
  for (const [n, { says }] of facts.entries()) await save(keeper, n, says)
  const marked = new Map<number, number>()
  let lookMs = 0
  for (let day = 1; day <= days; day++) {
    const steps = [
      ...facts.flatMap(({ falseBy }) => (falseBy?.day === day ? falseBy.edit : [])),
      ...(noise[day] ?? []),
    ]
    await edit(root, steps)
    commit(root, `day ${day}`)
    ahead += dayMs
    const session = await preset.engine.open()
    const { list, options } = preset.memoryJobs
    const began = performance.now()
    const done = await consolidate(options, keeper, session, list.start('dream', session.id, 0), {
      isDry: false,
      isAsked: true,
    })
    lookMs += performance.now() - began
    if (done.kind === 'failed' || done.kind === 'killed') throw new Error(done.why)
    await session.close()
    for (const n of facts.keys()) {
      const read = await keeper.read(`fact-${n}.md`)
      if (read.ok && read.memory.doubtful !== undefined) marked.set(n, marked.get(n) ?? day)
      if (!read.ok) marked.set(n, marked.get(n) ?? day)
      if (read.ok && read.memory.doubtful === undefined) marked.delete(n)
    }
  }
  await preset.close()
  const rows = facts.map(({ says, falseBy }, n) => ({
    says,
    'false since day': falseBy?.day ?? null,
    'doubtful since day': marked.get(n) ?? null,
  }))
  const of = (isFalse: boolean) => rows.filter((row) => (row['false since day'] !== null) === isFalse)
  const caught = of(true).filter((row) => row['doubtful since day'] !== null)
  const wronged = of(false).filter((row) => row['doubtful since day'] !== null)
  if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify(rows)}\n`)
  else {
    console.table(rows)
    console.log(`became false: ${of(true).length}, doubtful of these: ${caught.length}`)
    console.log(`stayed true: ${of(false).length}, doubtful of these: ${wronged.length}`)
    console.log(`a consolidation took ${(lookMs / days).toFixed(0)} ms, the model of rules included`)
  }
} finally {
  await simulator.stop()
  await rm(base, { recursive: true, force: true })
}
