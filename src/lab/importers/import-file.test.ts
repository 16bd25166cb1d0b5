import { gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encode, factProblem } from '../../transcript/codec.ts'
import { emptyTail, refusal, step } from '../../transcript/grammar.ts'
import { uuid, uuidFrom } from '../../transcript/ids.ts'
import { toEntries } from '../entries.ts'
import type { Recording } from '../recording.ts'
import { importBytes, importFile } from './import-file.ts'

const bytesOf = (lines: readonly unknown[]): Buffer =>
  Buffer.from(lines.map((line) => JSON.stringify(line)).join('\n'))

function loaded(bytes: Uint8Array) {
  const imported = importBytes('some.file', bytes)
  if (!imported.ok) throw new Error(imported.failure.message)
  return imported
}
const blocksOf = (recording: Recording): readonly unknown[] =>
  recording.turns.map(({ content }) => content.map(({ block }) => block))
const kindsOf = (recording: Recording): readonly unknown[] =>
  recording.turns.map(({ content }) => content.map(({ kind }) => kind))

describe('importFile', () => {
  it('[I5] reads Codex rollouts: items up to a count are one response, cached input is told apart', () => {
    const item = (payload: object) => ({ timestamp: '2026-07-01T10:00:00Z', type: 'response_item', payload })
    const counts = (input_tokens: number, cached_input_tokens: number, output_tokens: number) => ({
      type: 'event_msg',
      payload: {
        type: 'token_count',
        info: { last_token_usage: { input_tokens, cached_input_tokens, output_tokens } },
      },
    })
    const { recording, report } = loaded(
      bytesOf([
        {
          type: 'session_meta',
          payload: {
            id: 'c1',
            cli_version: '0.142.5',
            cwd: '/proj',
            base_instructions: { text: 'Be brief.' },
          },
        },
        item({ type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'rules' }] }),
        item({
          type: 'message',
          role: 'user',
          content: [{ type: 'input_text', text: '<environment_context>x</environment_context>' }],
        }),
        item({ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'fix it' }] }),
        { type: 'turn_context', payload: { model: 'gpt-5.5' } },
        item({
          type: 'reasoning',
          summary: [{ type: 'summary_text', text: 'hm' }],
          encrypted_content: 'zzz',
        }),
        item({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I look.' }] }),
        item({ type: 'function_call', name: 'exec_command', arguments: '{"cmd":"ls"}', call_id: 'k1' }),
        counts(9000, 8000, 120),
        counts(9000, 8000, 120),
        item({ type: 'function_call_output', call_id: 'k1', output: 'a.ts' }),
        item({ type: 'custom_tool_call', name: 'apply_patch', input: '*** patch', call_id: 'k2' }),
        counts(9500, 9000, 30),
        item({ type: 'custom_tool_call_output', call_id: 'k2', output: { content: 'done', success: false } }),
        { type: 'compacted', payload: { message: 'so far' } },
        item({ type: 'from_the_future' }),
      ]),
    )
    expect(report).toMatchObject({
      format: 'codex',
      skipped: [{ line: 16, why: 'unknown item "from_the_future"' }],
    })
    expect(recording).toMatchObject({
      name: 'c1',
      client: 'codex 0.142.5',
      model: 'gpt-5.5',
      usageKind: 'openai',
      system: 'Be brief.',
      firstRequestTokens: 9000,
    })
    expect(kindsOf(recording)[0]).toEqual(['developer', 'client_note', undefined])
    expect(blocksOf(recording)[1]).toEqual([
      { type: 'thinking', thinking: 'hm', signature: 'zzz' },
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', id: 'k1', name: 'exec_command', input: { cmd: 'ls' } },
    ])
    expect(recording.turns[1]?.usage).toEqual({ input: 1000, cacheRead: 8000, cacheWrite: 0, output: 120 })
    expect(recording.turns[3]).toMatchObject({
      usage: { input: 500, cacheRead: 9000, output: 30 },
      content: [{ block: { input: { input: '*** patch' } } }],
    })
    expect(blocksOf(recording)[4]).toEqual([
      { type: 'tool_result', tool_use_id: 'k2', content: [{ type: 'text', text: 'done' }], is_error: true },
      { type: 'text', text: 'so far' },
    ])
  })

  it('[I5] reads pi sessions: the line that ends in the last message, islands joined', () => {
    const entry = (id: string, parentId: string | null, message: object) => ({
      type: 'message',
      id,
      parentId,
      message,
    })
    const bytes = bytesOf([
      { type: 'session', version: 3, id: 'p1', timestamp: '2026-08-20T03:00:00Z', cwd: '/proj' },
      entry('1', null, { role: 'user', content: 'go', timestamp: 5 }),
      entry('2', '1', {
        role: 'assistant',
        model: 'm',
        content: [{ type: 'toolCall', id: 'k', name: 'read', arguments: { path: 'a' } }],
        usage: { input: 5, output: 2, cacheRead: 1, cacheWrite: 4 },
        stopReason: 'toolUse',
      }),
      entry('3', '2', {
        role: 'toolResult',
        toolCallId: 'k',
        content: [
          { type: 'text', text: 'A' },
          { type: 'image', data: 'AA', mimeType: 'image/png' },
        ],
        isError: true,
      }),
      entry('4', '3', { role: 'assistant', model: 'm', content: [{ type: 'text', text: 'left' }] }),
      entry('5', '3', {
        role: 'assistant',
        model: 'm',
        content: [
          { type: 'thinking', thinking: 't', thinkingSignature: 's' },
          { type: 'text', text: 'right' },
        ],
        stopReason: 'stop',
      }),
      { type: 'compaction', id: '6', parentId: 'lost', summary: 'so far', tokensBefore: 9 },
      entry('7', '6', { role: 'bashExecution', command: 'ls', output: 'a' }),
    ])
    const { recording, report } = loaded(bytes)
    expect(report).toEqual({ format: 'pi', skipped: [] })
    expect(recording).toMatchObject({
      name: 'p1',
      client: 'pi session v3',
      model: 'm',
      firstRequestTokens: 10,
      tools: ['read'],
    })
    expect(blocksOf(recording)).toEqual([
      [{ type: 'text', text: 'go' }],
      [{ type: 'tool_use', id: 'k', name: 'read', input: { path: 'a' } }],
      [
        {
          type: 'tool_result',
          tool_use_id: 'k',
          is_error: true,
          content: [
            { type: 'text', text: 'A' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA' } },
          ],
        },
      ],
      [
        { type: 'thinking', thinking: 't', signature: 's' },
        { type: 'text', text: 'right' },
      ],
      [
        { type: 'text', text: 'so far' },
        { type: 'text', text: 'Ran `ls`\na' },
      ],
    ])
    expect(kindsOf(recording)[4]).toEqual(['compact_summary', 'user_bash'])
  })

  it('[I5] reads arrays of messages in both shapes', () => {
    const anthropic = {
      model: 'claude-opus-5',
      system: 'Be brief.',
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'r' }] },
      ],
    }
    const openai = [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'hi' },
          { type: 'image_url', image_url: { url: 'https://e/x.png' } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 't', type: 'function', function: { name: 'f', arguments: '{"a":' } }],
      },
      { role: 'tool', tool_call_id: 't', content: 'r' },
    ]
    const left = loaded(Buffer.from(JSON.stringify(anthropic, null, 2)))
    expect(left.report.format).toBe('anthropic')
    expect(left.recording).toMatchObject({ system: 'Be brief.', model: 'claude-opus-5' })
    expect(blocksOf(left.recording)[2]).toEqual([
      { type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'r' }], is_error: false },
    ])
    const right = loaded(Buffer.from(JSON.stringify(openai)))
    expect(right.report.format).toBe('openai')
    expect(right.recording.system).toBe('Be brief.')
    expect(blocksOf(right.recording)).toEqual([
      [
        { type: 'text', text: 'hi' },
        { type: 'image', source: { type: 'url', url: 'https://e/x.png' } },
      ],
      [{ type: 'tool_use', id: 't', name: 'f', input: {}, broken: '{"a":' }],
      [{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'r' }], is_error: false }],
    ])
    expect(loaded(bytesOf(openai)).recording.turns).toEqual(right.recording.turns)
  })

  it('[I6] reads our own transcripts back: the same recording comes out that went in', () => {
    const source = loaded(
      bytesOf([
        { role: 'user', content: 'one', timestamp: 1 },
        {
          role: 'assistant',
          id: 'm1',
          model: 'm',
          content: [{ type: 'tool_use', id: 't', name: 'f', input: {} }],
          usage: { input_tokens: 5, output_tokens: 2 },
          stop_reason: 'tool_use',
          timestamp: 2,
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'r' }], timestamp: 3 },
        {
          role: 'assistant',
          id: 'm2',
          model: 'm',
          content: [{ type: 'text', text: 'done' }],
          stop_reason: 'end_turn',
          timestamp: 4,
        },
      ]),
    ).recording
    let count = 0
    const ids = { uuid: () => uuidFrom(count++, new Uint8Array(10)) }
    const { entries } = toEntries(source, { ids, clock: { now: () => 0 } })
    const again = loaded(Buffer.from(entries.map(encode).join('\n')))
    expect(again.report).toMatchObject({ format: 'palimpsest', skipped: [] })
    expect(again.recording.turns).toEqual(source.turns)
    const last = entries.at(-1)!
    const rewind = { ...last, seq: last.seq + 1, uuid: uuid('x'), fact: { type: 'rewind', to: 1 } }
    const rewound = loaded(Buffer.from([...entries.map(encode), JSON.stringify(rewind)].join('\n')))
    expect(blocksOf(rewound.recording)).toEqual([[{ type: 'text', text: 'one' }]])
  })

  it('[I7] says what is wrong with a file it cannot read, naming file and line', async () => {
    const failure = (text: string | Buffer): string => {
      const imported = importBytes('some.file', Buffer.from(text))
      return imported.ok ? 'read' : imported.failure.message
    }
    expect(failure('')).toBe('some.file, line 1: empty')
    expect(failure('[\n  {"role": "user",\n  "content": }\n]')).toMatch(/^some\.file, line 3: not JSON/)
    expect(failure('{"some":"thing else"}')).toBe('some.file, line 1: no format that is known')
    expect(failure(gzipSync('x').subarray(0, 12))).toMatch(/^some\.file: cannot be unpacked/)
    const missing = await importFile('no/such/file')
    expect(missing).toMatchObject({ ok: false, failure: { code: 'io-error' } })
  })

  it('[I7] never throws, whatever the bytes are, and what it reads obeys the grammar', () => {
    const word = fc.constantFrom(
      'type',
      'message',
      'role',
      'user',
      'assistant',
      'content',
      'uuid',
      'parentUuid',
      'payload',
      'response_item',
      'tool_use',
      'tool_result',
      'id',
      'parentId',
      'session',
      'cwd',
      'v',
      'seq',
      'fact',
      'tool_calls',
      'text',
    )
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 4 },
        word,
        fc.integer(),
        fc.constant(null),
        fc.array(tie('any'), { maxLength: 3 }),
        fc.dictionary(word, tie('any'), { maxKeys: 6 }),
      ),
    })).any
    const file = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.array(value, { maxLength: 8 }).map((values) => bytesOf(values)),
      value.map((whole) => Buffer.from(JSON.stringify(whole))),
    )
    let count = 0
    const ids = { uuid: () => uuidFrom(count++, new Uint8Array(10)) }
    fc.assert(
      fc.property(file, (bytes) => {
        const imported = importBytes('some.file', bytes)
        if (imported.ok) {
          let tail = emptyTail()
          for (const entry of toEntries(imported.recording, { ids, clock: { now: () => 0 } }).entries) {
            expect([refusal(tail, entry.fact), factProblem(entry.fact)]).toEqual([null, null])
            tail = step(tail, entry)
          }
        } else expect(imported.failure.message).toContain('some.file')
      }),
      { numRuns: 1000 },
    )
  })
})
