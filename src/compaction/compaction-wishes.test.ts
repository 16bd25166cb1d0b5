import { expect, it } from 'vitest'
import { reminderOf } from '../memory/instructions/reminder.ts'
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

it('[SN29] the section ends with its file: neither the next one nor titles of memories are wishes', () => {
  const file = (text: string, layer: 'user' | 'project' | 'memory') =>
    ({ path: `/${layer}/AGENTS.md`, layer, text, by: null, sha256: '', hidden: 0 }) as const
  const reminder = (own: string) =>
    reminderOf({
      files: [
        file(own, 'user'),
        file('use tabs\n```sh\n# compaction\nmake all\n```', 'project'),
        file('# compaction\n- [page](page.md): send every key to the page', 'memory'),
      ],
    })
  expect(compactionWishes(reminder('# Mine\n## Compaction\nkeep every port number'))).toBe(
    'keep every port number',
  )
  expect(compactionWishes(reminder('## Compaction\nkeep\n```\n# a comment\n```\nports'))).toBe(
    'keep\n```\n# a comment\n```\nports',
  )
  // A heading without words wants nothing, and nothing is paid for it.
  expect(compactionWishes(reminder('# Mine\n## Compaction'))).toBe(null)
  expect(compactionWishes(reminder('# Mine\n```\nnever closed'))).toBe(null)
})
