import { describe, expect, it } from 'vitest'
import { redact } from '../disk/redact.ts'
import { growthOf, mostGrowth } from '../../test/until.ts'
import { seq } from '../transcript/ids.ts'
import type { Call } from './span-reading.ts'
import { isDone, tasksOf, taskText } from './task-list.ts'

const done = (name: string, input: Record<string, unknown>, text = 'ok', isError = false): Call => ({
  at: seq(1),
  name,
  input,
  outcome: { at: seq(2), text, lines: 1, isError },
})
const make = (id: string, subject: string, name = 'make'): Call =>
  done(name, { subject, more: `${subject}, at length and with care` }, `Task #${id} made: ${subject}`)
const move = (id: string, status: string): Call =>
  done('move', { task: id, status }, `Updated task #${id} status`)

describe('the tasks as calls have left them', () => {
  it('[O38] are the newest list that was given whole', () => {
    const list = (state: string) =>
      done('zz', {
        list: [
          { t: 'Read it', s: state },
          { t: '#3 Mend it', s: 'todo' },
        ],
      })
    expect(tasksOf([list('todo'), list('done')])).toEqual(['[x] Read it', '[ ] #3 Mend it'])
    expect(tasksOf([list('todo'), done('zz', { list: [] })])).toEqual([])
    expect(tasksOf([list('todo'), { ...list('done'), outcome: null }])).toEqual([
      '[ ] Read it',
      '[ ] #3 Mend it',
    ])
    expect(tasksOf([done('read', { path: 'src/a.ts' })])).toBeNull()
  })

  it('[O38] are made and moved one by one, whatever the tools are called', () => {
    const calls = [
      make('1', 'Read the code'),
      make('2', 'Mend the fault'),
      make('3', 'Test it all'),
      move('1', 'in_progress'),
      move('#1', 'completed'),
      move('2', 'in_progress'),
      done('move', { task: '3', blockedBy: ['2'] }),
      done('move', { task: '2', status: 'completed' }, 'no such task', true),
    ]
    expect(tasksOf(calls)).toEqual(['[x] #1 Read the code', '[>] #2 Mend the fault', '[ ] #3 Test it all'])
    expect(tasksOf([...calls, move('3', 'deleted')])).toEqual([
      '[x] #1 Read the code',
      '[>] #2 Mend the fault',
    ])
    // What an earlier summary says of them goes on from there.
    const stood = tasksOf(calls)!
    expect(tasksOf([move('2', 'completed'), make('4', 'Write it down')], stood)).toEqual([
      '[x] #1 Read the code',
      '[x] #2 Mend the fault',
      '[ ] #3 Test it all',
      '[ ] #4 Write it down',
    ])
    // New work begins once all is done.
    const all = [move('2', 'completed'), move('3', 'completed'), make('4', 'Another thing')]
    expect(tasksOf(all, stood)).toEqual(['[ ] #4 Another thing'])
    expect(stood.filter((line) => !isDone(line)).map(taskText)).toEqual(['Mend the fault', 'Test it all'])
  })

  it('[O38] are no issues and no requests to merge, which have numbers of their own', () => {
    const issue = make('4720', 'Crash on start', 'create_issue')
    expect(tasksOf([issue, make('4721', 'Crash at the end', 'create_issue')])).toBeNull()
    expect(tasksOf([issue, done('get_issue', { number: 4720 })])).toBeNull()
    // One whose state is changed by its number is as good as a task, where the result names it too.
    const set = (state: string) => done('set_issue', { number: '4720', state }, 'Updated issue #4720')
    expect(tasksOf([issue, set('in progress')])).toBeNull()
    expect(tasksOf([issue, set('in_progress')])).toEqual(['[>] #4720 Crash on start'])
    expect(
      tasksOf([done('bash', { command: 'git commit -m "Mend it"' }, '[main 1a2b3c4] Mend it (#1)')]),
    ).toBeNull()
  })

  // As Claude Code writes them.
  const create = (id: number, subject: string): Call =>
    done(
      'TaskCreate',
      { subject, description: `${subject} at length`, activeForm: 'Working' },
      `Task #${id} created successfully: ${subject}`,
    )
  const update = (input: Record<string, unknown>, what = 'status'): Call =>
    done('TaskUpdate', input, `Updated task #${String(input['taskId'])} ${what}`)
  const three = [create(1, 'Read the code'), create(2, 'Mend the fault'), create(3, 'Test it all')]

  it('[O38] a number moves a task where the result names it: what a task waits for and the page of a list move none', () => {
    const waiting = update(
      { addBlockedBy: ['1', '2'], taskId: '3', status: 'in_progress' },
      'blockedBy, status',
    )
    expect(tasksOf([...three, waiting])).toEqual([
      '[ ] #1 Read the code',
      '[ ] #2 Mend the fault',
      '[>] #3 Test it all',
    ])
    const pages = [
      done('list_issues', { owner: 'a', repo: 'b', state: 'open', page: 1 }, '[]'),
      done('comment', { issue: 2, body: 'Fixed it all' }, 'Commented on #2: Fixed it all'),
    ]
    const ended = [...three, update({ taskId: '1', status: 'completed' })]
    expect(tasksOf([...ended, ...pages])).toEqual(tasksOf(ended))
  })

  it('[O38] a number stands apart from the text, and the call did not know it', () => {
    expect(tasksOf([create(1, '#10: File the #12 of it')])).toEqual(['[ ] #1 #10: File the #12 of it'])
    const quoted = done('zz', { t: 'fix #12 of it' }, 'Made "fix #12 of it" as task #1')
    expect(tasksOf([quoted])).toEqual(['[ ] #1 fix #12 of it'])
    const asListed = done('zz', { t: 'fix it now' }, '#1 [pending] fix it now')
    expect(tasksOf([asListed])).toEqual(['[ ] #1 fix it now'])
    for (const [input, text] of [
      [{ message: 'Add a parser (#1)' }, '[main abc] Add a parser (#1)'],
      [{ issue: 1, body: 'Fixed it all' }, 'Commented on #1: Fixed it all'],
      [{ name: 'John Smith' }, '{"id":1,"name":"John Smith"}'],
    ] as const)
      expect(tasksOf([done('zz', input, text)]), text).toBeNull()
    // Beside tasks of its own a session makes other things too.
    const issue = done('create_issue', { title: 'Crash on start' }, 'Created issue #7: Crash on start')
    expect(tasksOf([issue], ['[ ] #1 Read the code'])).toBeNull()
    expect(tasksOf([create(2, 'Mend the fault')], ['[ ] #1 Read the code'])).toHaveLength(2)
    // Numbers that do not count from 1, and names in JSON, are known once one is moved.
    const late = [create(5, 'Read the code'), create(6, 'Mend the fault')]
    expect(tasksOf([...late, update({ taskId: '5', status: 'in_progress' })])).toEqual([
      '[>] #5 Read the code',
      '[ ] #6 Mend the fault',
    ])
    const inJson = (status: string) => `{"id": 1, "title": "Read the code", "status": "${status}"}`
    const json = [
      done('add', { title: 'Read the code' }, inJson('todo')),
      done('set', { id: 1, status: 'done' }, inJson('done')),
    ]
    expect(tasksOf(json)).toEqual(['[x] #1 Read the code'])
  })

  it('[O38] a text is one in any script, of one word, long, or with a secret in it', () => {
    const key = `sk-ant-api03-${'Ab3dE'.repeat(19)}`
    const long = `Go through ${'every last file and '.repeat(17)}out`
    for (const subject of ['修复登录错误', '测试', 'Refactor', long])
      expect(tasksOf([create(1, subject)]), subject).toEqual([`[ ] #1 ${subject}`])
    // What a call was given is read without its secrets, and its result as it came.
    const plain = { subject: redact(`Take ${key} out`).text }
    const [line] = tasksOf([done('zz', plain, `Task #1 created: Take ${key} out`)]) ?? []
    expect(line).toMatch(/^\[ \] #1 Take \[secret:.*\] out$/)
  })

  it('[O38] are named anew by the field that named them, and a list of them tells how all stand', () => {
    expect(tasksOf([...three, update({ taskId: '1', subject: 'Read all of it' }, 'subject')])?.[0]).toBe(
      '[ ] #1 Read all of it',
    )
    const listed = done(
      'TaskList',
      {},
      '#3 [in_progress] Test it all (bob) [blocked by #2]\n#1 [completed] Read the code\n#4 [pending] Write it down\n#2 [pending] Mend both (and more) [blocked by #1, #3]',
    )
    const now = [
      '[x] #1 Read the code',
      '[ ] #2 Mend both (and more)',
      '[>] #3 Test it all',
      '[ ] #4 Write it down',
    ]
    expect(tasksOf([...three, listed])).toEqual(now)
    // After a compaction as well.
    expect(tasksOf([listed], tasksOf(three)!)).toEqual(now)
    // Other lists have numbers and states, too.
    const issues = done('list_issues', {}, '#3 [open] It breaks\n#1 [open] It breaks again')
    expect(tasksOf([...three, issues])).toEqual(tasksOf(three))
  })

  it('[O38] however many of them, and results that look like lists, are read in one walk', () => {
    const walked = (size: number): unknown => {
      const many = Array.from({ length: size }, (_, at) => create(at + 1, `do the thing number ${at}`))
      const moves = many.map((_, at) => update({ taskId: `${at + 1}`, status: 'completed' }))
      return tasksOf([...many, ...moves])
    }
    expect(walked(1000)).toHaveLength(1000)
    expect(growthOf(1000, walked)).toBeLessThan(mostGrowth)
    for (const part of ['#', '-', '[', '#1 - ', '#1 [open] [#', ' ['])
      expect(
        growthOf(4000, (size) => tasksOf([done('zz', {}, `#1 ${part.repeat(size / part.length)}`)])),
      ).toBeLessThan(mostGrowth)
  })
})
