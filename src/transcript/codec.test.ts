import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { arbitraryMoves, played } from '../testing/arbitrary.ts'
import { entriesOf, said } from '../testing/builders.ts'
import { decode, encode, factProblem } from './codec.ts'
import { isKnown } from './fact.ts'
import { seq } from './ids.ts'

const line = (fact: unknown, v = 1): string =>
  JSON.stringify({ v, seq: 3, uuid: 'u', parent: null, at: 5, fact })

describe('the codec', () => {
  it('[T3] every fact of a session survives a round trip', () => {
    fc.assert(
      fc.property(arbitraryMoves(fc).map(played), (entries) => {
        for (const entry of entries) {
          const decoded = decode(encode(entry))
          expect(decoded).toEqual({ ok: true, entry: JSON.parse(JSON.stringify(entry)) })
        }
      }),
      { numRuns: 50 },
    )
  })

  it('[T3] a fact of an unknown kind survives byte for byte, whatever it holds', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom('  ', ''), (value, space) => {
        const raw = `${space}{"v":1, "seq":4,"uuid":"u","parent":null,"at":1.0,"fact":{"type":"future-kind","a":9007199254740993,"a":${JSON.stringify(value)}}}`
        const decoded = decode(raw)
        expect(decoded.ok && encode(decoded.entry)).toBe(raw)
      }),
    )
  })

  it('[T3] an entry of a later version is kept and its place is known', () => {
    const raw = '{"v":2,"seq":9,"shape":"quite other"}'
    const decoded = decode(raw)
    expect(decoded).toMatchObject({ ok: true, entry: { seq: 9, unknown: 'version 2', changesView: false } })
    expect(decoded.ok && encode(decoded.entry)).toBe(raw)
  })

  it('[T4] an edit of an unknown kind is known to change the view', () => {
    const edit = { kind: 'fold-twice', at: { seq: 1 } }
    const decoded = decode(
      line({ type: 'view-edit', layer: 'x', asked: 'user', edits: [edit], why: '', tokensFreed: 0 }),
    )
    expect(decoded).toMatchObject({ ok: true, entry: { changesView: true } })
    expect(decode(line({ type: 'brand-new', edits: [edit] }))).toMatchObject({
      ok: true,
      entry: { changesView: true },
    })
  })

  it('[T3] unknown fields of known facts are kept', () => {
    const raw = line({ type: 'turn-end', outcome: 'done', mood: 'good' })
    const decoded = decode(raw)
    expect(decoded.ok && isKnown(decoded.entry)).toBe(true)
    expect(decoded.ok && encode(decoded.entry)).toBe(raw)
  })

  it.each([
    ['not JSON', '{"v":1,', 'not JSON'],
    ['a list', '[]', 'not an object'],
    ['no version', '{"seq":1}', 'no version'],
    ['no place', '{"v":1}', 'no sequence number'],
    [
      'a broken fact',
      line({ type: 'user-message', content: 'text', origin: 'typed' }),
      'user-message: content',
    ],
    ['a wrong origin', line({ type: 'user-message', content: [], origin: 'dreamt' }), 'user-message: origin'],
  ])('[T5] says what is wrong with %s', (_, raw, why) => {
    const decoded = decode(raw)
    expect(decoded.ok ? '' : decoded.why).toContain(why)
  })

  it('[T5] refuses nesting that could not be written back', () => {
    let input: Record<string, unknown> = {}
    for (let depth = 0; depth < 20_000; depth++) input = { input }
    const fact = {
      type: 'assistant-message',
      messageId: 'm',
      stop: null,
      model: 'm',
      content: [{ type: 'tool_use', id: 'a', name: 'b', input }],
    }
    expect(factProblem(fact)).toContain('nested deeper')
  })

  it('[T5] a fact that names a prototype field is no way in', () => {
    const decoded = decode('{"v":1,"seq":1,"uuid":"u","parent":null,"at":1,"fact":{"type":"constructor"}}')
    expect(decoded).toMatchObject({ ok: true, entry: { unknown: 'constructor' } })
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  it('[T3] places and texts with line separators stay on one line', () => {
    const [, entry] = entriesOf(said('a\u2028b\u2029c\nd'))
    expect(encode(entry!)).not.toContain('\n')
    expect(decode(encode(entry!))).toMatchObject({ ok: true, entry: { seq: seq(1) } })
  })

  it('[T5] refuses every known kind when its fields are missing', () => {
    const bare = [
      'session-start',
      'user-message',
      'assistant-message',
      'tool-result',
      'view-edit',
      'boundary',
      'undo',
      'rewind',
    ]
    for (const type of bare) expect(factProblem({ type })).not.toBeNull()
  })
})
