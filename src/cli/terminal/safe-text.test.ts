import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { safeJson, safeLine, safeStream, safeText } from './safe-text.ts'

const ESC = '\u001B'
/** Any ESC that does not start a plain colour, and every control but newline and tab. */
// oxlint-disable-next-line no-control-regex
const forbidden = /\u001B(?!\[[0-9;:]*m)|[\u0000-\u0008\u000B-\u001A\u001C-\u001F\u007F-\u009F]/

const attacks: Readonly<Record<string, string>> = {
  'OSC 52 writes the clipboard': `${ESC}]52;c;ZXZpbA==\u0007`,
  'OSC 8 shows one link and opens another': `${ESC}]8;;http://evil.example${ESC}\\`,
  'a title report types into the shell': `${ESC}[21t`,
  'OSC 0 sets the title': `${ESC}]0;evil${ESC}\\`,
  'CSI 6n makes the terminal answer': `${ESC}[6n`,
  '2J clears the screen': `${ESC}[2J${ESC}[H`,
  'the alternate screen hides what was there': `${ESC}[?1049h`,
  'DECRQSS asks for a setting': `${ESC}P$qm${ESC}\\`,
  'OSC 1337 writes a file': `${ESC}]1337;File=name=eA==:ZXZpbA==\u0007`,
  'a raw 0x9B is CSI too': '\u009B2J\u009B6n',
  '8-bit OSC, DCS, PM and APC': '\u009D0;evil\u009C\u0090$qm\u009C\u009Eevil\u009C\u009Fevil\u009C',
  'APC and PM': `${ESC}_evil${ESC}\\${ESC}^evil${ESC}\\`,
  'a reset of the terminal': `${ESC}c`,
  'another character set': `${ESC}(0`,
  backspaces: '\b\b\b',
  'bells, nulls and deletes': '\u0007\u0000\u007F',
}

describe('safe text', () => {
  for (const [name, sequence] of Object.entries(attacks)) {
    it(`[G1] takes out: ${name}`, () => {
      expect(safeText(`before${sequence}after`, { colours: true })).toBe('beforeafter')
    })
  }

  it('[G1] lets colours through, resets them, and drops them where none are wanted', () => {
    const red = `${ESC}[1;31mred`
    expect(safeText(red, { colours: true })).toBe(`${red}${ESC}[0m`)
    expect(safeText(`${red}${ESC}[0m!`, { colours: true })).toBe(`${red}${ESC}[0m!`)
    expect(safeText(red)).toBe('red')
    expect(safeText(`${ESC}[?1m${ESC}[>4;1mx`, { colours: true })).toBe('x')
  })

  it('[G1] a return starts a new line instead of overwriting', () => {
    expect(safeText('rm -rf /\rls      \r\nok')).toBe('rm -rf /\nls      \nok')
  })

  it('[G1] a sequence without an end costs its line and not the rest', () => {
    expect(safeText(`a${ESC}]0;never closed\nb`)).toBe('a\nb')
  })

  it('[G1] shows what cannot be seen where a person judges', () => {
    expect(safeText('user\u202Egpj.exe\u200B', { reveal: true })).toBe('user\\u{202e}gpj.exe\\u{200b}')
    expect(safeText('א ב \u200Dx')).toBe('א ב \u200Dx')
    expect(safeLine(`a\nb\t${ESC}[2Jc`)).toBe('a b c')
  })

  const piece = fc.oneof(
    fc.constantFrom(
      ...Object.values(attacks),
      ESC,
      '\u009B',
      '[',
      ']',
      '0;1',
      'm',
      '\\',
      '\r',
      '\n',
      '😀',
      '\uD83D',
    ),
    fc.string({ unit: 'binary' }),
  )
  const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''))

  it('[G1] nothing forbidden ever comes out', () => {
    fc.assert(
      fc.property(text, fc.boolean(), (input, colours) => {
        const out = safeText(input, { colours })
        expect(out).not.toMatch(forbidden)
        expect(out.isWellFormed()).toBe(true)
        if (!colours) expect(out).not.toContain(ESC)
      }),
    )
  })

  it('[G1] comes out the same however it was cut into pieces', () => {
    fc.assert(
      fc.property(text, fc.array(fc.nat({ max: 40 }), { maxLength: 8 }), (input, cuts) => {
        const stream = safeStream({ colours: true })
        let rest = input
        let out = ''
        for (const cut of cuts) {
          out += stream.push(rest.slice(0, cut))
          rest = rest.slice(cut)
        }
        expect(out + stream.push(rest) + stream.end()).toBe(safeText(input, { colours: true }))
      }),
    )
  })

  it('[G1] JSON keeps its value and holds nothing a terminal acts on', () => {
    fc.assert(
      fc.property(text, (input) => {
        const json = safeJson({ input })
        expect(JSON.parse(json)).toEqual({ input })
        // oxlint-disable-next-line no-control-regex
        expect(json).not.toMatch(/[\u0000-\u001F\u007F-\u009F\u202E]/)
      }),
    )
  })

  it('[G83] JSON has no noise of binary fractions, and the input of a call as it was', () => {
    const figures = { dollars: 0.1 + 0.2, left: 0.3 - 0.1 - 0.2, many: 0, tokens: 2 ** 53 - 1, price: 3e-7 }
    for (let at = 0; at < 10_000; at++) figures.many += 0.0123
    expect(safeJson(figures)).toBe(
      '{"dollars":0.3,"left":0,"many":123,"tokens":9007199254740991,"price":3e-7}',
    )
    const input = { x: 0.1 + 0.2, deep: [{ y: Math.PI }] }
    expect(JSON.parse(safeJson({ name: 'Plot', input }))).toEqual({ name: 'Plot', input })
  })

  it('[G1] no command prints JSON past this', async () => {
    const folder = join(import.meta.dirname, '..')
    const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.ts'))
    const past: string[] = []
    for (const name of files) {
      const source = await readFile(join(folder, name), 'utf8')
      if (!name.endsWith('.test.ts') && /io\.out\(\s*`?\$?\{?\s*JSON\.stringify/.test(source)) past.push(name)
    }
    expect(files.length).toBeGreaterThan(100)
    expect(past).toEqual([])
  })
})
