// Sessions over the preset whose model follows rules: what they leave in memory, a day or five sessions later.
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { machineFileSystem } from '../../src/disk/fs.ts'
import type { LiveEvent } from '../../src/engine/live.ts'
import type { Session } from '../../src/index.ts'
import { applyWrite } from '../../src/memory/keeping/apply.ts'
import type { FolderStore } from '../../src/memory/keeping/folder-store.ts'
import type { Provenance } from '../../src/memory/memory.ts'
import type { WireRequest } from '../../src/model/wire.ts'
import { createPreset, type Preset, type PresetOptions } from '../../src/preset.ts'
import { projectOf } from '../../src/preset/project.ts'
import { jobOf, ruleModel, type Answerer, type Job } from '../../src/simulator/index.ts'
import { later, modelId, simulated, turn, type SimulatedApi } from '../e2e/simulated.ts'
import { folder } from '../memory/folder.ts'
import { from } from '../memory/memories.ts'

export const hour = 60 * 60 * 1000

export interface Workspace {
  readonly base: string
  readonly root: string
  readonly memories: string
  readonly scene: SimulatedApi
  readonly preset: Preset
  readonly keeper: FolderStore
  readonly events: LiveEvent[]
  /** The clock of everything, ahead of the machine's. */
  readonly clock: { ahead: number; now(): number }
  /** One session with these messages, closed afterwards: what was extracted is saved then. */
  talk(...words: string[]): Promise<Session>
  open(): Promise<Session>
  /** Puts a memory in place as another session would. */
  save(file: string, text: string, by?: Partial<Provenance>): Promise<void>
  /** The memories by file, the index too. */
  files(): Promise<Record<string, string>>
  notices(): readonly string[]
  /** The requests that asked for a job. */
  asked(job: Job): readonly WireRequest[]
}

export async function openWorkspace(
  answerer: Answerer = ruleModel(),
  over: Partial<PresetOptions> & { readonly base?: string } = {},
): Promise<Workspace> {
  const base = over.base ?? (await folder())
  const root = join(base, 'work')
  const home = join(base, 'home', '.palimpsest')
  await mkdir(root, { recursive: true })
  const found = await projectOf(machineFileSystem, root)
  if (!found.ok) throw new Error(found.failure.message)
  const scene = await simulated([], { answerer })
  const events: LiveEvent[] = []
  const clock = { ahead: 0, now: () => Date.now() + clock.ahead }
  const preset = createPreset({
    project: found.project,
    home,
    settings: { model: modelId, sync: 'none', notes: false, recallModel: 'off', agents: false },
    environment: { HOME: join(base, 'home'), PATH: process.env['PATH'] },
    model: scene.model,
    trusted: true,
    interactive: true,
    listen: (event) => void events.push(event),
    clock,
    ...over,
  })
  later(() => preset.close())
  const keeper = preset.memoryJobs.options.keepers[0]!
  const memories = keeper.place.root
  const open = async (): Promise<Session> => {
    const session = await preset.engine.open()
    later(() => session.close())
    return session
  }
  return {
    base,
    root,
    memories,
    scene,
    preset,
    keeper,
    events,
    clock,
    open,
    async talk(...words) {
      const session = await open()
      for (const one of words) events.push(...(await turn(session.send(one))).events)
      await session.close()
      return session
    },
    async save(file, text, by = {}) {
      const done = await applyWrite(keeper, [{ file, text }], from({ at: clock.now(), ...by }), {
        via: 'session',
      })
      if (!done.ok || done.applied[0]!.kind !== 'written') throw new Error(JSON.stringify(done))
    },
    files: () => filesIn(memories),
    notices: () => events.flatMap((event) => (event.type === 'notice' ? [event.code] : [])),
    asked: (job) =>
      scene.simulator.log.requests
        .map(({ body }) => body as WireRequest)
        .filter((request) => jobOf(request) === job),
  }
}

export async function filesIn(folderOf: string): Promise<Record<string, string>> {
  const names = await readdir(folderOf).catch(() => [])
  const files: Record<string, string> = {}
  for (const name of names.filter((one) => one.endsWith('.md')).sort())
    files[name] = await readFile(join(folderOf, name), 'utf8')
  return files
}

/** Waits until nothing is under way for memories. */
export const quiet = async ({ preset }: Workspace): Promise<void> => preset.memoryJobs.watcher?.settled()
