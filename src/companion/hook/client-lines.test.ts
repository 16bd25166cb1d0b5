import { describe, expect, it } from 'vitest'
import { claudeLines, codexLines } from './client-lines.ts'
import type { RawLine } from './scan.ts'

const factsOf = (payload: object) =>
  codexLines.factsOf({ type: 'response_item', payload: { call_id: 'c1', ...payload } })
const patch = '*** Begin Patch\n*** Update File: src/lexer.ts\n@@\n-a\n+b\n*** End Patch'

describe("the lines of a client's session file", () => {
  it('[CH1] of Codex: patches and plans, given alone or by code that calls tools', () => {
    const files = [{ path: 'src/lexer.ts', isEdit: true }]
    const custom = (input: string) => factsOf({ type: 'custom_tool_call', name: 'exec', input })
    expect(custom(patch)).toEqual({ files })
    expect(custom(`const p = ${JSON.stringify(patch)};\ntext(await tools.apply_patch(p));`)).toEqual({
      files,
    })
    expect(custom(`text(await tools.apply_patch({ patch: ${JSON.stringify(patch)} }))`)).toEqual({ files })
    const plan = [
      { step: 'Mend it', status: 'completed' },
      { step: 'Test it', status: 'in_progress' },
      { step: 'Write it down', status: 'pending' },
    ]
    const open = { tasks: [true, false] }
    expect(
      factsOf({ type: 'function_call', name: 'update_plan', arguments: JSON.stringify({ plan }) }),
    ).toEqual(open)
    expect(custom(`const r = await tools.update_plan(${JSON.stringify({ plan })}); text(r)`)).toEqual({
      files: [],
      ...open,
    })
  })

  it('[CH1] of Claude Code: tasks as they are made, shown and moved, several in one line', () => {
    const line = (of: object): RawLine => {
      const text = JSON.stringify(of)
      return { head: () => text, tail: () => text, has: (part) => text.includes(part), whole: () => text }
    }
    const result = {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 't1', content: 'Task #3 created' }],
    }
    const task = (state: object) => ({
      type: 'user',
      message: result,
      toolUseResult: { task: { id: '3', subject: 'Read it', ...state } },
    })
    expect(claudeLines.isWanted(line(task({})))).toBe(true)
    expect(claudeLines.isWanted(line({ type: 'user', message: result }))).toBe(false)
    expect(claudeLines.factsOf(task({})).moved).toEqual([{ id: '3', state: 'open' }])
    expect(claudeLines.factsOf(task({ status: 'completed' })).moved).toEqual([{ id: '3', state: 'over' }])
    const content = ['2', '3'].map((taskId) => ({
      type: 'tool_use',
      id: `u${taskId}`,
      name: 'TaskUpdate',
      input: { taskId, status: 'in_progress' },
    }))
    expect(claudeLines.factsOf({ type: 'assistant', message: { content } }).moved).toEqual([
      { id: '2', state: 'begun' },
      { id: '3', state: 'begun' },
    ])
  })
})
