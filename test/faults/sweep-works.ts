// The pieces of work a fault is swept through: a turn full of tools, a compaction, a memory, a fork, and the end of an agent.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Session } from '../../src/engine/session.ts'
import type { Preset } from '../../src/preset.ts'
import type { WireBlock, WireRequest } from '../../src/model/wire.ts'
import { call, text, type Answerer } from '../../src/simulator/index.ts'
import type { Tool } from '../../src/tools/tool.ts'
import { isKnown, type StoredEntry } from '../../src/transcript/fact.ts'
import type { SessionId } from '../../src/transcript/ids.ts'

export interface Work {
  readonly name: string
  /** What there is before; the session it goes on with, or none. */
  before(preset: Preset): Promise<SessionId | null>
  /** Does it; what went wrong and was said goes into `told`. */
  run(preset: Preset, session: SessionId | null, told: string[]): Promise<void>
  /** What was acknowledged beside the transcript and is gone. */
  gone(acknowledged: readonly StoredEntry[], folder: string): Promise<readonly string[]>
  /** Kinds of facts that come or not without any fault. */
  readonly varies: readonly string[]
}

export const bigTool: Tool = {
  spec: { name: 'Big', description: 'gives much', input_schema: { type: 'object', properties: {} } },
  policy: { readOnly: true, results: 'keep', maxResultChars: 10_000 },
  parse: (input) => ({ ok: true, input }),
  run: () =>
    Promise.resolve({ content: [{ type: 'text', text: 'much output\n'.repeat(20_000) }], isError: false }),
}

/** Answers by what was said last and how often it was answered since. */
export const answerer: Answerer = {
  answer: ({ request, turn }) => {
    const { said, done } = lastInput(request)
    if (/summar/i.test(JSON.stringify(request.messages.at(-1))))
      return { content: [text(summary)], stop_reason: 'end_turn' }
    const step = stepsFor(said)[done]
    return step === undefined
      ? { content: [text(`answer ${turn} to ${said.slice(0, 30)}`)], stop_reason: 'end_turn' }
      : {
          content: [text('I do it.'), ...step.map((block, at) => ({ ...block, id: `toolu_${turn}_${at}` }))],
          stop_reason: 'tool_use',
        }
  },
}

const summary = `<summary>\n${[
  'Primary request and intent',
  'Key technical concepts',
  'Files and code sections',
  'Errors and fixes',
  'Problem solving',
  'All user messages',
  'Pending tasks',
  'Current work',
  'Optional next step',
]
  .map((title, at) => `${at + 1}. ${title}:\n- many words to say`)
  .join('\n\n')}\n</summary>`

function lastInput(request: WireRequest): { readonly said: string; readonly done: number } {
  const words = ({ content }: WireRequest['messages'][number]): string =>
    typeof content === 'string'
      ? content
      : content.flatMap((block) => (typeof block['text'] === 'string' ? [block['text']] : [])).join('\n')
  const at = request.messages.findLastIndex(
    (message) => message.role === 'user' && /(DO|AND) [A-Z]+|and on/.test(words(message)),
  )
  const said =
    at === -1 ? '' : (/(DO [A-Z]+ \S*|AND ON|and on)/.exec(words(request.messages[at]!))?.[0] ?? '')
  return { said, done: request.messages.slice(at).filter(({ role }) => role === 'assistant').length }
}

const steps: Readonly<Record<string, (path: string) => readonly (readonly WireBlock[])[]>> = {
  'DO TOOLS': (path) => [
    [
      call('Write', { file_path: join(path, 'a.txt'), content: 'written a\n' }),
      call('Read', { file_path: join(path, 'given.txt') }),
    ],
    [
      call('Edit', { file_path: join(path, 'a.txt'), old_string: 'written', new_string: 'edited' }),
      call('Big', {}),
    ],
    [call('Write', { file_path: join(path, 'b.txt'), content: 'written b\n' })],
  ],
  'DO MEMORY': (path) => [
    [
      call('Write', {
        file_path: join(path, 'tests.md'),
        content:
          '---\nname: tests\ndescription: how the tests are run\ntype: project\n---\nRun them with make test.\n',
      }),
    ],
  ],
  'DO AGENT': () => [[call('Agent', { label: 'look', prompt: 'Say what you see.' })]],
}
function stepsFor(said: string): readonly (readonly WireBlock[])[] {
  const [name, path = ''] = [said.split(' ').slice(0, 2).join(' '), said.split(' ')[2]]
  return steps[name]?.(path) ?? []
}

async function say(session: Session, input: string, told: string[], goOn = false): Promise<void> {
  for await (const event of goOn ? session.goOn() : session.send(input)) {
    if (event.type === 'notice') told.push(event.message)
    if (event.type === 'tool-end' && event.isError) told.push(event.text)
    if (event.type === 'turn-end' && event.outcome !== 'done')
      told.push(event.failure?.message ?? event.outcome)
  }
}

const projectOf = (preset: Preset): string => preset.memory.reminderOptions.sources.root
const nothing = (): Promise<readonly string[]> => Promise.resolve([])
const noSession = (): Promise<null> => Promise.resolve(null)

async function talked(preset: Preset): Promise<SessionId> {
  const session = await preset.engine.open()
  for (let turn = 0; turn < 4; turn++)
    await say(session, `AND ON ${turn} ${'many words to say '.repeat(60)}`, [])
  await session.close()
  return session.id
}

export const works: readonly Work[] = [
  {
    name: 'tools',
    before: noSession,
    async run(preset, _, told) {
      const session = await preset.engine.open()
      await say(session, `DO TOOLS ${projectOf(preset)}`, told)
      await session.close()
    },
    gone: nothing,
    varies: [],
  },
  {
    name: 'compaction',
    before: talked,
    async run(preset, id, told) {
      const session = await preset.engine.open(id!)
      await session.compact()
      await say(session, 'AND ON', told)
      await session.close()
    },
    gone: nothing,
    varies: [],
  },
  {
    name: 'memory',
    before: noSession,
    async run(preset, _, told) {
      const session = await preset.engine.open()
      await say(session, `DO MEMORY ${preset.memory.places!.project.root}`, told)
      await session.close()
    },
    async gone(acknowledged, folder) {
      const wrote = acknowledged.some(
        (entry) => isKnown(entry) && entry.fact.type === 'tool-result' && !entry.fact.isError,
      )
      if (!wrote) return []
      const all = await readdir(folder, { recursive: true, withFileTypes: true })
      const file = all.find((each) => each.isFile() && each.name === 'tests.md')
      const content = file === undefined ? '' : await readFile(join(file.parentPath, file.name), 'utf8')
      return content.includes('make test') ? [] : ['the memory']
    },
    varies: [],
  },
  {
    name: 'fork',
    before: talked,
    async run(preset, id, told) {
      const session = await preset.engine.branch(id!)
      await say(session, 'AND ON', told)
      await session.close()
    },
    gone: nothing,
    varies: [],
  },
  {
    name: 'agent',
    before: noSession,
    async run(preset, _, told) {
      const session = await preset.engine.open()
      await say(session, 'DO AGENT now', told)
      await preset.agents.settled(session.id, new AbortController().signal)
      if (session.unfinished()) await say(session, '', told, true)
      await session.close()
    },
    gone: nothing,
    varies: [],
  },
]
