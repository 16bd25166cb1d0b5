// Whether memories delay a request: `pal -p` from its start until a local server has its first request, with no memory
// and with 10,000, turn by turn in one run. The goal is no difference beyond the noise, said as the quartiles of both.
// `node scripts/run-ts.mjs bench/recall-start.ts [--json] [--runs N] [--memories N]`
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { machineFileSystem } from '../src/disk/fs.ts'
import { projectOf } from '../src/preset/project.ts'
import { memoryText, plant } from '../test/recall/memory-folder.ts'
import { bundledPal, environmentOf, firstRequest, numberOf } from './first-request.ts'

const runs = numberOf('--runs', 15)
const memories = numberOf('--memories', 10_000)
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'pal-recall-start-')))

interface Desk {
  readonly home: string
  readonly project: string
  readonly recall?: 'off'
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
          `Module ${at} reads its settings from file ${at % 97}.`,
        ),
      })),
    )
  return { home, project }
}

const timed = ({ home, project, recall }: Desk, pal: string): Promise<number> =>
  firstRequest({
    words: [pal, '-p', 'what about the settings of module 17?'],
    cwd: project,
    environment: {
      ...environmentOf(home),
      ...(recall === undefined ? {} : { PALIMPSEST_RECALL: recall }),
    },
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
  }
  for (const one of Object.values(desks)) await timed(one, pal)
  // Turn by turn, so that a busy moment of the machine strikes both.
  for (let run = 0; run < runs; run++)
    for (const [name, one] of Object.entries(desks)) (taken[name] ??= []).push(await timed(one, pal))
} finally {
  rmSync(folder, { recursive: true, force: true })
}

const figures = Object.entries(taken).map(([name, times]) => {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number): number => Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? 0)
  return { name, bestMs: at(0), firstQuartileMs: at(0.25), medianMs: at(0.5), thirdQuartileMs: at(0.75) }
})
if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify({ runs, figures })}\n`)
else
  for (const { name, bestMs, firstQuartileMs, medianMs, thirdQuartileMs } of figures)
    process.stdout.write(
      `${name.padEnd(22)} to the first request: best ${bestMs} ms, quartiles ${firstQuartileMs} / ${medianMs} / ${thirdQuartileMs} ms\n`,
    )
