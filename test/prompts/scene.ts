// A preset over HTTP whose requests can be read: scripted answers, a project, and what was sent with paths, ids and days
// made equal.
import { execFileSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { WireBlock, WireRequest } from '../../src/model/wire.ts'
import { createManualClock, type scripted } from '../../src/simulator/index.ts'
import { mainDoor } from '../doors.ts'
import { folder, later, simulated } from '../e2e/simulated.ts'

export type Steps = Parameters<typeof scripted>[0]

export interface SceneOptions {
  readonly settings?: Readonly<Record<string, unknown>>
  readonly files?: Readonly<Record<string, string>>
  /** Somebody who says yes, no, or nobody. */
  readonly asks?: 'yes' | 'no' | 'nobody'
  readonly home?: string
  readonly place?: string
  readonly extensions?: unknown
}

export async function opened(steps: Steps, options: SceneOptions = {}) {
  const { createPreset, projectOf, machineFileSystem } = await mainDoor()
  const scene = await simulated(steps)
  const home = options.home ?? join(await folder(), '.palimpsest')
  const userHome = dirname(home)
  const place = options.place ?? (await folder())
  if (options.place === undefined)
    execFileSync('git', ['init', '-q', '-b', 'work'], { cwd: place, stdio: 'ignore' })
  for (const [name, text] of Object.entries(options.files ?? {})) {
    await mkdir(dirname(join(place, name)), { recursive: true })
    await writeFile(join(place, name), text)
  }
  const found = await projectOf(machineFileSystem, place)
  if (!found.ok) throw new Error(found.failure.message)
  const { asks = 'yes' } = options
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
    clock: createManualClock(Date.UTC(2026, 0, 5)),
    ...(asks === 'nobody'
      ? {}
      : { askUser: () => Promise.resolve({ kind: asks === 'yes' ? 'once' : 'no' }) }),
    ...(options.extensions === undefined ? {} : { extensions: options.extensions }),
  } as never)
  later(() => preset.close())
  const requests = (): readonly WireRequest[] =>
    scene.simulator.log.requests.map(({ body }) => body as WireRequest)
  const plain = (text: string): string =>
    text
      .replaceAll(place, '/project')
      .replaceAll(home, '/home')
      .replaceAll(/\/projects\/[^/\s"]+/gu, '/projects/SLUG')
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gu, 'ID')
      .replaceAll(/\[id:[0-9a-f]+\]/gu, '[id:…]')
      .replaceAll(/^Platform: .*$/gmu, 'Platform: PLATFORM')
  return { preset, requests, plain, home, place, scene }
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
  messages.map(
    ({ role, content }) =>
      `${role}: ${blocksOf(content as string)
        .map(blockText)
        .join('\n')}`,
  )

/** A request as reading matter; the fixed part only where it is asked for. */
export const page = (request: WireRequest, how: 'whole' | 'messages'): string =>
  [
    ...(how === 'whole'
      ? [
          `## System\n\n${systemText(request)}`,
          `## Tools\n\n${(request.tools ?? []).map((tool) => `- ${tool.name}: ${tool.description}\n  ${JSON.stringify(tool.input_schema)}`).join('\n')}`,
        ]
      : []),
    `## Messages\n\n${messageTexts(request).join('\n\n')}`,
  ].join('\n\n')
