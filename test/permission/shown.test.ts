// What a person agreed to is what is written: through the public door, on a real disk that changes between the question
// and the answer.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { machineFileSystem } from '../../src/disk/fs.ts'
import type { ToolEnv } from '../../src/tools/index.ts'
import { toolsDoor } from '../doors.ts'

const { createPermission, createReadFiles, runCalls, standardTools } = await toolsDoor()
const base = realpathSync(mkdtempSync(join(tmpdir(), 'pal-shown-')))
afterAll(() => rmSync(base, { recursive: true }))

let count = 0
/** A project in which calls run one after the other; `meanwhile` happens while the person looks at the question. */
function desk(rules: readonly string[], meanwhile: (root: string) => void) {
  const root = join(base, `p${++count}`)
  for (const folder of ['a', 'b', 'sub/deep']) mkdirSync(join(root, folder), { recursive: true })
  let questions = 0
  const permission = createPermission({
    fs: machineFileSystem,
    root,
    cwd: root,
    home: base,
    mode: 'default',
    rules: rules.map((text) => ({ list: 'allow', text, source: 'user' })),
    askUser: () => {
      questions++
      meanwhile(root)
      return Promise.resolve({ kind: 'once' })
    },
  })
  let ids = 0
  const { tools } = standardTools({
    fs: machineFileSystem,
    grants: permission.grants,
    environment: { PATH: process.env['PATH'] },
    unique: () => `u${++ids}`,
    roots: [root],
  })
  const env: ToolEnv = {
    cwd: root,
    callId: 'call_1',
    readFiles: createReadFiles(),
    spill: null,
    expand: () => Promise.resolve({ ok: false, why: 'nothing here' }),
    isShown: () => true,
    report: () => {},
    now: () => 0,
  }
  const call = async (name: string, input: Record<string, unknown>): Promise<string> => {
    const calls = [{ type: 'tool_use' as const, id: 'call_1', name, input }]
    const texts: string[] = []
    const { signal } = new AbortController()
    for await (const { outcome } of runCalls(calls, {
      tools,
      env: () => env,
      signal,
      mayRun: permission.mayRun,
    }))
      for (const block of outcome.content) if (block.type === 'text') texts.push(block.text)
    return texts.join('\n')
  }
  return { root, call, questions: () => questions }
}

describe('what was shown', () => {
  it('[PM92] a file that is another one for the time of the question is not written', async () => {
    const { root, call } = desk([], (at) => writeFileSync(join(at, 'f.txt'), 'x = 1\nsafe()\n'))
    writeFileSync(join(root, 'f.txt'), 'x = 1\nsafe()\n')
    await call('Read', { file_path: 'f.txt' })
    // Shown is a change of this, and what was read is back before the answer.
    writeFileSync(join(root, 'f.txt'), 'x = 1\n')
    for (const [name, input] of [
      ['Edit', { file_path: 'f.txt', old_string: 'x = 1', new_string: 'x = 2' }],
      ['Write', { file_path: 'f.txt', content: 'x = 2\n' }],
    ] as const) {
      expect(await call(name, input), name).toContain('changed after the user was shown')
      writeFileSync(join(root, 'f.txt'), 'x = 1\n')
    }
  })

  it('[PM92] a path that leads elsewhere after the question writes nothing there', async () => {
    const { root, call } = desk([], (at) => {
      rmSync(join(at, 'link'))
      symlinkSync('b', join(at, 'link'))
    })
    symlinkSync('a', join(root, 'link'))
    expect(await call('Write', { file_path: 'link/new.txt', content: 'text' })).toContain('now leads to')
    expect([existsSync(join(root, 'a/new.txt')), existsSync(join(root, 'b/new.txt'))]).toEqual([false, false])
  })

  it('[PM92] a file that is as it was shown is written', async () => {
    const { root, call, questions } = desk([], () => {})
    expect(await call('Write', { file_path: 'a/new.txt', content: 'one\n' })).toContain('Created')
    expect(await call('Edit', { file_path: 'a/new.txt', old_string: 'one', new_string: 'two' })).toContain(
      'Edited',
    )
    expect([readFileSync(join(root, 'a/new.txt'), 'utf8'), questions()]).toEqual(['two\n', 2])
  })

  it('[PM93] a path that goes back through a link is judged as the file that the tool opens', async () => {
    const { root, call, questions } = desk(['Edit(sub/**)'], (at) => rmSync(join(at, 'd')))
    symlinkSync(join('sub', 'deep'), join(root, 'd'))
    await call('Write', { file_path: 'd/../x.txt', content: 'text' })
    // The rule speaks of sub alone: whatever is written elsewhere was asked about.
    expect([questions(), existsSync(join(root, 'sub/x.txt'))]).toEqual([1, false])
  })
})
