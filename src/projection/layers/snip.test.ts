import { describe, expect, it } from 'vitest'
import { lines, Scribe } from '../../../test/layers/scribe.ts'
import { answered, said } from '../../testing/builders.ts'
import { uuid } from '../../transcript/ids.ts'
import { createTags, snip, tagText } from './snip.ts'

describe('tags', () => {
  it('[Z7] are six letters from the end of the uuid, and stay what they are', () => {
    const tags = createTags()
    const first = uuid('01990000-0000-7000-8000-0000aabbccdd')
    expect(tags.of(first)).toBe('bbccdd')
    expect(tags.of(uuid('01990000-0000-7000-8000-000011bbccdd'))).toBe('1bbccdd')
    expect(tags.of(uuid('01990000-0000-7000-8000-000021bbccdd'))).toBe('21bbccdd')
    expect(tags.of(first)).toBe('bbccdd')
    expect(tags.find('1bbccdd')).toBe('01990000-0000-7000-8000-000011bbccdd')
  })
})

/** Three turns, the middle one with calls, the last one running. */
function threeTurns() {
  const scribe = new Scribe()
  const tags = createTags()
  scribe.say('first question')
  scribe.answer('first answer')
  scribe.say('second question')
  scribe.work({ id: 'a', output: lines(50) }, { id: 'b', output: lines(50) })
  scribe.answer('second answer')
  scribe.write(said('a note of ours', 'injected'))
  scribe.say('third question')
  const inputs = [...scribe.fold.parts()].filter((part) => part.kind === 'input')
  const ids = inputs.map((part) => tagText(tags, part).slice(4, -1))
  return { scribe, tags, ids }
}
const textOf = (scribe: Scribe): string =>
  JSON.stringify([...scribe.view().messages].map(({ content }) => content))

describe('snip', () => {
  it('[Z8] removes the whole turn of an id, pairs and injected words included', () => {
    const { scribe, tags, ids } = threeTurns()
    const before = scribe.view().tokens
    const done = snip(scribe.fold, tags, [`[id:${ids[1]}]`], 'solved')
    if (!done.ok || done.fact === null) throw new Error('not snipped')
    scribe.write(done.fact)
    expect(done.turns).toBe(1)
    expect(textOf(scribe)).toContain('first answer')
    expect(textOf(scribe)).toContain('third question')
    for (const gone of ['second', 'one line', 'a note of ours', '"a"'])
      expect(textOf(scribe)).not.toContain(gone)
    expect(before - scribe.view().tokens).toBeGreaterThan(0.9 * done.tokens)
    expect(done.fact).toMatchObject({ layer: 'snip', asked: 'model', why: 'solved' })
  })

  it('[Z8] takes several turns at once, and undo gives all of them back', () => {
    const { scribe, tags, ids } = threeTurns()
    const before = textOf(scribe)
    const done = snip(scribe.fold, tags, [ids[1]!, ids[0]!], 'solved')
    if (!done.ok || done.fact === null) throw new Error('not snipped')
    const place = scribe.write(done.fact)
    expect(scribe.view().messages.length).toBe(1)
    scribe.write({ type: 'undo', target: place })
    expect(textOf(scribe)).toBe(before)
  })

  it('[Z9] refuses an unknown id, the current turn and an empty list, and names what can be removed', () => {
    const { scribe, tags, ids } = threeTurns()
    for (const wanted of [['nobody'], [ids[2]!], [], ['  '], [ids[0]!, 'nobody']]) {
      const done = snip(scribe.fold, tags, wanted, 'x')
      expect(done).toMatchObject({ ok: false })
      expect(done.ok ? '' : done.why).toContain(`${ids[0]}, ${ids[1]}`)
    }
  })

  it('[Z9] twice is harmless', () => {
    const { scribe, tags, ids } = threeTurns()
    const done = snip(scribe.fold, tags, [ids[0]!], 'x')
    if (done.ok && done.fact !== null) scribe.write(done.fact)
    expect(snip(scribe.fold, tags, [ids[0]!], 'x')).toEqual({ ok: true, fact: null, turns: 0, tokens: 0 })
  })

  it('[Z8] ends before a summary that stands for other turns', () => {
    const { scribe, tags, ids } = threeTurns()
    scribe.write(answered('third answer', { id: 'x' }))
    scribe.say('fourth question')
    const parts = [...scribe.fold.parts()]
    const second = parts.find((part) => part.kind === 'input' && tags.of(part.uuid) === ids[1])!
    const third = parts.find((part) => part.kind === 'input' && tags.of(part.uuid) === ids[2])!
    const range = { from: second.from, to: third.from }
    scribe.write({
      type: 'view-edit',
      layer: 'autocompact',
      asked: 'user',
      edits: [
        {
          kind: 'summary',
          ...range,
          text: 'what happened',
          ref: `${range.from}-${range.to}`,
          keep: [{ at: { seq: second.from, block: 0 } }, { at: { seq: third.from, block: 0 } }],
        },
      ],
      why: 'a test',
      tokensFreed: 1,
    })
    const done = snip(scribe.fold, tags, [ids[0]!], 'x')
    if (!done.ok || done.fact === null) throw new Error('not snipped')
    scribe.write(done.fact)
    expect(textOf(scribe)).toContain('what happened')
    expect(textOf(scribe)).not.toContain('first question')
  })
})
