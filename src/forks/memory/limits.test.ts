import { describe, expect, it } from 'vitest'
import { acting } from '../../../test/permission/commands.ts'
import { limitRefusal } from './limits.ts'

const ours = (input: Readonly<Record<string, unknown>>): boolean =>
  String(input['file_path']).startsWith('/memory/')
const refusal = (name: string, input: Readonly<Record<string, unknown>>): string | null =>
  limitRefusal({ name, input }, ours)
const command = (text: string): string | null => refusal('Bash', { command: text })

describe('what a job on memories may call', () => {
  it('[DR10] commands that look, each by its syntax, with no option that acts', () => {
    for (const text of [
      'ls -la',
      'find . -name "*.md"',
      'grep -rn x . | head -3',
      'cat a b',
      'stat a; wc -l a',
      'tail -5 a',
    ])
      expect([text, command(text)]).toEqual([text, null])
    for (const text of [
      'find . -delete',
      'find . -exec rm {} +',
      'find . -fprint out',
      'cat a > b',
      'cat $(rm a)',
      'cat a &',
      'X=1 ls',
      'ls && rm a',
      'git log',
      'sed -n 1p a',
      'echo x',
      'sh -c ls',
      '',
      'cat <(ls)',
    ])
      expect([text, typeof command(text)]).toEqual([text, 'string'])
    // What is left of the list of commands that act under a cloak only reads, where the rules of permission judge it.
    const left = acting.filter((text) => command(text) === null)
    expect(left.filter((text) => !/^(?:cat|ls|head|tail|grep|find|stat|wc)\b/u.test(text))).toEqual([])
  })

  it('[PM32] a command whose words a shell reads otherwise is refused', () => {
    for (const text of [
      "find . ! -name 2>&-'' -delete",
      "grep 2>&-'' a",
      "cat <&-'' a",
      'cat a=~/b',
      'cat {a,b}c{d,e}',
    ])
      expect([text, typeof command(text)]).toEqual([text, 'string'])
    expect(command('find . -name "*.md" 2>&1')).toBeNull()
  })

  it('[DR10] writes in the folders of memories, and no other tool', () => {
    expect(refusal('Write', { file_path: '/memory/a.md' })).toBeNull()
    expect(refusal('Edit', { file_path: '/memory/a.md' })).toBeNull()
    for (const [name, input] of [
      ['Write', { file_path: '/project/a.md' }],
      ['Edit', {}],
      ['Agent', { prompt: 'x' }],
      ['SendMessage', {}],
      ['WebFetch', { url: 'http://a.invalid' }],
      ['mcp__x__y', {}],
      ['Snip', {}],
      ['Jobs', {}],
      ['Bash', { command: 'ls', background: true }],
    ] as const)
      expect([name, typeof refusal(name, input)]).toEqual([name, 'string'])
  })
})
