import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { machineFileSystem } from '../../disk/fs.ts'
import { createPathGate } from '../files/path-gate.ts'
import { createReadFiles } from '../files/read-files.ts'
import type { ToolEnv, ToolOutcome } from '../tool.ts'
import { compileGlob } from './glob-pattern.ts'
import { globTool } from './glob.ts'
import { grepTool } from './grep.ts'
import { findRipgrep } from './ripgrep.ts'
import { hookedFileSystem } from '../../../test/faults/hooked-fs.ts'
import { costOf, growthOf, mostGrowth } from '../../../test/until.ts'

const root = mkdtempSync(join(tmpdir(), 'pal-search-'))
afterAll(() => rmSync(root, { recursive: true }))
const put = (path: string, text: string, ageS = 0) => {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
  utimesSync(join(root, path), 1_700_000_000 - ageS, 1_700_000_000 - ageS)
}
put('a.ts', 'one\nneedle here\nthree\n', 30)
put('src/b.ts', 'needle\r\nNEEDLE\r\n', 20)
put('src/deep/c.tsx', `x\n${'long '.repeat(300)}needle\n`, 10)
put('src/deep/d.md', 'no match 日本\n', 5)
put('.hidden/e.ts', 'needle\n', 40)
put('.gitignore', 'out/\n*.log\n!keep.log\n/only-here.txt\n')
put('out/f.ts', 'needle\n')
put('skip.log', 'needle\n')
put('keep.log', 'needle\n', 50)
put('only-here.txt', 'needle\n')
put('src/only-here.txt', 'needle\n', 60)
put('src/.gitignore', 'generated.ts\n')
put('src/generated.ts', 'needle\n')
put('.git/config', 'needle\n')
put('.env', 'needle=1\n')
put('binary.bin', 'needle\0\0\0\n')
const outside = mkdtempSync(join(tmpdir(), 'pal-outside-'))
afterAll(() => rmSync(outside, { recursive: true }))
writeFileSync(join(outside, 'secret.ts'), 'needle\n')
symlinkSync(outside, join(root, 'way-out'))

const env: ToolEnv = {
  cwd: root,
  callId: 'call_1',
  readFiles: createReadFiles(),
  spill: null,
  expand: async () => ({ ok: false, why: '' }),
  isShown: () => false,
  report: () => {},
  now: () => Date.now(),
}
const gate = createPathGate({ fs: machineFileSystem, unique: () => 'x' })
const textOf = (outcome: ToolOutcome) =>
  outcome.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
const never = new AbortController().signal
const found = await findRipgrep(process.env['PATH'], [])
const notSearched = '[not searched, since they usually hold keys or wait for the user: .env]'
const ways = [
  ['ripgrep', async () => found],
  ['our own search', async () => null],
] as const

describe.each(ways)('with %s', (name, ripgrep) => {
  const skip = name === 'ripgrep' && found === null
  const grep = async (input: Record<string, unknown>, at = env) => {
    const tool = grepTool({ gate, ripgrep })
    const parsed = tool.parse(input)
    if (!parsed.ok) throw new Error(parsed.why)
    return await tool.run(parsed.input, at, never)
  }
  const glob = async (input: Record<string, unknown>) => {
    const tool = globTool({ gate, ripgrep })
    const parsed = tool.parse(input)
    if (!parsed.ok) throw new Error(parsed.why)
    return await tool.run(parsed.input, env, never)
  }
  const files = ['.hidden/e.ts', 'a.ts', 'keep.log', 'src/b.ts', 'src/deep/c.tsx', 'src/only-here.txt']

  it.skipIf(skip)(
    '[B30] finds files in the order of paths; not what is ignored, in .git, secret, binary or behind a link',
    async () => {
      expect(
        textOf(await grep({ pattern: 'needle' }))
          .split('\n')
          .sort(),
      ).toEqual([notSearched, ...files].sort())
      expect(textOf(await grep({ pattern: 'nothing like it' }))).toBe(`No matches. ${notSearched}`)
      // Not a word about what stands in it: the answer is the same whether it matches or not.
      for (const pattern of ['^needle=1', '^needle=2'])
        expect(textOf(await grep({ pattern, glob: '.env' }))).toBe(`No matches. ${notSearched}`)
      expect(textOf(await grep({ pattern: 'nothing like it', glob: '*.ts' }))).toBe('No matches.')
    },
  )

  it.skipIf(skip)('[B30] shows lines with their numbers, surroundings, and cut when long', async () => {
    expect(textOf(await grep({ pattern: 'needle', path: 'a.ts', output_mode: 'content', context: 1 }))).toBe(
      'a.ts-1-one\na.ts:2:needle here\na.ts-3-three',
    )
    expect(
      textOf(await grep({ pattern: 'needle', path: 'src/b.ts', output_mode: 'content', ignore_case: true })),
    ).toBe('src/b.ts:1:needle\nsrc/b.ts:2:NEEDLE')
    expect(
      textOf(await grep({ pattern: 'long', path: 'src/deep', output_mode: 'content' })).length,
    ).toBeLessThan(700)
    expect(textOf(await grep({ pattern: '日本', output_mode: 'content' }))).toBe(
      `src/deep/d.md:1:no match 日本\n${notSearched}`,
    )
    expect(textOf(await grep({ pattern: 'one.needle', path: 'a.ts', multiline: true }))).toBe('a.ts')
  })

  it.skipIf(skip)(
    '[B30] counts, filters by glob without bringing back ignored files, and stops at the limit',
    async () => {
      expect(
        textOf(await grep({ pattern: 'needle', output_mode: 'count', ignore_case: true, path: 'src/b.ts' })),
      ).toBe('src/b.ts:2')
      expect(textOf(await grep({ pattern: 'needle', glob: '*.ts' })).split('\n')).toEqual([
        '.hidden/e.ts',
        'a.ts',
        'src/b.ts',
      ])
      expect(textOf(await grep({ pattern: 'needle', glob: 'src/**/*.{ts,tsx}' })).split('\n')).toEqual([
        'src/b.ts',
        'src/deep/c.tsx',
      ])
      expect(textOf(await grep({ pattern: 'needle', limit: 2 }))).toMatch(/^.+\n.+\n\[more than 2 lines/)
    },
  )

  it.skipIf(skip)('[B31] a bad or malicious pattern is an answer, not a hang', async () => {
    expect((await grep({ pattern: '(unclosed' })).isError).toBe(true)
    put('redos/r.txt', `${'a'.repeat(50_000)}!\n`)
    // Our own matcher would take for ever: that it answers is the proof.
    const answer = textOf(await grep({ pattern: '(a+)+$', path: 'redos' }))
    expect(answer).toMatch(name === 'ripgrep' ? /^No matches/ : /takes too long/)
    expect(textOf(await grep({ pattern: 'a', glob: '{a,b}'.repeat(30) }))).toMatch(/expand to more than 1000/)
    expect((await grep({ pattern: '-needle' })).isError).toBe(false)
  })

  it.skipIf(skip)('[B32] a search outside the roots is refused, also through a link', async () => {
    for (const path of ['..', outside, 'way-out', 'way-out/secret.ts'])
      expect((await grep({ pattern: 'needle', path })).isError).toBe(true)
    expect((await glob({ pattern: '*', path: 'way-out' })).isError).toBe(true)
  })

  it.skipIf(skip)('[B33] lists files newest first, within the limit', async () => {
    expect(textOf(await glob({ pattern: '**/*.{ts,tsx}' })).split('\n')).toEqual([
      'src/deep/c.tsx',
      'src/b.ts',
      'a.ts',
      '.hidden/e.ts',
    ])
    expect(
      textOf(await glob({ pattern: 'src/*' }))
        .split('\n')
        .sort(),
    ).toEqual(['src/.gitignore', 'src/b.ts', 'src/only-here.txt'])
    expect(textOf(await glob({ pattern: '*.ts', limit: 1 }))).toBe(
      'src/b.ts\n[3 files in all; the 1 newest are shown]',
    )
    expect(textOf(await glob({ pattern: '.env' }))).toBe('No files.')
    expect((await glob({ pattern: '{a,b}'.repeat(30) })).isError).toBe(true)
  })
})

describe('ten thousand files', () => {
  it('[B34] are searched whole, and each is opened once', async () => {
    const many = mkdtempSync(join(tmpdir(), 'pal-many-'))
    for (let folder = 0; folder < 100; folder++) {
      mkdirSync(join(many, `f${folder}`))
      for (let file = 0; file < 100; file++)
        writeFileSync(join(many, `f${folder}`, `x${file}.ts`), `line\nvalue ${folder * 100 + file};\n`)
    }
    // No time passes: on a busy machine a search may reach its limit.
    const at = { ...env, cwd: many, now: () => 0 }
    const calls = new Map<string, number>()
    const counting = hookedFileSystem(machineFileSystem, {
      before: ({ name }) => void calls.set(name, (calls.get(name) ?? 0) + 1),
    })
    const counted = createPathGate({ fs: counting, unique: () => 'x' })
    for (const [, ripgrep] of ways.filter(([name]) => name !== 'ripgrep' || found !== null)) {
      const tool = grepTool({ gate: counted, ripgrep })
      const parsed = tool.parse({ pattern: 'value 99[0-9]{2};', output_mode: 'content' })
      const done = parsed.ok ? textOf(await tool.run(parsed.input, at, never)) : ''
      expect(done.split('\n')).toHaveLength(100)
      expect(calls.get('open-read') ?? 0).toBe((await ripgrep()) === null ? 10_000 : 0)
      const listed = globTool({ gate: counted, ripgrep })
      const asked = listed.parse({ pattern: 'f9/*' })
      expect(asked.ok && textOf(await listed.run(asked.input, at, never)).split('\n')).toHaveLength(100)
    }
    rmSync(many, { recursive: true })
  })
})

describe('glob patterns', () => {
  const matches = (pattern: string, path: string) => {
    const glob = compileGlob(pattern)
    return glob.ok && glob.matches(path)
  }
  it.each([
    ['*.ts', 'a.ts', true],
    ['*.ts', 'x/y/a.ts', true],
    ['/*.ts', 'x/a.ts', false],
    ['src/**', 'src/a/b', true],
    ['src/**/b', 'src/b', true],
    ['src/*/b', 'src/a/c/b', false],
    ['**/b/**', 'a/b/c', true],
    ['a?c', 'abc', true],
    ['a?c', 'a😀c', true],
    ['[a-c]x', 'bx', true],
    ['[!a-c]x', 'bx', false],
    ['{a,b{c,d}}.ts', 'bd.ts', true],
    ['{a}.ts', '{a}.ts', true],
    ['a\\*', 'a*', true],
    ['a\\*', 'ab', false],
    ['./src/*.ts', 'src/a.ts', true],
    ['+(a|aa)', '+(a|aa)', true],
  ] as const)('[B35] %s on %s is %s', (pattern, path, expected) => {
    expect(matches(pattern, path)).toBe(expected)
  })

  it('[B35] agrees with a plain regular expression', () => {
    const name = fc
      .array(fc.constantFrom('a', 'b', '.', '/', '*', '?', '**/'), { minLength: 1, maxLength: 8 })
      .map((parts) => parts.join(''))
    const path = fc
      .array(fc.constantFrom('a', 'b', '.', '/'), { minLength: 1, maxLength: 8 })
      .map((parts) =>
        parts
          .join('')
          .split('/')
          .filter((part) => part !== '')
          .join('/'),
      )
      .filter((text) => text !== '')
    fc.assert(
      fc.property(name, path, (pattern, text) => {
        // Only patterns whose meaning is beyond doubt: no `**` beside other characters, no empty steps.
        fc.pre(
          pattern.split('/').every((step) => step !== '' && (step === '**' || !step.includes('**'))) &&
            !pattern.startsWith('./') &&
            pattern.includes('/'),
        )
        const steps = pattern
          .split('/')
          .map((step) =>
            step === '**'
              ? '**'
              : step.replaceAll('.', '\\.').replaceAll('*', '[^/]*').replaceAll('?', '[^/]'),
          )
        const last = steps.length - 1
        const parts = steps.map((step, at) => {
          if (step === '**') return at === last ? '(?:[^/]+/)*[^/]+' : '(?:[^/]+/)*'
          return at === last ? step : `${step}/`
        })
        expect(matches(pattern, text)).toBe(new RegExp(`^${parts.join('')}$`).test(text))
      }),
      { numRuns: 2000 },
    )
  })

  it('[B35] stays quick on stars without end', () => {
    // Sizes at which a matcher that tries every way is seen, and still ends.
    const few = (size: number) => {
      expect(matches(`${'*a'.repeat(8)}b`, 'a'.repeat(size))).toBe(false)
      expect(matches(`${'**/a/'.repeat(8)}b`, `${'a/'.repeat(size)}c`)).toBe(false)
    }
    expect(costOf(() => few(32)) / costOf(() => few(16))).toBeLessThan(mostGrowth)
    const many = (size: number) => {
      expect(matches(`${'*a'.repeat(200)}b`, 'a'.repeat(size))).toBe(false)
      expect(matches(`${'**/a/'.repeat(100)}b`, `${'a/'.repeat(size)}c`)).toBe(false)
    }
    expect(growthOf(600, many)).toBeLessThan(mostGrowth)
  })
})
