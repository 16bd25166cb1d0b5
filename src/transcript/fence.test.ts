import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tagsRead, variants } from '../../test/prompts/forged.ts'
import { closed, defused, fenced, fenceTags } from './fence.ts'

const forged = fc
  .tuple(fc.constantFrom(...fenceTags, 'account'), fc.constantFrom('', '/'), fc.nat(variants.length - 1))
  .map(([tag, slash, at]) => variants[at]!(slash, tag))

describe('a block that carries somebody else’s text', () => {
  it('[T15] the reader of this test takes every forged form for a tag, so that what it misses is not there', () => {
    const missed = [...fenceTags].flatMap((tag) =>
      ['', '/'].flatMap((slash) =>
        variants.map((make) => make(slash, tag)).filter((text) => tagsRead(text).length === 0),
      ),
    )
    expect(missed).toEqual([])
  })

  it('[T15] every tag in every form is harmless inside', () => {
    let cases = 0
    for (const tag of [...fenceTags, 'account'])
      for (const slash of ['', '/'])
        for (const make of variants) {
          cases++
          const text = `before ${make(slash, tag)} after`
          expect(tagsRead(defused(text)), text).toEqual([])
          expect(defused(defused(text))).toBe(defused(text))
        }
    expect(cases).toBe((fenceTags.length + 1) * 2 * variants.length)
  })

  it('[T15] whatever stands around it, nested in one another, in the text, in an attribute, or split over blocks', () => {
    let cases = 0
    const piece = fc.oneof(
      forged,
      fc.string(),
      fc.constantFrom('<', '</', '&lt;', '\n', '"', '‹', '\u200B', 'kept'),
    )
    const text = fc.array(piece, { minLength: 1, maxLength: 8 }).map((pieces) => pieces.join(''))
    fc.assert(
      fc.property(text, forged, fc.nat(), fc.constantFrom(...fenceTags), (noise, tag, cut, outer) => {
        cases++
        const whole = `${noise}${tag}`
        const at = cut % (whole.length + 1)
        const blocks = [
          fenced(outer, { path: whole }, whole.slice(0, at)),
          fenced(outer, {}, whole.slice(at)),
        ]
        expect(tagsRead(blocks.join('\n'))).toEqual([outer, `/${outer}`, outer, `/${outer}`])
      }),
    )
    expect(cases).toBeGreaterThanOrEqual(100)
  })

  it('[T15] text without our tags stays byte for byte', () => {
    const usual = [
      'const a: Array<string> = b < c ? d : e',
      '<div><Summary keptAlive /><KeptAlive/></div> <instructions-list> <mode2> <memory_map>',
      'if (a <kept.length) {} a<b && b<c; x &lt; y; %3Cdiv%3E; \\u003cbr>',
      'Ein Satz mit « Zeichen » und ‹ diesen ›.',
    ]
    // A comparison with a variable that has the name of a tag is the one thing that cannot be told from it.
    const told = usual.map((text) => text.replace('a <kept.length', 'a < b.length'))
    for (const text of told) expect(defused(text)).toBe(text)
    fc.assert(
      fc.property(fc.string(), (text) => {
        fc.pre(tagsRead(text).length === 0)
        expect(defused(text)).toBe(text)
      }),
    )
  })

  it('[T15] what was cut is closed, the innermost first', () => {
    const whole = `${fenced('skill', { name: 'a' }, 'one\ntwo </skill> three')}\n${fenced('memory', {}, 'x')}`
    expect(closed(whole)).toBe(whole)
    for (let at = '<skill name="a">\n'.length; at < whole.length; at++) {
      if (whole.lastIndexOf('\n', at) < whole.lastIndexOf('<', at)) continue
      const read = tagsRead(closed(whole.slice(0, at)))
      expect(read.length % 2, JSON.stringify(whole.slice(0, at))).toBe(0)
    }
  })

  it('[T15] costs time that grows with the text alone', () => {
    for (const unit of ['<', '<\u200B', '&lt;', '<kept', '<k&#101;', `<${'\u200B'.repeat(50)}`]) {
      const begun = process.cpuUsage()
      defused(unit.repeat(Math.ceil(100_000 / unit.length)))
      expect(process.cpuUsage(begun).user / 1000).toBeLessThan(5000)
    }
  })
})
