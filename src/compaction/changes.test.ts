import { describe, expect, it } from 'vitest'
import { changedLines, sidesOf } from './changes.ts'

const listed = (lines: ReadonlySet<string>): readonly string[] => [...lines]

describe('[O45] what a change removes and puts in', () => {
  const change = { old: 'const first = 1\nreturn first', fresh: 'const first = 2\nreturn first' }

  it('is known by the names that tools use, in lists and nested too', () => {
    expect(
      sidesOf({ file_path: 'a.ts', old_string: change.old, new_string: change.fresh, replace_all: false }),
    ).toEqual([change])
    expect(sidesOf({ path: 'a.ts', edits: [{ newText: change.fresh, oldText: change.old }] })).toEqual([
      change,
    ])
    expect(sidesOf({ path: 'a.ts', old_str: 'x', new_str: '' })).toEqual([{ old: 'x', fresh: '' }])
  })

  it('is known by two texts beside a file where the names say nothing', () => {
    expect(sidesOf({ where: 'src/a.ts', before: change.old, after: change.fresh })).toEqual([change])
    expect(sidesOf({ where: 'src/a.ts', text: change.old })).toEqual([])
    expect(sidesOf({ one: change.old, two: change.fresh })).toEqual([])
  })

  it('names the lines of both sides, of a patch too, and none as gone that is put in again', () => {
    const named = changedLines({ file_path: 'a.ts', old_string: change.old, new_string: change.fresh })
    expect(listed(named.out)).toEqual(['const first = 1'])
    expect(listed(named.into)).toEqual(['const first = 2', 'return first'])
    const patch =
      '*** Begin Patch\n*** Update File: a.ts\n@@\n return first\n-const first = 1\n+const first = 2\n*** End Patch'
    const patched = changedLines({ input: patch })
    expect(listed(patched.out)).toEqual(['const first = 1'])
    expect(listed(patched.into)).toEqual(['const first = 2'])
  })

  it('is nothing where a call changes nothing, however deep what it was given nests', () => {
    let deep: Record<string, unknown> = { old_string: 'take this out', new_string: 'and put this in' }
    for (let depth = 0; depth < 5000; depth++) deep = { deep }
    expect(sidesOf(deep)).toEqual([])
    expect(changedLines({ command: 'ls -la' }).out.size).toBe(0)
  })
})
