import { expect, it } from 'vitest'
import type { AssistantBlock } from '../../transcript/content.ts'
import { RecordedFiles } from './recorded-files.ts'
import type { Step } from './script.ts'

const nothing = { at: 0, input: [], typed: [] }

/** Calls, each with its result in the next step. */
async function played(
  ...turns: readonly [name: string, input: Record<string, unknown>, result: string][]
): Promise<{ readonly recent: readonly string[]; readonly textOf: (path: string) => string | undefined }> {
  const files = new RecordedFiles()
  for (const [index, [name, input, text]] of turns.entries()) {
    const id = `c${index}`
    const content: readonly AssistantBlock[] = [{ type: 'tool_use', id, name, input }]
    const asked: Step = {
      ...nothing,
      results: [],
      answer: { at: 0, content, outputTokens: null, model: 'm' },
    }
    const result = { id, content: [{ type: 'text', text }], isError: false } as const
    files.calls(asked)
    files.results({ ...asked, results: [result] })
  }
  const read = await files.read(['a.ts', 'b.ts'])
  return { recent: files.recent(), textOf: (path) => read.get(path)?.text }
}

it('[RS20] a file is what was read whole or written last, with the edits since, as Read would show it', async () => {
  const { recent, textOf } = await played(
    ['Read', { file_path: 'a.ts' }, '     1→const a = 1\n     2→const b = 2'],
    ['Write', { file_path: 'b.ts', content: 'x\ny' }, 'ok'],
    ['Edit', { file_path: 'a.ts', old_string: 'a = 1\nconst', new_string: 'a = 3\nlet' }, 'ok'],
  )
  expect(recent).toEqual(['a.ts', 'b.ts'])
  expect(textOf('a.ts')).toBe('1\tconst a = 3\n2\tlet b = 2')
  expect(textOf('b.ts')).toBe('1\tx\n2\ty')
})

it('[RS20] a part of a file is not taken for the file', async () => {
  const { recent, textOf } = await played(
    ['Read', { file_path: 'b.ts' }, '1\tall'],
    ['Read', { file_path: 'a.ts', offset: 10 }, '10\tpart'],
    ['Read', { file_path: 'b.ts', offset: 2, limit: 1 }, '2\tpart'],
  )
  expect(recent).toEqual(['b.ts'])
  expect(textOf('a.ts')).toBeUndefined()
  expect(textOf('b.ts')).toBe('1\tall')
})
