// Fifty agents of twenty rounds each in one process: `node scripts/run-ts.mjs bench/agents.ts [--json]`.
// The default engine on disk over HTTP against the simulator, several waves of agents in the background. Counted: memory
// after each wave with everything collected, descriptors before and after, and that every report came once.
import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readlink, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { machineFileSystem } from '../src/disk/fs.ts'
import { createPreset } from '../src/preset.ts'
import { projectOf } from '../src/preset/project.ts'
import { call, createSimulator, text } from '../src/simulator/index.ts'
import { isKnown } from '../src/transcript/fact.ts'

const option = (name: string, usual: number): number => {
  const at = process.argv.indexOf(`--${name}`)
  return at === -1 ? usual : Number(process.argv[at + 1])
}
setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void
const agents = option('agents', 50)
const rounds = option('rounds', 20)
const waves = option('waves', 4)
const atOnce = 10

/** In a process of its own, so that what it keeps is not counted as ours. */
async function serve(): Promise<void> {
  // An agent calls Glob until it has done so often enough; the talk only takes note.
  const simulator = createSimulator({
    answerer: {
      answer: ({ request }) => {
        const isAgent = JSON.stringify(request.system ?? '').includes('that another agent has started')
        const done = request.messages.filter(({ role }) => role === 'assistant').length
        const content = isAgent
          ? done < rounds - 1
            ? [call('Glob', { pattern: `none-${done}.*` })]
            : [text(`report after ${done + 1} rounds`)]
          : [text('noted')]
        return { content, stop_reason: content[0]!.type === 'tool_use' ? 'tool_use' : 'end_turn' }
      },
    },
    log: { requests: 10, bodies: 0 },
  })
  process.stdout.write(`${(await simulator.start()).url}\n`)
  process.stdin.resume().on('end', () => process.exit(0))
}
if (process.argv.includes('--serve')) await serve()
else await measure()

async function measure(): Promise<void> {
  const server = spawn(process.execPath, [process.argv[1]!, '--serve', '--rounds', String(rounds)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const url = await new Promise<string>((resolve) =>
    server.stdout.once('data', (line) => resolve(String(line).trim())),
  )
  const base = await realpath(await mkdtemp(join(tmpdir(), 'pal-bench-agents-')))
  const [home, folder] = [join(base, 'home'), join(base, 'project')]
  await mkdir(home)
  await mkdir(folder)
  const found = await projectOf(machineFileSystem, folder)
  if (!found.ok) throw new Error(found.failure.message)
  const preset = createPreset({
    project: found.project,
    home,
    settings: { model: 'claude-sonnet-4-6' },
    environment: { PATH: process.env['PATH'], HOME: home },
    model: { apiKey: 'bench', baseUrl: url },
  })
  const session = await preset.engine.open()
  const quiet = new AbortController().signal

  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 5; turn++) {
      collectGarbage()
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  const heapMB = (): number => process.memoryUsage().heapUsed / 1024 / 1024
  // Sockets apart: connections to the server are kept for the next request, more or fewer of them.
  const descriptors = async (): Promise<number> => {
    if (process.platform !== 'linux') return 0
    const open = await readdir('/proc/self/fd')
    const targets = await Promise.all(open.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => null)))
    return targets.filter((target) => target !== null && !target.startsWith('socket:')).length
  }

  async function wave(count: number): Promise<void> {
    for (let at = 0; at < count; at += atOnce) {
      const started = await Promise.all(
        Array.from({ length: Math.min(atOnce, count - at) }, (_, index) =>
          preset.agents.start(
            session,
            {
              label: `agent ${at + index}`,
              task: `task ${at + index}`,
              type: 'general',
              mode: 'background',
              forked: false,
              worktree: false,
            },
            quiet,
          ),
        ),
      )
      for (const each of started) {
        if (!each.ok) throw new Error(each.why)
        const { outcome, text: report } = await each.worker.done
        if (outcome !== 'done' || !report.startsWith('report after')) throw new Error(`${outcome}: ${report}`)
      }
    }
    // The session is told of all of them, and may forget them.
    while (session.unfinished())
      for await (const event of session.goOn())
        if (event.type === 'turn-end' && event.failure !== null) throw new Error(event.failure.message)
  }

  for await (const event of session.send('begin')) void event
  await wave(agents)
  await settle()
  const before = { heapMB: heapMB(), descriptors: await descriptors() }
  const heaps: number[] = []
  const startedAt = performance.now()
  for (let at = 0; at < waves; at++) {
    await wave(agents)
    await settle()
    heaps.push(heapMB())
  }
  const ms = performance.now() - startedAt
  const after = { heapMB: heaps.at(-1)!, descriptors: await descriptors() }
  let handed = 0
  for await (const item of preset.store.read(session.id))
    if (item.kind === 'entry' && isKnown(item.entry) && item.entry.fact.type === 'attachment') handed++
  await session.close()
  await preset.close()
  server.stdin.end()
  await rm(base, { recursive: true, force: true })

  const row = {
    agents,
    rounds,
    waves: waves + 1,
    before,
    after,
    heaps,
    growthPerAgentKB: ((after.heapMB - before.heapMB) * 1024) / (waves * agents),
    handed,
    msPerRound: ms / (waves * agents * rounds),
  }
  if (process.argv.includes('--json')) console.log(JSON.stringify(row, null, 2))
  else
    console.log(
      `${row.waves} waves of ${agents} agents with ${rounds} rounds: heap ${before.heapMB.toFixed(1)} → ${heaps.map((heap) => heap.toFixed(1)).join(' → ')} MB (${row.growthPerAgentKB.toFixed(1)} KB an agent stay), descriptors ${before.descriptors} → ${after.descriptors}, ${handed} reports handed on, ${row.msPerRound.toFixed(1)} ms a round`,
    )
  if (after.descriptors > before.descriptors || handed !== row.waves * agents) process.exit(1)
}
