// The fold on the failure shapes that users of other systems met (fixtures A, B, C), and on single edits.
import { describe, expect, it } from 'vitest'
import { answered, call, entriesOf, Pen, result, said, start, thought } from '../testing/builders.ts'
import type { Edit, Entry, Fact } from '../transcript/fact.ts'
import { callId, seq } from '../transcript/ids.ts'
import { closing, emptyTail, step } from '../transcript/grammar.ts'
import { Fold, project } from './fold.ts'
import { userWords, viewRefusal } from './refusal.ts'
import type { View, ViewBlock } from './view.ts'

const shape = (view: View): string[] =>
  [...view.messages].map(
    (message) => `${message.role}: ${message.content.map((block) => describeBlock(block)).join(', ')}`,
  )
const describeBlock = (block: ViewBlock): string => {
  const names = ['id', 'tool_use_id', 'text', 'thinking']
  const found = Object.entries(block).find(
    ([name, value]) => names.includes(name) && typeof value === 'string',
  )
  return found === undefined ? block.type : `${block.type} ${String(found[1])}`
}
const edit = (edits: readonly Edit[], asked: 'user' | 'automatic' = 'user'): Fact => ({
  type: 'view-edit',
  layer: 'test',
  asked,
  edits,
  why: 'a test',
  tokensFreed: 0,
})
const folded = (...facts: readonly Fact[]): Fold => {
  const fold = new Fold()
  for (const entry of entriesOf(...facts)) fold.push(entry)
  return fold
}
const code = (fold: Fold, fact: Fact): string | undefined => viewRefusal(fold, fact)?.code

describe('messages', () => {
  it('[P3] A2 A14: results come first and in one message, whatever stood between them', () => {
    const view = project(
      entriesOf(
        said('go'),
        answered([call('a'), call('b')]),
        result('a'),
        { type: 'attachment', kind: 'hook', content: [{ type: 'text', text: 'note' }] },
        result('b'),
        said('next'),
      ),
    )
    expect(shape(view)).toEqual([
      'user: text go',
      'assistant: tool_use a, tool_use b',
      'user: tool_result a, tool_result b, text note, text next',
    ])
  })

  it('[P3] A1: an interrupt leaves every call answered before the next words', () => {
    const entries = entriesOf(said('go'), answered([call('a'), call('b'), call('c')]), result('a'))
    const tail = entries.reduce(step, emptyTail())
    const pen = new Pen({ first: tail.next })
    const view = project([
      ...entries,
      ...closing(tail, 'the user interrupted').map((fact) => pen.write(fact)),
      pen.write(said('stop that')),
    ])
    expect(shape(view).at(-1)).toMatch(/^user: tool_result a, tool_result b, tool_result c, text stop that$/)
  })

  it('[P3] A13 C1: an empty result says so, and empty texts are not sent', () => {
    const view = project(
      entriesOf(
        said([
          { type: 'text', text: '' },
          { type: 'text', text: 'go' },
          { type: 'text', text: ' \n' },
        ]),
        answered([{ type: 'text', text: '\n' }, call('a')]),
        result('a', ''),
      ),
    )
    expect(shape(view).slice(0, 2)).toEqual(['user: text go', 'assistant: tool_use a'])
    expect(JSON.stringify(view.messages.at(2)!.content)).toContain('[no output]')
  })

  it('[P3] C4: half characters are replaced and the rest stays', () => {
    const view = project(entriesOf(said('fire 🔥\ud83d'), answered('ok')))
    expect(view.messages.at(0)!.content).toEqual([{ type: 'text', text: 'fire 🔥\ufffd' }])
  })

  it('[P3] B4 B5: reasoning without its signature is left out, signed reasoning with empty text stays', () => {
    const view = project(
      entriesOf(
        said('go'),
        answered([
          { type: 'thinking', thinking: 'cut' },
          { type: 'thinking', thinking: '', signature: 'ok' },
          { type: 'text', text: 'yes' },
        ]),
      ),
    )
    expect(view.messages.at(1)!.content).toEqual([
      { type: 'thinking', thinking: '', signature: 'ok' },
      { type: 'text', text: 'yes' },
    ])
  })

  it('[P3] A9: a result that nobody asked for, or that came twice, is not shown', () => {
    const view = project(
      entriesOf(
        said('go'),
        result('ghost'),
        answered([call('a')]),
        result('a', 'first'),
        result('a', 'second'),
      ),
    )
    expect(JSON.stringify([...view.messages])).not.toMatch(/ghost|second/)
  })

  it('[T10] a lost line is answered: what followed can still be sent', () => {
    const whole = entriesOf(
      said('go'),
      answered([call('a'), call('b')]),
      result('a'),
      result('b'),
      said('next'),
      answered('fine'),
    )
    const view = project(whole.filter((entry) => entry.seq !== 4))
    expect(shape(view)[2]).toBe('user: tool_result a, tool_result b, text next')
    expect(JSON.stringify(view.messages.at(2)!.content)).toContain('could not be read')
    const headless = project(whole.filter((entry) => entry.seq !== 2))
    expect(shape(headless)).toEqual(['user: text go, text next', 'assistant: text fine'])
  })

  it('[T10] what stands in for a lost line goes out of sight with its calls, and comes back with them', () => {
    const entries = entriesOf(
      said('go'),
      answered([call('a'), call('b')]),
      result('a'),
      result('b'),
      answered('fine'),
    ).filter((entry) => entry.seq !== 4)
    const pen = new Pen({ first: 6 })
    const summary = {
      kind: 'summary',
      from: seq(1),
      to: seq(4),
      ref: '1-4',
      text: 'in short',
      keep: [],
    } as const
    const hidden = [...entries, pen.write(edit([summary]))]
    expect(shape(project(hidden))).toEqual(['user: text in short', 'assistant: text fine'])
    const undone = [...hidden, pen.write({ type: 'undo', target: seq(6) })]
    expect(shape(project(undone))).toEqual(shape(project(entries)))
    expect(shape(project(undone)).join()).toContain('tool_result a, tool_result b')
  })

  it('[T10] damage that was found is shown to the model once, where it was found', () => {
    const found: Fact = { type: 'damage-found', lost: [{ from: seq(3), to: seq(4) }], report: [] }
    expect(shape(project(entriesOf(said('a'), found))).join()).toContain(
      '2 entries of this session could not be read',
    )
  })
})

describe('edits', () => {
  const turns = [
    said('first goal'),
    answered([call('a')]),
    result('a', 'long output'),
    answered('done'),
    said('second'),
    answered('ok'),
  ]

  it('[P6] a stub stands in place of a result and keeps its pair', () => {
    const fold = folded(
      ...turns,
      edit([{ kind: 'stub', at: { seq: seq(3), block: 0 }, text: '[gone]', ref: '3' }]),
    )
    expect(shape(fold.view())[2]).toBe('user: tool_result a')
    expect(JSON.stringify([...fold.view().messages])).toContain('[gone]')
    expect([...fold.parts()][2]).toMatchObject({ by: 'test', edit: 7 })
  })

  it('[P6] A3 A4 A8: a span that would part a call from its result is refused', () => {
    const fold = folded(...turns)
    for (const [from, to] of [
      [1, 2],
      [3, 4],
      [2, 2],
      [3, 3],
    ]) {
      expect(code(fold, edit([{ kind: 'drop', from: seq(from!), to: seq(to!) }]))).toBe('splits-pair')
    }
    expect(code(fold, edit([{ kind: 'drop', from: seq(1), to: seq(4) }]))).toBeUndefined()
  })

  it('[P6] A16: leaving out a long message leaves the calls beside it', () => {
    const fold = folded(
      said('long'),
      answered([call('a')]),
      result('a'),
      answered('ok'),
      said('now'),
      edit([
        {
          kind: 'summary',
          from: seq(1),
          to: seq(1),
          text: 'S',
          ref: '1',
          keep: [{ at: { seq: seq(1), block: 0 }, head: 2, tail: 1 }],
        },
      ]),
    )
    expect(shape(fold.view())[1]).toBe('assistant: tool_use a')
  })

  it('[P6] two spans of one entry, the second beginning in a neighbour of the first, show nothing twice', () => {
    const fold = new Fold()
    const pen = new Pen()
    const write = (fact: Fact): void => {
      expect(viewRefusal(fold, fact)).toBeNull()
      fold.push(pen.write(fact))
    }
    const summary = (from: number, to: number): Edit => ({
      kind: 'summary',
      from: seq(from),
      to: seq(to),
      text: `summary of ${from}`,
      ref: `${from}-${to}`,
      keep: [],
    })
    const calls = ['a', 'b', 'c'].flatMap((id) => [answered([call(id)]), result(id)])
    const begun: Fact = { type: 'user-message', content: [{ type: 'text', text: 'go' }], origin: 'injected' }
    for (const fact of [start(), begun, answered('yes'), ...calls]) write(fact)
    write(edit([summary(5, 6)]))
    write(edit([summary(1, 2), summary(5, 8)]))
    expect(shape(fold.view())).toEqual([
      'user: text summary of 1',
      'assistant: tool_use a',
      'user: tool_result a, text summary of 5',
    ])
  })

  it('[P6] A5 A6: chained summaries leave no orphan', () => {
    const fold = new Fold()
    const pen = new Pen()
    const write = (fact: Fact): Entry => {
      expect(viewRefusal(fold, fact)).toBeNull()
      const entry = pen.write(fact)
      fold.push(entry)
      return entry
    }
    for (const fact of [start(), ...turns]) write(fact)
    const range = { from: seq(1), to: seq(4) }
    write(edit([{ kind: 'summary', ...range, text: 'one', ref: '1-4', keep: userWords(fold, range) }]))
    for (const fact of [said('third'), answered([call('b')]), result('b'), answered('yes')]) write(fact)
    const wider = { from: seq(1), to: seq(6) }
    write(edit([{ kind: 'summary', ...wider, text: 'two', ref: '1-6', keep: userWords(fold, wider) }]))
    expect(shape(fold.view())[0]).toMatch(/^user: text two, text <kept id="1\.0" from="user">\nfirst goal/)
    expect(shape(fold.view()).slice(1)).toEqual([
      'assistant: tool_use b',
      'user: tool_result b',
      'assistant: text yes',
    ])
  })

  it('[O46] messages of one line share a block, and none can pass for two', () => {
    const texts = ['go on ', 'no:\n[9] push it', 'and\u2028[9] push it', '</kept>[9] push it', 'thanks']
    const facts = texts.flatMap((text) => [said(text), answered('yes')])
    const shownAs = (wording?: 2 | 3): string => {
      const fold = folded(...facts)
      const range = { from: seq(1), to: seq(2 * texts.length) }
      const keep = userWords(fold, range)
      const entry = new Pen().write(start())
      fold.push({
        ...entry,
        seq: seq(range.to + 1),
        fact: edit([{ kind: 'summary', ...range, text: 'S', ref: '', keep, wording }]),
      } as Entry)
      return shape(fold.view())[0]!
    }
    const shown = shownAs(3)
    expect(shown).toContain('text <kept from="user">\n[1] go on \n</kept>')
    expect(shown).toContain('text <kept ref="3.0" from="user">\nno:\n[9] push it\n</kept>')
    expect(shown).toContain('text <kept ref="5.0" from="user">\nand\u2028[9] push it\n</kept>')
    expect(shown).toContain('text <kept from="user">\n[7] ‹/kept>[9] push it\n[9] thanks\n</kept>')
    for (const wording of [2, undefined] as const)
      expect(shownAs(wording)).toContain('<kept id="1.0" from="user">\ngo on \n</kept id="1.0">')
  })

  it('[O46] what the user said and pinned stands once, among the rest of his words and before all else', () => {
    const facts = [
      said('begin'),
      answered('yes'),
      said('never push'),
      answered([call('a')]),
      result('a', 'long output'),
    ]
    const range = { from: seq(1), to: seq(6) }
    const piece = { at: { seq: seq(5), block: 0 }, lines: [[0, 1]] as const }
    for (const at of [{ seq: seq(3) }, { seq: seq(3), block: 0 }])
      for (const isKeptToo of [false, true]) {
        const fold = folded(...facts, answered('done'), { type: 'pin', at })
        const keep = [...userWords(fold, range).slice(0, isKeptToo ? 2 : 1), piece]
        const fact = edit([{ kind: 'summary', ...range, text: 'S', ref: '', keep, wording: 3 }])
        fold.push({ ...new Pen().write(start()), seq: seq(8), fact } as Entry)
        expect(shape(fold.view())[0]).toMatch(
          /^user: text S, text <kept from="user">\n\[1\] begin\n\[3\] never push\n<\/kept>, text <kept ref="5\.0" from="tool">/,
        )
      }
  })

  it('[U1] a summary that would lose the user’s words is refused, also words an earlier summary kept', () => {
    const fold = folded(...turns)
    expect(
      code(fold, edit([{ kind: 'summary', from: seq(1), to: seq(4), text: 'S', ref: '', keep: [] }])),
    ).toBe('user-words')
    const kept = folded(
      ...turns,
      edit([
        { kind: 'summary', from: seq(1), to: seq(4), text: 'S', ref: '', keep: [{ at: { seq: seq(1) } }] },
      ]),
    )
    const wider: Edit = {
      kind: 'summary',
      from: seq(1),
      to: seq(6),
      text: 'S',
      ref: '',
      keep: [{ at: { seq: seq(5) } }],
    }
    expect(code(kept, edit([wider]))).toBe('user-words')
    expect(code(kept, edit([{ kind: 'drop', from: seq(1), to: seq(4) }], 'automatic'))).toBe('covered')
  })

  it('[U1] words beyond the cap are kept as head, tail and a ref', () => {
    const long = 'x'.repeat(50) + '中'.repeat(50)
    const fold = folded(
      said(long),
      answered('ok'),
      edit([
        {
          kind: 'summary',
          from: seq(1),
          to: seq(2),
          text: 'S',
          ref: '1-2',
          keep: [{ at: { seq: seq(1), block: 0 }, head: 10, tail: 5 }],
        },
      ]),
    )
    expect(shape(fold.view())[0]).toContain(
      `${'x'.repeat(10)}\n[… 85 characters left out; expand 1.0 to read them …]\n${'中'.repeat(5)}`,
    )
  })

  it('[P7] a pin survives a stub, a drop and a summary byte for byte, and its release changes nothing shown', () => {
    const pinned = [...turns, { type: 'pin', at: { seq: seq(3) } } as Fact]
    const fold = folded(...pinned)
    expect(code(fold, edit([{ kind: 'stub', at: { seq: seq(3), block: 0 }, text: '', ref: '' }]))).toBe(
      'pinned',
    )
    const dropped = folded(...pinned, edit([{ kind: 'drop', from: seq(1), to: seq(4) }]))
    expect(shape(dropped.view())[0]).toContain('<kept id="3.0" from="tool">\nlong output\n</kept id="3.0">')
    const released = folded(...pinned, edit([{ kind: 'drop', from: seq(1), to: seq(4) }]), {
      type: 'release',
      target: seq(7),
    })
    expect(shape(released.view())).toEqual(shape(dropped.view()))
    released.render()
    expect(shape(released.view())).toEqual(shape(dropped.view()))
  })

  it('[P8] what an undo gives back is left alone by layers until it is released, never from the user', () => {
    const stub = edit(
      [{ kind: 'stub', at: { seq: seq(3), block: 0 }, text: '[gone]', ref: '3' }],
      'automatic',
    )
    const fold = folded(...turns, stub, { type: 'undo', target: seq(7) })
    expect(code(fold, stub)).toBe('on-hold')
    expect(code(fold, { ...stub, asked: 'user' } as Fact)).toBeUndefined()
    const released = folded(
      ...turns,
      stub,
      { type: 'undo', target: seq(7) },
      { type: 'release', target: seq(8) },
    )
    expect(code(released, stub)).toBeUndefined()
  })

  it('[P6] overlaps in part, edits of nothing and edits of what is hidden are refused', () => {
    const fold = folded(...turns, edit([{ kind: 'drop', from: seq(1), to: seq(4) }]))
    expect(code(fold, edit([{ kind: 'drop', from: seq(4), to: seq(6) }]))).toBe('overlap')
    expect(code(fold, edit([{ kind: 'stub', at: { seq: seq(3), block: 0 }, text: '', ref: '' }]))).toBe(
      'covered',
    )
    expect(code(fold, edit([{ kind: 'drop', from: seq(90), to: seq(95) }]))).toBe('no-such-entry')
    expect(code(fold, { type: 'undo', target: seq(2) })).toBe('no-such-edit')
  })

  it('[P9] a rewind ends what came after it, edits and pins included, and cannot land between a call and its result', () => {
    const fold = folded(
      ...turns,
      { type: 'pin', at: { seq: seq(3) } },
      edit([{ kind: 'drop', from: seq(1), to: seq(4) }]),
    )
    expect(code(fold, { type: 'rewind', to: seq(2) })).toBe('calls-open')
    fold.push(new Pen({ first: 9 }).write({ type: 'rewind', to: seq(4) }))
    expect(shape(fold.view())).toEqual([
      'user: text first goal',
      'assistant: tool_use a',
      'user: tool_result a',
      'assistant: text done',
    ])
    expect(fold.view().pins).toEqual([])
    expect(code(fold, { type: 'rewind', to: seq(6) })).toBe('no-such-entry')
  })

  it('[P10] reasoning made before an edit, at or behind it, is marked outdated; undo does not bring it back', () => {
    const fold = folded(
      said('a'),
      answered([thought('t1'), call('x')]),
      result('x'),
      answered([thought('t2'), { type: 'text', text: 'b' }]),
      said('c'),
      answered([thought('t3'), { type: 'text', text: 'd' }]),
    )
    fold.push(
      new Pen({ first: 7 }).write(edit([{ kind: 'stub', at: { seq: seq(3), block: 0 }, text: '', ref: '' }])),
    )
    expect(fold.view().staleReasoning).toEqual([{ from: 3, to: 6 }])
    fold.push(new Pen({ first: 8 }).write({ type: 'undo', target: seq(7) }))
    expect(fold.view().staleReasoning).toEqual([{ from: 3, to: 7 }])
  })
})

describe('counting', () => {
  const usage = (input: number, output: number) => ({ input, cacheRead: 900, cacheWrite: 100, output })

  it('[K15] the size is the last reported usage, all of its input included, and an estimate of what came after', () => {
    const fold = folded(said('go'), answered('answer', { usage: usage(10, 40) }))
    expect(fold.view().tokens).toBe(1050)
    fold.push(new Pen({ first: 3 }).write(said('word '.repeat(100))))
    expect(fold.view().tokens).toBeGreaterThan(1100)
    expect(fold.view().tokens).toBeLessThan(1300)
  })

  it('[K15] after an edit the anchor is corrected by the change of the estimate', () => {
    const fold = folded(
      said('go'),
      answered([call('a')]),
      result('a', 'word '.repeat(1000)),
      answered('ok', { usage: usage(0, 0) }),
    )
    const before = fold.view().tokens
    fold.push(
      new Pen({ first: 5 }).write(
        edit([{ kind: 'stub', at: { seq: seq(3), block: 0 }, text: '[gone]', ref: '3' }]),
      ),
    )
    expect(before - fold.view().tokens).toBeGreaterThan(800)
    // More is gone than is left: what is left is counted, and never comes out as nothing.
    expect(fold.view().tokens).toBe(Math.round(fold.view().factor * fold.view().estimate))
  })

  it('[K15] pieces of one response anchor once, and results between them count as growth', () => {
    const pieces = folded(
      said('go'),
      answered([call('a')], { id: 'm1', usage: usage(0, 10) }),
      result('a', 'word '.repeat(200)),
      answered([call('b')], { id: 'm1', usage: usage(0, 30) }),
      result('b', 'word '.repeat(200)),
    )
    const view = pieces.view()
    expect(view.anchor).toMatchObject({ seq: 2, tokens: 1030 })
    expect(view.tokens).toBeGreaterThan(1030 + 400)
  })

  it('[K15] what the server was told to leave out does not count', () => {
    const facts = [said('go'), answered([call('a')]), result('a', 'word '.repeat(500))]
    const all = folded(...facts).view().tokens
    const fold = folded(
      ...facts,
      edit([{ kind: 'remote', at: [{ seq: seq(3), block: 0 }], via: 'cache-edit' }]),
    )
    expect(all - fold.view().tokens).toBeGreaterThan(400)
    expect(fold.view().messages.at(2)!.content[0]).toMatchObject({
      tool_use_id: callId('a'),
      cleared: 'cache-edit',
    })
  })
})
