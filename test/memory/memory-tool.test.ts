// The memory tool of the Messages API: the SDK's own runner of tools over our handlers, and the simulator as the model.
import Anthropic from '@anthropic-ai/sdk'
import { betaMemoryTool } from '@anthropic-ai/sdk/helpers/beta/memory'
import { describe, expect, it } from 'vitest'
import { memoryToolHandlers, type MemoryToolCommand } from '../../src/index.ts'
import { call } from '../../src/simulator/index.ts'
import { modelId, simulated } from '../e2e/simulated.ts'
import { folder } from './folder.ts'
import { from, keeperIn, memoryText } from './memories.ts'

async function opened() {
  const store = keeperIn(await folder())
  const handlers = memoryToolHandlers(store)
  const run = (command: MemoryToolCommand): Promise<string> =>
    (handlers[command.command] as (one: MemoryToolCommand) => Promise<string>)(command)
  return { store, run }
}
const written = '# Garden\n\n- roses\n- two  blanks, a tab\tand no end'

describe('the memory tool', () => {
  it('[MS9] six commands in the exact words, and a view shows what was written', async () => {
    const { run } = await opened()
    const path = '/memories/garden.txt'
    expect(await run({ command: 'create', path, file_text: written })).toBe(
      `File created successfully at: ${path}`,
    )
    expect(await run({ command: 'create', path, file_text: 'x' })).toBe(`Error: File ${path} already exists`)
    const lines = written.split('\n').map((line, at) => `${String(at + 1).padStart(6)}\t${line}`)
    expect(await run({ command: 'view', path })).toBe(
      `Here's the content of ${path} with line numbers:\n${lines.join('\n')}`,
    )
    expect(await run({ command: 'view', path, view_range: [3, 3] })).toBe(
      `Here's the content of ${path} with line numbers:\n     3\t- roses`,
    )
    expect(await run({ command: 'view', path: '/memories' })).toMatch(
      /^Here're the files and directories up to 2 levels deep in \/memories, excluding hidden items and node_modules:\n\d+\t\/memories\n\d+\t\/memories\/garden\.txt$/u,
    )
    expect(await run({ command: 'str_replace', path, old_str: 'roses', new_str: 'tulips' })).toBe(
      'The memory file has been edited.\n     1\t# Garden\n     2\t\n     3\t- tulips\n     4\t- two  blanks, a tab\tand no end',
    )
    expect(await run({ command: 'str_replace', path, old_str: 'oak' })).toBe(
      `No replacement was performed, old_str \`oak\` did not appear verbatim in ${path}.`,
    )
    expect(await run({ command: 'str_replace', path, old_str: '- ' })).toBe(
      'No replacement was performed. Multiple occurrences of old_str `- ` in lines: 3, 4. Please ensure it is unique',
    )
    expect(await run({ command: 'insert', path, insert_line: 2, insert_text: '- oaks\n' })).toBe(
      `The file ${path} has been edited.`,
    )
    expect(await run({ command: 'insert', path, insert_line: 99, insert_text: 'x' })).toContain('[0, 5]')
    expect(await run({ command: 'view', path, view_range: [3, 4] })).toContain(
      '     3\t- oaks\n     4\t- tulips',
    )
    const to = '/memories/trees.md'
    expect(await run({ command: 'rename', old_path: path, new_path: to })).toBe(
      `Successfully renamed ${path} to ${to}`,
    )
    expect(await run({ command: 'view', path })).toBe(
      `The path ${path} does not exist. Please provide a valid path.`,
    )
    expect(await run({ command: 'delete', path: to })).toBe(`Successfully deleted ${to}`)
    expect(await run({ command: 'view', path: to })).toContain('does not exist')
  })

  it.each([
    '/memories/../x.md',
    '/etc/passwd',
    '/memories/a/b.md',
    '/memories/%2e%2e',
    '/memories/.hidden',
    '/memories',
    '/memories/',
    '/memories/a\\b',
    '/memories/MEMORY.md',
  ])('[MS9] %j leads nowhere', async (path) => {
    const { run } = await opened()
    expect(await run({ command: 'create', path, file_text: 'x y z' })).toMatch(/^Error: /u)
    expect(await run({ command: 'delete', path })).toMatch(/^Error: |does not exist/u)
  })

  it('[MS9] an edit starts from what was viewed, and what was changed meanwhile is viewed first', async () => {
    const { store, run } = await opened()
    const path = '/memories/plan.md'
    await run({ command: 'create', path, file_text: 'one\ntwo' })
    const read = await store.read('plan.md')
    if (!read.ok) throw new Error(read.failure.message)
    const other = read.text.replace('two', 'three')
    await store.save({ file: 'plan.md', text: other }, from({ trust: 'data', kind: 'tool' }), {
      via: 'session',
    })
    expect(await run({ command: 'str_replace', path, old_str: 'one', new_str: '1' })).toContain(
      'changed since you read it',
    )
    await run({ command: 'view', path })
    expect(await run({ command: 'str_replace', path, old_str: 'one', new_str: '1' })).toContain(
      '     2\tthree',
    )
  })

  it('[MS10] what it saves is data, changes nothing trusted, and deleting leaves a version', async () => {
    const { store, run } = await opened()
    await run({ command: 'create', path: '/memories/a.md', file_text: 'Always push to main.' })
    const saved = await store.read('a.md')
    expect(saved.ok && saved.memory).toMatchObject({
      standing: 'fenced',
      provenance: { trust: 'data', from: ['memory-tool'] },
    })
    await run({ command: 'delete', path: '/memories/a.md' })
    expect(store.ledger.versionsOf('a.md').map((one) => one.do)).toEqual(['write', 'remove'])
    await store.save(
      { file: 'mine.md', text: memoryText('mine', { body: 'Never push on Fridays.' }) },
      from(),
      { via: 'session' },
    )
    const mine = '/memories/mine.md'
    expect(await run({ command: 'str_replace', path: mine, old_str: 'Never', new_str: 'Always' })).toContain(
      'the user has to agree',
    )
    expect(await run({ command: 'delete', path: mine })).toContain('the user has to agree')
    expect(await run({ command: 'rename', old_path: mine, new_path: '/memories/b.md' })).toContain(
      'the user has to agree',
    )
    expect(await run({ command: 'view', path: mine })).toContain('Never push on Fridays.')
  })

  it('[MS9] the SDK’s tool carries them out in a loop against the API', async () => {
    const path = '/memories/notes.md'
    const scene = await simulated([
      [call('memory', { command: 'create', path, file_text: 'The server is heron.' })],
      [call('memory', { command: 'view', path })],
      'Saved.',
    ])
    const { store } = await opened()
    const client = new Anthropic({ apiKey: 'k', baseURL: scene.url })
    const tool = betaMemoryTool(memoryToolHandlers(store))
    const messages: Anthropic.Beta.BetaMessageParam[] = [{ role: 'user', content: 'Remember the server.' }]
    const spec = { type: 'memory_20250818', name: 'memory' } as const
    for (;;) {
      const answer = await client.beta.messages.create({
        model: modelId,
        max_tokens: 1000,
        messages,
        tools: [spec],
      })
      messages.push({ role: 'assistant', content: answer.content })
      const calls = answer.content.filter((block) => block.type === 'tool_use')
      if (calls.length === 0) break
      const results = calls.map(async ({ id, input }) => ({
        type: 'tool_result' as const,
        tool_use_id: id,
        content: await tool.run(tool.parse(input)),
      }))
      messages.push({ role: 'user', content: await Promise.all(results) })
    }
    const said = JSON.stringify(messages)
    expect(said).toContain(`File created successfully at: ${path}`)
    expect(said).toContain('1\\tThe server is heron.')
    expect(said).toContain('Saved.')
  })
})
