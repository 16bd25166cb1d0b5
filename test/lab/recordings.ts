// Recordings made by hand, so that every figure of a replay is known beforehand.
import type { RecordedBlock, RecordedTurn, Recording } from '../../src/lab/recording.ts'

export const start = Date.UTC(2026, 0, 1)
export const second = 1000
export const minute = 60 * second

/** Turns follow each other after ten seconds, or after the pause given. */
export function recording(
  turns: readonly (readonly [
    role: RecordedTurn['role'],
    content: readonly RecordedBlock[],
    pause?: number,
  ])[],
  more: Partial<Recording> = {},
): Recording {
  let at = start
  return {
    name: 'by-hand',
    client: 'test 1',
    model: 'claude-sonnet-5',
    usageKind: 'none',
    outputCounts: 'partial',
    firstRequestTokens: null,
    system: 'You test.',
    tools: [],
    turns: turns.map(([role, content, pause = 10 * second]) => ({ role, content, at: (at += pause) })),
    ...more,
  }
}

export const text = (words: string, kind?: string): RecordedBlock => ({
  block: { type: 'text', text: words },
  kind,
})
export const call = (id: string, name: string, input: Readonly<Record<string, unknown>>): RecordedBlock => ({
  block: { type: 'tool_use', id, name, input },
})
export const result = (id: string, words: string): RecordedBlock => ({
  block: {
    type: 'tool_result',
    tool_use_id: id,
    content: [{ type: 'text', text: words }],
    is_error: false,
  },
})

/** A session that reads one file after the other and at the end needs something of the first. */
export function longWork(files: number, lines: number): Recording {
  const turns: Parameters<typeof recording>[0][number][] = [['user', [text('Make the totals right.')]]]
  for (let file = 0; file < files; file++) {
    turns.push([
      'assistant',
      [text(`Reading ${file}.`), call(`c${file}`, 'Read', { path: `src/part_${file}.ts` })],
    ])
    const page = Array.from(
      { length: lines },
      (_, line) => `export const total_${file}_${line} = compute(${line}) // amount of row ${line}`,
    )
    turns.push(['user', [result(`c${file}`, page.join('\n'))]])
  }
  const old = 'export const total_0_3 = compute(3) // amount of row 3'
  turns.push([
    'assistant',
    [call('edit', 'Edit', { file_path: 'src/part_0.ts', old_string: old, new_string: 'x' })],
  ])
  turns.push(['user', [result('edit', 'done')]], ['assistant', [text('The totals are right.')]])
  return recording(turns)
}
