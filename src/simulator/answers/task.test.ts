import { describe, expect, it } from 'vitest'
import { tasksIn, withoutTasks } from './task.ts'

const script = `Please fix it.
<task name="cart fix">
1. read src/cart.js
2. also search "round\\(" in src
3. list **/*.js
4. run node --test
5. if failed: edit src/cart.js "a\\n" -> "b"
6. if shows "ok": say fine
7. edit src/cart.js
<<<
  old {
===
  new {
>>>
8. write notes.txt
<<<
one
two
>>>
9. call Snip {"ids":["x"]}
10. stop Shall I?
11. say Done.
</task>`

describe('task scripts', () => {
  it('[W3] reads every kind of step', () => {
    const task = tasksIn(script)[0]
    expect(task?.name).toBe('cart-fix')
    expect(task?.faults).toEqual([])
    expect(task?.steps.map((step) => step.act)).toEqual([
      { kind: 'use', intent: { verb: 'read', path: 'src/cart.js' } },
      { kind: 'use', intent: { verb: 'search', pattern: 'round\\(', path: 'src' } },
      { kind: 'use', intent: { verb: 'list', pattern: '**/*.js' } },
      { kind: 'use', intent: { verb: 'run', command: 'node --test' } },
      { kind: 'use', intent: { verb: 'edit', path: 'src/cart.js', old: 'a\n', new: 'b' } },
      { kind: 'say', text: 'fine' },
      { kind: 'use', intent: { verb: 'edit', path: 'src/cart.js', old: '  old {', new: '  new {' } },
      { kind: 'use', intent: { verb: 'write', path: 'notes.txt', content: 'one\ntwo\n' } },
      { kind: 'call', tool: 'Snip', input: { ids: ['x'] } },
      { kind: 'stop', text: 'Shall I?' },
      { kind: 'say', text: 'Done.' },
    ])
    expect(task?.steps.map((step) => step.condition)).toEqual(
      Array.from({ length: 11 }, (_, at) =>
        at === 4 ? { when: 'failed' } : at === 5 ? { when: 'shows', text: 'ok' } : null,
      ),
    )
    expect(task?.steps[1]?.also).toBe(true)
  })

  it('[W3] reads the same task when it is quoted with a margin', () => {
    for (const margin of ['> ', '    ']) {
      const quoted = script
        .split('\n')
        .map((line) => margin + line)
        .join('\n')
      expect(tasksIn(quoted)).toEqual(tasksIn(script))
    }
  })

  it('[W3] does not let a copy that was cut short swallow the next one', () => {
    const cut = '<task name="cart fix">\n1. read src/cart.js\n2. al'
    expect(tasksIn(`${cut}\n\n${script}`)).toEqual(tasksIn(script))
    expect(withoutTasks(`${cut}\n${script}`)).not.toContain('src/cart.js')
  })

  it('[W3] names the lines it cannot read', () => {
    expect(tasksIn('<task>\n1. dance wildly\n2. edit a.js\n</task>')[0]?.faults).toEqual([
      '1. dance wildly',
      '2. edit a.js',
    ])
  })
})
