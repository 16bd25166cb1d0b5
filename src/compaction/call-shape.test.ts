import { describe, expect, it } from 'vitest'
import { callShape, leavesOf, tasksIn, titleOf } from './call-shape.ts'

const shape = (input: Readonly<Record<string, unknown>>) => callShape({ input })
const patch = '*** Begin Patch\n*** Update File: src/a.ts\n@@\n-old\n+new\n*** End Patch'

describe('the shape of a call', () => {
  it('[O38] finds the file and what is done to it, whatever fields are called', () => {
    for (const path of ['file_path', 'path', 'zq']) {
      expect(shape({ [path]: 'src/a.ts' })).toMatchObject({ files: ['src/a.ts'], deed: 'read' })
      expect(shape({ [path]: 'src/a.ts', from: 3, count: 40 })).toMatchObject({ deed: 'read' })
      expect(shape({ [path]: 'src/a.ts', x: 'let a = 1\nlet b = 2\n' })).toMatchObject({ deed: 'written' })
      expect(shape({ [path]: 'src/a.ts', x: 'let a = 1', y: 'let a = 2' })).toMatchObject({ deed: 'edited' })
      expect(shape({ [path]: 'src/a.ts', x: 'find (me)', mode: 'content' })).toMatchObject({ deed: null })
    }
    expect(shape({ file_path: 'a.ts', old_string: 'x', new_string: 'y' }).deed).toBe('edited')
    expect(shape({ file_path: '文档/说明.md', content: 'x' })).toMatchObject({
      files: ['文档/说明.md'],
      deed: 'written',
    })
  })

  it('[O38] a task that begins like a command is none, and a text that is replaced is no file', () => {
    const tasks = [{ content: 'find the fault', status: 'active' }]
    expect(shape({ tasks })).toEqual({ files: [], deed: null, command: null, isTasks: true })
    const edit = { file_path: 'src/cart.js', old_string: 'items.length', new_string: 'items.size' }
    expect(shape(edit)).toMatchObject({ files: ['src/cart.js'], deed: 'edited' })
  })

  it('[O38] opens arguments that are wrapped in objects, lists and JSON', () => {
    const whole = { files: ['src/a.ts'], deed: 'read', command: null, isTasks: false }
    expect(shape({ arguments: { path: 'src/a.ts' } })).toEqual(whole)
    expect(shape({ payload: JSON.stringify({ target: 'src/a.ts' }) })).toEqual(whole)
    expect(shape({ calls: [{ target: 'src/a.ts' }] })).toEqual(whole)
  })

  it('[O38] finds commands in texts and lists, with the files they show or change', () => {
    expect(shape({ run: 'npm test -- --watch=false' })).toMatchObject({
      command: 'npm test -- --watch=false',
      deed: null,
    })
    expect(shape({ argv: ['bash', '-lc', "sed -n '1,80p' src/a.ts"] })).toEqual({
      command: "sed -n '1,80p' src/a.ts",
      files: ['src/a.ts'],
      deed: 'read',
      isTasks: false,
    })
    expect(shape({ c: "cat <<'EOF' > src/b.ts\nlet b\nEOF" })).toMatchObject({
      deed: 'edited',
      files: ['src/b.ts'],
    })
    expect(shape({ argv: ['git', 'status'], workdir: '/home/me' }).command).toBe('git status')
    expect(shape({ question: 'Why does it fail? Because of the ledger.' }).command).toBeNull()
    expect(shape({ query: 'totals of the month' })).toMatchObject({ files: [], deed: null, command: null })
  })

  it('[O38] takes a word beside the name of a file for what is done to that file, and no command', () => {
    expect(shape({ command: 'view', path: '/repo/src/a.c' })).toMatchObject({
      files: ['/repo/src/a.c'],
      deed: 'read',
      command: null,
    })
    expect(shape({ command: 'view', path: '/repo/src/a.c', view_range: [3, 40] }).deed).toBe('read')
    expect(shape({ command: 'create', path: 'a.c', file_text: 'x' })).toMatchObject({
      deed: 'written',
      command: null,
    })
    expect(shape({ command: 'str_replace', path: 'a.c', old_str: 'x', new_str: 'y' })).toMatchObject({
      deed: 'edited',
    })
    expect(shape({ command: 'insert', path: 'a.c', insert_line: 3, new_str: 'y' })).toMatchObject({
      deed: 'edited',
    })
    expect(shape({ command: 'make', workdir: '/work' }).command).toBe('make')
    expect(shape({ command: 'make -C src', file: 'out.log' }).command).toBe('make -C src')
  })

  it('[O38] takes a program beside the name of a file for a command, with the words it is given', () => {
    expect(shape({ command: 'make', output: 'build.log' })).toMatchObject({ command: 'make', deed: null })
    expect(shape({ command: 'pytest', args: ['tests/test_a.py', '-q'] })).toEqual({
      files: ['tests/test_a.py'],
      deed: null,
      command: 'pytest tests/test_a.py -q',
      isTasks: false,
    })
    expect(shape({ command: 'cat', args: ['src/a.ts'] })).toMatchObject({ files: ['src/a.ts'], deed: 'read' })
    expect(shape({ command: 'cat', path: 'src/a.ts' })).toMatchObject({ files: ['src/a.ts'], deed: 'read' })
  })

  it('[O38] finds the files of a patch wherever it stands', () => {
    for (const input of [{ input: patch }, { command: ['apply_patch', patch] }, { x: { y: patch } }])
      expect(shape(input)).toMatchObject({ files: ['src/a.ts'], deed: 'edited', command: null })
  })

  it('[O38] finds a list of tasks by texts with states', () => {
    const expected = ['[x] Read the code', '[>] Fix it', '[ ] Test it']
    expect(
      tasksIn({
        todos: [
          { content: 'Read the code', status: 'completed', activeForm: 'Reading' },
          { content: 'Fix it', status: 'in_progress' },
          { content: 'Test it', status: 'pending' },
        ],
      }),
    ).toEqual(expected)
    expect(
      tasksIn({
        args: JSON.stringify({
          zz: [
            { s: 'done', t: 'Read the code' },
            { s: 'active', t: 'Fix it' },
            { s: 'todo', t: 'Test it' },
          ],
        }),
      }),
    ).toEqual(expected)
    // A name of its own and how much it matters may stand before.
    expect(
      tasksIn({
        todos: [
          { id: 'todo-1', status: 'completed', priority: 'high', content: 'Read the code' },
          { id: 'b2', status: 'in_progress', priority: 'low', content: 'Fix it' },
          { id: '3', status: 'pending', priority: 'medium', content: 'Test it' },
        ],
      }),
    ).toEqual(expected)
    expect(tasksIn({ todos: [{ content: 'refactor', status: 'pending' }] })).toEqual(['[ ] refactor'])
    expect(tasksIn({ tasks: [] })).toEqual([])
    const listed = { name: 'Todo', input: { todos: [{ content: 'Fix it', status: 'pending' }] } }
    expect(titleOf(listed, callShape(listed))).toBe('Todo Fix it')
    expect(tasksIn({ edits: [{ old: 'a', new: 'b' }] })).toBeNull()
    expect(tasksIn({ path: 'src/a.ts' })).toBeNull()
  })

  it('[O38] takes no file and no query for a list of tasks', () => {
    const issues = JSON.stringify([{ title: 'It breaks here', status: 'open' }])
    for (const input of [
      { file_path: 'issues.json', content: issues },
      { args: JSON.stringify({ zz: 'issues.json', text: issues }) },
      { file_path: 'package.json', content: '{"pnpm": {"overrides": []}}' },
      { file_path: 'a.json', old_string: '{"items": []}', new_string: 'const a = 1' },
      { query: { filter: { and: [] } }, text: 'find it' },
      { list: [[]] },
    ])
      expect(tasksIn(input), JSON.stringify(input)).toBeNull()
    expect(shape({ file_path: 'issues.json', content: issues })).toMatchObject({
      files: ['issues.json'],
      deed: 'written',
    })
    // Where it stands alone it is one, wrapped or not.
    expect(tasksIn({ args: JSON.stringify({ todos: [] }) })).toEqual([])
  })

  it('[O38] arguments that nest without end, as values or as JSON in texts, say nothing and break nothing', () => {
    const deep = (levels: number, inner: unknown): unknown =>
      Array.from({ length: levels }).reduce((value) => ({ v: value }), inner)
    const inTexts = Array.from({ length: 8 }).reduce<unknown>((value) => ({ v: JSON.stringify(value) }), {
      path: 'src/a.ts',
    })
    expect(shape({ a: inTexts }).files).toEqual(['src/a.ts'])
    const open = `${'['.repeat(60_000)}${']'.repeat(60_000)}`
    for (const value of [
      deep(60_000, 'src/a.ts'),
      deep(60_000, [['bash', '-lc', 'ls']]),
      open,
      { v: open },
    ]) {
      expect(() => shape({ path: 'src/b.ts', value })).not.toThrow()
      expect(shape({ path: 'src/b.ts', value })).toMatchObject({ files: ['src/b.ts'], command: null })
      expect(tasksIn({ value })).toBeNull()
      expect(leavesOf({ value })).toEqual([])
    }
  })
})
