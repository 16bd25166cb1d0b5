import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { factProblem } from '../transcript/codec.ts'
import type { Entry } from '../transcript/fact.ts'
import { emptyTail, refusal, step } from '../transcript/grammar.ts'
import { uuidFrom } from '../transcript/ids.ts'
import { toEntries, type EntryOptions } from './entries.ts'
import type { RecordedBlock, RecordedTurn, Recording } from './recording.ts'

function options(): EntryOptions {
  let count = 0
  return { ids: { uuid: () => uuidFrom(count++, new Uint8Array(10)) }, clock: { now: () => 7 } }
}
const recordingOf = (turns: readonly RecordedTurn[], extra: Partial<Recording> = {}): Recording => ({
  name: 'r',
  client: 'hand-made',
  model: 'm',
  usageKind: 'none',
  outputCounts: 'final',
  firstRequestTokens: null,
  system: null,
  tools: [],
  turns,
  ...extra,
})
const text = (words: string, kind?: string): RecordedBlock => ({ block: { type: 'text', text: words }, kind })
const call = (id: string): RecordedBlock => ({ block: { type: 'tool_use', id, name: 'f', input: {} } })
const result = (id: string): RecordedBlock => ({
  block: {
    type: 'tool_result',
    tool_use_id: id,
    content: [{ type: 'text', text: `of ${id}` }],
    is_error: false,
  },
})
const turn = (role: 'user' | 'assistant', ...content: readonly RecordedBlock[]): RecordedTurn => ({
  role,
  content,
  at: null,
})
const factsOf = (entries: readonly Entry[]): readonly string[] =>
  entries.map(({ fact }) => (fact.type === 'user-message' ? `${fact.type} ${fact.origin}` : fact.type))

describe('toEntries', () => {
  it('[I8] gives a transcript that the grammar accepts and that holds every word, from any recording', () => {
    const id = fc.constantFrom('a', 'b', 'c')
    const kind = fc.constantFrom(undefined, 'client_note', 'attachment:file', 'attachment:queued_command')
    const block = fc.oneof(
      fc.tuple(fc.string(), kind).map(([words, of]) => text(words, of)),
      id.map(call),
      id.map(result),
    )
    const turns = fc.array(
      fc.tuple(fc.constantFrom('user' as const, 'assistant' as const), fc.array(block, { maxLength: 4 })),
      { maxLength: 8 },
    )
    fc.assert(
      fc.property(turns, (drafts) => {
        const { entries } = toEntries(
          recordingOf(drafts.map(([role, content]) => turn(role, ...content))),
          options(),
        )
        let tail = emptyTail()
        for (const entry of entries) {
          expect(refusal(tail, entry.fact)).toBeNull()
          expect(factProblem(entry.fact)).toBeNull()
          expect([entry.seq, entry.parent]).toEqual([tail.next, tail.lastUuid])
          tail = step(tail, entry)
        }
        expect([tail.open, tail.inTurn]).toEqual([[], false])
        const written = JSON.stringify(entries)
        for (const [role, content] of drafts) {
          for (const { block } of content) {
            if (block.type === 'text' && 'text' in block)
              expect(written).toContain(JSON.stringify(block.text))
            if (block.type === 'tool_result' && 'content' in block && role === 'user')
              expect(written).toContain(`of ${block.tool_use_id}`)
          }
        }
      }),
    )
  })

  it('[I8] ends a turn before the next real input, not before what a client injected', () => {
    const { entries, repairs } = toEntries(
      recordingOf([
        turn('user', text('note', 'client_note'), text('go')),
        turn('assistant', call('a')),
        turn(
          'user',
          result('a'),
          text('reminder', 'attachment:task_reminder'),
          text('and the tests', 'attachment:queued_command'),
        ),
        turn('assistant', text('done')),
        turn('user', text('thanks')),
        turn('assistant', text('welcome')),
      ]),
      options(),
    )
    expect(factsOf(entries)).toEqual([
      'session-start',
      'user-message injected',
      'user-message typed',
      'assistant-message',
      'tool-result',
      'attachment',
      'turn-end',
      'user-message queued',
      'assistant-message',
      'turn-end',
      'user-message typed',
      'assistant-message',
      'turn-end',
    ])
    expect(repairs).toEqual([])
  })

  it('[I8] leaves the summaries of a client out', () => {
    const recording = recordingOf([
      turn('user', text('go')),
      turn('assistant', text('a')),
      turn('user', text('so far', 'compact_summary')),
      turn('assistant', text('b')),
    ])
    expect(JSON.stringify(toEntries(recording, options()).entries)).not.toContain('so far')
  })

  it('[I9] says what it repairs: results nobody asked for, calls without a result, ids used twice', () => {
    const { entries, repairs } = toEntries(
      recordingOf([
        turn('user', result('x'), text('go')),
        turn('assistant', call('a'), call('a')),
        turn('user', result('a'), text('next')),
      ]),
      options(),
    )
    expect(factsOf(entries)).toContain('attachment')
    expect(repairs.join('\n')).toMatch(/no open call x[^]*used twice[^]*while calls are open/)
  })

  it('[I9] replaces an output count that was taken too early by an estimate, and keeps a final one', () => {
    const usage = { input: 10, cacheRead: 0, cacheWrite: 0, output: 3 }
    const turns: readonly RecordedTurn[] = [
      turn('user', text('go')),
      { ...turn('assistant', text('word '.repeat(500))), usage },
    ]
    const outputOf = (outputCounts: 'final' | 'partial'): number => {
      const fact = toEntries(recordingOf(turns, { outputCounts }), options()).entries.find(
        ({ fact }) => fact.type === 'assistant-message',
      )?.fact
      return fact?.type === 'assistant-message' ? (fact.usage?.output ?? -1) : -1
    }
    expect(outputOf('final')).toBe(3)
    expect(outputOf('partial')).toBeGreaterThan(300)
  })
})
