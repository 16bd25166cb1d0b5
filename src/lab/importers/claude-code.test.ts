import { describe, expect, it } from 'vitest'
import type { Imported, Recording } from '../recording.ts'
import { importBytes } from './import-file.ts'

// Hand-made lines in the shape of Claude Code's session files; each fixture breaks one thing.
interface Extra {
  readonly [field: string]: unknown
}
const line = (
  type: string,
  uuid: string,
  parentUuid: string | null,
  message: unknown,
  extra: Extra = {},
): string =>
  JSON.stringify({
    type,
    uuid,
    parentUuid,
    sessionId: 's1',
    version: '2.1.200',
    isSidechain: false,
    message,
    ...extra,
  })
const user = (uuid: string, parent: string | null, text: string, extra: Extra = {}): string =>
  line('user', uuid, parent, { role: 'user', content: text }, extra)
const answer = (
  uuid: string,
  parent: string | null,
  id: string,
  content: unknown,
  extra: Extra = {},
): string => {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content
  return line('assistant', uuid, parent, {
    role: 'assistant',
    id,
    model: 'claude-opus-5',
    content: blocks,
    ...extra,
  })
}
const call = (id: string): unknown[] => [{ type: 'tool_use', id, name: 'Read', input: { file_path: '/a' } }]
const result = (uuid: string, parent: string, id: string, text: string): string =>
  line('user', uuid, parent, {
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: id, content: text }],
  })
const progress = (uuid: string, parent: string, extra: Extra = {}): string =>
  line('progress', uuid, parent, undefined, extra)

const load = (lines: readonly string[]): Imported =>
  importBytes('s.jsonl', Buffer.from(lines.join('\n') + '\n'))

function loaded(lines: readonly string[]) {
  const imported = load(lines)
  if (!imported.ok) throw new Error(imported.failure.message)
  return imported
}

/** What was said, one string a turn. */
const spoken = (recording: Recording): readonly string[] =>
  recording.turns.map(({ role, content }) => {
    const words = content.map(({ block }) => {
      if (block.type === 'text' && 'text' in block) return block.text
      if (block.type === 'tool_use' && 'id' in block) return `call ${block.id}`
      if (block.type === 'tool_result' && 'content' in block) return `result ${block.tool_use_id}`
      return block.type
    })
    return `${role}: ${words.join(' + ')}`
  })

describe('Claude Code sessions', () => {
  it('[I2] keeps everything around parents that were never written', () => {
    const lines = [user('u0', null, 'start')]
    for (let index = 0; index < 60; index++) {
      const parent = index % 20 === 19 ? `never-written-${index}` : `u${index}`
      lines.push(
        answer(`a${index}`, parent, `m${index}`, `answer ${index}`),
        user(`u${index + 1}`, `a${index}`, `ask ${index}`),
      )
    }
    const { recording, report } = loaded(lines)
    expect(recording.turns).toHaveLength(121)
    expect(report).toEqual({ format: 'claude-code', skipped: [] })
  })

  it('[I2] keeps both children of one parent, in file order', () => {
    const lines = [
      user('u1', null, 'first'),
      answer('a1', 'u1', 'm1', 'one'),
      user('u2', 'a1', 'left'),
      user('u3', 'a1', 'right'),
      answer('a2', 'u3', 'm2', 'two'),
    ]
    const { recording } = loaded(lines)
    expect(spoken(recording)).toEqual([
      'user: first',
      'assistant: one',
      'user: left + right',
      'assistant: two',
    ])
  })

  it('[I2] is not led astray by progress of a sub-agent that was written late with newer times', () => {
    const lines = [
      user('u1', null, 'first', { timestamp: '2026-08-01T10:00:00Z' }),
      answer('a1', 'u1', 'm1', call('t1')),
      result('r1', 'a1', 't1', 'file'),
      answer('a2', 'r1', 'm2', 'done', { timestamp: '2026-08-01T10:00:05Z' }),
      progress('p1', 'a1', { timestamp: '2026-08-01T12:00:00Z' }),
      progress('p2', 'p1', { timestamp: '2026-08-01T12:00:01Z' }),
    ]
    const { recording } = loaded(lines)
    expect(spoken(recording)).toEqual([
      'user: first',
      'assistant: call t1',
      'user: result t1',
      'assistant: done',
    ])
  })

  it('[I2] keeps the conversation before a message that was sent again under a side chain', () => {
    const lines = [
      user('u1', null, 'first'),
      answer('a1', 'u1', 'm1', 'one'),
      user('side', null, 'sub-agent task', { isSidechain: true, agentId: 'x' }),
      user('u2', 'side', 'again'),
      answer('a2', 'u2', 'm2', 'two'),
    ]
    const { recording } = loaded(lines)
    expect(spoken(recording)).toEqual(['user: first', 'assistant: one', 'user: again', 'assistant: two'])
  })

  it('[I2] crosses a boundary whose parent lived only in the compacted text', () => {
    const lines = [
      user('u1', null, 'first'),
      answer('a1', 'u1', 'm1', 'one'),
      line('system', 'c1', null, undefined, { subtype: 'compact_boundary', logicalParentUuid: 'a1' }),
      user('cs', 'c1', 'This session is being continued', { isCompactSummary: true }),
      user('u2', 'gone-with-the-compaction', 'next'),
      answer('a2', 'u2', 'm2', 'two'),
    ]
    const { recording } = loaded(lines)
    expect(spoken(recording)).toEqual([
      'user: first',
      'assistant: one',
      'user: This session is being continued + next',
      'assistant: two',
    ])
    expect(recording.turns[2]?.content.map(({ kind }) => kind)).toEqual(['compact_summary', undefined])
  })

  it('[I3] a damaged line costs itself, and the report names it', () => {
    const whole = user('u1', null, 'first')
    const { recording, report } = loaded([
      whole,
      '\0'.repeat(300),
      answer('a1', 'u1', 'm1', 'one').slice(0, 60),
      `{"type":"pr-link","prNu${user('u2', 'a1', 'second')}`,
      answer('a2', 'u2', 'm2', 'two'),
      answer('a3', 'a2', 'm3', 'torn').slice(0, -20),
    ])
    expect(spoken(recording)).toEqual(['user: first + second', 'assistant: two'])
    expect(report.skipped.map(({ line }) => line)).toEqual([2, 3, 4, 6])
    expect(report.skipped[0]?.why).toBe('NUL bytes')
    expect(report.skipped[2]?.why).toContain('is kept')
  })

  it('[I4] lines of one response are one turn with its counts once, also with results between', () => {
    const usage = (output: number) => ({
      usage: {
        input_tokens: 3,
        cache_creation_input_tokens: 800,
        cache_read_input_tokens: 20_000,
        output_tokens: output,
      },
    })
    const { recording } = loaded([
      user('u1', null, 'first'),
      answer('a1', 'u1', 'm1', 'reading', usage(1)),
      answer('a2', 'a1', 'm1', call('t1'), usage(1)),
      result('r1', 'a2', 't1', 'one'),
      answer('a3', 'a2', 'm1', call('t2'), usage(900)),
      result('r2', 'a3', 't2', 'two'),
      answer('a4', 'r2', 'm2', 'done', usage(40)),
    ])
    expect(spoken(recording)).toEqual([
      'user: first',
      'assistant: reading + call t1 + call t2',
      'user: result t1 + result t2',
      'assistant: done',
    ])
    expect(recording.turns[1]?.usage).toEqual({ input: 3, cacheRead: 20_000, cacheWrite: 800, output: 900 })
    expect(recording).toMatchObject({
      firstRequestTokens: 20_803,
      outputCounts: 'final',
      client: 'claude-code 2.1.200',
      name: 's1',
      tools: ['Read'],
    })
  })

  it('[I4] what the client wrote in the place of the person is marked, copies and errors are left out', () => {
    const { recording, report } = loaded([
      user('u1', null, '<command-name>/model</command-name>'),
      user('u2', 'u1', 'Caveat: local commands', { isMeta: true }),
      line('attachment', 'at', 'u2', undefined, {
        attachment: { type: 'queued_command', prompt: 'and the tests too' },
      }),
      user('u3', 'u2', 'go on'),
      user('u3', 'u2', 'go on'),
      line(
        'assistant',
        'e1',
        'u3',
        { role: 'assistant', model: '<synthetic>', content: [{ type: 'text', text: 'API Error' }] },
        { isApiErrorMessage: true },
      ),
      answer('a1', 'u3', 'm1', 'word '.repeat(400), { usage: { input_tokens: 10, output_tokens: 1 } }),
      JSON.stringify({ type: 'from-the-future', uuid: 'x', parentUuid: 'a1', sessionId: 's1' }),
    ])
    expect(recording.turns[0]?.content.map(({ kind }) => kind)).toEqual([
      'client_note',
      'client_note',
      'attachment:queued_command',
      undefined,
    ])
    expect(recording.turns).toHaveLength(2)
    expect(recording.outputCounts).toBe('partial')
    expect(report.skipped).toEqual([
      { line: 5, why: 'a copy of u3' },
      { line: 8, why: 'unknown type "from-the-future"' },
    ])
  })

  it('[I3] survives a circle of parents', () => {
    const { recording } = loaded([
      user('u1', 'a1', 'first'),
      answer('a1', 'u1', 'm1', 'one'),
      user('u2', 'u2', 'self'),
    ])
    expect(spoken(recording)).toEqual(['user: first', 'assistant: one', 'user: self'])
  })
})
