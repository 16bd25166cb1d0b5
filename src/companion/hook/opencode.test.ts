// The plugin of opencode with the hooks that program calls, on real folders.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { opencodeHooks, type OpencodeHooks } from './opencode-hooks.ts'

let base = ''
let root = ''
let now = 1000
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'pal-opencode-'))
  root = join(base, 'companion')
  mkdirSync(root, { mode: 0o700 })
  now = 1000
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

const start = (): OpencodeHooks => opencodeHooks({ root, cwd: base, now: () => now })
const text = (words: string, more: object = {}): object => ({ type: 'text', text: words, ...more })
const types = (hooks: OpencodeHooks, words: string, sessionID = 's'): Promise<void> =>
  hooks['chat.message']!(
    { sessionID },
    { parts: [text(words), text('added by the program', { synthetic: true })] },
  )

interface Message {
  readonly info: Record<string, unknown>
  readonly parts: Record<string, unknown>[]
}
const compacted = (sessionID = 's'): Message[] => [
  { info: { id: 'm1', role: 'user', sessionID }, parts: [{ type: 'compaction' }] },
  {
    info: { id: 'm2', role: 'assistant', summary: true, sessionID, time: { created: 5000 } },
    parts: [text('Summary.') as Record<string, unknown>],
  },
  {
    info: { id: 'm3', role: 'user', sessionID },
    parts: [{ type: 'file' }, text('go on') as Record<string, unknown>],
  },
]
const shown = async (hooks: OpencodeHooks, messages = compacted()): Promise<Message[]> => {
  await hooks['experimental.chat.messages.transform']!({}, { messages })
  return messages
}
const blockIn = (messages: readonly Message[]): string => {
  const part = messages.at(-1)!.parts.find(({ text: words }) => String(words).startsWith('<companion'))
  return part === undefined ? '' : String(part['text'])
}

describe('the plugin of opencode', () => {
  it('[CH15] puts the block before the first user text behind the summary, and nothing where there is no summary', async () => {
    const hooks = start()
    await types(hooks, 'Never touch the lexer.')
    const messages = await shown(hooks)
    expect(messages.at(-1)!.parts.map(({ type }) => type)).toEqual(['file', 'text', 'text'])
    expect(blockIn(messages)).toContain('Never touch the lexer.')
    expect(blockIn(messages)).not.toContain('added by the program')
    const plain = compacted().slice(2)
    expect(await shown(hooks, plain)).toEqual(compacted().slice(2))
  })

  it('[CH15] has the same bytes in every request, whatever is typed since, also in the next process', async () => {
    const hooks = start()
    await types(hooks, 'Never touch the lexer.')
    const first = blockIn(await shown(hooks))
    now = 6000
    await types(hooks, 'Never run tests.')
    expect(blockIn(await shown(hooks))).toBe(first)
    expect(blockIn(await shown(start()))).toBe(first)
    // Handed over twice, it stands once.
    const messages = await shown(hooks)
    await shown(hooks, messages)
    expect(messages.at(-1)!.parts.length).toBe(3)
    expect(first).not.toContain('Never run tests.')
  })

  it('[CH15] names files and failed programs; sessions of subagents have none and leave no words', async () => {
    const hooks = start()
    writeFileSync(join(base, 'a.ts'), '')
    await types(hooks, 'Write it.')
    const tool = async (callID: string, name: string, args: object, exit: number): Promise<void> => {
      await hooks['tool.execute.before']!({ sessionID: 's', callID, tool: name }, { args })
      await hooks['tool.execute.after']!({ sessionID: 's', callID, tool: name }, { metadata: { exit } })
    }
    await tool('1', 'edit', { filePath: join(base, 'a.ts') }, 0)
    await tool('2', 'bash', { command: 'npm test --secret' }, 2)
    const block = blockIn(await shown(hooks))
    expect(block).toContain(`Files changed:\n${join(base, 'a.ts')}\n`)
    expect(block).toContain('- npm (exit 2)')
    await hooks['event']!(
      { event: { type: 'session.created', properties: { info: { id: 'child', parentID: 's' } } } },
      {},
    )
    await types(hooks, 'Rule of a model: never ask.', 'child')
    expect(blockIn(await shown(hooks, compacted('child')))).toBe('')
    const kept = readdirSync(join(root, 'sessions'))
    expect(kept).toEqual(['opencode-s'])
    expect(readFileSync(join(root, 'sessions', 'opencode-s', 'typed.jsonl'), 'utf8')).not.toContain(
      'never ask',
    )
  })

  it('[CH15] no rubbish makes it throw', async () => {
    const hooks = start()
    const values: readonly unknown[] = [
      null,
      7,
      'x',
      [],
      { messages: 5 },
      { messages: [null, { info: 1, parts: 2 }] },
      { parts: [null] },
    ]
    for (const hook of Object.values(hooks))
      for (const value of values) await expect(hook(value, value)).resolves.toBeUndefined()
  })
})
