import { describe, expect, it } from 'vitest'
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
    // One whose state is changed by its number is as good as a task.
    expect(tasksOf([issue, done('set_issue', { number: '4720', state: 'in progress' })])).toBeNull()
    expect(tasksOf([issue, done('set_issue', { number: '4720', state: 'in_progress' })])).toEqual([
      '[>] #4720 Crash on start',
    ])
    expect(
      tasksOf([done('bash', { command: 'git commit -m "Mend it"' }, '[main 1a2b3c4] Mend it (#1)')]),
    ).toBeNull()
  })
})
