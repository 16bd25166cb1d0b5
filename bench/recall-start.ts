// Whether memories delay a request, and whether the right one is in it: `pal -p` from its start until a local server has its
// first request, with no memory, with many and their index on disk, with many and no index, and with recall off, turn by turn
// in one run. The goal is 150 ms for the memories over the same run with recall off, said as quartiles.
// `npm run bench -- recall-start [--json] [--runs N] [--memories N]`
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { machineFileSystem } from '../src/disk/fs.ts'
import { storedIndexFile } from '../src/memory/recall/stored-index.ts'
import { projectOf } from '../src/preset/project.ts'
import { memoryText, plant } from '../test/recall/memory-folder.ts'
import { bundledPal, environmentOf, firstRequest, numberOf } from './first-request.ts'

const runs = numberOf('--runs', 15)
const memories = numberOf('--memories', 5000)
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'pal-recall-start-')))

interface Desk {
  readonly home: string
  readonly project: string
  readonly state: string
  readonly recall?: 'off'
  /** The index is taken away before each run. */
  readonly isCold?: boolean
}

async function desk(name: string, count: number): Promise<Desk> {
  const [home, project] = [join(folder, name, 'home'), join(folder, name, 'project')]
  mkdirSync(home, { recursive: true })
  mkdirSync(project, { recursive: true })
  const found = await projectOf(machineFileSystem, project)
  if (!found.ok) throw new Error(found.failure.message)
  const own = join(home, '.palimpsest', 'projects', found.project.slug)
  if (count > 0)
    await plant(
      { scope: 'project', root: join(own, 'memory'), state: join(own, 'memory-state') },
      Array.from({ length: count }, (_, at) => ({
        file: `note-${at}.md`,
        text: memoryText(
          `what to know about module ${at}`,
          `Module ${at} reads its settings from file ${at % 97} in folder ${at % 89}. MARK-${at}.`,
          { triggers: [`settings of module ${at}`] },
        ),
      })),
    )
  return { home, project, state: join(own, 'memory-state') }
}

const wanted = 17
const found: Record<string, number> = {}
/** Milliseconds of a core until the request. */
const cores: Record<string, number[]> = {}
const variables = ({ home, recall }: Desk) => ({
  ...environmentOf(home),
  ...(recall === undefined ? {} : { PALIMPSEST_RECALL: recall }),
})

function timed(name: string, one: Desk, pal: string): Promise<number> {
  if (one.isCold === true) rmSync(storedIndexFile(one.state), { force: true })
  return firstRequest({
    words: [pal, '-p', `what about the settings of module ${wanted}?`],
    cwd: one.project,
    environment: variables(one),
    saw: (body) => (found[name] = (found[name] ?? 0) + (body.includes(`MARK-${wanted}.`) ? 1 : 0)),
    spent: (cpuMs) => (cores[name] ??= []).push(cpuMs),
  })
}

/** A search reads everything and keeps the index, as a session of some minutes does. */
const searched = (one: Desk, pal: string): void =>
  void execFileSync(process.execPath, [pal, 'memory', 'search', 'settings'], {
    cwd: one.project,
    env: variables(one) as NodeJS.ProcessEnv,
  })

const taken: Record<string, number[]> = {}
try {
  const pal = await bundledPal(folder)
  const many = await desk('many', memories)
  const desks: Readonly<Record<string, Desk>> = {
    'no memory': await desk('none', 0),
    [`${memories} memories`]: many,
    // What others do with memories before a request, to be told apart.
    'the same, recall off': { ...many, recall: 'off' },
    'without an index': { ...(await desk('cold', memories)), isCold: true },
  }
  searched(many, pal)
  for (const [name, one] of Object.entries(desks)) await timed(name, one, pal)
  for (const name of Object.keys(found)) found[name] = 0
  for (const name of Object.keys(cores)) cores[name] = []
  // Turn by turn, so that a busy moment of the machine strikes both.
  for (let run = 0; run < runs; run++)
    for (const [name, one] of Object.entries(desks)) (taken[name] ??= []).push(await timed(name, one, pal))
} finally {
  rmSync(folder, { recursive: true, force: true })
}

const figures = Object.entries(taken).map(([name, times]) => {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number): number => Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? 0)
  const quartiles = { bestMs: at(0), firstQuartileMs: at(0.25), medianMs: at(0.5), thirdQuartileMs: at(0.75) }
  const cpu = (cores[name] ?? []).toSorted((a, b) => a - b)
  const cpuAt = (share: number): number => Math.round(cpu[Math.floor((cpu.length - 1) * share)] ?? 0)
  return {
    name,
    ...quartiles,
    cpuBestMs: cpuAt(0),
    cpuMedianMs: cpuAt(0.5),
    recalled: found[name] ?? 0,
    of: times.length,
  }
})
if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify({ runs, figures })}\n`)
else
  for (const one of figures)
    process.stdout.write(
      `${one.name.padEnd(22)} to the first request: best ${one.bestMs} ms, quartiles ${one.firstQuartileMs} / ${one.medianMs} / ${one.thirdQuartileMs} ms; of a core best ${one.cpuBestMs}, median ${one.cpuMedianMs} ms; recalled in ${one.recalled} of ${one.of}\n`,
    )
