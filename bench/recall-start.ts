// Whether memories delay a request: `pal -p` from its start until a local server has its first request, with no memory
// and with 10,000, turn by turn in one run. The goal is no difference beyond the noise, said as the quartiles of both.
// `node scripts/run-ts.mjs bench/recall-start.ts [--json] [--runs N] [--memories N]`
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import * as http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { machineFileSystem } from '../src/disk/fs.ts'
import { projectOf } from '../src/preset/project.ts'
import { memoryText, plant } from '../test/recall/memory-folder.ts'

const numberOf = (flag: string, otherwise: number): number => {
  const at = process.argv.indexOf(flag)
  return at < 0 ? otherwise : Number(process.argv[at + 1])
}
const runs = numberOf('--runs', 15)
const memories = numberOf('--memories', 10_000)
const root = dirname(import.meta.dirname)
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

/** Milliseconds from the start of the process until its request is here. */
async function firstRequest({ home, project, recall }: Desk): Promise<number> {
  const server = http.createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const arrived = new Promise<number>((resolve) =>
    server.on('request', (_request, response) => {
      resolve(performance.now())
      response.writeHead(400).end('{}')
    }),
  )
  const begun = performance.now()
  const child = spawn(
    process.execPath,
    [join(folder, 'pal.js'), '-p', 'what about the settings of module 17?'],
    {
      cwd: project,
      env: {
        PATH: process.env['PATH'],
        HOME: home,
        ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
        ANTHROPIC_API_KEY: 'k',
        ...(recall === undefined ? {} : { PALIMPSEST_RECALL: recall }),
      },
      stdio: 'ignore',
    },
  )
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const took = (await arrived) - begun
  await ended
  server.close()
  return took
}

const taken: Record<string, number[]> = {}
try {
  const url = pathToFileURL(join(root, 'scripts', 'bundle.mjs')).href
  const { bundle } = (await import(url)) as { bundle: (folder: string) => Promise<void> }
  await bundle(folder)
  const many = await desk('many', memories)
  const desks: Readonly<Record<string, Desk>> = {
    'no memory': await desk('none', 0),
    [`${memories} memories`]: many,
    // What others do with memories before a request, to be told apart.
    'the same, recall off': { ...many, recall: 'off' },
  }
  for (const one of Object.values(desks)) await firstRequest(one)
  // Turn by turn, so that a busy moment of the machine strikes both.
  for (let run = 0; run < runs; run++)
    for (const [name, one] of Object.entries(desks)) (taken[name] ??= []).push(await firstRequest(one))
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
