// A session over the preset, with the simulator as the model: what it writes as memories, and what it is told.
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { machineFileSystem } from '../../src/disk/fs.ts'
import type { LiveEvent } from '../../src/engine/live.ts'
import type { Preset, PresetOptions } from '../../src/preset.ts'
import { projectOf } from '../../src/preset/project.ts'
import { call, type scripted } from '../../src/simulator/index.ts'
import { mainDoor } from '../doors.ts'
import { later, modelId, simulated, turn, type SimulatedApi } from '../e2e/simulated.ts'
import { folder } from './folder.ts'

export interface Workspace {
  readonly base: string
  readonly root: string
  readonly home: string
  /** The project's folder of memories. */
  readonly memories: string
  readonly scene: SimulatedApi
  readonly preset: Preset
  readonly events: LiveEvent[]
  /** One turn; the results of its calls, in order. */
  say(words: string): Promise<readonly string[]>
  /** A file below the base. */
  put(path: string, text: string): Promise<string>
}

type Steps = (paths: { readonly memories: string; readonly root: string }) => Parameters<typeof scripted>[0]

export async function openWorkspace(
  steps: Steps,
  over: Partial<PresetOptions> & { readonly base?: string; readonly cwd?: string } = {},
): Promise<Workspace> {
  const base = over.base ?? (await folder())
  const root = over.cwd ?? join(base, 'work')
  const home = join(base, 'home', '.palimpsest')
  await mkdir(root, { recursive: true })
  const found = await projectOf(machineFileSystem, root)
  if (!found.ok) throw new Error(found.failure.message)
  const slug = found.project.shared?.slug ?? found.project.slug
  const memories = join(home, 'projects', slug, 'memory')
  const scene = await simulated(steps({ memories, root }))
  const events: LiveEvent[] = []
  const { createPreset } = await mainDoor()
  const preset = createPreset({
    project: found.project,
    home,
    settings: { model: modelId },
    environment: { HOME: join(base, 'home'), PATH: process.env['PATH'] },
    model: scene.model,
    trusted: true,
    listen: (event) => void events.push(event),
    ...over,
  })
  later(() => preset.close())
  const opening = new Map<string, Awaited<ReturnType<Preset['engine']['open']>>>()
  const say = async (words: string): Promise<readonly string[]> => {
    const session = opening.get('') ?? (await preset.engine.open())
    if (!opening.has('')) later(() => session.close())
    opening.set('', session)
    const ended = await turn(session.send(words))
    events.push(...ended.events)
    return ended.events.flatMap((event) => (event.type === 'tool-end' ? [event.text] : []))
  }
  const put = async (path: string, text: string): Promise<string> => {
    const whole = join(base, path)
    await mkdir(dirname(whole), { recursive: true })
    await writeFile(whole, text)
    return whole
  }
  return { base, root, home, memories, scene, preset, events, say, put }
}

export const write = (path: string, content: string) => call('Write', { file_path: path, content })
export const read = (path: string) => call('Read', { file_path: path })
/** Everything the model was sent in its last request, as text. */
export const lastRequest = ({ scene }: Workspace): string =>
  JSON.stringify(scene.simulator.log.requests.at(-1)?.body)
