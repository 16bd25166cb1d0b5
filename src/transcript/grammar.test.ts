import { describe, expect, it } from 'vitest'
import { answered, call, Pen, result, said, start } from '../testing/builders.ts'
import type { Fact } from './fact.ts'
import { closing, emptyTail, refusal, step, type Tail } from './grammar.ts'
import { seq } from './ids.ts'

function after(...facts: readonly Fact[]): Tail {
  const pen = new Pen()
  return facts.reduce((tail, fact) => step(tail, pen.write(fact)), emptyTail())
}
const code = (tail: Tail, fact: Fact): string | undefined => refusal(tail, fact)?.code

describe('the grammar', () => {
  it('[T6] a session starts once, and nothing comes before', () => {
    expect(code(emptyTail(), said('hi'))).toBe('not-started')
    expect(code(after(start()), start())).toBe('started-twice')
  })

  it('[T6] while calls are open only their results and notes may come', () => {
    const tail = after(start(), said('go'), answered([call('a'), call('b')]))
    expect(code(tail, said('and'))).toBe('calls-open')
    expect(code(tail, answered('x'))).toBe('calls-open')
    expect(code(tail, { type: 'turn-end', outcome: 'done' })).toBe('calls-open')
    expect(code(tail, result('a'))).toBeUndefined()
    expect(code(tail, result('zzz'))).toBe('call-unknown')
    expect(code(tail, { type: 'attachment', kind: 'hook', content: [] })).toBeUndefined()
  })

  it('[T6] a call is answered once', () => {
    expect(code(after(start(), answered([call('a')]), result('a')), result('a'))).toBe('call-unknown')
    expect(code(after(start()), answered([call('a'), call('a')]))).toBe('call-duplicate')
  })

  it('[T7] a crash leaves what closing writes: a result for each open call, then the end of the turn', () => {
    const tail = after(start(), said('go'), answered([call('a'), call('b')]), result('a'))
    const facts = closing(tail, 'the process ended')
    expect(facts.map((fact) => fact.type)).toEqual(['tool-result', 'turn-end'])
    expect(facts[0]).toMatchObject({ call: 'b', isError: true })
    expect(facts.reduce((at, fact) => step(at, new Pen({ first: at.next }).write(fact)), tail).open).toEqual(
      [],
    )
  })

  it('[T7] A15: a cleanly finished run leaves nothing to close', () => {
    const tail = after(start(), said('go'), answered([call('a')]), result('a'), answered('done'), {
      type: 'turn-end',
      outcome: 'done',
    })
    expect(closing(tail, 'x')).toEqual([])
  })

  it('[T7] A10 A11 A12: a call that was cut off counts as broken and is answered as not run', () => {
    const cut = [{ type: 'tool_use' as const, id: 'a', name: 'Bash', input: {}, broken: '{"command":"rm -r' }]
    for (const fact of [
      answered(cut),
      answered([call('a', 'Bash')], { stop: 'max_tokens' }),
      answered([call('a', 'Bash')], { partial: true }),
    ]) {
      const tail = after(start(), said('go'), fact)
      expect(tail.open).toEqual([{ id: 'a', name: 'Bash', broken: true }])
      expect(JSON.stringify(closing(tail, 'x'))).toContain('was not run')
    }
  })

  it('[E6] H12: queued input waits until it is delivered, once', () => {
    const queued = after(start(), { type: 'input-queued', content: [{ type: 'text', text: 'also' }] })
    expect(queued.queued).toEqual([1])
    const deliver: Fact = {
      type: 'user-message',
      content: [{ type: 'text', text: 'also' }],
      origin: 'queued',
      queued: seq(1),
    }
    expect(code(queued, deliver)).toBeUndefined()
    const delivered = step(queued, new Pen({ first: 2 }).write(deliver))
    expect(delivered.queued).toEqual([])
    expect(code(delivered, deliver)).toBe('queue-unknown')
  })

  it('[T6] nobody rewinds into the future', () => {
    expect(code(after(start()), { type: 'rewind', to: seq(7) })).toBe('no-such-place')
  })
})
