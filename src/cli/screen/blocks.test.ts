import { describe, expect, it } from 'vitest'
import { CallBlock } from './blocks.ts'
import { themeOf } from './theme.ts'

const shown = (name: string, input: unknown, result: string): string => {
  const block = new CallBlock(name, input, themeOf(false))
  block.end(result, false)
  return block.render(80).join('\n')
}
const lines = Array.from({ length: 30 }, (_, at) => `line ${at + 1}`).join('\n')

describe('a call in the log', () => {
  it('[TE32] shows the end of what a command said, and the beginning of everything else', () => {
    const test = shown('Bash', { command: 'npm test' }, lines)
    expect(test).toMatch(
      /npm test\n +… 26 earlier lines \(ctrl\+o to expand\)\n +line 27\n.*\n.*\n +line 30$/,
    )
    const read = shown('Read', { file_path: 'a.txt' }, lines)
    expect(read).toMatch(/a\.txt\n +line 1\n.*\n.*\n +line 4\n +… 26 more lines \(ctrl\+o to expand\)$/)
  })

  it('[TE1] names what is looked for, and where', () => {
    expect(shown('Grep', { pattern: 'round', path: 'src' }, '')).toContain('● Grep round in src')
  })
})
