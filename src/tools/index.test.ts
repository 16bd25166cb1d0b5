import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { machineFileSystem } from '../disk/fs.ts'
import { estimateTool } from '../projection/tokens.ts'
import type { ToolUseBlock } from '../transcript/content.ts'
import { createReadFiles, runCalls, standardTools, type ToolEnv } from './index.ts'

const cwd = mkdtempSync(join(tmpdir(), 'pal-tools-'))
const made = standardTools({
  fs: machineFileSystem,
  unique: () => String(process.hrtime.bigint()),
  environment: { PATH: process.env['PATH'] },
})
afterAll(async () => {
  await made.close()
  rmSync(cwd, { recursive: true })
})
const readFiles = createReadFiles()
const env = (call: ToolUseBlock): ToolEnv => ({
  cwd,
  callId: call.id,
  readFiles,
  spill: null,
  expand: async () => ({ ok: false, why: 'nothing' }),
  isShown: () => true,
  report: () => {},
  now: () => Date.now(),
})
let count = 0
const run = async (...calls: [name: string, input: Record<string, unknown>][]): Promise<string[]> => {
  const blocks = calls.map(([name, input]): ToolUseBlock => ({
    type: 'tool_use',
    id: `toolu_${++count}`,
    name,
    input,
  }))
  const out = new Map<string, string>()
  for await (const { call, outcome } of runCalls(blocks, {
    tools: made.tools,
    env,
    signal: new AbortController().signal,
  })) {
    const first = outcome.content[0]!
    out.set(call.id, first.type === 'text' ? first.text : first.type)
  }
  return blocks.map(({ id }) => out.get(id)!)
}

describe('the standard tools', () => {
  it('[B70] have names of their own and cost little', () => {
    expect(made.tools.map(({ spec }) => spec.name)).toEqual([
      'Read',
      'Write',
      'Edit',
      'Bash',
      'Jobs',
      'Grep',
      'Glob',
      'Expand',
      'WebFetch',
      'TaskList',
    ])
    expect(made.tools.filter(({ policy }) => policy.readOnly).map(({ spec }) => spec.name)).toEqual([
      'Read',
      'Grep',
      'Glob',
      'Expand',
    ])
    expect(made.tools.reduce((sum, { spec }) => sum + estimateTool(spec), 0)).toBeLessThan(2500)
  })

  it('[B71] work together: find, read, change, test', async () => {
    mkdirSync(join(cwd, 'src'))
    writeFileSync(join(cwd, 'src', 'sum.cjs'), 'exports.sum = (a, b) => a - b\n')
    expect(
      await run(
        ['Glob', { pattern: '**/*.cjs' }],
        ['Grep', { pattern: 'sum', output_mode: 'content' }],
        ['Read', { file_path: 'src/sum.cjs' }],
      ),
    ).toEqual([
      'src/sum.cjs',
      'src/sum.cjs:1:exports.sum = (a, b) => a - b',
      '1\texports.sum = (a, b) => a - b',
    ])
    const [failing, edited, passing] = await run(
      [
        'Bash',
        { command: `node -e "if (require('./src/sum.cjs').sum(2, 2) !== 4) throw new Error('wrong sum')"` },
      ],
      ['Edit', { file_path: 'src/sum.cjs', old_string: 'a - b', new_string: 'a + b' }],
      ['Bash', { command: `node -p "require('./src/sum.cjs').sum(2, 2)"` }],
    )
    expect(failing).toMatch(/wrong sum[\s\S]*\[exit code 1\]$/)
    expect([edited, passing]).toEqual(['Edited src/sum.cjs: one place, line 1.', '4'])
    // A change from outside, through the shell, is noticed.
    const [, late] = await run(
      ['Bash', { command: 'echo "// more" >> src/sum.cjs' }],
      ['Edit', { file_path: 'src/sum.cjs', old_string: 'a + b', new_string: 'b + a' }],
    )
    expect(late).toMatch(/changed since it was read/)
    const [, again] = await run(
      ['Read', { file_path: 'src/sum.cjs' }],
      ['Edit', { file_path: 'src/sum.cjs', old_string: 'a + b', new_string: 'b + a' }],
    )
    expect(again).toMatch(/^Edited/)
    expect(readFileSync(join(cwd, 'src/sum.cjs'), 'utf8')).toBe('exports.sum = (a, b) => b + a\n// more\n')
    const [shown, stub] = await run(
      ['Read', { file_path: 'src/sum.cjs' }],
      ['Write', { file_path: 'note.md', content: 'x\n' }],
      ['Read', { file_path: 'src/sum.cjs' }],
    ).then((all) => [all[0], all[2]])
    expect(shown).toMatch(/^1\t/)
    expect(stub).toMatch(/^\[unchanged/)
  })

  it('[B72] a read and a second read side by side do not stand on each other', async () => {
    writeFileSync(join(cwd, 'twice.txt'), 'once\n')
    const [one, other] = await run(['Read', { file_path: 'twice.txt' }], ['Read', { file_path: 'twice.txt' }])
    expect([one, other].filter((text) => text === '1\tonce').length).toBeGreaterThanOrEqual(1)
  })
})
