// Owns the smallest loop that can drive an answerer: six tools on a real folder, under two sets of names. It keeps no
// layers and no transcript, so that what a test sees is the answerer's doing alone.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { WireBlock, WireMessage, WireRequest, WireTool } from '../../src/model/wire.ts'
import type { Answer, Answerer } from '../../src/simulator/answer.ts'

const tool = (name: string, properties: readonly string[], required = properties): WireTool => ({
  name,
  description: name,
  input_schema: {
    type: 'object',
    properties: Object.fromEntries(properties.map((key) => [key, { type: 'string' }])),
    required,
  },
})

export const houseTools: readonly WireTool[] = [
  tool('Read', ['file_path']),
  tool('Write', ['file_path', 'content']),
  tool('Edit', ['file_path', 'old_string', 'new_string']),
  tool('Bash', ['command', 'description']),
  tool('Grep', ['pattern', 'path'], ['pattern']),
  tool('Glob', ['pattern', 'path'], ['pattern']),
]

/** The same deeds under other names and arguments. */
export const foreignTools: readonly WireTool[] = [
  tool('read_file', ['path']),
  tool('create_file', ['path', 'file_text']),
  tool('str_replace', ['path', 'old_str', 'new_str']),
  tool('run_command', ['cmd']),
  tool('search_files', ['query', 'dir'], ['query']),
  tool('list_files', ['glob']),
]

export const request = (messages: readonly WireMessage[], more: Partial<WireRequest> = {}): WireRequest => ({
  model: 'claude-opus-5',
  max_tokens: 8000,
  messages,
  tools: houseTools,
  ...more,
})

export const user = (text: string): WireMessage => ({ role: 'user', content: [{ type: 'text', text }] })
export const assistant = (text: string): WireMessage => ({
  role: 'assistant',
  content: [{ type: 'text', text }],
})

export const ask = async (answerer: Answerer, wanted: WireRequest): Promise<Answer> =>
  answerer.answer({ request: wanted, headers: {}, turn: 1, now: 0 })

export const textIn = (answer: Answer): string =>
  answer.content.map((block) => (block.type === 'text' ? String(block['text']) : '')).join('')
export const callsIn = (answer: Answer): readonly WireBlock[] =>
  answer.content.filter((block) => block.type === 'tool_use')
export const inputOf = (block: WireBlock | undefined): Readonly<Record<string, string>> =>
  (block?.['input'] ?? {}) as Readonly<Record<string, string>>

export interface Workshop {
  readonly folder: string
  readonly calls: string[]
  readonly run: (block: WireBlock) => WireBlock
  readonly [Symbol.dispose]: () => void
}

/** A temporary folder with files, and tools that work in it. Edit and Write refuse a file that was not read. */
export function workshop(files: Readonly<Record<string, string>>): Workshop {
  const folder = mkdtempSync(join(tmpdir(), 'pal-answers-'))
  for (const [path, content] of Object.entries(files)) put(join(folder, path), content)
  const known = new Set<string>()
  const calls: string[] = []
  return {
    folder,
    calls,
    run(block) {
      calls.push(`${String(block['name'])} ${JSON.stringify(block['input'])}`)
      const { text, failed } = perform(folder, known, block)
      return {
        type: 'tool_result',
        tool_use_id: block['id'],
        content: text,
        ...(failed ? { is_error: true } : {}),
      }
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
}

function put(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
}

interface Outcome {
  readonly text: string
  readonly failed: boolean
}
const fine = (text: string): Outcome => ({ text, failed: false })
const failed = (text: string): Outcome => ({ text, failed: true })

function perform(folder: string, known: Set<string>, block: WireBlock): Outcome {
  const input = inputOf(block)
  const path = resolve(folder, input['file_path'] ?? input['path'] ?? input['dir'] ?? '.')
  try {
    switch (block['name']) {
      case 'Read':
      case 'read_file':
        known.add(path)
        return fine(numbered(readFileSync(path, 'utf8')))
      case 'Write':
      case 'create_file':
        known.add(path)
        put(path, input['content'] ?? input['file_text'] ?? '')
        return fine('written')
      case 'Edit':
      case 'str_replace':
        return edit(
          path,
          known,
          input['old_string'] ?? input['old_str'] ?? '',
          input['new_string'] ?? input['new_str'] ?? '',
        )
      case 'Bash':
      case 'run_command':
        return shell(folder, input['command'] ?? input['cmd'] ?? '')
      case 'Grep':
      case 'search_files':
        return shell(folder, `grep -rn -e '${input['pattern'] ?? input['query'] ?? ''}' '${path}' || true`)
      default:
        return fine(readdirSync(path, { recursive: true }).join('\n'))
    }
  } catch (error) {
    return failed(String(error))
  }
}

const numbered = (text: string): string =>
  text
    .trimEnd()
    .split('\n')
    .map((line, index) => `${index + 1}→${line}`)
    .join('\n')

function edit(path: string, known: ReadonlySet<string>, from: string, to: string): Outcome {
  if (!known.has(path)) return failed('This file has not been read yet. Read it first.')
  const content = readFileSync(path, 'utf8')
  if (content.split(from).length !== 2) return failed('old_string is not in the file exactly once')
  put(
    path,
    content.replace(from, () => to),
  )
  return fine('edited')
}

function shell(folder: string, command: string): Outcome {
  const done = spawnSync('sh', ['-c', command], { cwd: folder, encoding: 'utf8' })
  const text = `${done.stdout}${done.stderr}\nexit code ${done.status ?? 1}`
  return done.status === 0 ? fine(text) : failed(text)
}

/** Plays until the model makes no call; gives back the messages with the last answer. */
export async function play(
  answerer: Answerer,
  shop: Workshop,
  start: readonly WireMessage[],
  more: Partial<WireRequest> = {},
  mostRounds = 40,
): Promise<readonly WireMessage[]> {
  let messages = start
  for (let round = 0; round < mostRounds; round += 1) {
    const answer = await ask(answerer, request(messages, more))
    messages = [...messages, { role: 'assistant', content: answer.content }]
    const calls = callsIn(answer)
    if (calls.length === 0) return messages
    messages = [...messages, { role: 'user', content: calls.map((block) => shop.run(block)) }]
  }
  return messages
}
