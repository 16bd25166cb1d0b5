import { describe, expect, it } from 'vitest'
import { Fold } from '../../projection/fold.ts'
import type { Fact } from '../../transcript/fact.ts'
import { callId, seq, sessionId, uuid } from '../../transcript/ids.ts'
import { lineageOf } from './lineage.ts'

const said = (text: string): Fact => ({
  type: 'user-message',
  origin: 'typed',
  content: [{ type: 'text', text }],
})
const asked = (id: string, name: string, input: Record<string, unknown>): Fact => ({
  type: 'assistant-message',
  messageId: `m-${id}`,
  stop: 'tool_use',
  model: 'x',
  content: [{ type: 'tool_use', id, name, input }],
})
const gave = (id: string, text: string, isError = false): Fact => ({
  type: 'tool-result',
  call: callId(id),
  content: [{ type: 'text', text }],
  isError,
})

function folded(facts: readonly Fact[]): Fold {
  const fold = new Fold()
  const begin: Fact = { type: 'session-start', session: sessionId('s'), purpose: 'main' }
  for (const [at, fact] of [begin, ...facts].entries())
    fold.push({ v: 1, seq: seq(at), uuid: uuid(`u${at}`), parent: null, at, fact })
  return fold
}
const main = { session: 's', source: 'main', links: [{ from: 0 }] }

describe('the lineage of a call', () => {
  const spoken = folded([
    said('read the page'),
    asked('1', 'WebFetch', { url: 'https://a.test/x' }),
    gave('1', 'page'),
    { type: 'memory-recall', files: ['a.md'], text: 'recalled' },
    said('now save it'),
    asked('2', 'Edit', { file_path: '/a' }),
    gave('2', 'done'),
    asked('3', 'Edit', { file_path: '/b' }),
    gave('3', 'near text of the file', true),
    { type: 'attachment', kind: 'hook', content: [{ type: 'text', text: 'x' }], source: 'PostToolUse' },
    asked('4', 'Write', { file_path: '/m' }),
  ])

  it('[ME62] names what was typed and what was read, this turn and before; our own words and recalled memories are neither', () => {
    expect(lineageOf(spoken, main, '4')).toEqual({
      session: 's',
      isMain: true,
      message: 'u11',
      userWords: ['read the page', 'now save it'],
      typedAt: 5,
      before: [{ tool: 'WebFetch', source: 'https://a.test/x', trust: 'data' }],
      turn: [
        { tool: 'Edit', source: '/b', trust: 'data' },
        { tool: 'hook', source: 'PostToolUse', trust: 'data' },
      ],
    })
  })

  it('[ME62] of a fork or an agent counts as typed only what was typed before it began', () => {
    const fork = lineageOf(
      spoken,
      { session: 'f', source: 'extraction', links: [{ from: 0 }, { from: 5 }] },
      '4',
    )
    expect(fork).toMatchObject({ isMain: false, userWords: ['read the page'] })
    expect(fork.before[0]).toEqual({ tool: 'extraction', source: null, trust: 'data' })
    expect(lineageOf(spoken, { session: 'a', source: 'agent', links: [{ from: 0 }] }, '4').userWords).toEqual(
      [],
    )
  })

  it('[ME62] takes what stands for a span for data', () => {
    const fold = folded([
      said('one'),
      asked('1', 'Bash', {}),
      gave('1', 'out'),
      said('two'),
      {
        type: 'view-edit',
        layer: 'autocompact',
        asked: 'automatic',
        why: '',
        tokensFreed: 0,
        edits: [{ kind: 'summary', from: seq(1), to: seq(3), text: 'was done', ref: 'r', keep: [] }],
      },
    ])
    const { before, turn } = lineageOf(fold, main, null)
    expect([...before, ...turn].map(({ trust }) => trust)).toContain('data')
  })
})
