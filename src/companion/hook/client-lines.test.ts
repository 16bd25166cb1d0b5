import { describe, expect, it } from 'vitest'
import { codexLines } from './client-lines.ts'

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
})
