import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { approvalText, longerAnswers, revealed } from './approval-text.ts'

const shown = (subject: string) => approvalText({ tool: 'Bash', subject, why: 'it acts' })

describe('what a person is asked to judge', () => {
  it('[PM19] hides nothing behind blanks, empty lines, directions, tags or control characters', () => {
    expect(shown(`ls${' '.repeat(4000)};evil`)).toContain('ls [4000 blanks] ;evil')
    expect(shown(`ls${'\n'.repeat(500)}evil`)).toMatch(/\[499 empty lines\]\n {2}\| evil/)
    expect(shown('ls\u{202E}evil')).toContain('ls\\u{202e}evil')
    expect(shown('ls\u{E0065}\u{E0076}')).toContain('\\u{e0065}\\u{e0076}')
    expect(shown('ls\u200B;x')).toContain('\\u{200b}')
    expect(shown('ls\r\u001B[2K\u001B[1Aecho ok\b\b')).toContain('ls\\x0d\\x1b[2K\\x1b[1Aecho ok\\x08\\x08')
    expect(shown('a\u009B31mb')).toContain('a\\x9b31mb')
  })

  it('[PM82] writes out every blank that is none and every mark that shows as nothing', () => {
    const unseen = [
      '\u00A0',
      '\u3000',
      '\u2800',
      '\u034F',
      '\uFE0F',
      '\u2003',
      '\u202F',
      '\u2028',
      '\u17B4',
      '\u{E0100}',
    ]
    for (const char of unseen)
      expect(revealed(`a${char}b`)).toBe(`a\\u{${char.codePointAt(0)!.toString(16)}}b`)
    expect(revealed('plain words, a\ttab, ä ß 漢字 😀')).toBe('plain words, a\ttab, ä ß 漢字 😀')
  })

  it('[PM82] a rule that an answer would set shows its control characters and line ends', () => {
    const rules = [`Bash(touch '\u001B]2;x')`, 'Bash(a\nb)']
    const { answers } = longerAnswers({
      tool: 'Bash',
      callId: 'c',
      subject: '',
      why: '',
      rules,
      scopes: ['local', 'user'],
    })
    expect(answers.length).toBe(3)
    for (const { about } of answers) expect(about).toContain(String.raw`Bash(touch '\x1b]2;x'), Bash(a\nb)`)
  })

  it('[PM19] every letter of any text is there, in order, and nothing that a terminal acts on', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (text) => {
        const out = revealed(text)
        expect(out).not.toMatch(/[^\P{Cc}\n\t]/u)
        const plain = Array.from(text.toWellFormed()).filter(
          (char) => /[\p{L}\p{N}]/u.test(char) && !/[\u115F\u1160\u3164\uFFA0]/.test(char),
        )
        let from = 0
        for (const char of plain) {
          const found = out.indexOf(char, from)
          expect(found).toBeGreaterThanOrEqual(0)
          from = found + char.length
        }
      }),
      { numRuns: 500 },
    )
  })
})
