import { describe, expect, it } from 'vitest'
import { Fold } from '../../projection/fold.ts'
import type { Part } from '../../projection/view.ts'
import { answered, call, entriesOf, fixedSession, result, said } from '../../testing/builders.ts'
import type { Fact } from '../../transcript/fact.ts'
import { builtIn } from './restorer.ts'

const restorer = builtIn.find(({ name }) => name === 'tasks')!
const allowance = { tokens: 10_000, cost: (text: string) => text.length / 4 }

let count = 0
const ran = (name: string, input: Record<string, unknown>, text: string): Fact[] => {
  const id = `c${(count += 1)}`
  return [answered([call(id, name, input)], { id: `m_${id}` }), result(id, text)]
}
const make = (id: number, subject: string): Fact[] =>
  ran('TaskCreate', { subject, description: 'at length' }, `Task #${id} created successfully: ${subject}`)
const move = (taskId: string, status: string): Fact[] =>
  ran('TaskUpdate', { taskId, status }, `Updated task #${taskId} status`)
const list = (status: string): Fact[] => ran('TodoWrite', { todos: [{ content: 'Read it', status }] }, 'ok')
const given = (text: string): Fact => ({
  type: 'attachment',
  kind: 'tasks',
  source: 'compaction',
  content: [{ type: 'text', text }],
  restored: true,
})

/** What is given back where the first of these went and the others stayed. */
async function restored(gone: readonly Fact[], kept: readonly Fact[]): Promise<string | null> {
  const fold = new Fold()
  for (const entry of entriesOf(said('go'), ...gone, said('on'), ...kept)) fold.push(entry)
  const parts: Part[] = [...fold.parts()]
  const first = parts.findIndex((part, at) => at > 0 && part.kind === 'input')
  const context = {
    session: fixedSession(),
    gone: parts.slice(0, first),
    kept: parts.slice(first),
    signal: new AbortController().signal,
  }
  return restorer.restore(context, allowance)
}
const tasksIn = (text: string | null): readonly string[] | null => text?.match(/^\[[ >x]\] .*$/gm) ?? null

describe('the task list after a compaction', () => {
  const made = [...make(1, 'Read the code'), ...make(2, 'Mend the fault')]

  it('[O11] of tasks made and moved one by one is given back as it is now, what stays in sight included', async () => {
    const begun = ['[x] #1 Read the code', '[>] #2 Mend the fault']
    expect(tasksIn(await restored([...made, ...move('1', 'completed')], move('2', 'in_progress')))).toEqual(
      begun,
    )
    // Once more: from what was given back.
    const text = `<restored-tasks>\nThe task list as you left it:\n${begun.join('\n')}\n</restored-tasks>`
    expect(await restored([given(text)], [])).toBe(text)
    expect(tasksIn(await restored([given(text)], move('2', 'completed')))).toEqual([
      '[x] #1 Read the code',
      '[x] #2 Mend the fault',
    ])
    expect(tasksIn(await restored([given(text), ...make(3, 'Test it')], []))).toEqual([
      ...begun,
      '[ ] #3 Test it',
    ])
    // What is in sight whole is not said again.
    expect(await restored([], [...made, ...move('2', 'in_progress')])).toBeNull()
    expect(await restored([given(text)], list('pending'))).toBeNull()
    expect(await restored([...made, ...move('1', 'deleted'), ...move('2', 'deleted')], [])).toBeNull()
  })

  it('[O11] that is given whole is the newest that did not fail', async () => {
    expect(tasksIn(await restored([...list('pending'), ...list('active')], []))).toEqual(['[>] Read it'])
    expect(await restored(list('pending'), list('active'))).toBeNull()
    expect(await restored([...list('pending'), ...ran('TodoWrite', { todos: [] }, 'ok')], [])).toBeNull()
  })
})
