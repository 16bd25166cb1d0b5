import { describe, expect, it } from 'vitest'
import { CallBlock, MessageBlock } from './blocks.ts'
import { segmentInPieces } from './segments.ts'
import { themeOf } from './theme.ts'

segmentInPieces()

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

  it('[TE39] cuts a line that would take many rows, until it is opened', () => {
    const block = new CallBlock('Bash', { command: 'cat bundle.js' }, themeOf(false))
    block.end('x'.repeat(100_000), false)
    const rows = block.render(80)
    expect(rows.length).toBeLessThan(10)
    expect(rows.join('\n')).toContain('… (ctrl+o to expand)')
    block.setOpen(true)
    expect(block.render(80).join('').match(/x/g)).toHaveLength(100_000)
  })
})

describe('a message in the log', () => {
  it('[TE39] shows the beginning of a long message, and all of it when it is opened', () => {
    const block = new MessageBlock(lines, themeOf(false))
    expect(block.render(80).join('\n')).toMatch(
      /^› line 1\n {2}line 2\n[\s\S]* {2}line 12\n {2}… 18 more lines \(ctrl\+o to expand\)$/,
    )
    block.setOpen(true)
    expect(block.render(80)).toHaveLength(30)
    const long = new MessageBlock('word '.repeat(20_000), themeOf(false))
    expect(long.render(40).length).toBeLessThan(12)
    expect(new MessageBlock('日本語 🎉', themeOf(false)).render(8)).toEqual(['› 日本語', '  🎉'])
  })
})
