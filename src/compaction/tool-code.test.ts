import * as fc from 'fast-check'
import { growthOf, mostGrowth } from '../../test/until.ts'
import { describe, expect, it } from 'vitest'
import { callShape, leavesOf, tasksIn, titleOf } from './call-shape.ts'
import { changedLines } from './changes.ts'
import { toolCodeIn } from './tool-code.ts'

const shape = (code: string) => callShape({ input: { input: code } })
const patch =
  '*** Begin Patch\n*** Update File: src/a.ts\n@@\n-const old = 1\n+const fresh = "1"\n*** End Patch'

describe('code that calls tools', () => {
  it('[O38] is looked through: its commands, the files they show, its patches and its tasks', () => {
    expect(
      shape(
        `const r = await tools.exec_command({cmd:"sed -n '1,80p' src/a.ts",yield_ms:1000}); text(r.output)\n`,
      ),
    ).toEqual({
      files: ['src/a.ts'],
      deed: 'read',
      command: "sed -n '1,80p' src/a.ts",
      isTasks: false,
    })
    expect(shape(`r = await bash(command='rg -n "total" src && npm test')\nprint(r)`).command).toBe(
      'rg -n "total" src && npm test',
    )
    expect(
      shape(
        'const out = await Promise.all([tools.run({ cmd: "git status" }), tools.run({ cmd: `cat ${p}` })])',
      ),
    ).toMatchObject({
      command: 'git status; cat ${p}',
      deed: null,
    })
    const patching = `const patch = ${JSON.stringify(patch)};\ntext(await tools.apply_patch(patch));`
    expect(shape(patching)).toEqual({ files: ['src/a.ts'], deed: 'edited', command: null, isTasks: false })
    expect(changedLines({ input: patching })).toEqual({
      out: new Set(['const old = 1']),
      into: new Set(['const fresh = "1"']),
    })
    const plan = `const p = await tools.update_plan({plan:[\n  {step:"Read it", status:'completed'},\n  {step:\`Mend it\`, status:"in_progress"},\n]}); text(p)`
    expect(tasksIn({ input: plan })).toEqual(['[x] Read it', '[>] Mend it'])
    expect(shape(plan).isTasks).toBe(true)
  })

  it('[O38] gives what it gives: other values, comments, keys and what is computed are left out', () => {
    const code = `// look around "first"
const dir = '/repo/a'
const r = await tools.find({ pattern: 'to"tal', /* not "this" */ "in": dir, deep: [true, -1.5e3, null, { x: f(1, "no") }], ...more, size: big("no") })
text(r)`
    expect(toolCodeIn(code)).toEqual({
      inputs: [{ pattern: 'to"tal', in: null, deep: [true, -1500, null, { x: null }], size: null }],
      texts: ['/repo/a'],
      commands: [],
    })
    expect(leavesOf({ code })).toEqual(['to"tal', '-1500', '/repo/a'])
    expect(titleOf({ name: 'exec', input: { code } }, callShape({ input: { code } }))).toBe(
      'exec to"tal -1500 /repo/a',
    )
  })

  it('[O38] any other text stays as it is: a program that is written or shown, a command, prose', () => {
    for (const text of [
      "import json\nprint(json.load(open('a.json'))['total'])",
      'const a = 1\nexport const b = "git status"',
      `git commit -m "await tools.run({ cmd: 'ls' })"`,
      'await them, and say: "look at it"',
      'deploy() {\n  await x({ cmd: "ls -la" })\n}',
      'console.log(JSON.stringify({ cmd: "ls" }))',
    ])
      expect([text, leavesOf({ text })]).toEqual([text, [text]])
    // An object that a library is given, where nothing is waited for.
    const table =
      'import pandas as pd\ntable = pd.DataFrame({"name": ["a b"], "size": [1]})\nprint(table.total)'
    expect(leavesOf({ table })).toEqual([table])
    // What is written into a file is the file's, whatever it does and whatever the file is called.
    const script =
      '#!/usr/bin/env node\nconst r = await tools.run({ cmd: "ls -la", todo: [{ t: "Fix it", s: "open" }] })'
    expect(callShape({ input: { file_path: 'bin/deploy', content: script } })).toMatchObject({
      command: null,
      isTasks: false,
    })
    const input = { file_path: 'run.ts', content: 'const r = await tools.run({ cmd: "ls -la" })' }
    expect(leavesOf(input)).toEqual(Object.values(input))
    expect(callShape({ input })).toMatchObject({ files: ['run.ts'], deed: 'written', command: null })
  })

  it('[O38] says of any arguments what they say without it', () => {
    let cases = 0
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }), (value) => {
        const input = JSON.parse(JSON.stringify(value)) as Record<string, unknown>
        cases++
        expect(toolCodeIn(`const r = await tools.run(${JSON.stringify(input)}); text(r)`)?.inputs).toEqual([
          input,
        ])
      }),
    )
    expect(cases).toBeGreaterThan(90)
  })

  it('[O38] is read in one walk, whatever it is, cut anywhere', () => {
    const signs = fc.constantFrom(
      '"',
      "'",
      '`',
      '\\',
      '{',
      '[',
      '(',
      ')',
      '}',
      ':',
      ',',
      '/*',
      '//',
      '#',
      '\n',
      'a',
      '"""',
      '...',
    )
    fc.assert(
      fc.property(fc.array(signs, { maxLength: 60 }), (parts) => {
        const text = `await x({${parts.join('')}`
        const code = toolCodeIn(text)
        for (const found of code?.texts ?? []) expect(found.length).toBeLessThan(text.length)
      }),
    )
    for (const part of ['{a:', '["', '"', '`', "'''", '/*', '(', 'await x({', '\\', '...{', '#'])
      toolCodeIn(`await x({${part.repeat(100_000 / part.length)}`)
    // A literal that ends nowhere is looked for once, and so is the head of a patch.
    for (const quote of ['`', "'", '"', "'".repeat(3), '"'.repeat(3)])
      expect(
        growthOf(10_000, (size) => toolCodeIn(`await x({${`${quote}\\`.repeat(size / (quote.length + 1))}`)),
      ).toBeLessThan(mostGrowth)
    expect(
      growthOf(15_000, (size) => callShape({ input: { text: `--- ${'a'.repeat(size)}\n` } })),
    ).toBeLessThan(mostGrowth)
  })
})
