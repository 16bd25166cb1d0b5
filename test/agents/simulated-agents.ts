// The setting of tests of agents: a simulator that answers each session by what it is told, and the default engine over it.
import { execFile } from 'node:child_process'
import { mkdir, realpath, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { machineFileSystem } from '../../src/disk/fs.ts'
import type { LiveEvent } from '../../src/engine/live.ts'
import type { AgentType } from '../../src/forks/agents/index.ts'
import { createPreset, type Preset, type PresetOptions } from '../../src/preset.ts'
import { projectOf } from '../../src/preset/project.ts'
import type { WireBlock, WireRequest } from '../../src/model/wire.ts'
import { call, createSimulator, text, type Answerer, type Simulator } from '../../src/simulator/index.ts'
import { folder, later, modelId } from '../e2e/simulated.ts'

export type Said = string | readonly WireBlock[]
/** What the sessions with this task answer, one after the other; the last answer is given again. `main` is the talk. */
export type Part = {
  readonly when: string
  /** What the answer waits for; `answered` is how many were given before. */
  readonly held?: (answered: number) => Promise<void>
  readonly answers: readonly Said[] | ((request: WireRequest) => Said)
}

/** A type with a memory of its own in the project. */
export const keeper: AgentType = {
  name: 'keeper',
  description: 'keeps',
  prompt: 'keep',
  tools: null,
  model: null,
  memory: 'project',
  instructions: true,
  limits: { rounds: 10, ms: 60_000, tokens: 1_000_000 },
  from: 'user',
}

/** Answers to what was said last, once for each time it is said; results of calls are only taken note of. */
export const replies =
  (table: Readonly<Record<string, Said>>): ((request: WireRequest) => Said) =>
  (request) => {
    const content = request.messages.at(-1)?.content ?? []
    if (typeof content !== 'string' && content.some((block) => block.type === 'tool_result')) return 'noted'
    const words = JSON.stringify(content)
    return Object.entries(table).find(([said]) => words.includes(said))?.[1] ?? 'nothing to do'
  }

/** What a session is there for: the task of an agent or a fork, or the talk with the user. */
export function taskOf(request: WireRequest): string {
  const texts = request.messages.map(({ content }) =>
    typeof content === 'string'
      ? [content]
      : content.flatMap((block) => (typeof block['text'] === 'string' ? [block['text']] : [])),
  )
  const forked = texts.flat().findLast((each) => each.startsWith('<forked-agent/>'))
  if (forked !== undefined) return forked
  const isAgent = JSON.stringify(request.system ?? '').includes('You are a subagent')
  const answered = request.messages.findIndex(({ role }) => role === 'assistant')
  return isAgent
    ? texts
        .slice(0, answered === -1 ? undefined : answered)
        .flat()
        .join('\n')
    : 'main'
}

/** A session is known by its task, so sessions that run side by side do not disturb each other. */
export function cast(parts: readonly Part[]): Answerer {
  const given = new Map<Part, number>()
  return {
    async answer({ request }) {
      const task = taskOf(request)
      const part = parts.find(({ when }) => task.includes(when))
      const at = part === undefined ? 0 : (given.get(part) ?? 0)
      if (part !== undefined) given.set(part, at + 1)
      const answers = part?.answers ?? []
      const said =
        typeof answers === 'function'
          ? answers(request)
          : (answers[Math.min(at, answers.length - 1)] ?? 'nothing to say')
      await part?.held?.(at)
      const content = typeof said === 'string' ? [text(said)] : said
      const isCall = content.some((block) => block.type === 'tool_use')
      return { content, stop_reason: isCall ? 'tool_use' : 'end_turn' }
    },
  }
}

export interface Stage {
  readonly url: string
  readonly simulator: Simulator
  readonly preset: Preset
  readonly home: string
  readonly project: string
  readonly heard: LiveEvent[]
}

export async function stage(parts: readonly Part[], more: Partial<PresetOptions> = {}): Promise<Stage> {
  const simulator = createSimulator({ answerer: cast(parts), log: { bodies: 1000 } })
  const { url } = await simulator.start()
  later(() => simulator.stop())
  const base = await realpath(await folder())
  const home = join(base, 'home')
  const project = join(base, 'project')
  await mkdir(home)
  await mkdir(project)
  return { ...(await opened({ url, home, project }, more)), simulator, home, project, url }
}

/** The default engine in these folders; a second one is another program on the same disk. */
export async function opened(
  at: { readonly url: string; readonly home: string; readonly project: string },
  more: Partial<PresetOptions> = {},
): Promise<{ readonly preset: Preset; readonly heard: LiveEvent[] }> {
  const found = await projectOf(machineFileSystem, at.project)
  if (!found.ok) throw new Error(found.failure.message)
  const heard: LiveEvent[] = []
  const preset = createPreset({
    project: found.project,
    home: at.home,
    settings: { model: modelId, teammates: true, allow: ['Write', 'Edit', 'Bash'] },
    environment: { PATH: process.env['PATH'], HOME: at.home },
    model: { apiKey: 'test', baseUrl: at.url },
    listen: (event) => heard.push(event),
    ...more,
  })
  later(() => preset.close())
  return { preset, heard }
}

const run = promisify(execFile)
export const git = async (cwd: string, ...words: readonly string[]): Promise<string> =>
  (await run('git', ['-C', cwd, ...words])).stdout.trim()

export async function repository(path: string, files: Readonly<Record<string, string>>): Promise<void> {
  await git(path, 'init', '--quiet', '--initial-branch=main')
  await git(path, 'config', 'user.email', 'test@example.invalid')
  await git(path, 'config', 'user.name', 'Test')
  for (const [name, content] of Object.entries(files)) await writeFile(join(path, name), content)
  await git(path, 'add', '--all')
  await git(path, 'commit', '--quiet', '-m', 'first')
}

export const agent = (
  label: string,
  prompt: string,
  more: Readonly<Record<string, unknown>> = {},
): WireBlock => call('Agent', { label, prompt, ...more })

/** The bodies of the requests of the sessions with this task. */
export const bodiesOf = ({ log }: Simulator, task: string): readonly string[] =>
  log.requests.flatMap(({ body }) => {
    const request = body as WireRequest | null
    return request !== null && taskOf(request).includes(task) ? [JSON.stringify(request)] : []
  })

export const refusedOf = ({ log }: Simulator): readonly string[] =>
  log.requests.flatMap(({ error }) => (error === null ? [] : [error.message]))

/** Answers that wait until they are released. */
export function gate(): { readonly held: () => Promise<void>; readonly release: () => void } {
  let release = (): void => undefined
  const released = new Promise<void>((resolve) => (release = resolve))
  later(async () => release())
  return { held: () => released, release: () => release() }
}
