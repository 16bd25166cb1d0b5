import { expect, it } from 'vitest'
import { compactionWishes } from './summary.ts'

it('[SN29] a compaction section of an instruction file is found, and nothing else of the file', () => {
  const file = [
    '# Rules',
    'use tabs',
    '## Compact instructions',
    'keep every port number',
    '### by the way',
    'and the names of hosts',
    '## Style',
    'be brief',
    '# compaction #',
    'keep test names',
  ].join('\n')
  expect(compactionWishes(file)).toBe(
    'keep every port number\n### by the way\nand the names of hosts\nkeep test names',
  )
  expect(compactionWishes('# Compacting disks\nx')).toBe(null)
  expect(compactionWishes('## Compaction\n\n')).toBe(null)
  expect(compactionWishes(null)).toBe(null)
})
