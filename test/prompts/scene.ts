// A preset over HTTP whose requests can be read: scripted answers, a project, and what was sent with paths, ids and days
// made equal.
import { execFileSync } from 'node:child_process'
import { mkdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import type { LiveEvent } from '../../src/engine/live.ts'
import type { WireBlock, WireRequest } from '../../src/model/wire.ts'
import {
  createManualClock,
  jobOf,
  ruleModel,
  scripted,
  type Answerer,
  type Job,
  type SimulatorOptions,
} from '../../src/simulator/index.ts'
import { mainDoor } from '../doors.ts'
import { folder, later, simulated } from '../e2e/simulated.ts'

const began = Date.UTC(2026, 0, 5)

export type Steps = Parameters<typeof scripted>[0]
export type Scene = Awaited<ReturnType<typeof opened>>

export interface SceneOptions {
  readonly settings?: Readonly<Record<string, unknown>>
  readonly files?: Readonly<Record<string, string>>
  /** Somebody who says yes, no, or nobody. */
  readonly asks?: 'yes' | 'no' | 'nobody'
  readonly home?: string
  readonly place?: string
  /** A repository is made of the place that is given. */
  readonly isGit?: boolean
  readonly extensions?: unknown
  /** A person sits before it, so that memories are extracted. */
  readonly interactive?: boolean
  /** What background jobs are answered, one after the other; those without a list follow rules. */
  readonly jobs?: Partial<Record<Job, Steps>>
  /** What agents answer, each by a text of its task; forks are known by theirs. */
  readonly agents?: Readonly<Record<string, Steps>>
  /** Agents answer only then. */
  readonly held?: Promise<void>
  /** In place of the steps. */
  readonly answerer?: Answerer
  readonly simulator?: Partial<SimulatorOptions>
}

/** Jobs by their own lists or by rules, the conversation by its steps. */
function servedBy(
  steps: Steps,
  jobs: Partial<Record<Job, Steps>>,
  agents: Readonly<Record<string, Steps>>,
  held?: Promise<void>,
): Answerer {
  const main = scripted(steps)
  const rules = ruleModel()
  const lists = new Map(Object.entries(jobs).map(([job, list]) => [job, scripted(list)]))
  const others = Object.entries(agents).map(([task, list]) => ({ task, answerer: scripted(list) }))
  return {
    answer: async (context) => {
      const { system, messages } = context.request
      const isAgent = JSON.stringify(system ?? '').includes('You are a subagent')
      const own = messages.slice(0, messages.findIndex(({ role }) => role === 'assistant') >>> 0)
      const task = messages.findLast(({ content }) => JSON.stringify(content).includes('<program-task>'))
      const said = JSON.stringify(isAgent ? own : (task?.content ?? ''))
      const agent = others.find((other) => said.includes(other.task))
      if (agent !== undefined) {
        await held
        return agent.answerer.answer(context)
      }
      const job = jobOf(context.request)
      return (job === null ? main : (lists.get(job) ?? rules)).answer(context)
    },
  }
}

export async function opened(steps: Steps, options: SceneOptions = {}) {
  const { createPreset, projectOf, machineFileSystem } = await mainDoor()
  const answerer =
    options.answerer ??
    (options.jobs === undefined && options.agents === undefined
      ? undefined
      : servedBy(steps, options.jobs ?? {}, options.agents ?? {}, options.held))
  const scene = await simulated(steps, {
    log: { bodies: 400 },
    ...(answerer === undefined ? {} : { answerer }),
    ...options.simulator,
  })
  const home = options.home ?? join(await folder(), '.palimpsest')
  const userHome = dirname(home)
  const place = options.place ?? (await folder())
  if (options.place === undefined || options.isGit === true)
    execFileSync('git', ['init', '-q', '-b', 'work'], { cwd: place, stdio: 'ignore' })
  for (const [name, text] of Object.entries(options.files ?? {})) {
    await mkdir(dirname(join(place, name)), { recursive: true })
    await writeFile(join(place, name), text)
    // Instructions that are newer than the session are another matter.
    await utimes(join(place, name), began / 1000 - 60, began / 1000 - 60)
  }
  const found = await projectOf(machineFileSystem, place)
  if (!found.ok) throw new Error(found.failure.message)
  const { asks = 'yes' } = options
  const clock = createManualClock(began)
  const heard: LiveEvent[] = []
  const preset = createPreset({
    home,
    project: found.project,
    settings: {
      notes: false,
      autoMemory: false,
      modelSummary: false,
      sandbox: 'off',
      ...options.settings,
    } as never,
    environment: { PATH: process.env['PATH'] ?? '', HOME: userHome, SHELL: '/bin/sh' },
    userHome,
    trusted: true,
    model: scene.model,
    clock,
    interactive: options.interactive,
    listen: (event: LiveEvent) => void heard.push(event),
    ...(asks === 'nobody'
      ? {}
      : { askUser: () => Promise.resolve({ kind: asks === 'yes' ? 'once' : 'no' }) }),
    ...(options.extensions === undefined ? {} : { extensions: options.extensions }),
  } as never)
  later(() => preset.close())
  // A session lies on files: what a test leaves open is closed behind it.
  const open = preset.engine.open.bind(preset.engine)
  Object.assign(preset.engine, {
    open: async (...words: Parameters<typeof open>) => {
      const session = await open(...words)
      later(() => session.close())
      return session
    },
  })
  const requests = (): readonly WireRequest[] =>
    scene.simulator.log.requests.map(({ body }) => body as WireRequest)
  const asked = (source: string): readonly WireRequest[] =>
    scene.simulator.log.bySource(source).map(({ body }) => body as WireRequest)
  const plain = (text: string): string =>
    text
      .replaceAll(place, '/project')
      .replaceAll(home, '/home')
      .replaceAll(/\/projects\/[^/\s"]+/gu, '/projects/SLUG')
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gu, 'ID')
      .replaceAll(/\[id:[0-9a-f]+\]/gu, '[id:…]')
      // Files that are written while a test runs have the day of the machine.
      .replaceAll(new Date().toISOString().slice(0, 10), 'TODAY')
      .replaceAll(/^Platform: .*$/gmu, 'Platform: PLATFORM')
  return { preset, requests, asked, plain, home, place, scene, clock, heard }
}

const blocksOf = (content: string | readonly WireBlock[]): readonly WireBlock[] =>
  typeof content === 'string' ? [{ type: 'text', text: content } as WireBlock] : content

export const systemText = ({ system }: WireRequest): string =>
  blocksOf((system ?? '') as string | readonly WireBlock[])
    .map((block) => ('text' in block ? String(block.text) : ''))
    .join('\n\n')

/** The text of a block, results and calls included. */
export function blockText(block: WireBlock): string {
  if (block.type === 'tool_use') return `[calls ${String(block['name'])} ${JSON.stringify(block['input'])}]`
  if (block.type === 'tool_result') {
    const content = block['content'] as string | readonly WireBlock[]
    return `[result] ${blocksOf(content).map(blockText).join('\n')}`
  }
  return 'text' in block ? String(block.text) : `[${block.type}]`
}

export const messageTexts = ({ messages }: WireRequest): readonly string[] =>
  messages.map(({ role, content }, at) => {
    const asked = blocksOf((messages[at - 1]?.content ?? []) as string).map((block) => block['id'])
    // Results stand as they came; on a page they follow their calls.
    const place = (block: WireBlock): number => asked.indexOf(block['tool_use_id'] as never)
    const blocks = blocksOf(content as string)
    const results = blocks
      .filter(({ type }) => type === 'tool_result')
      .toSorted((a, b) => place(a) - place(b))
    const others = blocks.filter(({ type }) => type !== 'tool_result')
    return `${role}: ${[...results, ...others].map(blockText).join('\n')}`
  })

/**
 * A request as reading matter. `whole`: with the system prompt and every tool; `system`: with the system prompt and the
 * names of the tools; `messages`: these alone; `asked`: the last message alone, behind a conversation shown elsewhere.
 */
export function page(request: WireRequest, how: 'whole' | 'system' | 'messages' | 'asked'): string {
  const tools = request.tools ?? []
  const names = tools.length === 0 ? 'none' : tools.map(({ name }) => name).join(', ')
  const texts = messageTexts(request)
  const before = texts.length - 1
  return [
    ...(how === 'whole' || how === 'system' ? [`## System\n\n${systemText(request)}`] : []),
    ...(how === 'whole'
      ? [
          `## Tools\n\n${tools.map((tool) => `- ${tool.name}: ${tool.description}\n  ${JSON.stringify(tool.input_schema)}`).join('\n')}`,
        ]
      : how === 'messages'
        ? []
        : [`## Tools\n\n${names}`]),
    how === 'asked' && before > 0
      ? `## Messages\n\n(${before} of the conversation, with its system prompt)\n\n${texts.at(-1)}`
      : `## Messages\n\n${texts.join('\n\n')}`,
  ].join('\n\n')
}

/** Holds a page in test/golden/requests to what was sent; `GOLDEN=write` writes it anew. */
export async function golden(name: string, about: string, text: string): Promise<void> {
  const file = join(import.meta.dirname, '..', 'golden', 'requests', `${name}.md`)
  const wanted = `# ${name}\n\n${about}\n\n${text.trimEnd()}\n`
  if (process.env['GOLDEN'] === 'write') await writeFile(file, wanted)
  expect(await readFile(file, 'utf8')).toBe(wanted)
}
